//! Gaps and first lists of recordings whose beginning was dropped, or of which a part is damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::damage::files;
use super::fixtures::{at_second, change, mark, nodes, object, options, pods, synced};
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{ApiResource, Origin};
use crate::recording::{EntryFilter, Gap, Recording, RecordingError, Writer, WriterOptions};

fn add(writer: &mut Writer, resource: &Arc<ApiResource>, key: &str, second: i64, origin: Origin) {
    let kind = if origin == Origin::List { ChangeKind::Added } else { ChangeKind::Modified };
    let change = change(resource, kind, object(resource, key, second.unsigned_abs() + 2, "x"), 1000 * second);
    writer.change(&Change { origin, ..change }, None).expect("a change");
}

fn flush(writer: &mut Writer, second: i64) {
    writer.flush(at_second(second)).expect("flushed");
    writer.settle().expect("settled");
}

/// Opens a writer whose first entries are a pod and a node, and their marks.
fn begun(dir: &Path, options: WriterOptions) -> Writer {
    let mut writer = Writer::open(dir, "test", options, at_second(0)).expect("a writer");
    add(&mut writer, &pods(), "shop/a", 0, Origin::List);
    writer.mark(&Mark { namespace: "shop".into(), ..synced(&pods(), 2, 0) }).expect("a mark");
    add(&mut writer, &nodes(), "node", 0, Origin::List);
    writer.mark(&synced(&nodes(), 2, 0)).expect("a mark");
    writer
}

/// Changes the pod once a second, each change in a segment of its own or two.
fn change_pod(writer: &mut Writer, seconds: std::ops::Range<i64>) {
    for second in seconds {
        add(writer, &pods(), "shop/a", second, Origin::Watch);
        flush(writer, second);
    }
}

/// Returns each gap as its resource and its seconds.
fn texts(gaps: &[Gap]) -> Vec<String> {
    let text = |gap: &Gap| {
        let resource = gap.resource.as_ref().map_or("all", |resource| &*resource.resource);
        let second = |time: jiff::Timestamp| time.duration_since(at_second(0)).as_secs();
        format!("{resource} {} to {}", second(gap.from), second(gap.to))
    };
    gaps.iter().map(text).collect()
}

fn opened(dir: &Path) -> Recording {
    Recording::open(dir).expect("a recording")
}

/// Returns the file of a segment in the middle, with as many segments before it.
fn segment(dir: &Path, number: usize) -> PathBuf {
    files(dir, "segment").swap_remove(number)
}

#[test]
fn a_type_that_had_ended_before_the_beginning_is_in_a_gap() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(10))).seal_entries(2);
    let mut writer = begun(dir.path(), keep);
    writer.mark(&mark(&nodes(), MarkKind::Error(Status::default()), 1000)).expect("a mark");
    change_pod(&mut writer, 2..60);
    writer.finish(at_second(60)).expect("finished");
    let recording = opened(dir.path());
    let beginning = recording.beginning().expect("a beginning").duration_since(at_second(0)).as_secs();
    assert!(beginning > 1, "{beginning}");
    assert_eq!(texts(&recording.gaps().expect("gaps")), [format!("nodes {beginning} to 59")]);
    let unobserved = recording.unobserved_at(at_second(59)).expect("gaps");
    assert_eq!((unobserved.gaps.len(), unobserved.incomplete_lists.len()), (1, 0));
}

#[test]
fn an_unfinished_list_of_a_later_type_is_incomplete() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(10))).seal_entries(2);
    let mut writer = Writer::open(dir.path(), "test", keep, at_second(0)).expect("a writer");
    add(&mut writer, &pods(), "shop/a", 0, Origin::List);
    writer.mark(&synced(&pods(), 2, 0)).expect("a mark");
    change_pod(&mut writer, 2..58);
    add(&mut writer, &nodes(), "node", 58, Origin::List);
    flush(&mut writer, 58);
    writer.finish(at_second(59)).expect("finished");
    let recording = opened(dir.path());
    assert!(recording.beginning() > Some(at_second(1)));
    let incomplete = |second| recording.unobserved_at(at_second(second)).expect("lists").incomplete_lists;
    assert_eq!(incomplete(57), []);
    assert!(matches!(&incomplete(58)[..], [list] if list.resource == nodes() && list.until.is_none()));
}

#[test]
fn only_files_that_may_have_a_part_of_a_list_are_searched_for_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = begun(dir.path(), options().seal_entries(2));
    change_pod(&mut writer, 2..30);
    add(&mut writer, &pods(), "web/a", 30, Origin::List);
    flush(&mut writer, 30);
    writer.mark(&Mark { namespace: "web".into(), ..synced(&pods(), 40, 31_000) }).expect("a mark");
    writer.finish(at_second(31)).expect("finished");
    let recording = opened(dir.path());
    let incomplete = |recording: &Recording, second| {
        recording.unobserved_at(at_second(second)).map(|unobserved| unobserved.incomplete_lists.len())
    };
    assert_eq!([10, 30].map(|second| incomplete(&recording, second).expect("lists")), [0, 1]);
    let path = segment(dir.path(), 5);
    let whole = fs::read(&path).expect("read");
    let mut read = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("written");
        let recording = opened(dir.path());
        // Neither the marks nor the tables are damaged.
        if recording.gaps().is_ok() && recording.check_tables().is_ok() {
            assert_eq!(incomplete(&recording, 20).expect("lists"), 0, "{at}");
            read += 1;
        }
    }
    assert!(read > 20, "{read}");
}

#[test]
fn damage_does_not_hide_a_gap_before_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = begun(dir.path(), options().seal_entries(2));
    writer.mark(&mark(&nodes(), MarkKind::Error(Status::default()), 1000)).expect("a mark");
    change_pod(&mut writer, 2..30);
    writer.finish(at_second(31)).expect("finished");
    let path = segment(dir.path(), 8);
    let whole = fs::read(&path).expect("read");
    let mut shorter = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("written");
        let recording = opened(dir.path());
        let Ok(gaps) = recording.gaps() else { continue };
        assert_eq!(gaps.len(), 1, "{at}");
        assert_eq!(recording.gap_at(at_second(5)).expect("gaps"), gaps.first().cloned(), "{at}");
        assert_eq!(recording.readable_gaps().expect("gaps"), gaps, "{at}");
        shorter += usize::from(gaps[0].to < at_second(29));
    }
    assert!(shorter > 10, "{shorter}");
}

#[test]
fn an_excerpt_does_not_lose_the_gaps_of_a_file_that_can_not_be_read_now() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = begun(dir.path(), options().seal_entries(2));
    change_pod(&mut writer, 2..30);
    writer.finish(at_second(31)).expect("finished");
    let recording = opened(dir.path());
    let path = segment(dir.path(), 8);
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("a directory that can't be read as a file");
    let excerpt = recording.excerpt(None, None, EntryFilter::default());
    assert!(matches!(excerpt, Err(RecordingError::Io { .. })), "{excerpt:?}");
}
