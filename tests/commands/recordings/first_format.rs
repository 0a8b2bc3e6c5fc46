//! A recording of format 1, which an older version wrote: a sealed segment and a journal.
//!
//! The expected texts are what that version printed of it. `export.txt` has a checksum of each exported line.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kdelta::lines::ChangeKind;
use kdelta::recording::{Writer, WriterOptions};
use serde_json::Value;

use super::{pod, resource};
use crate::support::{Recorder, TestEnv};

const SEGMENT: &str = "0000000000000000.segment";
const JOURNAL: &str = "0000000000000097.journal";
const FILES: [(&str, &[u8]); 2] = [
    (SEGMENT, include_bytes!("first_format/0000000000000000.segment")),
    (JOURNAL, include_bytes!("first_format/0000000000000097.journal")),
];
const EXPORT: &str = include_str!("first_format/export.txt");
const CONTEXT: &str = "old";

/// A copy of the recording.
struct OlderRecording {
    env: TestEnv,
    dir: PathBuf,
}

impl OlderRecording {
    fn new() -> Self {
        let env = TestEnv::new();
        let dir = env.home().join("rec");
        let own = Recorder::path(&dir, CONTEXT);
        fs::create_dir_all(&own).expect("a directory");
        for (name, bytes) in FILES {
            fs::write(own.join(name), bytes).expect("a file");
        }
        Self { env, dir }
    }

    fn path(&self) -> PathBuf {
        Recorder::path(&self.dir, CONTEXT)
    }

    /// Runs a command, with the directory in place of `@`.
    fn run(&self, line: &str) -> String {
        let dir = self.dir.to_str().expect("UTF-8");
        let words: Vec<&str> =
            line.split_whitespace().map(|word| if word == "@" { dir } else { word }).collect();
        self.env.kdelta(&words).env("TZ", "UTC").finish().quiet_success()
    }

    /// Returns the exported lines, each with its time, type, resource, name and version, and its checksum.
    fn export(&self) -> Vec<String> {
        let summary = |line: &str| {
            let json: Value = serde_json::from_str(line).expect("a JSON line");
            let fields = ["ts", "type", "resource", "name", "resourceVersion"];
            let fields = fields.map(|field| json[field].as_str().unwrap_or("-"));
            format!("{} {:08x}", fields.join(" "), crc32fast::hash(line.as_bytes()))
        };
        self.run("recording export @").lines().map(summary).collect()
    }

    /// Continues the recording with a change of a pod.
    fn continue_with(&self, options: WriterOptions) {
        let now: Timestamp = "2026-11-29T00:22:00Z".parse().expect("a time");
        let writer = Writer::open(&self.path(), CONTEXT, options.sync(false), now).expect("a writer");
        let mut recorder = Recorder::of(writer, CONTEXT);
        let new = pod("new", 60_220_341_200, "Running");
        recorder.watched(ChangeKind::Added, &resource("pods", "Pod"), &new, None, now);
        recorder.finish(now);
    }

    #[track_caller]
    fn assert_continued(&self, files: usize) {
        let lines = self.export();
        let expected: Vec<&str> = EXPORT.lines().collect();
        assert_eq!(lines[..expected.len()], expected);
        let [started, new] = &lines[expected.len()..] else { panic!("two new lines: {lines:?}") };
        assert!(started.starts_with("2026-11-29T00:22:00.000Z STARTED "), "{started}");
        assert!(new.starts_with("2026-11-29T00:22:00.000Z ADDED pods new 60220341200 "), "{new}");
        let verified = self.run("recording verify @");
        assert_eq!(verified, format!("old: no damage in {files} files with 180 entries\n"));
    }
}

/// Returns the major version of a file's format.
fn format_of(path: &Path) -> u8 {
    fs::read(path).expect("a file")[8]
}

#[test]
fn every_command_reads_it() {
    let recording = OlderRecording::new();
    assert_eq!(recording.run("recording verify @"), "old: no damage in 2 files with 178 entries\n");
    let info: Value = serde_json::from_str(&recording.run("recording info @ -o json")).expect("JSON");
    let context = &info["contexts"][0];
    assert_eq!((&context["entries"], &context["to"]), (&178.into(), &"2026-11-29T00:21:06.428Z".into()));
    assert_eq!(context["gaps"].as_array().map(Vec::len), Some(3), "{info}");
    assert_eq!(recording.export(), EXPORT.lines().collect::<Vec<_>>());
    let history = recording.run("history pod cart-6htrwqp2qj-r9nhg --from @");
    assert_eq!(history, include_str!("first_format/history.txt"));
    let pods = recording.run("get pods -A --from @ --at 2026-11-29T00:20:57.5Z");
    assert_eq!(pods, include_str!("first_format/pods.txt"));
}

#[test]
fn a_writer_appends_to_its_journal() {
    let recording = OlderRecording::new();
    recording.continue_with(WriterOptions::default());
    assert_eq!(format_of(&recording.path().join(JOURNAL)), 1);
    recording.assert_continued(2);
}

#[test]
fn new_files_have_the_new_format() {
    let recording = OlderRecording::new();
    recording.continue_with(WriterOptions::default().seal_entries(20));
    let path = recording.path();
    let sealed = path.join(JOURNAL).with_extension("segment");
    assert!(!path.join(JOURNAL).exists());
    assert_eq!((format_of(&path.join(SEGMENT)), format_of(&sealed)), (1, 3));
    recording.assert_continued(3);
}
