//! A checker of a watch's lines: no duplicates, no changes of unknown objects, no decreasing versions.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use crate::support::Api;

/// Uid and version of each object, by kind, namespace and name.
pub(super) type State = BTreeMap<String, (String, u64)>;

/// The state after the lines of one watch.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) state: State,
    gone: HashSet<String>,
    /// True if objects may return: those that left a selection do.
    selected: bool,
    /// True if lines have no resume version.
    without_resume: bool,
    lines: u64,
    /// The state of each collection, by kind.
    pub(super) parts: BTreeMap<String, Part>,
    pub(super) deltas: u64,
    /// The number of deltas found after a gap.
    pub(super) differences: u64,
    /// The longest delay of a change from its request to its line, in seconds.
    pub(super) behind: f64,
}

/// The state of one collection.
#[derive(Default)]
pub(super) struct Part {
    pub(super) synced: bool,
    pub(super) gaps: usize,
    /// The version up to which all changes are reported.
    reported_to: u64,
    /// Type, key and version of the changes that arrived through a watch.
    pub(super) watched: Vec<(String, String, u64)>,
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("no version: {value}"))
}

fn key(kind: &str, metadata: &Value) -> String {
    format!("{kind} {}/{}", text(&metadata["namespace"]), text(&metadata["name"]))
}

impl Replay {
    /// Returns a checker for a selection, where objects may return. A selection applied locally has no resume
    /// versions.
    pub(super) fn of_selected(selected: bool, here: bool) -> Self {
        Self { selected, without_resume: here, ..Self::default() }
    }

    /// Returns the version of a line after comparing it with its resume version.
    fn version(&self, line: &Value, version: &Value) -> u64 {
        let resume = (!self.without_resume).then_some(version);
        assert_eq!(line.get("resume"), resume, "{line}");
        number(version)
    }

    /// Applies a line; fails the test if it is inconsistent.
    pub(super) fn take(&mut self, line: &Value) {
        self.lines += 1;
        assert_eq!(line["seq"], self.lines, "{line}");
        match line["type"].as_str() {
            Some("SYNCED") => {
                let reported_to = self.version(line, &line["object"]["metadata"]["resourceVersion"]);
                let part = self.parts.entry(text(&line["kind"])).or_default();
                assert!(!part.synced, "once: {line}");
                (part.synced, part.reported_to) = (true, reported_to);
            }
            Some("GAP") => {
                let (from, to) = (number(&line["from"]), number(&line["to"]));
                let part = self.parts.entry(text(&line["kind"])).or_default();
                assert!(part.synced && part.reported_to <= from && from <= to, "{} {line}", part.reported_to);
                assert!(line.get("resume").is_none(), "{line}");
                part.gaps += 1;
                part.reported_to = to;
            }
            _ => self.delta(line),
        }
    }

    fn delta(&mut self, line: &Value) {
        let key = key(&text(&line["kind"]), line);
        let (uid, version) = (text(&line["uid"]), number(&line["resourceVersion"]));
        self.deltas += 1;
        if line["origin"] == "watch" {
            self.version(line, &line["resourceVersion"]);
        }
        let part = self.parts.entry(text(&line["kind"])).or_default();
        match line["origin"].as_str() {
            Some("watch") => {
                assert!(part.synced && part.reported_to < version, "after {}: {line}", part.reported_to);
                part.reported_to = version;
                part.watched.push((text(&line["type"]), key.clone(), version));
                self.behind = self.behind.max(seconds_behind(line).unwrap_or_default());
            }
            Some("list") => assert!(!part.synced && line.get("resume").is_none(), "{line}"),
            Some("relist") => {
                assert!(part.gaps > 0 && line.get("resume").is_none(), "{line}");
                self.differences += 1;
            }
            _ => panic!("{line}"),
        }
        let known = self.state.remove(&key);
        match (line["type"].as_str(), known) {
            (Some("ADDED"), None) => assert!(self.selected || !self.gone.contains(&uid), "{line}"),
            (Some("MODIFIED"), Some(old)) => assert!(old.0 == uid && old.1 < version, "{old:?} {line}"),
            (Some("DELETED"), Some(old)) => {
                let is_newer =
                    if line["finalStateUnknown"] == true { old.1 == version } else { old.1 < version };
                assert!(old.0 == uid && is_newer, "{old:?} {line}");
                assert!(self.gone.insert(uid) || self.selected, "a deletion reported twice: {line}");
                return;
            }
            (_, known) => panic!("{known:?} {line}"),
        }
        self.state.insert(key, (uid, version));
    }

    /// Returns the number of relists of each collection.
    pub(super) fn gaps(&self) -> Vec<usize> {
        self.parts.values().map(|part| part.gaps).collect()
    }
}

/// Returns the seconds since a change was requested, a time that the churn writes into the object. A deletion and its
/// preceding deletion timestamp have none.
fn seconds_behind(line: &Value) -> Option<f64> {
    if line["type"] == "DELETED" || !line["object"]["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let sent: Timestamp = line["object"]["metadata"]["annotations"]["testbed/sent"].as_str()?.parse().ok()?;
    Some(Timestamp::now().duration_since(sent).as_secs_f64())
}

/// Returns the server's objects of a kind at the path.
pub(super) fn listed(api: &Api, kind: &str, path: &str) -> State {
    let list = api.get(path);
    let items = list["items"].as_array().expect("items").iter();
    let entry = |item: &Value| {
        let metadata = &item["metadata"];
        (key(kind, metadata), (text(&metadata["uid"]), number(&metadata["resourceVersion"])))
    };
    items.map(entry).collect()
}
