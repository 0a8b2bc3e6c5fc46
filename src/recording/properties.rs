//! Properties that hold for any bytes in a file, for the property tests and the fuzzer.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::files::{Kind, path_of};
use super::frame::{FrameContext, FrameWriter, MAX_LEN, read_frame};
use super::journal::journal_of;
use super::keyframe::{self, Snapshot};
use super::last_state::CurrentState;
use super::row_template::render;
use super::{EntryFilter, Moment, Recording, Writer, WriterOptions};
use crate::object::{ApiResource, Column, Object, TypeMeta};

/// Asserts that a text round-trips through a frame against a base, both taken from the bytes, and that the bytes
/// are read or rejected as a frame and as the template of a row.
///
/// # Panics
/// The property does not hold.
pub fn frame(bytes: &[u8]) {
    let (base, text) = bytes.split_at(bytes.len() / 2);
    let context = FrameContext::new(4_017, 1_795_489_920_345).with_name("web", 3);
    let mut frame = Vec::new();
    FrameWriter::default().write(text, base, 7007, &context, &mut frame);
    let mut read = Vec::new();
    assert_eq!(read_frame(&frame, base, 7007, &context, &mut read), Some(()), "a frame can't be read");
    assert_eq!(read, text, "a frame has another text");
    read.clear();
    if read_frame(bytes, base, 7007, &context, &mut read).is_some() {
        assert!(read.len() <= MAX_LEN, "a text beyond the limit");
    }
    let type_meta = TypeMeta { api_version: "v1".to_owned(), kind: "Event".to_owned() };
    let object = Object::named(Arc::new(type_meta), "a", "b");
    let columns: Arc<[Column]> = Arc::from([]);
    let _ = render(bytes, &columns, &object, Timestamp::UNIX_EPOCH);
}

/// Asserts that a recording with a file of these bytes opens or is rejected, and that every query on it returns.
/// The first byte selects the kind of the file.
///
/// # Panics
/// The property does not hold.
pub fn file(dir: &Path, bytes: &[u8]) {
    let [kind, rest @ ..] = bytes else { return };
    match kind % 4 {
        0 => read(dir, Kind::Journal, 0, rest),
        1 => read(dir, Kind::Segment, 0, rest),
        2 => read(dir, Kind::Keyframe, 0, rest),
        // A keyframe that may refer to an earlier one.
        _ => {
            if write_keyframe(dir, BASE).is_ok() {
                read(dir, Kind::Keyframe, BASE + 1, rest);
            }
        }
    }
}

/// The number of the keyframe to which that of the input may refer.
const BASE: u64 = 5;

/// Writes a keyframe of two pods.
fn write_keyframe(dir: &Path, number: u64) -> io::Result<u64> {
    let [group, version, resource, kind] = ["", "v1", "pods", "Pod"].map(str::to_owned);
    let pods = ApiResource { group, version, resource, kind, namespaced: true };
    let pod = |name: &str| CurrentState {
        object: Arc::new(Object::named(pods.type_meta(), "a", name)),
        version: 7,
        row: None,
    };
    let states = vec![pod("b"), pod("c")];
    let snapshot = Snapshot {
        context: "c".to_owned(),
        next: number,
        time: 0,
        max_version: 7,
        types: vec![(Arc::new(pods), states)],
        columns: Vec::new(),
        documents: BTreeMap::new(),
        positions: Vec::new(),
    };
    keyframe::write(snapshot, None, &path_of(dir, Kind::Keyframe, number), None)
}

/// Asserts that a recording with a journal of these records opens or is rejected, and that every query on it returns. The first
/// byte is the number of entries.
///
/// # Panics
/// The property does not hold.
pub fn journal_text(dir: &Path, bytes: &[u8]) {
    let [entries, text @ ..] = bytes else { return };
    if let Ok(journal) = journal_of(&[(text, u32::from(*entries))]) {
        read(dir, Kind::Journal, 0, &journal);
    }
}

/// Runs every query on a recording after a file is added, and a writer that continues it. The directory is empty after.
fn read(dir: &Path, kind: Kind, number: u64, bytes: &[u8]) {
    if std::fs::write(path_of(dir, kind, number), bytes).is_err() {
        return;
    }
    if let Ok(recording) = Recording::open(dir) {
        query(&recording);
        let options = WriterOptions::default().sync(false);
        if let Ok(mut writer) = Writer::open(dir, recording.context(), options, Timestamp::UNIX_EPOCH) {
            let _ = writer.positions();
            let _ = writer.document("/version", b"{}", Timestamp::UNIX_EPOCH);
            let _ = writer.finish(Timestamp::UNIX_EPOCH);
        }
    }
    for file in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let _ = std::fs::remove_file(file.path());
    }
}

fn query(recording: &Recording) {
    let _ = recording.verify();
    let _ = recording.usage();
    let _ = recording.gaps();
    for moment in [Moment::End, Moment::Version(7), Moment::Time(Timestamp::UNIX_EPOCH)] {
        let Ok(state) = recording.state(moment) else { continue };
        let _ = state.documents();
        for resource in state.resources().unwrap_or_default() {
            let _ = state.rows(&resource, None);
            for object in state.objects(&resource, None).into_iter().flatten().take(1) {
                let _ = recording.versions(&resource, object.namespace(), object.name());
                let _ = recording.history(&resource, object.namespace(), object.name());
            }
            let _ = recording.versions(&resource, "a", "b");
        }
    }
    let entries = recording.entries(None, None, EntryFilter::default());
    let _ = entries.map(Iterator::count);
    let excerpt = recording.excerpt(recording.end(), None, EntryFilter::default());
    let _ = excerpt.map(Iterator::count);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            super::frame(&bytes);
        }

        #[test]
        fn files_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().expect("a directory");
            super::file(dir.path(), &bytes);
        }

        #[test]
        fn keyframes_of_any_bytes_may_refer_to_another_one(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().expect("a directory");
            super::file(dir.path(), &[&[3][..], &bytes].concat());
        }

        #[test]
        fn journals_of_any_records(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().expect("a directory");
            super::journal_text(dir.path(), &bytes);
        }
    }
}
