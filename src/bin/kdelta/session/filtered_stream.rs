//! What is selected here of a stream, by the rules that a server follows with a selector.

use std::sync::Arc;

use kdelta::listwatch::{Error, ListMeta, ListStream, WatchEvent, WatchStream};
use kdelta::object::Object;
use tokio::sync::OwnedSemaphorePermit;

use super::indices::Filter;
use super::received_count::ReceivedCount;
use super::tries::Tries;

/// A stream of which a filter lets a part through.
pub(crate) struct FilteredStream<S> {
    pub(super) stream: S,
    pub(super) filter: Filter,
    /// What it reads is counted there.
    pub(super) received_count: Arc<ReceivedCount>,
    /// Held while the initial state comes in.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    /// Bounds and counts the tries of a command that asks once.
    pub(super) tries: Option<Arc<Tries>>,
}

impl<S> FilteredStream<S> {
    fn passes(&self, object: &Object) -> bool {
        self.received_count.increment();
        self.filter.passes(object)
    }
}

impl<S: ListStream> ListStream for FilteredStream<S> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            let item = self.stream.next().await;
            if let Some(tries) = &self.tries {
                match item {
                    Ok(Some(_)) => {}
                    Ok(None) => tries.begin(),
                    Err(error) => return Err(tries.failed(error)),
                }
            }
            match item? {
                Some(object) if !self.passes(&object) => {}
                item => return Ok(item),
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

impl<S: WatchStream> FilteredStream<S> {
    /// The next event as it came. While the initial state of a command that asks once comes in, the time of the request
    /// runs, and a failure is one of its tries.
    async fn event(&mut self) -> Option<Result<WatchEvent, Error>> {
        let Some(tries) = &self.tries else { return self.stream.next().await };
        let error = match tries.in_time(self.stream.next()).await {
            Ok(Some(Ok(event))) => return Some(Ok(event)),
            Ok(Some(Err(error))) => tries.failed(error),
            Ok(None) => tries.failed(Error::Transport("the watch ended before its initial state did".into())),
            Err(error) => error,
        };
        tries.watch_list_failed();
        Some(Err(error))
    }
}

/// As a server does with a selector: an object that no longer passes is deleted, and the store behind the queue makes
/// an addition of one that passes for the first time. A deletion of what was never seen is dropped there.
impl<S: WatchStream> WatchStream for FilteredStream<S> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            match self.event().await? {
                Ok(WatchEvent::Added(object)) if !self.passes(&object) => {}
                Ok(WatchEvent::Modified(object)) if !self.passes(&object) => {
                    return Some(Ok(WatchEvent::Deleted(object)));
                }
                Ok(WatchEvent::Bookmark { initial_events_end: true, resource_version }) => {
                    (self.permit, self.tries) = (None, None);
                    return Some(Ok(WatchEvent::Bookmark { initial_events_end: true, resource_version }));
                }
                event => return Some(event),
            }
        }
    }
}
