//! An informer as a watch.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::informer::{InformerError, Notification, SharedIndexInformer, Subscription, task_output};
use crate::listwatch::{Error, WatchEvent, WatchStream};

/// The capacity of the buffer between the informer and the reader.
const CAPACITY: usize = 100;

/// A running informer as a watch (client-go: `NewIndexerInformerWatcher`).
///
/// Existing objects arrive as added, in list order if the queue keeps it, followed by the events. A deletion that was
/// missed arrives as a delete with the last known state. There are no bookmarks, and the watch ends only with the
/// informer, which recovers from broken watches and expired versions. A slow reader blocks the informer.
///
/// It owns the informer's task: dropping it aborts the informer, [`InformerWatcher::stop`] ends it in order.
///
/// ```
/// # use kdelta::informer::SharedIndexInformer;
/// # use kdelta::listwatch::{WatchEvent, WatchStream};
/// # use kdelta::testing::{FakeSource, pod};
/// # use kdelta::watchtools::InformerWatcher;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// source.add(pod("web"));
/// let mut watch = InformerWatcher::new(SharedIndexInformer::builder(source.clone()).build())?;
/// assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(_)))));
/// // The watch misses the deletion, and the source forgets its log.
/// source.delete_silently("web");
/// source.reset_watches();
/// assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Deleted(_)))));
/// # Ok(watch.stop().await?)
/// # }
/// ```
pub struct InformerWatcher {
    informer: SharedIndexInformer,
    subscription: Subscription,
    /// The informer's task. Owned here, so that it is aborted with this watcher.
    running: JoinSet<Result<(), Error>>,
    stop: DropGuard,
}

impl InformerWatcher {
    /// Runs the informer, which must not have been run before, on the current tokio runtime.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`]: the informer has already stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(informer: SharedIndexInformer) -> Result<Self, InformerError> {
        let subscription = informer.subscribe(CAPACITY, None)?;
        let stop = CancellationToken::new();
        let mut running = JoinSet::new();
        running.spawn(informer.run(stop.clone()));
        Ok(Self { informer, subscription, running, stop: stop.drop_guard() })
    }

    /// Returns the informer, for reading its store and adding indices.
    #[must_use]
    pub fn informer(&self) -> &SharedIndexInformer {
        &self.informer
    }

    /// Stops the informer and waits for its end. Unread events are dropped.
    ///
    /// # Errors
    /// The error that the informer's reflector ended with.
    pub async fn stop(self) -> Result<(), Error> {
        let Self { mut running, stop, subscription, .. } = self;
        drop((stop, subscription));
        ended(&mut running).await
    }

    /// Waits until the informer has ended; the wait can be cancelled.
    pub(super) async fn ended(&mut self) -> Result<(), Error> {
        ended(&mut self.running).await
    }
}

/// Returns the result of the run; resumes a panic in it.
async fn ended(running: &mut JoinSet<Result<(), Error>>) -> Result<(), Error> {
    running.join_next().await.and_then(task_output).unwrap_or(Ok(()))
}

impl WatchStream for InformerWatcher {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        while let Some(notification) = self.subscription.recv().await {
            if let Some(event) = event_of(notification) {
                return Some(Ok(event));
            }
        }
        self.ended().await.err().map(Err)
    }
}

fn event_of(notification: Notification) -> Option<WatchEvent> {
    match notification {
        Notification::Added { object, .. } => Some(WatchEvent::Added(object)),
        Notification::Updated { new, .. } => Some(WatchEvent::Modified(new)),
        // Informers report deletes only of objects that they knew, so there is a state.
        Notification::Deleted { object, .. } => object.object().map(Arc::clone).map(WatchEvent::Deleted),
        Notification::Mark(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::{FakeSource, InitialEvents, Request, pod};

    fn line(event: &WatchEvent) -> String {
        let (sign, object) = match event {
            WatchEvent::Added(object) => ('+', object),
            WatchEvent::Modified(object) => ('>', object),
            WatchEvent::Deleted(object) => ('-', object),
            WatchEvent::Bookmark { .. } => return "bookmark".into(),
        };
        format!("{sign}{}@{}", object.key(), object.resource_version())
    }

    /// Returns the events that arrive until a minute passes without one.
    async fn received(watcher: &mut InformerWatcher) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(Some(Ok(event))) = tokio::time::timeout(Duration::from_mins(1), watcher.next()).await {
            lines.push(line(&event));
        }
        lines
    }

    // J13
    #[tokio::test(start_paused = true)]
    async fn existing_objects_arrive_as_added_before_events() {
        for initial in [InitialEvents::Unsupported, InitialEvents::Sent] {
            let source = FakeSource::new();
            source.set_initial_events(initial);
            for name in ["pod-1", "pod-2", "pod-3"] {
                source.add(pod(name));
            }
            let informer = SharedIndexInformer::builder(source.clone()).build();
            let mut watcher = InformerWatcher::new(informer).expect("not stopped");
            let mut first = received(&mut watcher).await;
            first.sort();
            assert_eq!(first, ["+pod-1@2", "+pod-2@3", "+pod-3@4"]);
            source.bookmark();
            source.add(pod("pod-4"));
            source.modify(pod("pod-2"));
            source.delete("pod-3");
            let mut live = received(&mut watcher).await;
            live.sort();
            assert_eq!(live, ["+pod-4@5", "-pod-3@7", ">pod-2@6"]);
            source.add(pod("unread"));
            tokio::time::sleep(Duration::from_secs(1)).await;
            watcher.stop().await.expect("no error");
            assert_eq!(source.open_watches(), 0);
        }
    }

    // J14
    #[tokio::test(start_paused = true)]
    async fn missed_deletions_arrive_with_the_last_known_state() {
        let source = FakeSource::new();
        source.set_initial_events(InitialEvents::Unsupported);
        source.skip_to(122);
        source.add(pod("secret1"));
        let informer = SharedIndexInformer::builder(source.clone()).build();
        let mut watcher = InformerWatcher::new(informer).expect("not stopped");
        assert_eq!(received(&mut watcher).await, ["+secret1@123"]);
        source.delete_silently("secret1");
        source.reset_watches();
        assert_eq!(received(&mut watcher).await, ["-secret1@123"]);
        let lists = source.requests().into_iter().filter(|request| matches!(request, Request::List(_)));
        assert!(lists.count() >= 2);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_the_watcher_frees_the_informer() {
        let source = FakeSource::new();
        let watcher = InformerWatcher::new(SharedIndexInformer::builder(source.clone()).build());
        let watcher = watcher.expect("not stopped");
        let informer = watcher.informer().clone();
        assert!(informer.synced().await);
        drop(watcher);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(source.open_watches(), 0);
        assert!(informer.is_stopped() && InformerWatcher::new(informer).is_err());
    }
}
