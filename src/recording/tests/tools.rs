//! Cutting, merging, exporting and importing the histories of a cluster.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;

use super::fixtures::{at, change, entry_text, nodes, object, options, pods, row, synced, text};
use crate::lines::{Change, ChangeKind, LineOptions, LineWriter, Mark, MarkKind};
use crate::object::{ApiResource, Object, Origin, ResourceVersion};
use crate::recording::{
    Author, CutOptions, EntryFilter, Importer, Item, Moment, Position, Recording, RecordingError, Redaction,
    SecretValues, Writer, cut, merge,
};

/// The version of the cluster before the first change.
const FIRST: u64 = 100;

/// The changes of a cluster in order. Several objects may be deleted in one version.
#[derive(Debug, Clone)]
struct History(Vec<(Change, Option<Author>)>);

/// Changes between which at least this time passes, in units of 400 ms.
fn histories(least: i64) -> impl Strategy<Value = History> {
    let step = (0..6usize, prop::bool::weighted(0.3), 0..5usize, least..3i64);
    prop::collection::vec(step, 1..60).prop_map(|steps| History::of(&steps))
}

fn resource_of(number: usize) -> (Arc<ApiResource>, &'static str) {
    let keys = ["a/web-1", "a/web-2", "b/web-1", "b/x", "node-1", "node-2"];
    (if number < 4 { pods() } else { nodes() }, keys[number])
}

impl History {
    /// Each step changes an object: its number, whether it is deleted if it exists, its text, and the time that passes. After
    /// another deletion, it may be deleted in the same version.
    fn of(steps: &[(usize, bool, usize, i64)]) -> Self {
        let (mut exists, mut now) = ([false; 6], 0);
        let (mut version, mut last) = (FIRST, ChangeKind::Added);
        let changes = steps.iter().map(|(number, deleted, content, passed)| {
            now += passed * 400;
            let (resource, key) = resource_of(*number);
            let kind = match (exists[*number], *deleted) {
                (false, _) => ChangeKind::Added,
                (true, true) => ChangeKind::Deleted,
                (true, false) => ChangeKind::Modified,
            };
            exists[*number] = kind != ChangeKind::Deleted;
            version += u64::from((last, kind) != (ChangeKind::Deleted, ChangeKind::Deleted) || *content < 2);
            last = kind;
            let text = format!("text {content}");
            let object = object(&resource, key, version, &text).with_row(row(&["x", &text]));
            let author =
                (*content == 1).then(|| Author { manager: "kubelet".into(), subresource: "".into() });
            (change(&resource, kind, object, now), author)
        });
        Self(changes.collect())
    }

    fn time(&self, number: usize) -> i64 {
        let last = number.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(0, |(change, _)| change.received.as_millisecond() - at(0).as_millisecond())
    }

    /// Returns the version of the last of so many changes.
    fn version(&self, count: usize) -> u64 {
        let last = count.checked_sub(1).and_then(|last| self.0.get(last));
        last.and_then(|(change, _)| change.object.resource_version().number()).unwrap_or(FIRST)
    }

    /// Returns the number of changes up to a version.
    fn count_up_to(&self, version: u64) -> usize {
        self.0.partition_point(|(change, _)| change.object.resource_version().number() <= Some(version))
    }

    /// Returns a number of changes after which no deletion of the same version follows.
    fn complete_count(&self, count: usize) -> usize {
        self.count_up_to(self.version(count.min(self.0.len())))
    }

