//! The states of a writer that continues a recording.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::fixtures::{at, at_second, change, nodes, object, options, pods, row, synced, text};
use crate::lines::{ChangeKind, Mark, MarkKind};
use crate::object::{Ingest, Object};
use crate::recording::files::{self, Kind};
use crate::recording::{
    Author, CutOptions, EntryFilter, Item, Moment, Recording, Writer, WriterOptions, cut,
};

#[test]
fn states_of_a_continued_recording_are_compressed_and_shared() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let text = "text ".repeat(200);
    for number in 0..20u64 {
        let pod = object(&pods(), &format!("a/web-{number:02}"), 1 + number, &text);
        let pod = pod.with_row(row(&["web", "1/1"]));
        writer.change(&change(&pods(), ChangeKind::Added, pod, 0), None).expect("a change");
    }
    writer.mark(&synced(&pods(), 21, 0)).expect("a mark");
    writer.finish(at(1)).expect("finished");
    let mut writer = Writer::open(dir.path(), "test", options(), at(2)).expect("a writer");
    let first = writer.share_objects(&pods(), None);
    let second = writer.share_objects(&pods(), Some("a"));
    assert_eq!(first.len(), 20);
    for (one, other) in first.iter().zip(&second) {
        assert!(Arc::ptr_eq(one, other) && one.is_compressed());
        assert_eq!(one.row().expect("a row").cells().collect::<Vec<_>>(), ["web", "1/1"]);
    }
}

/// A journal is applied to the states before it in parts of one MiB.
#[test]
fn states_after_a_long_journal_are_those_of_the_recording() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut random = fastrand::Rng::with_seed(7);
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let mut known = HashSet::new();
    for version in 1..=3000u64 {
        let key = format!("a/web-{}", random.u32(0..40));
        let kind = match random.u32(0..4) {
            _ if known.insert(key.clone()) => ChangeKind::Added,
            0 => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        if kind == ChangeKind::Deleted {
            known.remove(&key);
        }
        let text: String = std::iter::repeat_with(|| random.alphanumeric()).take(1000).collect();
        let mut pod = object(&pods(), &key, version, &text);
        if random.bool() {
            pod = pod.with_row(row(&["web", ["0/1", "1/1"][random.usize(0..2)]]));
        }
        let received = i64::try_from(version).expect("few");
        writer.change(&change(&pods(), kind, pod, received), None).expect("a change");
        if version % 20 == 0 {
            writer.flush(at(received)).expect("flushed");
        }
    }
    drop(writer);
    let recording = Recording::open(dir.path()).expect("a recording");
    let state = recording.state(Moment::End).expect("a state");
    let expected = state.objects(&pods(), None).expect("objects");
    let writer = Writer::open(dir.path(), "test", options(), at(3000)).expect("a writer");
    let continued = writer.objects(&pods(), None);
    let texts = |objects: &[Arc<Object>]| objects.iter().map(|object| text(object)).collect::<Vec<_>>();
    assert_eq!((texts(&continued), continued.len()), (texts(&expected), known.len()));
}

#[test]
fn a_listed_object_without_a_change_is_shared() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let pod = |version| Arc::new(object(&pods(), "a/web", version, "x"));
    writer
        .change(&change(&pods(), ChangeKind::Added, object(&pods(), "a/web", 1, "x"), 0), None)
        .expect("a change");
    let (same, other) = (pod(1), pod(2));
    writer.share_unchanged(&pods(), &same);
    writer.share_unchanged(&pods(), &other);
    let known = writer.share_objects(&pods(), None);
    assert!(known.len() == 1 && Arc::ptr_eq(&known[0], &same));
}

/// A pod whose newest entry of managedFields is that of a manager.
fn written(version: u64, manager: &str) -> Object {
    let json = format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"a","uid":"u","resourceVersion":"{version}","managedFields":[{{"manager":"{manager}","operation":"Update","time":"2026-11-24T00:00:{version:02}Z"}}]}}}}"#
    );
    let ingest = Ingest { record_manager: true, ..Ingest::of(pods().type_meta()) };
    Object::from_json(json.as_bytes(), &ingest).expect("an object")
}

