//! Damaged and incomplete files.

use std::fs;
use std::path::{Path, PathBuf};

use super::fixtures::{at, change, entry_text, object, options, pods, row, synced, text};
use crate::lines::ChangeKind;
use crate::recording::{EntryFilter, Moment, Recording, RecordingError, Writer, WriterOptions};

/// Records some versions of three pods, with a flush after each.
fn record(dir: &Path, options: WriterOptions, count: u64) {
    let mut writer = Writer::open(dir, "test", options, at(0)).expect("a writer");
    writer.mark(&synced(&pods(), 1, 0)).expect("a mark");
    for number in 0..count {
        let key = format!("a/pod-{}", number % 3);
        let kind = if number < 3 { ChangeKind::Added } else { ChangeKind::Modified };
        let new =
            object(&pods(), &key, 2 + number, &format!("text {}", number / 2)).with_row(row(&["a", "b"]));
        let received = number.cast_signed() * 1000;
        writer.change(&change(&pods(), kind, new, received), None).expect("a change");
        writer.flush(at(received)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at(count.cast_signed() * 1000)).expect("finished");
}

fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(dir).expect("files").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|of| of == extension)).collect();
    files.sort();
    files
}

fn entries(recording: &Recording) -> Vec<Result<String, RecordingError>> {
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    entries.map(|entry| entry.map(|entry| entry_text(&entry))).collect()
}

fn state(recording: &Recording, moment: Moment) -> Result<Vec<String>, RecordingError> {
    let objects = recording.state(moment)?.objects(&pods(), None)?;
    Ok(objects.iter().map(|object| text(object)).collect())
}

#[test]
fn a_journal_cut_at_any_byte_opens_with_a_prefix_or_explains() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 7);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let whole = fs::read(&journal).expect("read");
    let recording = Recording::open(dir.path()).expect("a recording");
    let all: Vec<String> = entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
    assert_eq!(all.len(), 9);
    // The lengths at which a chunk ends, and the number of entries up to there.
    let mut ends = vec![(0, 0)];
    for length in 0..=whole.len() {
        fs::write(&journal, &whole[..length]).expect("written");
        match Recording::open(dir.path()) {
            Ok(recording) => {
                let read: Vec<String> =
                    entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
                assert_eq!(read, all[..read.len()], "{length}");
                match recording.verify().expect("verified").as_slice() {
                    [] => ends.push((length, read.len())),
                    [_] => assert_eq!(ends.last().map(|(_, count)| *count), Some(read.len()), "{length}"),
                    damages => panic!("{length}: {damages:?}"),
                }
            }
            Err(error) => assert!(matches!(error, RecordingError::NotARecording { .. }), "{length}: {error}"),
        }
    }
    // The header, the start with the first flush, and each flush after a change.
    assert_eq!(ends.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [0, 0, 1, 3, 4, 5, 6, 7, 8, 9]);
    // A writer continues after the cut, and reports it.
    for length in (0..whole.len()).step_by(7) {
        let copy = tempfile::tempdir().expect("a directory");
        let path = copy.path().join(journal.file_name().expect("a name"));
        fs::write(path, &whole[..length]).expect("written");
        let writer = Writer::open(copy.path(), "test", options(), at(60_000)).expect("a writer");
        let (end, count) = ends.iter().rfind(|(end, _)| *end <= length).expect("0 is first");
        assert_eq!(writer.torn_bytes(), (length - end) as u64);
        writer.finish(at(60_001)).expect("finished");
        let recording = Recording::open(copy.path()).expect("a recording");
        let read: Vec<String> =
            entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
        assert_eq!(read[..read.len() - 1], all[..*count]);
        assert!(read.last().is_some_and(|last| last.ends_with("Started")));
    }
}

