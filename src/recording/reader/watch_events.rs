//! Finds whether a watch had an event after an entry.

use super::catalog::Catalog;
use super::segment_file::SegmentFile;
use crate::object::Origin;
use crate::recording::files::FileError;
use crate::recording::names::split_key;
use crate::recording::position::Watch;

impl Catalog {
    /// Returns whether a change after an entry was received by a watch as an event, or may have been because a part is damaged.
    /// All differences of a gap are recorded before the next event.
    pub(super) fn has_watch_event_after(&self, watch: &Watch, number: u64) -> bool {
        let mut files = self.segments.iter().rev();
        files.any(|file| has_event(file, watch, number).unwrap_or(true))
    }
}

fn has_event(file: &SegmentFile, watch: &Watch, number: u64) -> Result<bool, FileError> {
    if file.first() + file.count()? <= number {
        return Ok(false);
    }
    let segment = file.open()?;
    let Some(log) = segment.log(&watch.resource)? else { return Ok(false) };
    let is_event = |object: usize| {
        let (key, namespace_len) = log.names.get(object);
        let (namespace, name) = split_key(key, namespace_len);
        watch.includes_name(namespace, name)
            && log.entries[log.range(object)].iter().any(|entry| {
                entry.flags.origin() == Origin::Watch && file.first() + u64::from(entry.index) > number
            })
    };
    Ok((0..log.names.len()).any(is_event))
}
