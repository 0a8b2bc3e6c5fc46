//! Keyframes that refer to the previous one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::damage::{entries, files, record_with, state};
use super::fixtures::{Keys, at_second, change, nodes, object, options, pods, row, synced, text};
use crate::lines::ChangeKind;
use crate::recording::files::{self as recorded_files, Kind};
use crate::recording::keyframe::Keyframe;
use crate::recording::{Encryption, Keyring, Moment, Recording, RecordingError, Writer, WriterOptions};

/// The number of pods, which are in several groups of a keyframe.
const PODS: u64 = 600;

/// Options with a keyframe every ten seconds, with which a recording keeps forty seconds.
fn with_keyframes() -> WriterOptions {
    options().seal_entries(1).keep(Some(Duration::from_secs(40)))
}

/// A recorder of pods and a node. Each second, it changes a tenth of the pods, replaces one and changes the rows of some.
struct PodRecorder {
    writer: Writer,
    version: u64,
    /// The texts of the pods by their keys.
    current: BTreeMap<String, String>,
    /// For each second, the last version and the texts of all pods.
    states: BTreeMap<i64, (u64, Vec<String>)>,
}

impl PodRecorder {
    fn start(dir: &Path) -> Self {
        Self::start_with(dir, None)
    }

    fn start_with(dir: &Path, encryption: Option<&Encryption>) -> Self {
        let writer = Writer::open_with(dir, "test", with_keyframes(), encryption, at_second(0));
        let writer = writer.expect("a writer");
        let mut recorder = Self { writer, version: 0, current: BTreeMap::new(), states: BTreeMap::new() };
        (0..PODS).for_each(|number| recorder.write(&format!("a/web-{number:03}"), 0, "first", "1"));
        recorder.end_second(0);
        recorder
    }

    /// Starts another recorder after this one.
    fn restart(&mut self, dir: &Path, second: i64) {
        let dir_of_other = tempfile::tempdir().expect("a directory");
        let other = Writer::open(dir_of_other.path(), "test", options(), at_second(0)).expect("a writer");
        drop(std::mem::replace(&mut self.writer, other));
        self.writer = Writer::open(dir, "test", with_keyframes(), at_second(second)).expect("a writer");
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
        self.states.insert(second, (self.version, self.current.values().cloned().collect()));
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

    /// Compares the states that are still recorded, at their times and versions.
    fn assert_states(&self, dir: &Path) {
        self.assert_states_of(&Recording::open(dir).expect("a recording"));
    }

    fn assert_states_of(&self, recording: &Recording) {
        let beginning = recording.beginning().expect("a beginning");
        let mut compared = 0;
        for (second, (version, expected)) in &self.states {
            if at_second(*second) < beginning {
                continue;
            }
            for moment in [Moment::Time(at_second(*second)), Moment::Version(*version)] {
                let read = state(recording, moment).expect("a state");
                assert!(read == *expected, "{moment:?}: {} {}", read.len(), expected.len());
            }
            compared += 1;
        }
        assert!(compared > 0);
        assert_eq!(recording.verify().expect("verified").len(), 0);
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
    let mut recorded = PodRecorder::start(dir.path());
    recorded.run(1..36);
    let [(whole, false), (referring, true), (_, false)] = keyframes(dir.path())[..] else {
        panic!("{:?}", keyframes(dir.path()));
    };
    assert!(referring * 3 < whole * 2, "{referring} {whole}");
    recorded.assert_states(dir.path());
    // The next recorder continues with a keyframe that refers to the last one.
    recorded.restart(dir.path(), 36);
    recorded.run(36..42);
    assert!(keyframes(dir.path()).last().is_some_and(|(_, refers)| *refers));
    recorded.assert_states(dir.path());
}

#[test]
fn retention_keeps_the_states_to_which_the_first_keyframe_refers() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = PodRecorder::start(dir.path());
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
    let listed = recorded_files::list(dir.path()).expect("files");
    let length = |(number, kind): &(u64, Kind)| {
        recorded_files::path_of(dir.path(), *kind, *number).metadata().expect("a file").len()
    };
    let expected = (listed.len() as u64, listed.iter().map(length).sum::<u64>());
    assert_eq!((usage.files, usage.bytes), expected);
}

/// Records until the first keyframe of the recording refers to one that was dropped.
fn record_until_a_base_is_kept(dir: &Path, recorded: &mut PodRecorder) -> i64 {
    for second in 1.. {
        recorded.run(second..=second);
        if !files(dir, "base").is_empty() {
            return second;
        }
    }
    unreachable!("the loop has no end")
}

#[test]
fn encrypted_states_refer_to_those_of_a_dropped_keyframe() {
    let (dir, keys) = (tempfile::tempdir().expect("a directory"), Keys::new());
    let mut recorded = PodRecorder::start_with(dir.path(), Some(&keys.encryption()));
    record_until_a_base_is_kept(dir.path(), &mut recorded);
    let recording = Recording::open_with(dir.path(), &keys.keyring()).expect("a recording");
    recorded.assert_states_of(&recording);
    assert!(Recording::open_with(dir.path(), &Keyring::default()).is_err());
}

#[test]
fn recorder_that_was_killed_after_it_renamed_a_keyframe_continues() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = PodRecorder::start(dir.path());
    recorded.run(1..36);
    // As if the files before the second keyframe were to be dropped next.
    let whole = files(dir.path(), "keyframe").remove(0);
    fs::rename(&whole, whole.with_extension("base")).expect("renamed");
    recorded.assert_states(dir.path());
    recorded.restart(dir.path(), 36);
    recorded.run(36..45);
    recorded.assert_states(dir.path());
}

