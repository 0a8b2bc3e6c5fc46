//! Keyframes that refer to the previous one.

mod pod_recorder;

use std::fs;
use std::path::Path;
use std::time::Duration;

use self::pod_recorder::PodRecorder;
use super::damage::{entries, files, record_with, state};
use super::fixtures::{Keys, at_second, change, object, options, pods, synced};
use crate::lines::ChangeKind;
use crate::recording::files::{self as recorded_files, Kind};
use crate::recording::keyframe::Keyframe;
use crate::recording::{Keyring, Moment, Recording, RecordingError, Writer};

/// Returns for each keyframe its length and whether it refers to another one.
fn keyframes(dir: &Path) -> Vec<(u64, bool)> {
    let numbers = recorded_files::list(dir).expect("files").into_iter();
    let opened = numbers.filter(|(_, kind)| *kind == Kind::Keyframe).map(|(number, _)| {
        let keyframe = Keyframe::open(dir, number, None).expect("a keyframe");
        (keyframe.len(), keyframe.header().base.is_some())
    });
    opened.collect()
}

/// Damages a file in the middle, and returns its length.
fn flip_middle(path: &Path) -> u64 {
    let mut bytes = fs::read(path).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, &bytes).expect("written");
    bytes.len() as u64
}

#[test]
fn every_second_keyframe_refers_to_the_one_before_and_is_smaller() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    recorder.run(1..36);
    let [(whole, false), (referring, true), (_, false)] = keyframes(dir.path())[..] else {
        panic!("{:?}", keyframes(dir.path()));
    };
    assert!(referring * 3 < whole * 2, "{referring} {whole}");
    recorder.assert_states(dir.path());
    // The next recorder continues with a keyframe that refers to the last one.
    recorder = recorder.restarted(dir.path(), 36);
    recorder.run(36..42);
    assert!(keyframes(dir.path()).last().is_some_and(|(_, refers)| *refers));
    recorder.assert_states(dir.path());
}

#[test]
fn retention_keeps_the_states_to_which_the_first_keyframe_refers() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    let mut has_kept = false;
    for second in 1..80 {
        recorder.run(second..=second);
        let (bases, keyframes) = (files(dir.path(), "base"), keyframes(dir.path()));
        assert_eq!(!bases.is_empty(), second > 40 && keyframes[0].1, "{second}: {bases:?} {keyframes:?}");
        has_kept |= !bases.is_empty();
    }
    assert!(has_kept);
    for second in 80.. {
        recorder.run(second..=second);
        if !files(dir.path(), "base").is_empty() {
            break;
        }
    }
    recorder.assert_states(dir.path());
    let usage = Recording::open(dir.path()).expect("a recording").usage().expect("sizes");
    let listed = recorded_files::list(dir.path()).expect("files");
    let length = |(number, kind): &(u64, Kind)| {
        recorded_files::path_of(dir.path(), *kind, *number).metadata().expect("a file").len()
    };
    let expected = (listed.len() as u64, listed.iter().map(length).sum::<u64>());
    assert_eq!((usage.files, usage.bytes), expected);
}

/// Records until the first keyframe of the recording refers to one that was dropped.
fn record_until_a_base_is_kept(dir: &Path, recorder: &mut PodRecorder) -> i64 {
    for second in 1.. {
        recorder.run(second..=second);
        if !files(dir, "base").is_empty() {
            return second;
        }
    }
    unreachable!("the loop has no end")
}

#[test]
fn encrypted_states_refer_to_those_of_a_dropped_keyframe() {
    let (dir, keys) = (tempfile::tempdir().expect("a directory"), Keys::new());
    let mut recorder = PodRecorder::start_with(dir.path(), Some(&keys.encryption()));
    record_until_a_base_is_kept(dir.path(), &mut recorder);
    let recording = Recording::open_with(dir.path(), &keys.keyring()).expect("a recording");
    recorder.assert_states_of(&recording);
    assert!(Recording::open_with(dir.path(), &Keyring::default()).is_err());
}

#[test]
fn recorder_that_was_killed_after_it_renamed_a_keyframe_continues() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    recorder.run(1..36);
    // As if the files before the second keyframe were to be dropped next.
    let whole = files(dir.path(), "keyframe").remove(0);
    fs::rename(&whole, whole.with_extension("base")).expect("renamed");
    recorder.assert_states(dir.path());
    recorder = recorder.restarted(dir.path(), 36);
    recorder.run(36..45);
    recorder.assert_states(dir.path());
}

#[test]
fn missing_base_is_damage_and_the_recorder_lists_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    let second = record_until_a_base_is_kept(dir.path(), &mut recorder);
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
    recorder = recorder.restarted(dir.path(), second + 1);
    recorder.run(second + 1..second + 3);
    let recording = Recording::open(dir.path()).expect("a recording");
    let last = &recorder.states[&(second + 2)].1;
    assert_eq!(&state(&recording, Moment::End).expect("a state"), last);
}

