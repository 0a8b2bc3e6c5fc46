//! Opening, closing, locks, gaps, retention, readers next to a writer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::fixtures::{MIDNIGHT, at, change, mark, nodes, object, options, pods, synced};
use crate::lines::{ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{Origin, ResourceVersion};
use crate::recording::{
    EntryFilter, Gap, Moment, Position, Recording, RecordingError, Writer, WriterOptions,
};

fn open(dir: &Path, options: WriterOptions, now: i64) -> Writer {
    Writer::open(dir, "test", options, at(now)).expect("a writer")
}

fn add(writer: &mut Writer, name: &str, version: u64, received: i64) {
    let change = change(&pods(), ChangeKind::Added, object(&pods(), name, version, "x"), received);
    writer.change(&change, None).expect("a change");
}

fn names(recording: &Recording, moment: Moment) -> Vec<String> {
    let objects = recording.state(moment).expect("a state").objects(&pods(), None).expect("objects");
    objects.iter().map(|object| object.key().to_string()).collect()
}

#[test]
fn only_one_writer_opens_a_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let writer = open(dir.path(), options(), 0);
    let second = Writer::open(dir.path(), "test", options(), at(0));
    assert!(matches!(second, Err(RecordingError::Locked { .. })), "{second:?}");
    writer.finish(at(1)).expect("finished");
    open(dir.path(), options(), 2);
    let other = Writer::open(dir.path(), "other", options(), at(3));
    assert!(
        matches!(other, Err(RecordingError::OtherContext { ref context, .. }) if context == "test"),
        "{other:?}"
    );
}

#[test]
fn directories_without_recordings_are_refused_and_left_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = Recording::open(&dir.path().join("none"));
    assert!(matches!(missing, Err(RecordingError::NotARecording { .. })), "{missing:?}");
    fs::create_dir(dir.path().join("empty")).expect("a directory");
    let own = Writer::directory(dir.path(), "arn:x/y");
    Writer::open(&own, "arn:x/y", options(), at(0)).expect("a writer").finish(at(1)).expect("finished");
    assert_eq!(Recording::contexts(dir.path()).expect("contexts"), [("arn:x/y".to_owned(), own)]);
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a directory");
    let own = dir.path().join("test");
    let keep = options().seal_entries(2).keep(Some(Duration::from_secs(4)));
    let mut writer = open(&own, keep, 0);
    for second in [1, 5] {
        writer.mark(&synced(&pods(), 1, second * 1000)).expect("a mark");
        writer.mark(&synced(&pods(), 1, second * 1000)).expect("a mark");
        writer.flush(at(second * 1000)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at(6000)).expect("finished");
    assert_eq!(own.metadata().expect("metadata").permissions().mode() & 0o777, 0o700);
    let files: Vec<_> = fs::read_dir(&own).expect("files").map(|file| file.expect("a file").path()).collect();
    assert_eq!(files.len(), 5, "lock, two segments, keyframe and journal: {files:?}");
    for file in files {
        assert_eq!(
            file.metadata().expect("metadata").permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
}

#[test]
fn recorded_time_never_goes_backwards() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options(), 5000);
    add(&mut writer, "a/one", 1, 9000);
    add(&mut writer, "a/two", 2, 3000);
    writer.finish(at(4000)).expect("finished");
    let mut writer = open(dir.path(), options(), 1000);
    add(&mut writer, "a/three", 3, 9500);
    writer.finish(at(9600)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    let times: Vec<_> =
        entries.map(|entry| entry.expect("an entry").received.as_millisecond() - MIDNIGHT).collect();
    assert_eq!(times, [5000, 9000, 9000, 9000, 9500]);
}

#[test]
fn lost_watches_and_stopped_recorders_are_gaps() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options(), 0);
    let version = |number: u64| ResourceVersion::new(&number.to_string());
    let kind = MarkKind::Gap { from: version(1), to: version(2), lasted: Duration::from_secs(3) };
    writer.mark(&mark(&pods(), kind, 5000)).expect("a mark");
    writer.bookmark(&pods(), &"".into(), &version(2), at(5000)).expect("a bookmark");
    writer.finish(at(6000)).expect("finished");
    open(dir.path(), options(), 20_000).finish(at(21_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let gap = |from, to, resource| Gap {
        from: at(from),
        to: at(to),
        resource,
        namespace: "".into(),
        except: Vec::new(),
    };
    let lost = gap(2000, 5000, Some(pods()));
    let stopped = gap(5000, 20_000, None);
    // The second recorder did not continue the pods.
    let open = gap(5000, 20_000, Some(pods()));
    assert_eq!(recording.gaps().expect("gaps"), [lost.clone(), stopped.clone(), open.clone()]);
    for (time, gap) in [
        (0, None),
        (1999, None),
        (2000, Some(&lost)),
        (4999, Some(&lost)),
        (5000, Some(&stopped)),
        (19_999, Some(&stopped)),
        (20_000, Some(&open)),
    ] {
        assert_eq!(recording.gap_at(at(time)).expect("gaps").as_ref(), gap, "{time}");
    }
}

#[test]
fn retention_keeps_the_state_at_the_new_beginning() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(10))).seal_entries(4);
    let mut writer = open(dir.path(), keep, 0);
    writer.mark(&synced(&pods(), 1, 0)).expect("a mark");
    add(&mut writer, "a/first", 2, 10);
    let mut expected = vec!["a/first".to_owned()];
    for second in 1..60 {
        let name = format!("b/pod-{second:02}");
        add(&mut writer, &name, 2 + second, second.cast_signed() * 1000);
        expected.push(name);
        writer.flush(at(second.cast_signed() * 1000)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at(60_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let beginning = recording.beginning().expect("a beginning");
    assert_eq!(recording.usage().expect("sizes").first, Some(beginning));
    let age = at(60_000).duration_since(beginning).as_secs();
    assert!((10..20).contains(&age), "{age}");
    assert_eq!(names(&recording, Moment::End), expected);
    let count = usize::try_from(60 - age).expect("positive");
    assert_eq!(names(&recording, Moment::Time(beginning)), expected[..=count]);
    let history = recording.history(&pods(), "a", "first").expect("a history");
    assert_eq!(history.len(), 0, "its only change was dropped");
    let before = recording.state(Moment::Time(at(10))).map(drop);
    assert!(
        matches!(before, Err(RecordingError::BeforeBeginning { beginning: at, .. }) if at == beginning),
        "{before:?}"
    );
}

#[test]
fn readers_follow_a_writer_across_segments() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options().seal_entries(3), 0);
    let mut recording = Recording::open(dir.path()).expect("a recording");
    assert!(!recording.refresh().expect("refreshed"));
    let mut expected = Vec::new();
    for number in 0..40u64 {
        let name = format!("a/pod-{number:02}");
        add(&mut writer, &name, number + 1, number.cast_signed());
        expected.push(name);
        writer.flush(at(number.cast_signed())).expect("flushed");
        let before = recording.state(Moment::End).expect("a state");
        assert!(recording.refresh().expect("refreshed"));
        assert_eq!(names(&recording, Moment::End), expected);
        let before = before.objects(&pods(), None).expect("an older state stays readable");
        assert_eq!(before.len(), expected.len() - 1);
    }
}