#[test]
fn missing_base_is_damage_and_the_recorder_lists_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = PodRecorder::start(dir.path());
    let second = record_until_a_base_is_kept(dir.path(), &mut recorded);
    fs::remove_file(files(dir.path(), "base").remove(0)).expect("removed");
    let referring = files(dir.path(), "keyframe").remove(0);
    let recording = Recording::open(dir.path()).expect("a recording");
    let beginning = recording.beginning().expect("a beginning");
    let refused = state(&recording, Moment::Time(beginning));
    assert!(
        matches!(&refused, Err(RecordingError::Damaged(damage)) if damage.file == referring),
        "{refused:?}"
    );
    assert!(state(&recording, Moment::End).is_ok(), "a later keyframe refers to no other one");
    let damages = recording.verify().expect("verified");
    assert!(damages.len() == 1 && damages[0].file == referring, "{damages:?}");
    assert!(recording.usage().is_ok());
    recorded.restart(dir.path(), second + 1);
    recorded.run(second + 1..second + 3);
    let recording = Recording::open(dir.path()).expect("a recording");
    let last = &recorded.states[&(second + 2)].1;
    assert_eq!(&state(&recording, Moment::End).expect("a state"), last);
}

#[test]
fn states_of_a_damaged_block_are_written_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = PodRecorder::start(dir.path());
    recorded.run(1..15);
    let whole = files(dir.path(), "keyframe").remove(0);
    let bytes = fs::read(&whole).expect("read");
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 1;
    fs::write(&whole, damaged).expect("written");
    recorded.run(15..25);
    let [_, (length, true)] = keyframes(dir.path())[..] else { panic!("{:?}", keyframes(dir.path())) };
    assert!(length < bytes.len() as u64, "the other blocks are readable");
    let recording = Recording::open(dir.path()).expect("a recording");
    let last = &recorded.states[&24].1;
    assert_eq!(&state(&recording, Moment::Time(at_second(24))).expect("a state"), last);
}

#[test]
fn damage_of_a_segment_ends_at_the_keyframe_that_refers_to_the_one_before() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorded = PodRecorder::start(dir.path());
    recorded.run(1..36);
    let whole = files(dir.path(), "keyframe").remove(0);
    let segment = whole.with_extension("segment");
    let mut bytes = fs::read(&segment).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("written");
    let recording = Recording::open(dir.path()).expect("a recording");
    let damages = recording.verify().expect("verified");
    assert!(damages.len() == 1 && damages[0].file == segment, "{damages:?}");
    let until = damages[0].until.expect("the end of the damage");
    let later = recorded.states.iter().filter(|(second, _)| at_second(**second) > until);
    for (second, (_, expected)) in later.clone() {
        assert!(state(&recording, Moment::Time(at_second(*second))).expect("a state") == *expected);
    }
    assert!(later.count() > 10, "{until}");
}

#[test]
fn damage_of_a_base_reaches_to_the_next_whole_keyframe() {
    for is_dropped in [false, true] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut recorded = PodRecorder::start(dir.path());
        recorded.run(1..if is_dropped { 65 } else { 36 });
        let kind = if is_dropped { "base" } else { "keyframe" };
        let base = files(dir.path(), kind).remove(0);
        let mut bytes = fs::read(&base).expect("read");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&base, bytes).expect("written");
        let recording = Recording::open(dir.path()).expect("a recording");
        let damages = recording.verify().expect("verified");
        assert!(damages.len() == 1 && damages[0].file == base, "{damages:?}");
        let failed: Vec<_> = entries(&recording).into_iter().filter_map(Result::err).collect();
        assert!(failed.len() <= 1, "{failed:?}");
        let until = damages[0].until.expect("the end of the damage");
        let mut refused = 0;
        for (second, (_, expected)) in &recorded.states {
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
