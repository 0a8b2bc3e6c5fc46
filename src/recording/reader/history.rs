//! The history of one object.

use std::sync::{Arc, mpsc};
use std::thread;

use super::bases::{ChangeReader, last_state_of_object};
use super::catalog::Catalog;
use super::chains::SegmentLog;
use super::segment_file::{Segment, SegmentFile};
use crate::object::{ApiResource, Object};
use crate::recording::entry::Entry;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;

/// The number of segments whose tables are read ahead.
const READ_AHEAD: usize = 3;

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
            let files = self.files_before(start, self.beginning()).map_err(|error| (start, error))?;
            state = last_state_of_object(&files, resource, key).map_err(|error| (start, error))?;
        }
        let files: Vec<_> = self.segments.iter().filter(|segment| segment.first() >= start).collect();
        // A scoped std thread: it reads the tables of the next segments while the versions of one are decoded. It ends
        // with the last segment, or when this call fails.
        thread::scope(|scope| {
            let (sender, parts) = mpsc::sync_channel(READ_AHEAD);
            let read = files.clone();
            scope.spawn(move || {
                for file in read {
                    let part = Part::read(file, resource, key);
                    let is_last = part.is_err();
                    if sender.send(part).is_err() || is_last {
                        return;
                    }
                }
            });
            let mut next = start;
            for (file, part) in files.into_iter().zip(parts) {
                if file.first() != next {
                    // The missing segment may have changes of the object.
                    self.open_segments(next, file.first()).map_err(|error| (next, error))?;
                }
                let failed = |error| (file.first(), error);
                let Part { segment, log } = part.map_err(failed)?;
                next = file.first() + segment.header().count;
                if self.losses.contains(&file.first()) {
                    state = None;
                }
                let Some((own, object, log)) = log else { continue };
                let mut changes = ChangeReader::new(&self.context, &segment, &own, &log);
                for (number, _) in log.log.numbered(object) {
                    versions.push(Ok(changes.read(object, number, &mut state).map_err(failed)?));
                }
            }
            Ok(())
        })
    }
}

/// A segment with the changes of one object.
struct Part {
    segment: Arc<Segment>,
    /// The recorded resource, the number of the object in the log, and the log. `None` without changes of the object.
    log: Option<(Arc<ApiResource>, usize, SegmentLog)>,
}

impl Part {
    fn read(file: &SegmentFile, resource: &ApiResource, key: &str) -> Result<Self, FileError> {
        let segment = file.open()?;
        let own = segment.tables().resources.iter().find(|own| ***own == *resource).cloned();
        let mut log = None;
        if let Some(own) = own
            && let Some(of_type) = segment.log_of(resource, key)?
            && let Some(object) = of_type.find(key)
        {
            log = Some((own, object, SegmentLog { log: of_type, timeline: segment.timeline()? }));
        }
        Ok(Self { segment, log })
    }
}