    /// Records the entries of a recorder that lists before the change `from` and stops before the change `to`. It
    /// receives each change `delay` milliseconds after its time.
    fn record(&self, dir: &Path, from: usize, to: usize, delay: i64) {
        let now = self.time(from) + delay;
        let mut writer = Writer::open(dir, "test", options().seal_entries(9), at(now)).expect("a writer");
        writer.document("/api", b"one", at(now)).expect("a document");
        for resource in [pods(), nodes()] {
            for object in self.state_after(from, &resource) {
                let change = Change {
                    kind: ChangeKind::Added,
                    object,
                    old: None,
                    origin: Origin::List,
                    final_state_unknown: false,
                    resource: Arc::clone(&resource),
                    context: "test".into(),
                    received: at(now),
                };
                writer.change(&change, None).expect("a change");
            }
            writer.mark(&synced(&resource, self.version(from), now)).expect("a mark");
        }
        for number in from..to {
            let (change, author) = &self.0[number];
            let now = self.time(number + 1) + delay;
            writer
                .change(&Change { received: at(now), ..change.clone() }, author.as_ref())
                .expect("a change");
            let version = ResourceVersion::from(self.version(number + 1));
            if number % 7 == 3 && self.complete_count(number + 1) == number + 1 {
                writer.bookmark(&pods(), &"".into(), &version, at(now)).expect("a bookmark");
            }
            if number % 11 == 5 {
                writer.document("/api", version.to_string().as_bytes(), at(now)).expect("a document");
            }
            if number % 3 == 0 {
                writer.flush(at(now)).expect("flushed");
            }
        }
        writer.finish(at(self.time(to) + delay)).expect("finished");
    }

    fn state_after(&self, count: usize, resource: &ApiResource) -> Vec<Arc<Object>> {
        let mut state = BTreeMap::new();
        for (change, _) in self.0[..count].iter().filter(|(change, _)| *change.resource == *resource) {
            match change.kind {
                ChangeKind::Deleted => state.remove(change.object.key()),
                _ => state.insert(Arc::clone(change.object.key()), Arc::clone(&change.object)),
            };
        }
        state.into_values().collect()
    }
}

fn open_writer(dir: &Path, now: i64) -> Writer {
    Writer::open(dir, "test", options(), at(now)).expect("a writer")
}

fn open(dir: &Path) -> Recording {
    let recording = Recording::open(dir).expect("a recording");
    assert_eq!(recording.verify().expect("verified"), []);
    recording
}

/// Returns the entries without their numbers.
fn entries(recording: &Recording) -> Vec<String> {
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    let text =
        |entry| entry_text(&entry).split_once(' ').map(|(_, text)| text.to_owned()).unwrap_or_default();
    entries.map(|entry| text(entry.expect("an entry"))).collect()
}

/// Returns everything of the state at a moment.
fn state(recording: &Recording, moment: Moment) -> Vec<String> {
    let state = recording.state(moment).expect("a state");
    let mut all = Vec::new();
    for resource in [pods(), nodes()] {
        all.extend(state.objects(&resource, None).expect("objects").iter().map(|object| text(object)));
    }
    all.extend(state.documents().expect("documents").iter().map(|(path, body)| format!("{path} {body:?}")));
    all
}

/// Returns the version of the SYNCED mark of each type.
fn synced_versions(recording: &Recording) -> BTreeMap<String, u64> {
    let version = |item| match item {
        Item::Mark(Mark { kind: MarkKind::Synced { version }, resource, .. }) => {
            Some((resource.resource.clone(), version.number()?))
        }
        _ => None,
    };
    recording.marks().expect("marks").into_iter().filter_map(version).collect()
}

fn texts(objects: &[Arc<Object>]) -> Vec<String> {
    objects.iter().map(|object| text(object)).collect()
}

/// Returns the changes without their times and origins.
fn steps(recording: &Recording) -> Vec<String> {
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    let step = |entry: crate::recording::Entry| match entry.item {
        Item::Change { change, .. } if change.kind == ChangeKind::Deleted => {
            Some(format!("- {}", change.object.key()))
        }
        Item::Change { change, .. } => Some(format!("{:?} {}", change.kind, text(&change.object))),
        _ => None,
    };
    entries.filter_map(|entry| step(entry.expect("an entry"))).collect()
}

fn gaps(recording: &Recording) -> usize {
    recording.gaps().expect("gaps").len()
}