#[test]
fn first_author_after_a_restart_is_known_if_it_is_another_manager() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let author = Author { manager: "kubelet".into(), subresource: "status".into() };
    let pod = object(&pods(), "a/web", 1, "x");
    writer.change(&change(&pods(), ChangeKind::Added, pod, 0), Some(&author)).expect("a change");
    writer.finish(at(1)).expect("finished");
    let mut writer = Writer::open(dir.path(), "test", options(), at(2)).expect("a writer");
    let before = writer.share_objects(&pods(), None).pop().expect("an object");
    let author = |manager| written(2, manager).author_since(Some(&before)).map(|(manager, _)| manager);
    assert_eq!(author("helm").as_deref(), Some("helm"));
    assert_eq!(author("kubelet"), None, "this may be the write before the restart");
}

/// Servers delete all objects of an expired etcd lease in one version.
#[test]
fn watch_is_continued_before_the_version_of_its_last_deletion() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    for (key, version) in [("a/one", 1), ("a/two", 2)] {
        let pod = object(&pods(), key, version, "x");
        writer.change(&change(&pods(), ChangeKind::Added, pod, 0), None).expect("a change");
    }
    writer.mark(&synced(&pods(), 3, 0)).expect("a mark");
    let versions = |writer: &Writer| {
        let positions = writer.positions().into_iter();
        let versions = positions.map(|position| format!("{} {}", position.version, position.state_version));
        versions.collect::<Vec<_>>()
    };
    for (kind, key, version_of_change, expected) in [
        (ChangeKind::Deleted, "a/one", 7, "6 7"),
        (ChangeKind::Modified, "a/two", 8, "8 8"),
        (ChangeKind::Deleted, "a/two", 9, "8 9"),
    ] {
        let pod = object(&pods(), key, version_of_change, "y");
        writer.change(&change(&pods(), kind, pod, 1), None).expect("a change");
        assert_eq!(versions(&writer), [expected], "{version_of_change}");
    }
    writer.finish(at(1)).expect("finished");
    // Neither a later recorder nor a cut has received more. Earlier recorders wrote SYNCED marks with the version before.
    for synced_version in [9, 8] {
        let mut writer = Writer::open(dir.path(), "test", options(), at(2)).expect("a writer");
        assert_eq!(versions(&writer), ["8 9"]);
        writer.mark(&synced(&pods(), synced_version, 2)).expect("a mark");
        assert_eq!(versions(&writer), ["8 9"], "{synced_version}");
        writer.finish(at(2)).expect("finished");
    }
    let recording = Recording::open(dir.path()).expect("a recording");
    let copy = dir.path().join("copy");
    cut(&recording, &copy, &CutOptions::default().since(Some(at(2)))).expect("cut");
    let mut writer = Writer::open(&copy, "test", options(), at(3)).expect("a writer");
    assert_eq!(versions(&writer), ["8 9"]);
    // One namespace of them is continued.
    let of_a = Mark { namespace: "a".into(), ..synced(&pods(), 9, 3) };
    writer.mark(&of_a).expect("a mark");
    assert_eq!(versions(&writer), ["8 9", "8 9"]);
    writer.bookmark(&pods(), &"a".into(), &"9".into(), at(3)).expect("a bookmark");
    assert_eq!(versions(&writer), ["8 9", "9 9"]);
}

