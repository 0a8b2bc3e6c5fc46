//! The first lists of collections, which are not complete before their SYNCED marks.

use std::collections::HashMap;
use std::sync::Arc;

use super::observation::is_of;
use crate::object::{ApiResource, Origin};
use crate::recording::entry::IncompleteList;
use crate::recording::files::FileError;
use crate::recording::position::Watch;
use crate::recording::reader::catalog::{Catalog, time_of};
use crate::recording::reader::resources::sorted_resources;
use crate::recording::reader::segment_file::{Segment, SegmentFile};

impl Catalog {
    /// Returns the resources of which a part had been listed at a time, in Unix milliseconds, but not all. `synced` are the
    /// watches with the times at which their first lists were complete.
    pub(super) fn incomplete_lists(
        &self,
        synced: &HashMap<Watch, i64>,
        time: i64,
    ) -> Result<Vec<IncompleteList>, FileError> {
        // A keyframe is written after the lists.
        if self.start() > 0 {
            return Ok(Vec::new());
        }
        let is_earlier = |file: &&Arc<SegmentFile>| file.first_time().is_ok_and(|first| first <= time);
        let files: Vec<_> = self.segments.iter().take_while(is_earlier).collect();
        let named: Vec<_> = files.iter().filter_map(|file| file.resources().ok()).flatten().collect();
        let mut incomplete = Vec::new();
        for resource in sorted_resources(named.iter()) {
            let of_resource = synced.iter().filter(|(watch, _)| is_of(watch, &resource));
            let (complete, later): (Vec<_>, Vec<_>) = of_resource.partition(|(_, at)| **at <= time);
            if later.is_empty() && !complete.is_empty() {
                continue;
            }
            let is_in_list = |namespace: &str, name: &str| {
                let includes = |(watch, _): &(&Watch, &i64)| watch.includes_name(namespace, name);
                !complete.iter().any(includes) && (later.is_empty() || later.iter().any(includes))
            };
            for file in &files {
                if is_listed(&*file.open()?, &resource, time, &is_in_list)? {
                    let until = later.iter().map(|(_, at)| time_of(**at)).min();
                    incomplete.push(IncompleteList { resource: Arc::clone(&resource), until });
                    break;
                }
            }
        }
        Ok(incomplete)
    }
}

/// Returns whether a segment has an object of a list that was received up to a time, for which `is_in_list` returns true.
fn is_listed(
    segment: &Segment,
    resource: &ApiResource,
    time: i64,
    is_in_list: &dyn Fn(&str, &str) -> bool,
) -> Result<bool, FileError> {
    let Some(log) = segment.log(resource)? else { return Ok(false) };
    let received = &segment.timeline()?.received;
    let is_listed = |object: usize| {
        let (key, namespace_len) = log.names.get(object);
        let (namespace, name) = key.split_at_checked(namespace_len.into()).unwrap_or(("", key));
        is_in_list(namespace, name.strip_prefix('/').unwrap_or(name))
            && log.entries[log.range(object)].iter().any(|entry| {
                let is_earlier = received.get(entry.index as usize).is_some_and(|received| *received <= time);
                entry.flags.origin() == Origin::List && is_earlier
            })
    };
    Ok((0..log.names.len()).any(is_listed))
}