pub(super) fn lines(recording: &Recording) -> Vec<u8> {
    let (mut writer, mut out) = (LineWriter::new(LineOptions::default()), Vec::new());
    for item in recording.excerpt(None, None, EntryFilter::default()).expect("an excerpt") {
        match item.expect("an item").1 {
            Item::Change { change, author } => {
                let author = author.as_ref().map(|author| (&*author.manager, &*author.subresource));
                writer.change_by(author, &change, None, &mut out);
            }
            Item::Mark(mark) => writer.mark(&mark, None, &mut out),
            _ => {}
        }
    }
    out
}

pub(super) fn import(dir: &Path, lines: &[u8]) -> Result<u64, RecordingError> {
    let mut importer = Importer::new(dir);
    for line in lines.split(|byte| *byte == b'\n') {
        importer.line(line)?;
    }
    Ok(importer.finish()?.entries)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_moment_of_a_cut_is_that_of_the_original(history in histories(0), since in 0..60usize) {
        let dir = tempfile::tempdir().expect("a directory");
        history.record(&dir.path().join("all"), 0, history.0.len(), 0);
        let all = open(&dir.path().join("all"));
        let since = at(history.time(since.min(history.0.len())));
        let part = dir.path().join("part");
        cut(&all, &part, &CutOptions::default().since(Some(since))).expect("cut");
        let part = open(&part);
        prop_assert_eq!(part.beginning(), Some(since));
        prop_assert_eq!(part.end(), all.end());
        let versions = synced_versions(&part);
        let listed = versions.values().copied().max().unwrap_or_default();
        for version in FIRST..listed {
            let Ok(state) = part.state(Moment::Version(version)) else { continue };
            let recorded = state.resources().expect("resources");
            prop_assert!(recorded.iter().all(|resource| versions[&resource.resource] <= version), "{}", version);
        }
        for version in listed..=history.version(history.0.len()) {
            let expected = |resource: &ApiResource| texts(&history.state_after(history.count_up_to(version), resource));
            let state = match part.state(Moment::Version(version)) {
                // The first object has a later version.
                Err(RecordingError::BeforeBeginning { .. }) => {
                    prop_assert_eq!((expected(&pods()), expected(&nodes())), (vec![], vec![]), "{}", version);
                    continue;
                }
                state => state.expect("a state"),
            };
            for resource in [pods(), nodes()] {
                let objects = texts(&state.objects(&resource, None).expect("objects"));
                prop_assert_eq!(objects, expected(&resource), "{}", version);
            }
        }
        for number in 0..=history.0.len() {
            let time = at(history.time(number)).max(since);
            prop_assert_eq!(state(&part, Moment::Time(time)), state(&all, Moment::Time(time)));
        }
        let positions = |recording: &Recording| open_writer(recording.path(), history.time(history.0.len())).positions();
        prop_assert_eq!(positions(&part), positions(&all));
    }

    #[test]
    fn merged_parts_are_the_original(history in histories(0), mut places in prop::collection::vec(0..60usize, 0..4)) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        history.record(&path("all"), 0, history.0.len() / 2, 0);
        // The recorder is restarted in the middle, without a loss.
        let half = history.0.len() / 2;
        let mut writer = open_writer(&path("all"), history.time(half));
        for Position { resource, state_version, .. } in writer.positions() {
            let version = state_version.number().unwrap_or_default();
            writer.mark(&synced(&resource, version, history.time(half))).expect("a mark");
        }
        for (change, author) in &history.0[half..] {
            writer.change(change, author.as_ref()).expect("a change");
        }
        writer.finish(at(history.time(history.0.len()))).expect("finished");
        let all = open(&path("all"));
        places.sort_unstable();
        let times = places.iter().map(|number| at(history.time((*number).min(history.0.len()))));
        let times: Vec<Option<Timestamp>> =
            std::iter::once(None).chain(times.map(Some)).chain([None]).collect();
        let mut parts = Vec::new();
        for (number, range) in times.windows(2).enumerate() {
            let part = path(&number.to_string());
            cut(&all, &part, &CutOptions::default().since(range[0]).until(range[1])).expect("cut");
            parts.push(open(&part));
        }
        // The order of the arguments does not matter.
        parts.reverse();
        merge(&parts, &path("merged"), None).expect("merged");
        prop_assert_eq!(entries(&open(&path("merged"))), entries(&all));
    }

    #[test]
    fn merged_copies_are_the_original(history in histories(0), copies in 2..4u32) {
        let dir = tempfile::tempdir().expect("a directory");
        history.record(&dir.path().join("all"), 0, history.0.len(), 0);
        let all = open(&dir.path().join("all"));
        let copies: Vec<Recording> = (0..copies).map(|_| open(&dir.path().join("all"))).collect();
        merge(&copies, &dir.path().join("merged"), None).expect("merged");
        prop_assert_eq!(entries(&open(&dir.path().join("merged"))), entries(&all));
    }

    #[test]
    fn overlapping_recordings_merge_without_loss_and_repeats(
        history in histories(1), from in 0..60usize, to in 0..60usize, delay in -1..2i64,
    ) {
        let (count, dir) = (history.0.len(), tempfile::tempdir().expect("a directory"));
        let path = |name: &str| dir.path().join(name);
        let (from, to) = (history.complete_count(from), to.min(count));
        history.record(&path("one"), 0, to, 0);
        history.record(&path("other"), from, count, delay * 5);
        history.record(&path("all"), 0, count, 0);
        let (one, other, all) = (open(&path("one")), open(&path("other")), open(&path("all")));
        merge(&[other, one], &path("merged"), None).expect("merged");
        let merged = open(&path("merged"));
        let pods_and_nodes = |recording: &Recording| {
            let mut state = state(recording, Moment::End);
            state.retain(|text| !text.starts_with('/'));
            state
        };
        prop_assert_eq!(pods_and_nodes(&merged), pods_and_nodes(&all));
        if from < to {
            prop_assert_eq!(steps(&merged), steps(&all));
            prop_assert_eq!(gaps(&merged), 0);
        } else if from > to {
            // The recorder, and each of the two types.
            prop_assert_eq!(gaps(&merged), 3);
        }
    }

    #[test]
    fn exported_lines_import_as_the_original(history in histories(0)) {
        let dir = tempfile::tempdir().expect("a directory");
        // A line does not state whether its type is namespaced: the marks of a type wait for an object.
        let History(mut changes) = History::of(&[(0, false, 0, 0), (4, false, 0, 0)]);
        changes.extend(history.0.into_iter().filter(|(change, _)| change.object.resource_version().number() > Some(FIRST + 2)));
        let history = History(changes);
        history.record(&dir.path().join("all"), 2, history.0.len(), 0);
        let all = open(&dir.path().join("all"));
        let exported = lines(&all);
        let to = dir.path().join("imported");
        let count = import(&to, &exported).expect("imported");
        prop_assert_eq!(count, history.0.len() as u64 + 2);
        let imported = open(&Writer::directory(&to, "test"));
        prop_assert_eq!(String::from_utf8(lines(&imported)), String::from_utf8(exported));
    }
}