#[test]
fn keyframe_after_a_deletion_has_the_version_of_the_state_and_the_one_before() {
    let dir = tempfile::tempdir().expect("a directory");
    // A keyframe is written each second, and older segments are dropped.
    let options = options().seal_entries(2).keep(Some(Duration::from_secs(4)));
    let mut writer = Writer::open(dir.path(), "test", options.clone(), at(0)).expect("a writer");
    writer.mark(&synced(&pods(), 1, 0)).expect("a mark");
    for second in 1..30u32 {
        let (kind, received) = match second % 2 {
            1 => (ChangeKind::Added, 1000 * i64::from(second)),
            _ => (ChangeKind::Deleted, 1000 * i64::from(second)),
        };
        let pod = object(&pods(), "a/web", u64::from(second) + 10, "x");
        writer.change(&change(&pods(), kind, pod, received), None).expect("a change");
        let other = object(&nodes(), "node", 5, "x");
        writer.change(&change(&nodes(), ChangeKind::Modified, other, received), None).expect("a change");
        writer.flush(at(received)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at_second(30)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let beginning = recording.beginning().expect("a beginning");
    let mut seen = Vec::new();
    for second in (1..30).map(at_second).filter(|second| *second >= beginning) {
        let items =
            recording.excerpt(Some(second), Some(second), EntryFilter::default()).expect("an excerpt");
        for item in items {
            if let Item::Mark(Mark { kind: MarkKind::Synced { version }, .. }) = item.expect("an item").1 {
                seen.push((second.as_second() - at(0).as_second(), version.to_string()));
            }
        }
    }
    assert!(seen.len() > 4);
    for (second, version) in seen {
        assert_eq!(version, (second + 10).to_string());
    }
}

#[test]
fn list_of_one_namespace_in_a_keyframe_is_complete_in_that_namespace_only() {
    let dir = tempfile::tempdir().expect("a directory");
    // A keyframe is written each second.
    let options = options().seal_entries(2).keep(Some(Duration::from_secs(4)));
    let mut writer = Writer::open(dir.path(), "test", options.clone(), at(0)).expect("a writer");
    let pod = object(&pods(), "shop/web", 1, "x");
    writer.change(&change(&pods(), ChangeKind::Added, pod, 0), None).expect("a change");
    for second in [1, 5] {
        let of_shop = Mark { namespace: "shop".into(), ..synced(&pods(), 1, second * 1000) };
        writer.mark(&of_shop).expect("a mark");
        writer.mark(&of_shop).expect("a mark");
        writer.flush(at_second(second)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at_second(6)).expect("finished");
    let kinds: Vec<Kind> =
        files::list(dir.path()).expect("files").into_iter().map(|(_, kind)| kind).collect();
    assert!(kinds.contains(&Kind::Keyframe), "{kinds:?}");
    let writer = Writer::open(dir.path(), "test", options, at_second(7)).expect("a writer");
    assert_eq!(writer.complete_lists(&pods()), [("shop".into(), None)]);
}

#[test]
fn long_journal_of_a_killed_recorder_is_sealed_while_the_next_one_records() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let changed = |writer: &mut Writer, version: u64| {
        let kind = if version == 1 { ChangeKind::Added } else { ChangeKind::Modified };
        let pod = object(&pods(), "a/web", version, &format!("text {version}"));
        writer.change(&change(&pods(), kind, pod, 1), None).expect("a change");
        writer.flush(at(1)).expect("flushed");
    };
    (1..=20).for_each(|version| changed(&mut writer, version));
    drop(writer);
    let journal = files::path_of(dir.path(), Kind::Journal, 0);
    let mut bytes = std::fs::read(&journal).expect("a journal");
    bytes.extend_from_slice(b"torn");
    std::fs::write(&journal, bytes).expect("written");
    let mut writer = Writer::open(dir.path(), "test", options().seal_entries(5), at(2)).expect("a writer");
    assert_eq!(writer.torn_bytes(), 4);
    changed(&mut writer, 21);
    let versions = || {
        let recording = Recording::open(dir.path()).expect("a recording");
        let history = recording.history(&pods(), "a", "web").expect("a history");
        history.iter().filter(|entry| matches!(entry.item, Item::Change { .. })).count()
    };
    assert_eq!(versions(), 21);
    writer.settle().expect("settled");
    let kinds: Vec<Kind> =
        files::list(dir.path()).expect("files").into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [Kind::Segment, Kind::Journal]);
    assert_eq!(versions(), 21);
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(recording.verify().expect("verified"), []);
}

/// Two threads would drop the same old files, and the one that comes second would fail.
#[test]
fn journal_that_is_due_waits_for_those_of_a_killed_recorder() {
    let dir = tempfile::tempdir().expect("a directory");
    let open =
        |entries, second| Writer::open(dir.path(), "test", options().seal_entries(entries), at(second));
    let mut writer = open(100, 0).expect("a writer");
    for version in 1..=20 {
        let pod = object(&pods(), &format!("a/web-{version}"), version, "text");
        writer.change(&change(&pods(), ChangeKind::Added, pod, 0), None).expect("a change");
    }
    writer.finish(at(1)).expect("finished");
    let first = files::path_of(dir.path(), Kind::Journal, 0);
    let journal = std::fs::read(&first).expect("a journal");
    open(5, 2).expect("a writer").finish(at(3)).expect("finished");
    // The second recorder was killed before it sealed the journal of the first one.
    std::fs::write(&first, journal).expect("written");
    std::fs::remove_file(files::path_of(dir.path(), Kind::Segment, 0)).expect("removed");
    let mut writer = open(2, 4).expect("a writer");
    let last = files::list(dir.path()).expect("files").pop();
    assert_eq!(last, Some((21, Kind::Journal)), "the journal of the second recorder is continued");
    writer.settle().expect("settled");
    writer.flush(at(5)).expect("flushed");
    writer.settle().expect("settled");
    let listed = files::list(dir.path()).expect("files");
    let sealed = |(first, kind): &(u64, Kind)| (*kind == Kind::Segment).then_some(*first);
    assert_eq!(listed.iter().filter_map(sealed).collect::<Vec<_>>(), [0, 21]);
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(recording.verify().expect("verified"), []);
}

/// Records objects of two types, more than are loaded at a time: each is added, and most are changed or deleted later.
fn record_many(dir: &Path, options: WriterOptions) -> Writer {
    let mut random = fastrand::Rng::with_seed(3);
    let mut writer = Writer::open(dir, "test", options, at(0)).expect("a writer");
    let mut existing = std::collections::BTreeSet::new();
    for version in 1..6000u64 {
        // Added one after the other, then in any order.
        let number =
            if version < 1600 { u32::try_from(version).expect("small") } else { random.u32(0..1800) };
        let resource = if number % 20 == 0 { nodes() } else { pods() };
        let key =
            if number % 20 == 0 { format!("n-{number}") } else { format!("a/web-{}-{number}", number % 7) };
        let kind = match (existing.contains(&number), random.u32(0..4)) {
            (false, _) => ChangeKind::Added,
            (true, 0) => ChangeKind::Deleted,
            (true, _) => ChangeKind::Modified,
        };
        if kind == ChangeKind::Deleted {
            existing.remove(&number)
        } else {
            existing.insert(number)
        };
        let text = "text ".repeat(random.usize(1..60));
        let object =
            object(&resource, &key, version, &text).with_row(row(&[&format!("cell {}", version / 3)]));
        let received = i64::try_from(version).expect("small");
        writer.change(&change(&resource, kind, object, received), None).expect("a change");
        if version == 1600 {
            writer.mark(&synced(&pods(), version, received)).expect("a mark");
            writer.mark(&synced(&nodes(), version, received)).expect("a mark");
        }
        if version % 50 == 0 {
            writer.flush(at(received)).expect("flushed");
            writer.settle().expect("settled");
        }
    }
    writer
}

#[test]
fn states_that_are_loaded_a_few_at_a_time_are_those_of_the_recording() {
    let with_keyframes = options().seal_entries(900).keep(Some(Duration::from_secs(2)));
    for (options, has_keyframe) in [(with_keyframes, true), (options(), false)] {
        let dir = tempfile::tempdir().expect("a directory");
        record_many(dir.path(), options.clone()).finish(at(7000)).expect("finished");
        let kinds: Vec<Kind> =
            files::list(dir.path()).expect("files").into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(kinds.contains(&Kind::Keyframe), has_keyframe);
        let recording = Recording::open(dir.path()).expect("a recording");
        let state = recording.state(Moment::End).expect("a state");
        let writer = Writer::open(dir.path(), "test", options, at(8000)).expect("a writer");
        for (resource, least) in [(pods(), 1025), (nodes(), 20)] {
            let expected = state.objects(&resource, None).expect("objects");
            let loaded = writer.objects(&resource, None);
            assert!(expected.len() >= least, "{}", expected.len());
            let texts =
                |objects: &[Arc<Object>]| objects.iter().map(|object| text(object)).collect::<Vec<_>>();
            assert!(texts(&loaded) == texts(&expected), "{}", resource.resource);
        }
    }
}
