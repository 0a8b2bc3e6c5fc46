//! Drops the oldest files.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::recording::encryption::Cipher;
use crate::recording::files::{self, Kind, RandomAccess};
use crate::recording::options::WriterOptions;
use crate::recording::segment::read_header;

/// Drops the segments before a keyframe that retention no longer keeps, and returns the bytes of the sealed segments,
/// keyframes and damaged journals that stay. The state at the new beginning is that of the keyframe.
pub(super) fn drop_old(
    dir: &Path,
    options: &WriterOptions,
    cipher: Option<&Arc<Cipher>>,
    now: Timestamp,
) -> io::Result<u64> {
    let mut all = Vec::new();
    for (number, kind) in files::list(dir)? {
        let path = files::path_of(dir, kind, number);
        let length = path.metadata()?.len();
        all.push((number, kind, path, length));
    }
    let keyframes: Vec<u64> =
        all.iter().filter(|(_, kind, ..)| *kind == Kind::Keyframe).map(|file| file.0).collect();
    // A journal before a keyframe is damaged: it would be sealed otherwise.
    let last_keyframe = keyframes.last().copied().unwrap_or_default();
    all.retain(|(number, kind, ..)| *kind != Kind::Journal || *number < last_keyframe);
    let size_from = |first: u64| all.iter().filter(|file| file.0 >= first).map(|file| file.3).sum::<u64>();
    let mut start = 0;
    if let Some(keep) = options.keep {
        let oldest = now.as_millisecond().saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
        let is_old = |keyframe: &&u64| {
            let access = RandomAccess::open(files::path_of(dir, Kind::Keyframe, **keyframe), cipher).ok();
            let header = access.and_then(|access| read_header(&access, Kind::Keyframe).ok());
            header.is_some_and(|(header, _)| header.first_time <= oldest)
        };
        start = keyframes.iter().rev().find(is_old).copied().unwrap_or(0);
    }
    if let Some(max_size) = options.max_size {
        while size_from(start) > max_size
            && let Some(next) = keyframes.iter().find(|keyframe| **keyframe > start)
        {
            start = *next;
        }
    }
    // Keyframes first: a reader that lists the directory meanwhile begins at the first keyframe.
    let mut dropped: Vec<_> = all.iter().filter(|file| file.0 < start).collect();
    dropped.sort_by_key(|(number, kind, ..)| (*kind != Kind::Keyframe, *number));
    for (_, _, path, _) in dropped {
        fs::remove_file(path)?;
    }
    Ok(size_from(start))
}
