//! States at versions between which changes were missed.

use std::time::Duration;

use super::fixtures::{at, change, mark, nodes, object, options, pods, synced};
use super::versions::{list, open, state, update};
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::Origin;
use crate::recording::{Moment, Recording, Writer};

#[test]
fn version_in_a_gap_has_the_state_before_it() {
    for entries in [1, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        list(&mut writer, &pods(), "a/old", 5);
        list(&mut writer, &pods(), "a/gone", 6);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        let (from, to) = ("10".into(), "100".into());
        let gap = MarkKind::Gap { from, to, lasted: Duration::from_secs(5) };
        writer.mark(&mark(&pods(), gap, 5000)).expect("a mark");
        for (kind, name, version) in [
            (ChangeKind::Modified, "a/old", 50),
            (ChangeKind::Added, "a/new", 40),
            (ChangeKind::Deleted, "a/gone", 6),
        ] {
            let change = change(&pods(), kind, object(&pods(), name, version, "y"), 5000);
            writer.change(&Change { origin: Origin::Relist, ..change }, None).expect("a change");
            writer.flush(at(5000)).expect("flushed");
            writer.settle().expect("settled");
        }
        writer.mark(&synced(&pods(), 100, 5000)).expect("a mark");
        writer.finish(at(5000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        for version in [10, 45, 60, 99] {
            let before = vec!["pods: a/gone@6 a/old@5".to_owned()];
            assert_eq!(state(&recording, version), Ok(before), "{version}, {entries}");
            let time = recording.state(Moment::Version(version)).expect("a state").time();
            assert_eq!(time, Some(at(0)), "{version}, {entries}");
        }
        assert_eq!(state(&recording, 100), Ok(vec!["pods: a/new@40 a/old@50".to_owned()]), "{entries}");
        let gaps = |version| recording.unobserved_at_version(version).expect("gaps").gaps.len();
        assert_eq!([9, 10, 99, 100].map(gaps), [0, 1, 1, 0]);
    }
}

fn gap(writer: &mut Writer, (from, to): (&str, &str), second: i64) {
    let lasted = Duration::from_secs(5);
    let gap = MarkKind::Gap { from: from.into(), to: to.into(), lasted };
    writer.mark(&mark(&pods(), gap, second * 1000)).expect("a mark");
}

/// Records a difference after a gap.
fn difference(writer: &mut Writer, (kind, name, version): (ChangeKind, &str, u64), second: i64) {
    let change = change(&pods(), kind, object(&pods(), name, version, "y"), second * 1000);
    writer.change(&Change { origin: Origin::Relist, ..change }, None).expect("a change");
    writer.flush(at(second * 1000)).expect("flushed");
    writer.settle().expect("settled");
}

/// Returns the seconds of the gaps of types.
fn ranges(recording: &Recording) -> Vec<(i64, i64)> {
    let second = |time: jiff::Timestamp| (time.as_millisecond() - at(0).as_millisecond()) / 1000;
    let gaps = recording.gaps().expect("gaps").into_iter().filter(|gap| gap.resource.is_some());
    gaps.map(|gap| (second(gap.from), second(gap.to))).collect()
}

#[test]
fn differences_that_a_killed_recorder_did_not_complete_belong_to_the_next_list() {
    for entries in [1, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let options = || options().seal_entries(entries);
        let mut writer = open(dir.path(), options());
        list(&mut writer, &pods(), "a/old", 5);
        list(&mut writer, &pods(), "a/gone", 6);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        gap(&mut writer, ("10", "100"), 10);
        difference(&mut writer, (ChangeKind::Modified, "a/old", 50), 10);
        drop(writer);
        let recording = Recording::open(dir.path()).expect("a recording");
        let before = || Ok(vec!["pods: a/gone@6 a/old@5".to_owned()]);
        for version in [10, 60, 100, 101] {
            assert_eq!(state(&recording, version), before(), "{version}, {entries}");
        }
        let gaps = |recording: &Recording, version| {
            recording.unobserved_at_version(version).expect("gaps").gaps.len()
        };
        assert_eq!([9, 10, 100, 500].map(|version| gaps(&recording, version)), [0, 1, 1, 1]);
        assert_eq!(recording.unobserved_at(at(20_000)).expect("gaps").gaps.len(), 1);

        let mut writer = Writer::open(dir.path(), "test", options(), at(20_000)).expect("a writer");
        assert_eq!(writer.positions(), []);
        assert_eq!(writer.before_unfinished_gap(&pods(), ""), Some("10".into()));
        assert_eq!(writer.before_unfinished_gap(&nodes(), ""), None);
        gap(&mut writer, ("10", "200"), 30);
        difference(&mut writer, (ChangeKind::Added, "a/new", 150), 30);
        difference(&mut writer, (ChangeKind::Deleted, "a/gone", 6), 30);
        writer.mark(&synced(&pods(), 200, 30_000)).expect("a mark");
        assert_eq!(writer.before_unfinished_gap(&pods(), ""), None);
        writer.finish(at(40_000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        for version in [10, 60, 100, 120, 199] {
            assert_eq!(state(&recording, version), before(), "{version}, {entries}");
        }
        assert_eq!(state(&recording, 200), Ok(vec!["pods: a/new@150 a/old@50".to_owned()]), "{entries}");
        assert_eq!([9, 10, 150, 200].map(|version| gaps(&recording, version)), [0, 1, 1, 0]);
        assert_eq!(ranges(&recording), [(5, 30)], "both are one gap");
    }
}

#[test]
fn differences_are_complete_before_the_next_event_of_the_watch() {
    for event in ["bookmark", "change", "of another namespace"] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options());
        list(&mut writer, &pods(), "a/old", 5);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        gap(&mut writer, ("10", "100"), 10);
        difference(&mut writer, (ChangeKind::Modified, "a/old", 50), 10);
        match event {
            "bookmark" => {
                writer.bookmark(&pods(), &"".into(), &"100".into(), at(20_000)).expect("a bookmark");
            }
            "change" => update(&mut writer, &pods(), "a/old", 110),
            _ => writer.bookmark(&pods(), &"b".into(), &"100".into(), at(20_000)).expect("a bookmark"),
        }
        let is_complete = event != "of another namespace";
        assert_eq!(writer.before_unfinished_gap(&pods(), "a").is_none(), is_complete, "{event}");
        writer.finish(at(20_000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        let expected = if is_complete { "pods: a/old@50" } else { "pods: a/old@5" };
        assert_eq!(state(&recording, 100), Ok(vec![expected.to_owned()]), "{event}");
        assert_eq!(ranges(&recording), [(5, if is_complete { 10 } else { 20 })], "{event}");
    }
}

/// No bookmarks are recorded for a single object.
#[test]
fn difference_of_a_named_object_is_complete() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options());
    let named = |kind, second: i64| Mark { name: Some("old".into()), ..mark(&pods(), kind, second * 1000) };
    list(&mut writer, &pods(), "a/old", 5);
    writer.mark(&named(MarkKind::Synced { version: "10".into() }, 0)).expect("a mark");
    let (from, to) = ("10".into(), "100".into());
    let gap = MarkKind::Gap { from, to, lasted: Duration::from_secs(5) };
    writer.mark(&named(gap, 10)).expect("a mark");
    difference(&mut writer, (ChangeKind::Modified, "a/old", 50), 10);
    assert_eq!(writer.before_unfinished_gap(&pods(), ""), None);
    writer.finish(at(10_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, 100), Ok(vec!["pods: a/old@50".to_owned()]));
    assert_eq!(ranges(&recording), [(5, 10)]);
}

#[test]
fn version_after_the_end_of_a_watch_is_not_observed() {
    for entries in [1, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        list(&mut writer, &pods(), "a/one", 5);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        list(&mut writer, &nodes(), "node", 7);
        writer.mark(&synced(&nodes(), 10, 0)).expect("a mark");
        update(&mut writer, &pods(), "a/one", 20);
        writer.finish(at(2)).expect("finished");
        // The next recorder has no pods.
        let mut writer =
            Writer::open(dir.path(), "test", options().seal_entries(entries), at(60_000)).expect("a writer");
        writer.mark(&synced(&nodes(), 20, 60_000)).expect("a mark");
        let node = object(&nodes(), "node", 40, "y");
        writer.change(&change(&nodes(), ChangeKind::Modified, node, 61_000), None).expect("a change");
        writer.finish(at(62_000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        let unobserved = |version| {
            let gaps = recording.unobserved_at_version(version).expect("gaps").gaps.into_iter();
            gaps.filter_map(|gap| Some(gap.resource?.resource.clone())).collect::<Vec<_>>()
        };
        for version in [1, 10, 15, 20] {
            assert_eq!(unobserved(version), [""; 0], "{version}, {entries}");
        }
        for version in [21, 39, 40, 50] {
            assert_eq!(unobserved(version), ["pods"], "{version}, {entries}");
        }
    }
}
