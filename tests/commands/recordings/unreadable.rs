//! Directories without a recording, and recordings that can't be read.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use super::{Recordings, at, pod, resource};
use crate::support::{Recorder, TestEnv, synced};
use kdelta::lines::ChangeKind;

#[test]
fn directory_without_a_recording_is_an_error() {
    let env = TestEnv::new();
    fs::create_dir(env.home().join("empty")).expect("a folder");
    env.file("file", "text");
    for dir in [".", "empty"] {
        let error = env.kdelta(&["get", "pods", "--from", dir]).finish().failure(1);
        assert!(error.contains("not a recording"), "{dir}: {error}");
    }
    let error = env.kdelta(&["get", "pods", "--from", "missing"]).finish().failure(1);
    assert!(error.contains("missing") && error.contains("No such file"), "{error}");
    let error = env.kdelta(&["get", "pods", "--from", "file"]).finish().failure(1);
    assert!(error.contains("file") && error.contains("Not a directory"), "{error}");
}

#[test]
fn recording_without_objects_is_empty() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    Recorder::new(&dir, "prod", at(0)).finish(at(0));
    let notice = "the recording of the context \"prod\" has no objects";
    for line in ["get pods", "history pod/web", "changes pods"] {
        let words: Vec<&str> = line.split_whitespace().chain(["--from", "rec"]).collect();
        let error = env.kdelta(&words).finish().failure(1);
        assert!(error.contains(notice) && error.contains("\"pod"), "{error}");
    }
    let changes = env.kdelta(&["changes", "--from", "rec"]).finish();
    assert_eq!((changes.code, changes.stderr), (0, format!("Warning: {notice}\n")));
    assert!(changes.stdout.starts_with("prod: 0 changes of 0 objects"), "{}", changes.stdout);
}

#[test]
fn recording_without_a_context_has_no_name_in_messages() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&dir, "", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.json(ChangeKind::Modified, &pods, &pod("web", 20, "Failed"), at(3));
    recorder.finish(at(3));
    let run = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().chain(["--from", "rec"]).collect();
        env.kdelta(&words).finish()
    };
    let summary = run("changes").quiet_success();
    assert!(summary.starts_with("1 change of 1 object in 1 group, 2026-11-24T03:00:00Z to "), "{summary}");
    let error = run("history pod/web --until 2026-11-24T02:00:00Z").failure(1);
    assert!(error.contains("is outside of the recording, which is from 2026-11-24T03:00:00Z to"), "{error}");
    let error = run("changes --context prod").failure(1);
    assert!(error.contains("the recording has no context: omit --context"), "{error}");
    let words = ["recording", "verify", "rec"];
    let verified = env.kdelta(&words).finish().quiet_success();
    assert!(verified.starts_with("no damage in "), "{verified}");
}

#[test]
fn closed_pipe_ends_history_without_a_message() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    for version in 11..2000 {
        recorder.json(ChangeKind::Modified, &pods, &pod("web", version, "Running"), at(1));
    }
    recorder.finish(at(3));
    for format in [&["-o", "json"][..], &["--show-all"]] {
        let words = [&["history", "pod/web", "--from", "rec"], format].concat();
        let mut command = env.kdelta(&words).into_command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        drop(out);
        let ended = child.wait_with_output().expect("its end");
        assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(141), &b""[..]), "{format:?}");
    }
}

/// Returns the only file of a context with this extension.
fn file(recordings: &Recordings, context: &str, extension: &str) -> PathBuf {
    let files = fs::read_dir(Recorder::path(&recordings.dir, context)).expect("a directory");
    let mut paths = files.map(|file| file.expect("a file").path());
    paths.find(|path| path.extension().is_some_and(|own| own == extension)).expect(extension)
}

#[test]
fn newer_format_is_refused() {
    let recordings = Recordings::of(&["prod"]);
    let path = file(&recordings, "prod", "segment");
    let original = fs::read(&path).expect("a file");
    let mut bytes = original.clone();
    bytes[8] = 99;
    let checksum = crc32fast::hash(&bytes[..12]).to_le_bytes();
    bytes[12..16].copy_from_slice(&checksum);
    fs::write(&path, bytes).expect("written");
    let error = recordings.run("get pods").failure(1);
    assert!(error.contains("format 99 is newer than this program; update kdelta to read it"), "{error}");
    fs::write(&path, original).expect("written");
    recordings.run("get pods").quiet_success();
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let recordings = Recordings::of(&["prod"]);
    let path = file(&recordings, "prod", "segment");
    let original = fs::read(&path).expect("a file");
    // The keyframe at the end does not need the segment.
    recordings.run("get pods -o json").quiet_success();
    let whole = recordings.run("get pods -o json --at rv:20").quiet_success();
    let mut refused = 0;
    for position in (20..original.len()).step_by(original.len() / 10) {
        let mut bytes = original.clone();
        bytes[position] ^= 0x40;
        fs::write(&path, bytes).expect("written");
        let ended = recordings.run("get pods -o json --at rv:20");
        if ended.code == 0 {
            // The damaged block is not needed for this question.
            assert_eq!(ended.stdout, whole, "{position}");
            continue;
        }
        refused += 1;
        let error = ended.failure(1);
        assert!(error.contains(".segment") && error.contains("damaged"), "{position}: {error}");
    }
    assert!(refused > 0, "no byte that is needed was damaged");
    fs::write(&path, &original[..original.len() / 2]).expect("written");
    let error = recordings.run("get pods -o json --at rv:20").failure(1);
    assert!(error.contains(".segment") && error.contains("damaged"), "{error}");
}

#[test]
fn other_contexts_are_read_despite_a_damaged_one() {
    let recordings = Recordings::of(&["dev", "prod"]);
    let path = file(&recordings, "prod", "segment");
    let length = fs::metadata(&path).expect("a file").len();
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..usize::try_from(length / 2).expect("a length")]).expect("written");
    let ended = recordings.run("get pods --all-contexts --at rv:20");
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert!(ended.stdout.contains("web"), "{}", ended.stdout);
    assert!(ended.stderr.contains("prod") && ended.stderr.contains("damaged"), "{}", ended.stderr);
}

#[test]
fn journal_is_read_while_it_is_written() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.flush(at(1));
    let read = || env.kdelta(&["get", "pods", "-o", "name", "--from", "rec"]).finish().quiet_success();
    assert_eq!(read(), "pod/web\n");
    recorder.json(ChangeKind::Added, &pods, &pod("late", 20, "Running"), at(2));
    recorder.flush(at(2));
    assert_eq!(read(), "pod/late\npod/web\n");
    recorder.finish(at(3));
}