#[test]
fn a_recorder_killed_among_the_differences_of_a_list_compares_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options(), 0);
    let version = |number: u64| ResourceVersion::new(&number.to_string());
    let positions = |writer: &Writer| {
        let at = |position: &Position| position.version.to_string();
        writer.positions().iter().map(at).collect::<Vec<_>>()
    };
    assert_eq!(positions(&writer), [""; 0]);
    add(&mut writer, "a/one", 4, 1);
    writer.mark(&synced(&pods(), 9, 1)).expect("a mark");
    assert_eq!(positions(&writer), ["9"]);
    add(&mut writer, "a/two", 12, 2);
    let kind = MarkKind::Gap { from: version(12), to: version(30), lasted: Duration::from_secs(1) };
    writer.mark(&mark(&pods(), kind, 3)).expect("a mark");
    let mut relisted = change(&pods(), ChangeKind::Added, object(&pods(), "a/three", 20, "x"), 3);
    relisted.origin = Origin::Relist;
    writer.change(&relisted, None).expect("a change");
    writer.finish(at(4)).expect("finished");
    let mut writer = open(dir.path(), options(), 5);
    assert_eq!(positions(&writer), [""; 0]);
    writer.bookmark(&pods(), &"".into(), &version(31), at(6)).expect("a bookmark");
    assert_eq!(positions(&writer), ["31"]);
    drop(writer);
    let writer = open(dir.path(), options(), 7);
    assert_eq!(positions(&writer), [""; 0], "the bookmark was not flushed");
}

