//! The history of one object.

use super::bases::{ChangeReader, tracked};
use super::catalog::Catalog;
use super::chains::SegmentLog;
use crate::object::{ApiResource, Object};
use crate::recording::entry::Entry;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;

impl Catalog {
    /// Returns the changes of one object in order. Only segments that have some are read further than their tables.
    pub(super) fn history(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Vec<Entry>, RecordingError> {
        let wanted = Object::named(resource.type_meta(), namespace, name);
        let key = &**wanted.key();
        let start = self.start();
        let mut state = None;
        if start > 0 {
            let found = self
                .files_before(start, self.beginning())
                .and_then(|cut| tracked(&cut, resource, |of| *of == *key));
            state = found.map_err(|error| self.error(error))?.into_values().next();
        }
        let mut entries = Vec::new();
        let mut next = start;
        let read = || {
            for file in self.segments.iter().filter(|segment| segment.first() >= start) {
                if file.first() != next {
                    // The missing segment may have changes of the object.
                    self.open_segments(next, file.first())?;
                }
                let segment = file.open()?;
                next = file.first() + segment.header().count;
                if !segment.may_have(resource, key)? {
                    continue;
                }
                let Some(log) = segment.log(resource)? else { continue };
                let Some(object) = log.find(key) else { continue };
                let own = segment.tables().resources.iter().find(|own| ***own == *resource);
                let Some(own) = own else { continue };
                let log = SegmentLog { log, timeline: segment.timeline()? };
                let mut changes = ChangeReader::new(&self.context, &segment, own, &log);
                for (number, _) in (0u32..)
                    .zip(&log.log.entries)
                    .skip(log.log.range(object).start)
                    .take(log.log.range(object).len())
                {
                    entries.push(changes.read(object, number, &mut state)?);
                }
            }
            Ok(entries)
        };
        let entries: Result<_, FileError> = read();
        entries.map_err(|error| self.error(error))
    }
}
