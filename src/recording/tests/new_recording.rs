//! Recordings that tools write: complete or absent, whatever interrupts the tool.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::fixtures::{at, change, object, options, pods, text};
use crate::lines::ChangeKind;
use crate::recording::{CutOptions, Importer, Moment, Recording, RecordingError, Writer, cut};

/// Records one pod.
fn record(dir: &Path) -> Recording {
    let mut writer = Writer::open(dir, "test", options(), at(0)).expect("a writer");
    let added = change(&pods(), ChangeKind::Added, object(&pods(), "a/web", 1, "x"), 0);
    writer.change(&added, None).expect("a change");
    writer.finish(at(1)).expect("finished");
    Recording::open(dir).expect("a recording")
}

fn copy(from: &Recording, to: &Path) -> Result<(), RecordingError> {
    cut(from, to, &CutOptions::default())
}

#[test]
fn what_an_interrupted_tool_leaves_is_no_recording_and_is_replaced() {
    let dir = tempfile::tempdir().expect("a directory");
    let original = record(&dir.path().join("original"));
    let contexts = dir.path().join("new");
    let hidden = contexts.join(".test.incomplete");
    // As `kill -9` leaves it.
    record(&hidden);
    assert_eq!(Recording::contexts(&contexts).expect("listed"), []);
    copy(&original, &contexts.join("test")).expect("copied");
    assert!(!hidden.exists());
    let copied = Recording::open(&contexts.join("test")).expect("a recording");
    let pods = copied.state(Moment::End).expect("a state").objects(&pods(), None).expect("objects");
    assert_eq!(pods.iter().map(|pod| text(pod)).collect::<Vec<_>>().len(), 1);
}

#[test]
fn a_directory_that_another_tool_writes_to_is_left_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let original = record(&dir.path().join("original"));
    let hidden = dir.path().join(".copy.incomplete");
    let _other = Writer::open(&hidden, "test", options(), at(0)).expect("a writer");
    let error = copy(&original, &dir.path().join("copy")).expect_err("refused");
    assert!(matches!(&error, RecordingError::Locked { path } if *path == hidden), "{error}");
    assert!(hidden.exists() && !dir.path().join("copy").exists());
}

#[test]
fn only_an_empty_directory_is_filled() {
    let dir = tempfile::tempdir().expect("a directory");
    let original = record(&dir.path().join("original"));
    let to = dir.path().join("copy");
    fs::create_dir(&to).expect("created");
    copy(&original, &to).expect("copied");
    assert!(matches!(copy(&original, &to), Err(RecordingError::Exists { .. })));
    let other = dir.path().join("other");
    fs::create_dir(&other).expect("created");
    fs::write(other.join("notes"), "x").expect("written");
    let error = copy(&original, &other).expect_err("refused");
    assert!(
        matches!(&error, RecordingError::Io { source, .. } if source.kind() == ErrorKind::DirectoryNotEmpty),
        "{error}"
    );
    assert_eq!(fs::read(other.join("notes")).expect("read"), b"x");
}

#[test]
fn times_that_go_backwards_are_counted() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut importer = Importer::new(dir.path());
    for (second, context) in [(5, "a"), (3, "b"), (4, "a"), (5, "a"), (4, "b"), (2, "a")] {
        let line = format!(
            r#"{{"ts":"2026-11-24T03:12:0{second}Z","type":"ADDED","context":"{context}","group":"","version":"v1","kind":"Pod","resource":"pods","object":{{"metadata":{{"name":"x","namespace":"n","uid":"u"}}}}}}"#
        );
        importer.line(line.as_bytes()).expect("a line");
    }
    assert_eq!(importer.finish().expect("imported").raised, 2);
}
