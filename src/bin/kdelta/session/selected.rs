//! What is selected here of a stream, by the rules that a server follows with a selector.

use std::sync::Arc;

use kdelta::listwatch::{Error, ListMeta, ListStream, WatchEvent, WatchStream};
use kdelta::object::Object;
use tokio::sync::OwnedSemaphorePermit;

use super::arrived::Arrived;
use super::indices::Filter;

/// A stream of which a filter lets a part through.
pub(crate) struct Selected<S> {
    pub(super) stream: S,
    pub(super) filter: Filter,
    /// What it reads is counted there.
    pub(super) arrived: Arc<Arrived>,
    /// Held while the initial state comes in.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

impl<S> Selected<S> {
    fn passes(&self, object: &Object) -> bool {
        self.arrived.another();
        self.filter.passes(object)
    }
}

impl<S: ListStream> ListStream for Selected<S> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            match self.stream.next().await? {
                Some(object) if !self.passes(&object) => {}
                item => return Ok(item),
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

/// As a server does with a selector: an object that no longer passes is deleted, and the store behind the queue makes
/// an addition of one that passes for the first time. A deletion of what was never seen is dropped there.
impl<S: WatchStream> WatchStream for Selected<S> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            match self.stream.next().await? {
                Ok(WatchEvent::Added(object)) if !self.passes(&object) => {}
                Ok(WatchEvent::Modified(object)) if !self.passes(&object) => {
                    return Some(Ok(WatchEvent::Deleted(object)));
                }
                Ok(WatchEvent::Bookmark { initial_events_end: true, resource_version }) => {
                    self.place = None;
                    return Some(Ok(WatchEvent::Bookmark { initial_events_end: true, resource_version }));
                }
                event => return Some(event),
            }
        }
    }
}
