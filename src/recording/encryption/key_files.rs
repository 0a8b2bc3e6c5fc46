//! Recognizes encrypted recordings: their key file, and the ids in the headers of their files.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::cipher::RecordingId;
use crate::recording::files::{self, Clear, Header, Kind};

/// The name of the key file: the data key of the recording, encrypted by age for the recipients.
pub(in crate::recording) const KEY_FILE: &str = "key.age";

/// What the clear parts of the files in a directory show.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The bytes of the key file.
    pub(super) key_file: Option<Vec<u8>>,
    /// The ids under which the data key may be known; empty if the recording is not encrypted.
    pub(super) ids: Vec<RecordingId>,
    /// Whether there is a file that is not encrypted.
    pub(super) is_plain: bool,
}

impl Found {
    /// Reads the clear parts of as few files as necessary: in most directories, of the newest.
    pub(super) fn read(dir: &Path) -> io::Result<Self> {
        let listed = match files::list(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            listed => listed?,
        };
        let key_file = match fs::read(dir.join(KEY_FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            bytes => Some(bytes?),
        };
        let of_key_file = key_file.as_deref().map(RecordingId::of_key_file);
        let mut found = Self { key_file, ..Self::default() };
        let mut has_content = false;
        for (number, kind) in listed.iter().rev() {
            let path = files::path_of(dir, *kind, *number);
            let Some((clear, length)) = clear_of(&path, *kind)? else { continue };
            has_content |= *kind != Kind::Journal || length > files::MAX_EMPTY_JOURNAL;
            match clear {
                Some(Clear::Encrypted(id)) => {
                    if !found.ids.contains(&id) {
                        found.ids.push(id);
                    }
                    if Some(id) == of_key_file {
                        break;
                    }
                }
                Some(Clear::Plain) => {
                    found.is_plain = true;
                    // In an encrypted recording, plain files are not those of its recorder.
                    if of_key_file.is_none() {
                        found.ids.clear();
                        break;
                    }
                }
                None => {}
            }
        }
        // The headers may be damaged, but then the key must not be replaced.
        has_content |= !found.ids.is_empty();
        found.ids.extend(of_key_file.filter(|id| has_content && !found.ids.contains(id)));
        Ok(found)
    }
}

/// Returns the clear part of a header, if it is valid, and the length of the file. Returns `None` if there is no file:
/// a writer may be removing it.
fn clear_of(path: &Path, kind: Kind) -> io::Result<Option<(Option<Clear>, u64)>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let length = file.metadata()?.len();
    let mut front = Vec::new();
    // A journal has a second copy of its header.
    let read = if kind == Kind::Journal { files::MAX_EMPTY_JOURNAL } else { Clear::LEN as u64 };
    file.take(read).read_to_end(&mut front)?;
    let mut copies = (0..front.len()).filter(|at| Header::is_at(&front[*at..]));
    Ok(Some((copies.find_map(|at| Clear::read(&front[at..])), length)))
}
