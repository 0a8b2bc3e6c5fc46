//! An informer read as a watch.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::informer::{InformerError, Notification, SharedIndexInformer, Subscription, answer};
use crate::listwatch::{Error, WatchEvent, WatchStream};

/// Events that wait for the reader before the informer waits for it.
const CAPACITY: usize = 100;

/// An informer that runs, read as a watch (client-go: `NewIndexerInformerWatcher`).
///
/// What is there already comes as added, in the order of the list where the queue keeps it; then what happens. A
/// deletion that was missed comes as a delete with the last known state. There are no bookmarks, and no end before the
/// informer's: what breaks a watch, an expired version too, the informer recovers from. Whoever does not read holds
/// the informer up.
///
/// It owns the informer's task: dropping it ends the informer at once, [`InformerWatcher::stop`] in order.
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
/// // The deletion is missed, and the log forgotten.
/// source.delete_silently("web");
/// source.reset_watches();
/// assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Deleted(_)))));
/// # Ok(watch.stop().await?)
/// # }
/// ```
pub struct InformerWatcher {
    informer: SharedIndexInformer,
    subscription: Subscription,
    /// The run. Owned here, so that it is aborted with this.
    running: JoinSet<Result<(), Error>>,
    stop: DropGuard,
}

impl InformerWatcher {
    /// Runs the informer, which nobody must have run before, on the current tokio runtime.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`]: the informer has been run to its end.
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

    /// The informer: its store can be read, and indices be added to it.
    #[must_use]
    pub fn informer(&self) -> &SharedIndexInformer {
        &self.informer
    }

    /// Stops the informer and waits until it has ended. What was not read is dropped.
    ///
    /// # Errors
    /// What the informer's reflector had given up with.
    pub async fn stop(self) -> Result<(), Error> {
        let Self { mut running, stop, subscription, .. } = self;
        drop((stop, subscription));
        ended(&mut running).await
    }

    /// Waits until the informer has ended, or is being waited for no more.
    pub(super) async fn ended(&mut self) -> Result<(), Error> {
        ended(&mut self.running).await
    }
}

/// How a run came to its end; a panic in it goes on here.
async fn ended(running: &mut JoinSet<Result<(), Error>>) -> Result<(), Error> {
    running.join_next().await.and_then(answer).unwrap_or(Ok(()))
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
        // An informer tells only of deletes of what it held, so there is a state.
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

    /// What comes until nothing has come for a minute.
    async fn told(watcher: &mut InformerWatcher) -> Vec<String> {
        let mut lines = Vec::new();
        while let Ok(Some(Ok(event))) = tokio::time::timeout(Duration::from_mins(1), watcher.next()).await {
            lines.push(line(&event));
        }
        lines
    }

    // J13
    #[tokio::test(start_paused = true)]
    async fn what_is_there_comes_as_added_and_then_what_happens() {
        for initial in [InitialEvents::Unsupported, InitialEvents::Sent] {
            let source = FakeSource::new();
            source.set_initial_events(initial);
            for name in ["pod-1", "pod-2", "pod-3"] {
                source.add(pod(name));
            }
            let informer = SharedIndexInformer::builder(source.clone()).build();
            let mut watcher = InformerWatcher::new(informer).expect("not stopped");
            let mut first = told(&mut watcher).await;
            first.sort();
            assert_eq!(first, ["+pod-1@2", "+pod-2@3", "+pod-3@4"]);
            source.bookmark();
            source.add(pod("pod-4"));
            source.modify(pod("pod-2"));
            source.delete("pod-3");
            let mut live = told(&mut watcher).await;
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
    async fn a_deletion_nobody_saw_comes_with_the_last_known_state() {
        let source = FakeSource::new();
        source.set_initial_events(InitialEvents::Unsupported);
        source.skip_to(122);
        source.add(pod("secret1"));
        let informer = SharedIndexInformer::builder(source.clone()).build();
        let mut watcher = InformerWatcher::new(informer).expect("not stopped");
        assert_eq!(told(&mut watcher).await, ["+secret1@123"]);
        source.delete_silently("secret1");
        source.reset_watches();
        assert_eq!(told(&mut watcher).await, ["-secret1@123"]);
        let lists = source.requests().into_iter().filter(|request| matches!(request, Request::List(_)));
        assert!(lists.count() >= 2);
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_it_leaves_nothing_behind() {
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
