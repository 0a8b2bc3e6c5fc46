//! What a watch has told, checked line by line: nothing twice, nothing of what was never told, nothing backwards.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use crate::support::Api;

/// Uid and version of each object, by kind, namespace and name.
pub(super) type State = BTreeMap<String, (String, u64)>;

/// The lines of one watch so far.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) state: State,
    gone: HashSet<String>,
    /// Whether objects may come back: what leaves a selection does.
    selected: bool,
    /// No line says where to go on.
    without_resume: bool,
    lines: u64,
    /// What has been told of each collection, by kind.
    pub(super) parts: BTreeMap<String, Part>,
    pub(super) deltas: u64,
    /// Deltas that were found after a gap.
    pub(super) differences: u64,
    /// The longest that a change took from its sending to its line, in seconds.
    pub(super) behind: f64,
}

/// One collection of a watch.
#[derive(Default)]
pub(super) struct Part {
    pub(super) synced: bool,
    pub(super) gaps: usize,
    /// Up to where everything has been told.
    told_to: u64,
    /// Type, key and version of what came through a watch.
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
    /// Of a watch of what is selected, where objects may come back: by the server, or here, and then no line says where to
    /// go on.
    pub(super) fn of_selected(selected: bool, here: bool) -> Self {
        Self { selected, without_resume: here, ..Self::default() }
    }

    /// The version of a line, which it also says to go on from.
    fn version(&self, line: &Value, version: &Value) -> u64 {
        let resume = (!self.without_resume).then_some(version);
        assert_eq!(line.get("resume"), resume, "{line}");
        number(version)
    }

    /// Fails the test where a line says what can't be.
    pub(super) fn take(&mut self, line: &Value) {
        self.lines += 1;
        assert_eq!(line["seq"], self.lines, "{line}");
        match line["type"].as_str() {
            Some("SYNCED") => {
                let told_to = self.version(line, &line["object"]["metadata"]["resourceVersion"]);
                let part = self.parts.entry(text(&line["kind"])).or_default();
                assert!(!part.synced, "once: {line}");
                (part.synced, part.told_to) = (true, told_to);
            }
            Some("GAP") => {
                let (from, to) = (number(&line["from"]), number(&line["to"]));
                let part = self.parts.entry(text(&line["kind"])).or_default();
                assert!(part.synced && part.told_to <= from && from <= to, "{} {line}", part.told_to);
                assert!(line.get("resume").is_none(), "{line}");
                part.gaps += 1;
                part.told_to = to;
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
                assert!(part.synced && part.told_to < version, "after {}: {line}", part.told_to);
                part.told_to = version;
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
                assert!(self.gone.insert(uid) || self.selected, "a deletion told twice: {line}");
                return;
            }
            (_, known) => panic!("{known:?} {line}"),
        }
        self.state.insert(key, (uid, version));
    }

    /// How often each collection had to be listed anew.
    pub(super) fn gaps(&self) -> Vec<usize> {
        self.parts.values().map(|part| part.gaps).collect()
    }
}

/// From the sending of a change, which the churn writes into the object, to now. A deletion, and the mark before it, say
/// nothing of their own.
fn seconds_behind(line: &Value) -> Option<f64> {
    if line["type"] == "DELETED" || !line["object"]["metadata"]["deletionTimestamp"].is_null() {
        return None;
    }
    let sent: Timestamp = line["object"]["metadata"]["annotations"]["testbed/sent"].as_str()?.parse().ok()?;
    Some(Timestamp::now().duration_since(sent).as_secs_f64())
}

/// What the server holds of a kind at that path.
pub(super) fn listed(api: &Api, kind: &str, path: &str) -> State {
    let list = api.get(path);
    let items = list["items"].as_array().expect("items").iter();
    let entry = |item: &Value| {
        let metadata = &item["metadata"];
        (key(kind, metadata), (text(&metadata["uid"]), number(&metadata["resourceVersion"])))
    };
    items.map(entry).collect()
}
