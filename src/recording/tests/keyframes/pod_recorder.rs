//! A recorder of pods, with the states that its recording must have.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::lines::ChangeKind;
use crate::recording::tests::damage::state;
use crate::recording::tests::fixtures::{at_second, change, nodes, object, options, pods, row, synced, text};
use crate::recording::{Encryption, Moment, Recording, Writer, WriterOptions};

/// The number of pods, which are in several groups of a keyframe.
const PODS: u64 = 600;

/// Options with a keyframe every ten seconds, with which a recording keeps forty seconds.
fn with_keyframes() -> WriterOptions {
    options().seal_entries(1).keep(Some(Duration::from_secs(40)))
}

/// A recorder of pods and a node. Each second, it changes a tenth of the pods, replaces one and changes the rows of some.
pub(super) struct PodRecorder {
    writer: Writer,
    version: u64,
    /// The texts of the pods by their keys.
    current: BTreeMap<String, String>,
    /// For each second, the last version and the texts of all pods.
    pub(super) states: BTreeMap<i64, (u64, Vec<String>)>,
}

impl PodRecorder {
    pub(super) fn start(dir: &Path) -> Self {
        Self::start_with(dir, None)
    }

    pub(super) fn start_with(dir: &Path, encryption: Option<&Encryption>) -> Self {
        let writer = Writer::open_with(dir, "test", with_keyframes(), encryption, at_second(0));
        let writer = writer.expect("a writer");
        let mut recorder = Self { writer, version: 0, current: BTreeMap::new(), states: BTreeMap::new() };
        (0..PODS).for_each(|number| recorder.write(&format!("a/web-{number:03}"), 0, "first", "1"));
        recorder.end_second(0);
        recorder
    }

    /// Starts another recorder after this one was killed.
    pub(super) fn restarted(self, dir: &Path, second: i64) -> Self {
        drop(self.writer);
        let writer = Writer::open(dir, "test", with_keyframes(), at_second(second)).expect("a writer");
        Self { writer, version: self.version, current: self.current, states: self.states }
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

    pub(super) fn run(&mut self, seconds: impl Iterator<Item = i64>) {
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

    /// Compares the states that are still recorder, at their times and versions.
    pub(super) fn assert_states(&self, dir: &Path) {
        self.assert_states_of(&Recording::open(dir).expect("a recording"));
    }

    pub(super) fn assert_states_of(&self, recording: &Recording) {
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