#[test]
fn keyframe_with_a_damaged_base_that_its_states_do_not_need_is_no_base() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = options().seal_entries(1).keep(Some(Duration::from_secs(40)));
    let open =
        |second| Writer::open(dir.path(), "test", options.clone(), at_second(second)).expect("a writer");
    // Each second, a pod takes the place of the one before.
    let replace = |writer: &mut Writer, second: i64| {
        let version = second.cast_unsigned() * 2 + 1;
        let pod = |number: i64, version| object(&pods(), &format!("a/web-{number}"), version, "text");
        if second > 0 {
            let deleted = change(&pods(), ChangeKind::Deleted, pod(second - 1, version), second * 1000);
            writer.change(&deleted, None).expect("a change");
        }
        let added = change(&pods(), ChangeKind::Added, pod(second, version + 1), second * 1000);
        writer.change(&added, None).expect("a change");
        writer.mark(&synced(&pods(), version + 1, second * 1000)).expect("a mark");
        writer.flush(at_second(second)).expect("flushed");
        writer.settle().expect("settled");
    };
    let refers = || {
        let listed = recorded_files::list(dir.path()).expect("files").into_iter();
        let last = listed.rev().find(|(_, kind)| *kind == Kind::Keyframe);
        last.is_some_and(|(number, _)| {
            Keyframe::open(dir.path(), number, None).expect("a keyframe").header().base.is_some()
        })
    };
    let count = || files(dir.path(), "keyframe").len();
    let mut writer = open(0);
    let mut second = 0;
    while !refers() {
        replace(&mut writer, second);
        second += 1;
    }
    drop(writer);
    let before = count();
    let base = files(dir.path(), "keyframe").remove(before - 2);
    let mut bytes = fs::read(&base).expect("read");
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&base, bytes).expect("written");
    let mut writer = open(second);
    while count() == before {
        replace(&mut writer, second);
        second += 1;
    }
    assert!(!refers());
    let recording = Recording::open(dir.path()).expect("a recording");
    let last = state(&recording, Moment::End).expect("a state");
    assert!(last.len() == 1 && last[0].starts_with(&format!("a web-{} ", second - 1)), "{last:?}");
    assert!(recording.verify().expect("verified").iter().all(|damage| damage.file == base));
}

#[test]
fn states_of_a_damaged_block_are_written_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    recorder.run(1..15);
    let whole = files(dir.path(), "keyframe").remove(0);
    let whole_length = flip_middle(&whole);
    recorder.run(15..25);
    let [_, (length, true)] = keyframes(dir.path())[..] else { panic!("{:?}", keyframes(dir.path())) };
    assert!(length < whole_length, "the other blocks are readable");
    let recording = Recording::open(dir.path()).expect("a recording");
    let last = &recorder.states[&24].1;
    assert_eq!(&state(&recording, Moment::Time(at_second(24))).expect("a state"), last);
}

#[test]
fn damage_of_a_segment_ends_at_the_keyframe_that_refers_to_the_one_before() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut recorder = PodRecorder::start(dir.path());
    recorder.run(1..36);
    let whole = files(dir.path(), "keyframe").remove(0);
    let segment = whole.with_extension("segment");
    flip_middle(&segment);
    let recording = Recording::open(dir.path()).expect("a recording");
    let damages = recording.verify().expect("verified");
    assert!(damages.len() == 1 && damages[0].file == segment, "{damages:?}");
    let until = damages[0].until.expect("the end of the damage");
    let later = recorder.states.iter().filter(|(second, _)| at_second(**second) > until);
    for (second, (_, expected)) in later.clone() {
        assert!(state(&recording, Moment::Time(at_second(*second))).expect("a state") == *expected);
    }
    assert!(later.count() > 10, "{until}");
}

#[test]
fn damage_of_a_base_reaches_to_the_next_whole_keyframe() {
    for is_dropped in [false, true] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut recorder = PodRecorder::start(dir.path());
        recorder.run(1..if is_dropped { 65 } else { 36 });
        let kind = if is_dropped { "base" } else { "keyframe" };
        let base = files(dir.path(), kind).remove(0);
        flip_middle(&base);
        let recording = Recording::open(dir.path()).expect("a recording");
        let damages = recording.verify().expect("verified");
        assert!(damages.len() == 1 && damages[0].file == base, "{damages:?}");
        let failed: Vec<_> = entries(&recording).into_iter().filter_map(Result::err).collect();
        assert!(failed.len() <= 1, "{failed:?}");
        let until = damages[0].until.expect("the end of the damage");
        let mut refused = 0;
        for (second, (_, expected)) in &recorder.states {
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
