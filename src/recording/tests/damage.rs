//! Damaged and incomplete files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fixtures::{at, at_second, change, entry_text, object, options, pods, row, synced, text};
use crate::lines::ChangeKind;
use crate::recording::files::RandomAccess;
use crate::recording::segment::{FileTables, Sealed};
use crate::recording::{EntryFilter, Moment, Recording, RecordingError, Writer, WriterOptions};

/// Records some versions of three pods, with a flush after each.
fn record(dir: &Path, options: WriterOptions, count: u64) {
    record_with(Writer::open(dir, "test", options, at(0)).expect("a writer"), count);
}

pub(super) fn record_with(mut writer: Writer, count: u64) {
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

pub(super) fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(dir).expect("files").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|of| of == extension)).collect();
    files.sort();
    files
}

pub(super) fn entries(recording: &Recording) -> Vec<Result<String, RecordingError>> {
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    entries.map(|entry| entry.map(|entry| entry_text(&entry))).collect()
}

pub(super) fn state(recording: &Recording, moment: Moment) -> Result<Vec<String>, RecordingError> {
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
    // With a keyframe: damage before it does not reach beyond it.
    record(dir.path(), options().seal_entries(4), 18);
    let recording = Recording::open(dir.path()).expect("a recording");
    let all: Vec<String> = entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
    let moments: Vec<Moment> = (0..18).step_by(3).map(|number| Moment::Time(at(number * 1000))).collect();
    let states: Vec<_> = moments.iter().map(|moment| state(&recording, *moment).expect("a state")).collect();
    let history: Vec<_> =
        recording.history(&pods(), "a", "pod-1").expect("a history").iter().map(entry_text).collect();
    let mut sealed: Vec<PathBuf> = files(dir.path(), "segment");
    sealed.extend(files(dir.path(), "keyframe"));
    assert!(!files(dir.path(), "keyframe").is_empty() && sealed.len() >= 4, "{sealed:?}");
    sealed.extend(files(dir.path(), "journal"));
    for path in sealed {
        let whole = fs::read(&path).expect("read");
        let last_part = (0..whole.len()).rfind(|at| is_part(&whole[*at..])).unwrap_or_default();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).expect("written");
            let Ok(recording) = Recording::open(dir.path()) else { continue };
            let damages = recording.verify().expect("verified");
            assert!(damages.iter().any(|damage| damage.file == path), "{} {at}: {damages:?}", path.display());
            if at >= last_part && path.extension().is_some_and(|extension| extension == "journal") {
                // A journal with this damage may as well be incomplete: the recording ends before it.
                continue;
            }
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

#[test]
fn files_cut_at_any_byte_open_or_explain() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options().seal_entries(4), 18);
    let recording = Recording::open(dir.path()).expect("a recording");
    let all: Vec<String> = entries(&recording).into_iter().map(|entry| entry.expect("an entry")).collect();
    let end = state(&recording, Moment::End).expect("a state");
    let mut sealed = files(dir.path(), "segment");
    sealed.extend(files(dir.path(), "keyframe"));
    for path in sealed {
        let whole = fs::read(&path).expect("read");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("written");
            let recording = match Recording::open(dir.path()) {
                Ok(recording) => recording,
                Err(error) => {
                    assert!(is_explained(&error), "{error}");
                    continue;
                }
            };
            assert!(!recording.verify().expect("verified").is_empty(), "{} {length}", path.display());
            for entry in entries(&recording) {
                match entry {
                    Ok(entry) => assert!(all.contains(&entry), "{} {length}: {entry}", path.display()),
                    Err(error) => assert!(is_explained(&error), "{error}"),
                }
            }
            match state(&recording, Moment::End) {
                Ok(read) => assert_eq!(read, end),
                Err(error) => assert!(is_explained(&error), "{error}"),
            }
        }
        fs::write(&path, &whole).expect("written");
    }
}

