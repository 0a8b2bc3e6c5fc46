//! The history of one object.

use super::bases::{ChangeReader, tracked_object};
use super::catalog::Catalog;
use super::chains::SegmentLog;
use crate::object::{ApiResource, Object};
use crate::recording::entry::Entry;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;

/// The versions of an object, with one error for each damaged part.
type Versions = Vec<Result<Entry, RecordingError>>;

impl Catalog {
    /// Returns the changes of one object in order. Of a segment without any, only the tables are read. A damaged
    /// part is one error; the versions continue at the next keyframe.
    pub(super) fn versions(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Versions, RecordingError> {
        let wanted = Object::named(resource.type_meta(), namespace, name);
        let mut versions = Versions::new();
        let mut from = Some(self.start());
        while let Some(start) = from {
            let Err((at, error)) = self.versions_from(start, resource, wanted.key(), &mut versions) else {
                break;
            };
            match self.error(error) {
                damage @ RecordingError::Damaged(_) => versions.push(Err(damage)),
                error => return Err(error),
            }
            from = self.next_base(at);
        }
        Ok(versions)
    }

    /// Appends the versions from an entry on, before which the state is known. Returns an error with the number of
    /// the first entry that can't be read.
    fn versions_from(
        &self,
        start: u64,
        resource: &ApiResource,
        key: &str,
        versions: &mut Versions,
    ) -> Result<(), (u64, FileError)> {
        let mut state = None;
        if start > 0 {
            let cut = self.files_before(start, self.beginning()).map_err(|error| (start, error))?;
            state = tracked_object(&cut, resource, key).map_err(|error| (start, error))?;
        }
        let mut next = start;
        for file in self.segments.iter().filter(|segment| segment.first() >= start) {
            if file.first() != next {
                // The missing segment may have changes of the object.
                self.open_segments(next, file.first()).map_err(|error| (next, error))?;
            }
            let failed = |error| (file.first(), error);
            let segment = file.open().map_err(failed)?;
            next = file.first() + segment.header().count;
            if self.losses.contains(&file.first()) {
                state = None;
            }
            let own = segment.tables().resources.iter().find(|own| ***own == *resource);
            let Some(own) = own else { continue };
            let Some(log) = segment.log_of(resource, key).map_err(failed)? else { continue };
            let Some(object) = log.find(key) else { continue };
            let log = SegmentLog { log, timeline: segment.timeline().map_err(failed)? };
            let mut changes = ChangeReader::new(&self.context, &segment, own, &log);
            for (number, _) in log.log.numbered(object) {
                versions.push(Ok(changes.read(object, number, &mut state).map_err(failed)?));
            }
        }
        Ok(())
    }
}