#[test]
fn a_cut_has_only_the_selected_types_and_namespaces() {
    let dir = tempfile::tempdir().expect("a directory");
    let history = History::of(&[(0, false, 0, 1), (2, false, 0, 1), (4, false, 0, 1), (2, false, 1, 1)]);
    history.record(&dir.path().join("all"), 0, 4, 0);
    let all = open(&dir.path().join("all"));
    let cut_to = |name: &str, filter: EntryFilter| {
        let since = Some(at(history.time(3)));
        cut(&all, &dir.path().join(name), &CutOptions::default().since(since).filter(filter)).expect("cut");
        entries(&open(&dir.path().join(name)))
    };
    let only = EntryFilter { namespaces: Some(vec!["b".to_owned()]), ..EntryFilter::default() };
    let entries = cut_to("namespace", only);
    let has = |text: &str| entries.iter().filter(|entry| entry.contains(text)).count();
    assert_eq!((has("web-1"), has("a/"), has("node")), (2, 0, 0), "{entries:#?}");
    assert_eq!((has("Synced"), has(r#"pods "b""#)), (1, 1), "{entries:#?}");
    let only = EntryFilter { resources: Some(vec![(*nodes()).clone()]), ..EntryFilter::default() };
    let entries = cut_to("type", only);
    let has = |text: &str| entries.iter().filter(|entry| entry.contains(text)).count();
    assert_eq!((has("web-1"), has("node-1"), has("Synced")), (0, 1, 1), "{entries:#?}");
    // A recording is never overwritten.
    let again = cut(&all, &dir.path().join("type"), &CutOptions::default());
    assert!(matches!(again, Err(RecordingError::Exists { .. })), "{again:?}");
}

#[test]
fn a_cut_redacts_every_state() {
    let dir = tempfile::tempdir().expect("a directory");
    let history = History::of(&[(0, false, 0, 1), (0, false, 1, 1), (0, false, 0, 1)]);
    history.record(&dir.path().join("all"), 0, 3, 0);
    let path = crate::object::FieldPath::parse("status.text").expect("a path");
    let redaction = Redaction::new(&[7; 32], SecretValues::Hash, vec![path]);
    let all = open(&dir.path().join("all"));
    let options = CutOptions::default().since(Some(at(history.time(1)))).redaction(Some(Arc::new(redaction)));
    cut(&all, &dir.path().join("part"), &options).expect("cut");
    let part = open(&dir.path().join("part"));
    let texts = steps(&part);
    assert!(texts.len() == 3 && texts.iter().all(|text| !text.contains("text 0")), "{texts:#?}");
    // Equal values have equal hashes.
    let [first, second, third] = &texts[..] else { panic!("{texts:#?}") };
    let status = |text: &str| text.split("status").nth(1).map(str::to_owned);
    assert!(status(first) != status(second) && status(first) == status(third), "{texts:#?}");
    // Another key does not change hashes again.
    let path = crate::object::FieldPath::parse("status.text").expect("a path");
    let redaction = Redaction::new(&[8; 32], SecretValues::Hash, vec![path]);
    let options = CutOptions::default().redaction(Some(Arc::new(redaction)));
    cut(&part, &dir.path().join("again"), &options).expect("cut");
    assert_eq!(steps(&open(&dir.path().join("again"))), texts);
}

#[test]
fn recordings_of_different_contexts_do_not_merge() {
    let dir = tempfile::tempdir().expect("a directory");
    let history = History::of(&[(0, false, 0, 1)]);
    history.record(&dir.path().join("one"), 0, 1, 0);
    let writer = Writer::open(&dir.path().join("other"), "other", options(), at(0)).expect("a writer");
    writer.finish(at(0)).expect("finished");
    let both = ["one", "other"].map(|name| open(&dir.path().join(name)));
    let merged = merge(&both, &dir.path().join("merged"), None);
    assert!(matches!(merged, Err(RecordingError::OtherContext { .. })), "{merged:?}");
    assert!(!dir.path().join("merged").exists());
}

#[test]
fn a_gap_between_recordings_has_its_versions_and_differences() {
    let dir = tempfile::tempdir().expect("a directory");
    // The first pod is deleted and the second changed while nothing is recorded.
    let history = History::of(&[
        (0, false, 0, 1),
        (1, false, 0, 1),
        (0, true, 0, 5),
        (1, false, 3, 5),
        (2, false, 0, 5),
    ]);
    history.record(&dir.path().join("one"), 0, 2, 0);
    history.record(&dir.path().join("other"), 4, 5, 0);
    let both = ["one", "other"].map(|name| open(&dir.path().join(name)));
    merge(&both, &dir.path().join("merged"), None).expect("merged");
    let merged = open(&dir.path().join("merged"));
    let items = merged.excerpt(None, None, EntryFilter::default()).expect("an excerpt");
    let texts = items.filter_map(|item| match item.expect("an item").1 {
        Item::Change { change, .. } if change.origin == Origin::Relist => {
            Some(format!("{:?} {} {}", change.kind, change.object.name(), change.final_state_unknown))
        }
        Item::Mark(mark) => match mark.kind {
            MarkKind::Gap { from, to, lasted } => {
                Some(format!("GAP {} {from} {to} {}", mark.resource.resource, lasted.as_millis()))
            }
            _ => None,
        },
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    assert_eq!(
        texts,
        ["GAP pods 102 104 4000", "Modified web-2 false", "Deleted web-1 true", "GAP nodes 100 104 4000"]
    );
}

#[test]
fn lines_that_can_not_be_imported_are_refused_with_their_numbers() {
    let dir = tempfile::tempdir().expect("a directory");
    let history = History::of(&[(0, false, 0, 1), (4, false, 0, 1)]);
    history.record(&dir.path().join("all"), 0, 2, 0);
    let exported = String::from_utf8(lines(&open(&dir.path().join("all")))).expect("UTF-8");
    let lines: Vec<&str> = exported.lines().collect();
    assert_eq!(lines.len(), 4);
    let to = dir.path().join("imported");
    let refused = |text: &str| import(&to, text.as_bytes()).expect_err("refused").to_string();
    for (bad, expected) in [
        ("NAME    READY", "it is no JSON line of `watch -o json`: it is no JSON object"),
        (r#"{"v":2}"#, "the line has the format 2, and this version reads format 1"),
        (r#"{"v":1}"#, r#"the field "type" is missing"#),
        (r#"{"type":"ADDED","object":{"metadata":{"name":"x"}}}"#, r#"the field "ts" is missing"#),
        (
            r#"{"ts":"2026-11-24T03:12:00Z","type":"ADDED","context":"test"}"#,
            r#"the field "group" is missing"#,
        ),
        (
            r#"{"ts":"2026-11-24T03:12:00Z","type":"ADDED","context":"test","group":"","version":"v1","kind":"Pod","resource":"pods","name":"x"}"#,
            r#"the field "object" is missing"#,
        ),
        (
            r#"{"ts":"2026-11-24T03:12:00Z","type":"ADDED","context":"test","group":"","version":"v1","kind":"Pod","resource":"pods","object":{}}"#,
            "its object can't be read",
        ),
        (
            r#"{"ts":"2026-11-24T03:12:00Z","type":"ADDED","context":"test","group":"","version":"v1","kind":"Pod","resource":"pods","object":{"metadata":{"name":"x"}}}"#,
            "its object has no namespace, unlike the other objects of pods",
        ),
    ] {
        let error = refused(&format!("{}\n\n{bad}", lines[..3].join("\n")));
        assert!(error.starts_with(&format!("line 5: {expected}")), "{error}");
        assert!(!Writer::directory(&to, "test").exists(), "{bad}");
    }
    // Resyncs and types of later versions are left out.
    let more = format!("{exported}{}\n{}", r#"{"type":"SYNC"}"#, r#"{"type":"LATER"}"#);
    assert_eq!(import(&to, more.as_bytes()).expect("imported"), 4);
    // A type without objects is recorded too.
    let to = dir.path().join("empty");
    assert_eq!(import(&to, lines[1].as_bytes()).expect("imported"), 1);
    let resources = open(&Writer::directory(&to, "test")).resources().expect("resources");
    assert_eq!(resources.iter().map(|resource| resource.resource.as_str()).collect::<Vec<_>>(), ["nodes"]);
}