#[test]
fn a_history_leaves_out_only_the_damaged_part() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 1);
    record(dir.path(), options().seal_entries(5), 40);
    let recording = Recording::open(dir.path()).expect("a recording");
    let whole: Vec<String> =
        recording.history(&pods(), "a", "pod-1").expect("a history").iter().map(entry_text).collect();
    let segment = files(dir.path(), "segment").remove(1);
    let mut bytes = fs::read(&segment).expect("read");
    // The position of the footer, without which nothing is found.
    *bytes.last_mut().expect("bytes") ^= 1;
    fs::write(&segment, bytes).expect("written");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(recording.resources().expect("resources"), [pods()]);
    assert!(matches!(recording.history(&pods(), "a", "pod-1"), Err(RecordingError::Damaged(_))));
    let versions: Vec<_> = recording.versions(&pods(), "a", "pod-1").collect();
    let damaged: Vec<_> = versions.iter().filter(|version| version.is_err()).collect();
    assert!(matches!(damaged.as_slice(), [Err(RecordingError::Damaged(damage))] if damage.file == segment));
    let read: Vec<String> = versions.iter().flatten().map(entry_text).collect();
    assert!(whole.ends_with(&read), "{read:#?}");
    assert!((1..whole.len()).contains(&read.len()), "{} of {}", read.len(), whole.len());
}

#[test]
fn a_damaged_header_of_a_journal_costs_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 7);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let whole = fs::read(&journal).expect("read");
    let expected = entries(&Recording::open(dir.path()).expect("a recording")).len();
    let second = memchr::memmem::rfind(&whole, b"kdelta\n").expect("a second copy");
    for at in (0..2 * second).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(&journal, &bytes).expect("written");
        let Ok(recording) = Recording::open(dir.path()) else { panic!("{at}") };
        assert_eq!(entries(&recording).len(), expected, "{at}");
        assert_eq!(recording.verify().expect("verified").len(), 1, "{at}");
        let writer = Writer::open(dir.path(), "test", options(), at_second(60)).expect("a writer");
        assert_eq!(writer.objects(&pods(), None).len(), 3);
        drop(writer);
    }
}

/// A journal that is damaged before its end stays: its readable entries are read, and the damage is reported.
#[test]
fn a_journal_with_a_damaged_part_is_never_removed() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 20);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let mut bytes = fs::read(&journal).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&journal, &bytes).expect("written");
    let readable = entries(&Recording::open(dir.path()).expect("a recording"));
    let readable = readable.into_iter().flatten().count();
    assert!((3..20).contains(&readable), "{readable}");
    let recording = Recording::open(dir.path()).expect("a recording");
    let damages = recording.verify().expect("verified");
    let refused = recording.state(Moment::End).map(drop);
    assert!(
        matches!(&refused, Err(RecordingError::Damaged(damage)) if damage.offset == damages[0].offset && damage.offset > 0),
        "{refused:?} {damages:?}"
    );
    let last = recording.entries(None, None, EntryFilter::default()).expect("entries").flatten().last();
    let range = (last.map(|entry| entry.received), None);
    assert!(damages.iter().all(|damage| (damage.from, damage.until) == range), "{range:?} {damages:?}");
    assert!(damages[0].to_string().contains(" on can't be read"), "{}", damages[0]);
    for second in [60, 61] {
        let mut writer = Writer::open(dir.path(), "test", options(), at_second(second)).expect("a writer");
        // Nothing is cut: the damaged part stays.
        assert_eq!(writer.torn_bytes(), 0);
        writer.started(at_second(second)).expect("a start");
        writer.finish(at_second(second)).expect("finished");
        assert_eq!(fs::read(&journal).expect("still there"), bytes);
        let recording = Recording::open(dir.path()).expect("a recording");
        let damages = recording.verify().expect("verified");
        let damage = damages.iter().find(|damage| damage.file == journal).expect("reported");
        assert!(damage.from >= Some(at(0)) && damage.until <= Some(at_second(second)), "{damage}");
        let read = entries(&recording).into_iter().flatten().count();
        assert!(read > readable, "{read}");
    }
}

/// A journal of which nothing can be read is reported, and the recording continues without a guess.
#[test]
fn a_lost_journal_is_reported_and_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 40);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let mut bytes = fs::read(&journal).expect("read");
    bytes.resize(5000, 0);
    bytes[..400].fill(7);
    fs::write(&journal, &bytes).expect("written");
    let opened = Recording::open(dir.path()).map(drop);
    let Err(RecordingError::Damaged(damage)) = opened else { panic!("{opened:?}") };
    assert_eq!((damage.from, damage.until), (None, None));
}

