//! Keyframes that refer to the previous one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::damage::{files, record_with, state};
use super::fixtures::{at_second, change, nodes, object, options, pods, row, synced, text};
use crate::lines::ChangeKind;
use crate::recording::files::{self as recorded_files, Kind};
use crate::recording::keyframe::Keyframe;
use crate::recording::{Moment, Recording, RecordingError, Writer, WriterOptions};

/// The number of pods, which are in several groups of a keyframe.
const PODS: u64 = 600;

/// Options with a keyframe every ten seconds, which drop what is older than forty.
fn with_keyframes() -> WriterOptions {
    options().seal_entries(1).keep(Some(Duration::from_secs(40)))
}

/// A recording of pods and a node. A second later, a tenth of the pods is changed, one is replaced, and the rows of some
/// differ. The expected states are kept by their seconds.
struct Recorded {
    writer: Writer,
    version: u64,
    current: BTreeMap<String, String>,
    states: BTreeMap<i64, Vec<String>>,
}

impl Recorded {
    fn start(dir: &Path) -> Self {
        let writer = Writer::open(dir, "test", with_keyframes(), at_second(0)).expect("a writer");
        let mut recorded = Self { writer, version: 0, current: BTreeMap::new(), states: BTreeMap::new() };
        (0..PODS).for_each(|number| recorded.write(&format!("a/web-{number:03}"), 0, "first", "1"));
        recorded.end_second(0);
        recorded
    }

    fn write(&mut self, key: &str, second: i64, content: &str, cell: &str) {
        self.version += 1;
        let kind = if self.current.contains_key(key) { ChangeKind::Modified } else { ChangeKind::Added };
        let pod = object(&pods(), key, self.version, content).with_row(row(&[key, cell]));
        self.current.insert(key.to_owned(), text(&pod));
        self.writer.change(&change(&pods(), kind, pod, second * 1000), None).expect("a change");
    }

    fn delete(&mut self, key: &str, second: i64) {
        self.version += 1;
        let pod = object(&pods(), key, self.version, "last");
        self.current.remove(key);
        let deleted = change(&pods(), ChangeKind::Deleted, pod, second * 1000);
        self.writer.change(&deleted, None).expect("a change");
    }

    fn end_second(&mut self, second: i64) {
        self.version += 1;
        let node = object(&nodes(), "node-1", self.version, &format!("text {second}"));
        let kind = if second == 0 { ChangeKind::Added } else { ChangeKind::Modified };
        self.writer.change(&change(&nodes(), kind, node, second * 1000), None).expect("a change");
        for resource in [pods(), nodes()] {
            self.writer.mark(&synced(&resource, self.version, second * 1000)).expect("a mark");
        }
        self.writer.flush(at_second(second)).expect("flushed");
        self.writer.settle().expect("settled");
        self.states.insert(second, self.current.values().cloned().collect());
    }

    fn run(&mut self, seconds: impl Iterator<Item = i64>) {
        for second in seconds {
            for number in (0..PODS / 10).map(|number| number * 7 % 300) {
                let cell = if number % 3 == 0 { second.to_string() } else { "1".to_owned() };
                self.write(&format!("a/web-{number:03}"), second, &format!("text {second}"), &cell);
            }
            self.delete(&format!("a/web-{:03}", 400 + second), second);
            self.write(&format!("a/web-{second:03}-new"), second, "new", "1");
            self.end_second(second);
        }
    }

    /// Compares the states that are still recorded.
    fn assert_states(&self, dir: &Path) {
        let recording = Recording::open(dir).expect("a recording");
        let beginning = recording.beginning().expect("a beginning");
        let kept = self.states.iter().filter(|(second, _)| at_second(**second) >= beginning);
        for (second, expected) in kept {
            let read = state(&recording, Moment::Time(at_second(*second))).expect("a state");
            assert!(read == *expected, "second {second}: {} {}", read.len(), expected.len());
        }
        assert!(recording.verify().expect("verified").is_empty());
    }
}

/// Returns for each keyframe its length and whether it refers to another one.
fn keyframes(dir: &Path) -> Vec<(u64, bool)> {
    let numbers = recorded_files::list(dir).expect("files").into_iter();
    let opened = numbers.filter(|(_, kind)| *kind == Kind::Keyframe).map(|(number, _)| {
        let keyframe = Keyframe::open(dir, number, None).expect("a keyframe");
        (keyframe.len(), keyframe.base().is_some())
    });
    opened.collect()
}