#[test]
fn every_flipped_byte_is_detected_and_never_read() {
    let dir = tempfile::tempdir().expect("a directory");
    // Two keyframes: the damage of the first part does not reach beyond the second.
    record(dir.path(), options().seal_entries(5).max_size(Some(1 << 20)), 14);
    let recording = Recording::open(dir.path()).expect("a recording");
    let all: Vec<String> = entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
    let moments: Vec<Moment> = (0..14).map(|number| Moment::Time(at(number * 1000))).collect();
    let states: Vec<_> = moments.iter().map(|moment| state(&recording, *moment).expect("a state")).collect();
    let history: Vec<_> =
        recording.history(&pods(), "a", "pod-1").expect("a history").iter().map(entry_text).collect();
    let mut sealed: Vec<PathBuf> = files(dir.path(), "segment");
    sealed.extend(files(dir.path(), "keyframe"));
    assert!(sealed.len() >= 4, "{sealed:?}");
    for path in sealed {
        let whole = fs::read(&path).expect("read");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).expect("written");
            let Ok(recording) = Recording::open(dir.path()) else { continue };
            let damages = recording.verify().expect("verified");
            assert!(damages.iter().any(|damage| damage.file == path), "{} {at}: {damages:?}", path.display());
            for (moment, expected) in moments.iter().zip(&states) {
                match state(&recording, *moment) {
                    Ok(read) => assert_eq!(read, *expected, "{} {at}", path.display()),
                    Err(error) => assert!(is_explained(&error), "{error}"),
                }
            }
            for entry in entries(&recording) {
                match entry {
                    Ok(entry) => assert!(all.contains(&entry), "{} {at}: {entry}", path.display()),
                    Err(error) => assert!(is_explained(&error), "{error}"),
                }
            }
            match recording.history(&pods(), "a", "pod-1") {
                Ok(read) => assert_eq!(read.iter().map(entry_text).collect::<Vec<_>>(), history),
                Err(error) => assert!(is_explained(&error), "{error}"),
            }
        }
        fs::write(&path, &whole).expect("written");
    }
}

fn is_explained(error: &RecordingError) -> bool {
    matches!(
        error,
        RecordingError::Damaged(_) | RecordingError::NotARecording { .. } | RecordingError::Newer { .. }
    )
}

#[test]
fn damage_ends_at_the_next_keyframe() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options().seal_entries(5).max_size(Some(400)), 1);
    record(dir.path(), options().seal_entries(5), 20);
    let recording = Recording::open(dir.path()).expect("a recording");
    let end = state(&recording, Moment::End).expect("a state");
    let segment = files(dir.path(), "segment").remove(0);
    let mut bytes = fs::read(&segment).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("written");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, Moment::End).expect("a state"), end);
    let damages = recording.verify().expect("verified");
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert!(damages[0].until < recording.end().expect("an end"));
    let read = entries(&recording);
    assert!(matches!(&read[0], Err(RecordingError::Damaged(damage)) if damage.file == segment), "{read:?}");
    assert!(read.len() > 1 && read[1..].iter().all(Result::is_ok), "{read:?}");
}

#[test]
fn a_recording_with_a_damaged_end_continues_from_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options().seal_entries(100), 6);
    drop(Writer::open(dir.path(), "test", options(), at(20_000)).expect("a writer"));
    let segment = files(dir.path(), "segment").remove(0);
    let mut bytes = fs::read(&segment).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("written");
    let mut writer = Writer::open(dir.path(), "test", options(), at(30_000)).expect("a writer");
    assert_eq!(writer.objects(&pods(), None).len(), 0);
    let new = object(&pods(), "a/pod-9", 90, "new");
    writer.change(&change(&pods(), ChangeKind::Added, new, 31_000), None).expect("a change");
    writer.finish(at(32_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, Moment::End).expect("a state").len(), 1);
    assert!(matches!(state(&recording, Moment::Time(at(3000))), Err(RecordingError::Damaged(_))));
}

#[test]
fn a_newer_format_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 2);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let mut bytes = fs::read(&journal).expect("read");
    bytes[8] += 1;
    let sum = crc32fast::hash(&bytes[..12]).to_le_bytes();
    bytes[12..16].copy_from_slice(&sum);
    fs::write(&journal, bytes).expect("written");
    let newer = Recording::open(dir.path());
    assert!(matches!(newer, Err(RecordingError::Newer { version: 2, .. })), "{newer:?}");
    let newer = Writer::open(dir.path(), "test", options(), at(9000));
    assert!(matches!(newer, Err(RecordingError::Newer { version: 2, .. })), "{newer:?}");
}