#[test]
fn a_watch_that_does_not_run_continues_only_if_nothing_newer_was_recorded() {
    let dir = tempfile::tempdir().expect("a directory");
    let positions = |writer: &Writer| {
        let at = |position: &Position| format!("{}@{}", position.namespace, position.version);
        writer.positions().iter().map(at).collect::<Vec<_>>()
    };
    let mut writer = open(dir.path(), options(), 0);
    writer.mark(&synced(&pods(), 9, 1)).expect("a mark");
    writer.finish(at(2)).expect("finished");
    let mut writer = open(dir.path(), options(), 3);
    assert_eq!(positions(&writer), ["@9"]);
    let in_namespace = Mark { namespace: "a".into(), ..synced(&pods(), 12, 4) };
    writer.mark(&in_namespace).expect("a mark");
    assert_eq!(positions(&writer), ["@9", "a@12"]);
    add(&mut writer, "a/one", 20, 5);
    assert_eq!(positions(&writer), ["a@20"], "the other watch would repeat it");
    add(&mut writer, "a/two", 19, 6);
    assert_eq!(positions(&writer), ["a@20"], "a position never decreases");
    let status = Status { message: "forbidden".to_owned(), ..Status::default() };
    let ended = Mark { namespace: "a".into(), ..mark(&pods(), MarkKind::Error(status), 7) };
    writer.mark(&ended).expect("a mark");
    assert_eq!(positions(&writer), [""; 0], "a watch that ended may have missed something");
    writer.finish(at(8)).expect("finished");
    assert_eq!(positions(&open(dir.path(), options(), 9)), [""; 0]);
}

#[test]
fn a_deletion_found_by_a_list_has_the_version_of_the_list() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options(), 0);
    add(&mut writer, "a/one", 4, 1);
    let version = |number: u64| ResourceVersion::new(&number.to_string());
    let kind = MarkKind::Gap { from: version(4), to: version(30), lasted: Duration::from_secs(1) };
    writer.mark(&mark(&pods(), kind, 3)).expect("a mark");
    let mut gone = change(&pods(), ChangeKind::Deleted, object(&pods(), "a/one", 4, "x"), 3);
    gone.origin = Origin::Relist;
    writer.change(&gone, None).expect("a change");
    writer.bookmark(&pods(), &"".into(), &version(30), at(3)).expect("a bookmark");
    writer.finish(at(4)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(names(&recording, Moment::Version(29)), ["a/one"]);
    assert_eq!(names(&recording, Moment::Version(30)), [""; 0]);
    let history = recording.history(&pods(), "a", "one").expect("a history");
    let crate::recording::Item::Change { change, .. } = &history[1].item else { panic!("not a change") };
    assert_eq!(*change.object.resource_version(), version(4), "the object keeps its own version");
}

#[test]
fn a_failed_write_ends_the_recording() {
    let dir = tempfile::tempdir().expect("a directory");
    let own = dir.path().join("test");
    let mut writer = open(&own, options().seal_entries(2), 0);
    add(&mut writer, "a/one", 1, 1);
    fs::rename(&own, dir.path().join("moved")).expect("moved");
    for _ in 0..2 {
        let failed = writer.flush(at(2));
        assert!(matches!(failed, Err(RecordingError::Io { .. })), "{failed:?}");
    }
    let recording = Recording::open(&dir.path().join("moved")).expect("a recording");
    assert_eq!(names(&recording, Moment::End), ["a/one"]);
}

#[test]
fn a_recorder_that_is_restarted_often_leaves_no_small_segments() {
    let dir = tempfile::tempdir().expect("a directory");
    for number in 0..20u64 {
        let now = number.cast_signed() * 1000;
        let mut writer = open(dir.path(), options(), now);
        add(&mut writer, &format!("a/pod-{number:02}"), number + 1, now);
        writer.flush(at(now)).expect("flushed");
        // Without `finish`, as if it was killed.
        drop(writer);
    }
    let files: Vec<_> =
        fs::read_dir(dir.path()).expect("files").map(|file| file.expect("a file").path()).collect();
    assert_eq!(files.len(), 2, "lock and journal: {files:?}");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(names(&recording, Moment::End).len(), 20);
    assert_eq!(recording.gaps().expect("gaps").len(), 19);
    assert_eq!(recording.verify().expect("verified"), []);
}