#[test]
fn every_second_keyframe_refers_to_the_one_before_and_is_smaller() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = Recorded::start(dir.path());
    recorded.run(1..36);
    let [(whole, false), (referring, true), (_, false)] = keyframes(dir.path())[..] else {
        panic!("{:?}", keyframes(dir.path()));
    };
    assert!(referring * 3 < whole * 2, "{referring} {whole}");
    recorded.assert_states(dir.path());
    // The next recorder continues with a keyframe that refers to the last one.
    drop(recorded.writer);
    recorded.writer = Writer::open(dir.path(), "test", with_keyframes(), at_second(36)).expect("a writer");
    recorded.run(36..42);
    assert!(keyframes(dir.path()).last().is_some_and(|(_, refers)| *refers));
    recorded.assert_states(dir.path());
}

#[test]
fn retention_keeps_the_states_to_which_the_first_keyframe_refers() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = Recorded::start(dir.path());
    let mut has_kept = false;
    for second in 1..80 {
        recorded.run(second..=second);
        let (bases, keyframes) = (files(dir.path(), "base"), keyframes(dir.path()));
        assert_eq!(!bases.is_empty(), second > 40 && keyframes[0].1, "{second}: {bases:?} {keyframes:?}");
        has_kept |= !bases.is_empty();
    }
    assert!(has_kept);
    for second in 80.. {
        recorded.run(second..=second);
        if !files(dir.path(), "base").is_empty() {
            break;
        }
    }
    recorded.assert_states(dir.path());
    let usage = Recording::open(dir.path()).expect("a recording").usage().expect("sizes");
    let listed = recorded_files::list(dir.path()).expect("files").into_iter();
    let paths = listed.map(|(number, kind)| recorded_files::path_of(dir.path(), kind, number));
    assert_eq!(usage.bytes, paths.map(|path| path.metadata().expect("a file").len()).sum::<u64>());
}

#[test]
fn damage_of_a_base_reaches_to_the_next_whole_keyframe() {
    for is_dropped in [false, true] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut recorded = Recorded::start(dir.path());
        recorded.run(1..if is_dropped { 65 } else { 36 });
        let kind = if is_dropped { "base" } else { "keyframe" };
        let base = files(dir.path(), kind).remove(0);
        let mut bytes = fs::read(&base).expect("read");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&base, bytes).expect("written");
        let recording = Recording::open(dir.path()).expect("a recording");
        let damages = recording.verify().expect("verified");
        assert!(damages.iter().all(|damage| damage.file == base), "{damages:?}");
        let until = damages[0].until.expect("the end of the damage");
        let mut refused = 0;
        for (second, expected) in &recorded.states {
            let moment = at_second(*second);
            match state(&recording, Moment::Time(moment)) {
                Ok(read) => assert!(read == *expected, "{second}"),
                Err(RecordingError::Damaged(damage)) => {
                    assert!(damage.file == base && moment < until, "{second}: {damage:?}");
                    refused += 1;
                }
                Err(RecordingError::BeforeBeginning { .. }) if is_dropped => {}
                Err(error) => panic!("{second}: {error}"),
            }
        }
        assert!(refused > 0);
    }
}

#[test]
fn flipped_bytes_of_a_keyframe_and_its_base_are_detected() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = options().seal_entries(4).keep(Some(Duration::from_secs(100)));
    record_with(Writer::open(dir.path(), "test", options, at_second(0)).expect("a writer"), 60);
    let (whole, referring) = match (&keyframes(dir.path())[..], &files(dir.path(), "keyframe")[..]) {
        ([(_, false), (_, true), ..], [whole, referring, ..]) => (whole.clone(), referring.clone()),
        other => panic!("{other:?}"),
    };
    let recording = Recording::open(dir.path()).expect("a recording");
    let moments: Vec<Moment> = (0..60).step_by(5).map(|second| Moment::Time(at_second(second))).collect();
    let states: Vec<_> = moments.iter().map(|moment| state(&recording, *moment).expect("a state")).collect();
    for path in [whole, referring] {
        let bytes = fs::read(&path).expect("read");
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).expect("written");
            let recording = Recording::open(dir.path()).expect("a recording");
            let damages = recording.verify().expect("verified");
            assert!(damages.iter().any(|damage| damage.file == path), "{} {at}: {damages:?}", path.display());
            for (moment, expected) in moments.iter().zip(&states) {
                match state(&recording, *moment) {
                    Ok(read) => assert_eq!(read, *expected, "{} {at}", path.display()),
                    Err(RecordingError::Damaged(_) | RecordingError::Newer { .. }) => {}
                    Err(RecordingError::NotARecording { path: foreign }) => assert_eq!(foreign, path),
                    Err(error) => panic!("{} {at}: {error}", path.display()),
                }
            }
        }
        fs::write(&path, &bytes).expect("written");
    }
}
