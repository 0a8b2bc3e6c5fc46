//! Drops the oldest files.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::recording::encryption::Cipher;
use crate::recording::files::{self, FileError, Header, Kind, RandomAccess};
use crate::recording::options::WriterOptions;
use crate::recording::segment::read_header;

/// The files of a recording that retention considers.
struct RecordingFiles<'a> {
    dir: &'a Path,
    cipher: Option<&'a Arc<Cipher>>,
    all: Vec<RecordingFile>,
}

struct RecordingFile {
    number: u64,
    kind: Kind,
    path: PathBuf,
    length: u64,
}

/// Drops the segments before a keyframe that retention no longer keeps, and returns the bytes of the sealed segments,
/// keyframes and damaged journals that stay. The state at the new beginning is that of the keyframe.
pub(super) fn drop_old(
    dir: &Path,
    options: &WriterOptions,
    cipher: Option<&Arc<Cipher>>,
    now: Timestamp,
) -> io::Result<u64> {
    let files = RecordingFiles::list(dir, cipher)?;
    let keyframes: Vec<u64> = files.of_kind(Kind::Keyframe).map(|file| file.number).collect();
    let mut start = 0;
    if let Some(keep) = options.keep {
        let oldest = now.as_millisecond().saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
        for keyframe in keyframes.iter().rev() {
            if files.keyframe(*keyframe)?.is_some_and(|header| header.first_time <= oldest) {
                start = *keyframe;
                break;
            }
        }
    }
    if let Some(max_size) = options.max_size {
        while files.size_from(start)? > max_size
            && let Some(next) = keyframes.iter().find(|keyframe| **keyframe > start)
        {
            start = *next;
        }
    }
    files.drop_before(start)?;
    files.size_from(start)
}

impl<'a> RecordingFiles<'a> {
    fn list(dir: &'a Path, cipher: Option<&'a Arc<Cipher>>) -> io::Result<Self> {
        let mut files = Self { dir, cipher, all: Vec::new() };
        for (number, kind) in files::list(dir)? {
            let path = files::path_of(dir, kind, number);
            let length = path.metadata()?.len();
            files.all.push(RecordingFile { number, kind, path, length });
        }
        // A journal before a keyframe is damaged: it would be sealed otherwise.
        let last_keyframe = files.of_kind(Kind::Keyframe).map(|file| file.number).max().unwrap_or_default();
        files.all.retain(|file| file.kind != Kind::Journal || file.number < last_keyframe);
        Ok(files)
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &RecordingFile> {
        self.all.iter().filter(move |file| file.kind == kind)
    }

    /// Returns the header of a keyframe. `None` if it is damaged, or there is no keyframe with this number.
    fn keyframe(&self, number: u64) -> io::Result<Option<Header>> {
        let path = files::path_of(self.dir, Kind::Keyframe, number);
        if !self.all.iter().any(|file| file.path == path) {
            return Ok(None);
        }
        let opened = RandomAccess::open(path, self.cipher);
        match opened.and_then(|access| read_header(&access, Kind::Keyframe)) {
            Ok((header, _)) => Ok(Some(header)),
            Err(FileError::Io(_, error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Returns the number of the keyframe to which another one refers.
    fn base_of(&self, keyframe: u64) -> io::Result<Option<u64>> {
        Ok(self.keyframe(keyframe)?.and_then(|header| header.base))
    }

    /// Returns whether a file stays if the recording begins with a keyframe that has this base.
    fn stays(file: &RecordingFile, start: u64, base: Option<u64>) -> bool {
        file.number >= start || (Some(file.number) == base && file.is_keyframe())
    }

    /// Returns the bytes of the files if the recording begins with this keyframe.
    fn size_from(&self, start: u64) -> io::Result<u64> {
        let base = self.base_of(start)?;
        Ok(self.all.iter().filter(|file| Self::stays(file, start, base)).map(|file| file.length).sum())
    }

    /// Drops the files before a keyframe, except for the one to which it refers. That one is renamed, because readers begin
    /// at the first keyframe and need all segments after it.
    fn drop_before(&self, start: u64) -> io::Result<()> {
        let base = self.base_of(start)?;
        let (mut keyframes, mut others) = (Vec::new(), Vec::new());
        for file in self.all.iter().filter(|file| !Self::stays(file, start, base)) {
            if file.is_keyframe() {
                let base = if file.kind == Kind::Base { None } else { self.base_of(file.number)? };
                keyframes.push((base.unwrap_or(file.number), Reverse(file.number), &file.path));
            } else {
                others.push(&file.path);
            }
        }
        // Keyframes first, from the oldest on: a reader that lists the directory meanwhile begins at the first one that is
        // there. Each is removed before its base.
        keyframes.sort_unstable();
        keyframes.iter().try_for_each(|(.., path)| fs::remove_file(path))?;
        if let Some(file) = self.of_kind(Kind::Keyframe).find(|file| Some(file.number) == base) {
            fs::rename(&file.path, files::path_of(self.dir, Kind::Base, file.number))?;
        }
        others.into_iter().try_for_each(fs::remove_file)
    }
}

impl RecordingFile {
    /// Whether it is a keyframe, or was one before it was renamed.
    fn is_keyframe(&self) -> bool {
        matches!(self.kind, Kind::Keyframe | Kind::Base)
    }
}