#[test]
fn an_object_that_is_created_again_has_one_history() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options().seal_entries(7), 0);
    writer.mark(&synced(&pods(), 1, 0)).expect("a mark");
    for number in 0..12u64 {
        let kind = [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted]
            [usize::try_from(number % 3).expect("small")];
        let new = object(&pods(), "a/web", 2 + number, &format!("text {number}"));
        let received = number.cast_signed() * 1000;
        writer.change(&change(&pods(), kind, new, received), None).expect("a change");
        writer.flush(at(received)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at(12_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let history = recording.history(&pods(), "a", "web").expect("a history");
    let kinds: Vec<_> = history
        .iter()
        .map(|entry| match &entry.item {
            crate::recording::Item::Change { change, .. } => {
                (change.kind, change.old.as_ref().map(|old| old.resource_version().to_string()))
            }
            item => panic!("{item:?}"),
        })
        .collect();
    let expected: Vec<_> = (0..4u64)
        .flat_map(|round| {
            let version = |at: u64| Some((2 + 3 * round + at).to_string());
            [(ChangeKind::Added, None), (ChangeKind::Modified, version(0)), (ChangeKind::Deleted, version(1))]
        })
        .collect();
    assert_eq!(kinds, expected);
    for (time, exists) in
        [(0, true), (1000, true), (2000, false), (3000, true), (8000, false), (10_500, true)]
    {
        assert_eq!(names(&recording, Moment::Time(at(time))).len(), usize::from(exists), "{time}");
    }
}

#[test]
fn a_reader_with_an_old_listing_reads_after_retention() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(4))).seal_entries(4);
    let mut writer = open(dir.path(), keep, 0);
    writer.mark(&synced(&pods(), 1, 0)).expect("a mark");
    let mut add_until = |from: u64, to: u64| {
        for second in from..to {
            add(&mut writer, &format!("a/pod-{second:02}"), 2 + second, second.cast_signed() * 1000);
            writer.flush(at(second.cast_signed() * 1000)).expect("flushed");
            writer.settle().expect("settled");
        }
    };
    add_until(1, 12);
    let recording = Recording::open(dir.path()).expect("a recording");
    let beginning = recording.beginning().expect("a beginning");
    let mut entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    add_until(12, 40);
    assert!(names(&recording, Moment::End).len() >= 11, "it reads the files that are there now");
    let dropped = recording.state(Moment::Time(beginning)).map(drop);
    assert!(matches!(dropped, Err(RecordingError::BeforeBeginning { .. })), "{dropped:?}");
    assert!(recording.gaps().is_ok());
    assert!(recording.history(&pods(), "a", "pod-01").is_ok());
    let first = entries.next().expect("an entry");
    assert!(matches!(first, Err(RecordingError::BeforeBeginning { .. })), "{first:?}");
    assert!(entries.next().is_some_and(|entry| entry.is_ok()));
}

#[test]
fn a_type_that_is_recorded_later_is_none_of_a_moment() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options(), 0);
    add(&mut writer, "a/one", 1, 1000);
    let node = change(&nodes(), ChangeKind::Added, object(&nodes(), "node-1", 2, "x"), 5000);
    writer.change(&node, None).expect("a change");
    writer.finish(at(6000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let resources = |moment| recording.state(moment).expect("a state").resources().expect("resources");
    assert_eq!(resources(Moment::Time(at(2000))), [pods()]);
    assert_eq!(resources(Moment::Version(1)), [pods()]);
    assert_eq!(resources(Moment::End), [nodes(), pods()]);
}

/// A device that is always full stands for the disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_recording_and_what_was_written_is_read() {
    use std::os::unix::fs::symlink;
    for full in ["0000000000000000.segment.tmp", "0000000000000003.journal"] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(3), 0);
        symlink("/dev/full", dir.path().join(full)).expect("a link");
        add(&mut writer, "a/one", 1, 1000);
        add(&mut writer, "a/two", 2, 1000);
        let failed =
            writer.flush(at(1000)).and_then(|()| writer.settle()).and_then(|()| writer.flush(at(2000)));
        assert!(matches!(failed, Err(RecordingError::Full { .. })), "{full}: {failed:?}");
        assert!(matches!(writer.flush(at(3000)), Err(RecordingError::Full { .. })), "it has ended");
        drop(writer);
        if full.ends_with("journal") {
            fs::remove_file(dir.path().join(full)).expect("removed");
        }
        let recording = Recording::open(dir.path()).expect("a recording");
        assert_eq!(names(&recording, Moment::End), ["a/one", "a/two"], "{full}");
        // With room again, the recording continues.
        let mut writer = open(dir.path(), options(), 9000);
        add(&mut writer, "a/three", 3, 9000);
        writer.finish(at(9500)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        assert_eq!(names(&recording, Moment::End).len(), 3);
    }
}