/// Returns whether bytes are a chunk of a journal up to its end: the length and the number of entries precede the
/// checksum.
fn is_part(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk().map(|length| u32::from_le_bytes(*length) as usize);
    let (Some(length), Some(sum)) = (length, bytes.get(8..12)) else { return false };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..8]);
    hasher.update(&bytes[12..]);
    bytes.len() == 12 + length && hasher.finalize().to_le_bytes() == *sum
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
    assert!(damages[0].until.is_some() && damages[0].until < recording.end(), "{damages:?}");
    let read = entries(&recording);
    assert!(matches!(&read[0], Err(RecordingError::Damaged(damage)) if damage.file == segment), "{read:?}");
    assert!(read.len() > 1 && read[1..].iter().all(Result::is_ok), "{read:?}");
}

#[test]
fn after_a_damaged_end_nothing_is_invented() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options().seal_entries(100), 6);
    // A journal that is long enough is sealed.
    drop(Writer::open(dir.path(), "test", options().seal_entries(3), at(20_000)).expect("a writer"));
    let segment = files(dir.path(), "segment").remove(0);
    let mut bytes = fs::read(&segment).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("written");
    let mut writer = Writer::open(dir.path(), "test", options(), at(30_000)).expect("a writer");
    assert_eq!(writer.objects(&pods(), None).len(), 0);
    let new = object(&pods(), "a/pod-9", 90, "new");
    writer.change(&change(&pods(), ChangeKind::Added, new, 31_000), None).expect("a change");
    writer.flush(at(32_000)).expect("flushed");
    let recording = Recording::open(dir.path()).expect("a recording");
    let unknown = |recording: &Recording, moment| {
        let refused = state(recording, moment);
        assert!(matches!(refused, Err(RecordingError::Damaged(_))), "{refused:?}");
    };
    unknown(&recording, Moment::End);
    // A recorder that is killed before the lists are complete does not change that.
    drop(writer);
    let mut writer = Writer::open(dir.path(), "test", options(), at(33_000)).expect("a writer");
    assert_eq!(writer.objects(&pods(), None).len(), 1);
    unknown(&Recording::open(dir.path()).expect("a recording"), Moment::End);
    writer.mark(&synced(&pods(), 91, 34_000)).expect("a mark");
    writer.flush(at(35_000)).expect("flushed");
    writer.finish(at(36_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, Moment::End).expect("a state").len(), 1);
    for second in [3, 20, 31, 33] {
        unknown(&recording, Moment::Time(at(second * 1000)));
    }
    // Entries after the loss are read, and none of them refers to the lost state.
    let read = entries(&recording);
    let after: Vec<_> = read.iter().flatten().filter(|entry| entry.contains("pod-")).collect();
    assert_eq!(after.len(), 1, "{read:#?}");
    assert!(read.iter().any(Result::is_err));
}

#[test]
fn a_newer_format_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options(), 2);
    let journal = files(dir.path(), "journal").pop().expect("a journal");
    let mut bytes = fs::read(&journal).expect("read");
    bytes[8] = 99;
    let sum = crc32fast::hash(&bytes[..12]).to_le_bytes();
    bytes[12..16].copy_from_slice(&sum);
    fs::write(&journal, bytes).expect("written");
    let newer = Recording::open(dir.path());
    assert!(matches!(newer, Err(RecordingError::Newer { version: 99, .. })), "{newer:?}");
    let newer = Writer::open(dir.path(), "test", options(), at(9000));
    assert!(matches!(newer, Err(RecordingError::Newer { version: 99, .. })), "{newer:?}");
}

/// A segment whose tables state that several groups of names begin with the first name.
#[test]
fn crafted_groups_of_names_cause_no_panic() {
    let dir = tempfile::tempdir().expect("a directory");
    record(dir.path(), options().seal_entries(5), 40);
    let segment = files(dir.path(), "segment").remove(0);
    let access = || RandomAccess::open(segment.clone(), None).expect("a file");
    let mut tables = FileTables::read(&access()).expect("tables");
    for of_type in &mut tables.footer.types {
        of_type.names = vec![of_type.names[0]; 3];
    }
    let sealed = Sealed::new(access(), Arc::new(tables));
    let log = sealed.log_of(&pods(), "a/pod-1", false).expect("a log").expect("changes");
    assert!(log.find("a/pod-1").is_some());
}
