//! Sealed journals: with longer texts than are in memory at a time, and with several blocks of each kind.

use std::path::Path;

use super::fixtures::{Keys, at, change, entry_text, nodes, object, options, pods, row};
use crate::lines::ChangeKind;
use crate::recording::{EntryFilter, Keyring, Recording, Writer};

/// The number of objects, whose texts together are longer than a run.
const OBJECTS: u64 = 120;
const TEXT: usize = 50_000;

fn entries(dir: &Path, keyring: &Keyring) -> Vec<String> {
    let recording = Recording::open_with(dir, keyring).expect("a recording");
    let entries = recording.entries(None, None, EntryFilter::default()).expect("entries");
    entries.map(|entry| entry_text(&entry.expect("an entry"))).collect()
}

/// Records objects of two types, each added, changed once and in part deleted, in an order that mixes them.
fn record(writer: &mut Writer) {
    let mut random = fastrand::Rng::with_seed(7);
    let text = |random: &mut fastrand::Rng| (0..TEXT).map(|_| random.alphanumeric()).collect::<String>();
    let mut version = 1;
    let kinds = [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted];
    for (kind, step) in kinds.into_iter().zip([1, 1, 3]) {
        for number in (0..OBJECTS).step_by(step) {
            version += 1;
            let resource = if number % 4 == 0 { nodes() } else { pods() };
            let key = format!("{}x{}-{number}", if number % 4 == 0 { "" } else { "a/" }, number % 5);
            let text = if kind == ChangeKind::Deleted { String::new() } else { text(&mut random) };
            let object = object(&resource, &key, version, &text).with_row(row(&[&version.to_string()]));
            let received = i64::try_from(version).expect("small");
            writer.change(&change(&resource, kind, object, received), None).expect("a change");
            if version % 10 == 0 {
                writer.flush(at(received)).expect("flushed");
            }
        }
    }
}

#[test]
fn a_long_journal_is_sealed_as_it_was_recorded() {
    let keys = Keys::new();
    for encryption in [None, Some(keys.encryption())] {
        let dir = tempfile::tempdir().expect("a directory");
        let own = dir.path().join("test");
        let options = options().seal_bytes(1 << 30);
        let mut writer =
            Writer::open_with(&own, "test", options, encryption.as_ref(), at(0)).expect("a writer");
        record(&mut writer);
        writer.flush(at(1000)).expect("flushed");
        let recorded = entries(&own, &keys.keyring());
        assert_eq!(recorded.len() as u64, 1 + 2 * OBJECTS + OBJECTS / 3);
        writer.finish_sealed(at(1000)).expect("sealed");
        let names = std::fs::read_dir(&own).expect("files").map(|file| file.expect("a file").file_name());
        assert!(names.map(|name| name.to_string_lossy().into_owned()).all(|name| !name.contains("journal")));
        assert!(entries(&own, &keys.keyring()) == recorded);
    }
}

/// Each block of names, columns, times, bodies and rows has a part of the objects.
#[test]
fn an_object_is_read_from_the_blocks_that_have_it() {
    const OBJECTS: u64 = 700;
    const VERSIONS: u64 = 9 * OBJECTS;
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    for version in 1..=VERSIONS {
        let kind = if version <= OBJECTS { ChangeKind::Added } else { ChangeKind::Modified };
        let number = version * 11 % OBJECTS;
        let pod = object(&pods(), &format!("a/web-{number}"), version, &format!("text {version}"));
        let received = i64::try_from(10 * version).expect("small");
        let pod = pod.with_row(row(&[&version.to_string()]));
        writer.change(&change(&pods(), kind, pod, received), None).expect("a change");
        if version % 500 == 0 {
            writer.flush(at(received)).expect("flushed");
        }
    }
    writer.flush(at(1_000_000)).expect("flushed");
    let recorded = entries(dir.path(), &Keyring::default());
    writer.finish_sealed(at(1_000_000)).expect("sealed");
    assert!(entries(dir.path(), &Keyring::default()) == recorded);
    let recording = Recording::open(dir.path()).expect("a recording");
    for number in [0, 1, 255, 256, 257, 511, 512, 640, OBJECTS - 1] {
        let name = format!("web-{number}");
        let history = recording.history(&pods(), "a", &name).expect("a history");
        let history: Vec<_> = history.iter().map(entry_text).collect();
        let own = |entry: &&String| entry.contains(&format!(" a {name} "));
        let expected: Vec<_> = recorded.iter().filter(own).cloned().collect();
        assert_eq!(history, expected, "{name}");
        assert_eq!(history.len(), 9, "{name}");
    }
    assert_eq!(recording.verify().expect("verified"), []);
}
