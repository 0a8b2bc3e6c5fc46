//! Drops the oldest files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::recording::encryption::Cipher;
use crate::recording::files::{self, Header, Kind, RandomAccess};
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
        let is_old =
            |keyframe: &&u64| files.keyframe(**keyframe).is_some_and(|header| header.first_time <= oldest);
        start = keyframes.iter().rev().find(is_old).copied().unwrap_or(0);
    }
    if let Some(max_size) = options.max_size {
        while files.size_from(start) > max_size
            && let Some(next) = keyframes.iter().find(|keyframe| **keyframe > start)
        {
            start = *next;
        }
    }
    files.drop_before(start)?;
    Ok(files.size_from(start))
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

    /// Returns the header of a keyframe, if it can be read.
    fn keyframe(&self, number: u64) -> Option<Header> {
        let access =
            RandomAccess::open(files::path_of(self.dir, Kind::Keyframe, number), self.cipher).ok()?;
        Some(read_header(&access, Kind::Keyframe).ok()?.0)
    }

    /// Returns whether a file is necessary if the recording begins with this keyframe, whose base is given.
    fn is_needed(file: &RecordingFile, start: u64, base: Option<u64>) -> bool {
        let is_base = Some(file.number) == base && matches!(file.kind, Kind::Keyframe | Kind::Base);
        file.number >= start || is_base
    }

    /// Returns the bytes of the files if the recording begins with this keyframe.
    fn size_from(&self, start: u64) -> u64 {
        let base = self.keyframe(start).and_then(|header| header.base);
        self.all.iter().filter(|file| Self::is_needed(file, start, base)).map(|file| file.length).sum()
    }

    /// Drops the files before a keyframe. That to which it refers is renamed: a recording begins with a keyframe only if all
    /// segments after it are there.
    fn drop_before(&self, start: u64) -> io::Result<()> {
        let base = self.keyframe(start).and_then(|header| header.base);
        if let Some(file) = self.of_kind(Kind::Keyframe).find(|file| Some(file.number) == base) {
            fs::rename(&file.path, files::path_of(self.dir, Kind::Base, file.number))?;
        }
        // Keyframes first: a reader that lists the directory meanwhile begins at the first keyframe. The newest first,
        // because it may refer to an older one.
        let mut dropped: Vec<_> =
            self.all.iter().filter(|file| !Self::is_needed(file, start, base)).collect();
        dropped.sort_by_key(|file| {
            let is_keyframe = matches!(file.kind, Kind::Keyframe | Kind::Base);
            (!is_keyframe, if is_keyframe { u64::MAX - file.number } else { file.number })
        });
        dropped.into_iter().try_for_each(|file| fs::remove_file(&file.path))
    }
}
