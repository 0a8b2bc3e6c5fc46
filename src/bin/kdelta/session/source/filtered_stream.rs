//! Client-side selection: a stream filtered by the rules that a server applies to a selector, and redaction of the
//! selected objects.

use std::sync::Arc;

use kdelta::listwatch::{Error, ListMeta, ListStream, WatchEvent, WatchStream};
use kdelta::object::Object;
use kdelta::recording::Redaction;
use tokio::sync::OwnedSemaphorePermit;

use super::attempts::Attempts;
use super::received_count::ReceivedCount;
use crate::session::filter::Filter;

/// A list or watch stream that yields only the objects that pass a filter. The others are dropped as they arrive.
pub(crate) struct FilteredStream<S> {
    pub(super) stream: S,
    pub(super) filter: Filter,
    /// Removes confidential values from the yielded objects. The filter reads objects as they were received.
    pub(super) redaction: Option<Arc<Redaction>>,
    /// Whether objects that may match later without a change are yielded too: the receiver waits for that moment.
    pub(super) keeps_later: bool,
    /// Counts every object read, including those that the filter drops.
    pub(super) received_count: Arc<ReceivedCount>,
    /// Held until the initial state is complete.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    /// Limits and counts the attempts of a one-shot command.
    pub(super) attempts: Option<Arc<Attempts>>,
}

impl<S> FilteredStream<S> {
    fn passes(&self, object: &Object) -> Result<bool, Error> {
        self.received_count.increment();
        self.filter.check(object)?;
        Ok(if self.keeps_later { self.filter.may_pass(object) } else { self.filter.passes(object) })
    }

    fn redacted(&self, object: Arc<Object>) -> Arc<Object> {
        match &self.redaction {
            Some(redaction) => redaction.object(&object),
            None => object,
        }
    }
}

impl<S: ListStream> ListStream for FilteredStream<S> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            let item = self.stream.next().await;
            if let Some(attempts) = &self.attempts {
                match item {
                    Ok(Some(_)) => {}
                    Ok(None) => attempts.begin(),
                    Err(error) => return Err(attempts.failed(error)),
                }
            }
            match item? {
                Some(object) if !self.passes(&object)? => {}
                item => return Ok(item.map(|object| self.redacted(object))),
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

impl<S: WatchStream> FilteredStream<S> {
    /// Returns the next event unfiltered. For a one-shot command, the time limit of the request applies until the
    /// initial state is complete, and a failure counts as an attempt.
    async fn event(&mut self) -> Option<Result<WatchEvent, Error>> {
        let Some(attempts) = &self.attempts else { return self.stream.next().await };
        let error = match attempts.in_time(self.stream.next()).await {
            Ok(Some(Ok(event))) => return Some(Ok(event)),
            Ok(Some(Err(error))) => attempts.failed(error),
            Ok(None) => {
                attempts.failed(Error::Transport("the watch ended before its initial state did".into()))
            }
            Err(error) => error,
        };
        attempts.watch_list_failed();
        Some(Err(error))
    }
}

impl<S> FilteredStream<S> {
    /// Returns the event for the receiver, who has only objects that pass; `None` if it is none.
    fn filtered(&mut self, event: WatchEvent) -> Result<Option<WatchEvent>, Error> {
        Ok(match event {
            // Also a deletion: a stream without a store prints it.
            WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object)
                if !self.filter.can_match(&object) =>
            {
                self.received_count.increment();
                None
            }
            WatchEvent::Added(object) => {
                self.passes(&object)?.then(|| WatchEvent::Added(self.redacted(object)))
            }
            WatchEvent::Modified(object) => {
                let passes = self.passes(&object)?;
                let object = self.redacted(object);
                Some(if passes { WatchEvent::Modified(object) } else { WatchEvent::Deleted(object) })
            }
            WatchEvent::Deleted(object) => Some(WatchEvent::Deleted(self.redacted(object))),
            WatchEvent::Bookmark { initial_events_end: true, .. } => {
                (self.permit, self.attempts) = (None, None);
                Some(event)
            }
            WatchEvent::Bookmark { .. } => Some(event),
        })
    }
}

/// Follows the server's rule for selectors: an object that stops matching is reported as deleted. The store behind the
/// queue turns the first match of an object into an addition, and drops the deletion of an unknown object.
impl<S: WatchStream> WatchStream for FilteredStream<S> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            let filtered = match self.event().await? {
                Ok(event) => {
                    self.received_count.message_received();
                    self.filtered(event)
                }
                Err(error) => Err(error),
            };
            if let Some(event) = filtered.transpose() {
                return Some(event);
            }
        }
    }
}
