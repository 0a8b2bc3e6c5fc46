//! The selected changes of one type and segment.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::object::ApiResource;
use crate::recording::entry::EntryFilter;
use crate::recording::files::FileError;
use crate::recording::last_state::LastState;
use crate::recording::reader::chains::SegmentLog;
use crate::recording::reader::parallel;
use crate::recording::reader::segment_file::Segment;
use crate::recording::type_log::Times;

/// The states of the objects that were read so far, by resource.
pub(super) type States = HashMap<Arc<ApiResource>, HashMap<Arc<str>, LastState>>;

/// The keys of objects, by resource.
pub(super) type Keys = HashMap<Arc<ApiResource>, HashSet<String>>;

/// The selected changes of one type.
pub(super) struct SelectedLog {
    pub(super) resource: Arc<ApiResource>,
    pub(super) log: SegmentLog,
    /// The numbers of the selected objects.
    pub(super) objects: Vec<usize>,
}

impl SelectedLog {
    /// Reads the tables of the selected types of a segment.
    pub(super) fn open(segment: &Segment, filter: &EntryFilter) -> Result<Vec<Self>, FileError> {
        let timeline = segment.timeline()?;
        let open = |resource: &Arc<ApiResource>| {
            let Some(log) = segment.log(resource)? else { return Ok(None) };
            let is_selected = |object: &usize| {
                let (key, namespace_len) = log.names.get(*object);
                filter.selects_namespace(key.get(..namespace_len.into()).unwrap_or_default())
            };
            let objects = (0..log.names.len()).filter(is_selected).collect();
            let log = SegmentLog { log, times: Times::All(Arc::clone(&timeline)) };
            Ok(Some(Self { resource: Arc::clone(resource), log, objects }))
        };
        let types: Vec<_> =
            segment.tables().resources.iter().filter(|resource| filter.selects_resource(resource)).collect();
        parallel::map(types, open).into_iter().filter_map(Result::transpose).collect()
    }
}
