//! The whole informer on a fake source, under the runtime's paused clock unless noted otherwise.

mod body_compression;
mod components;
mod early;
mod faults;
mod handlers;
mod notifications;
mod relist;
mod removal;
mod resync;
mod shutdown_leaks;
mod slow;
mod stop;
mod sync;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use kdelta::informer::{Notification, QueueKind, ResourceEventHandler, SharedIndexInformer, Subscription};
use kdelta::listwatch::Error;
use kdelta::object::{Key, Object};
use kdelta::testing::{FakeSource, InitialEvents, pod};

const KINDS: [QueueKind; 2] = [QueueKind::Delta, QueueKind::Ordered];

/// A running informer.
struct Running {
    informer: SharedIndexInformer,
    stop: CancellationToken,
    run: JoinHandle<Result<(), Error>>,
}

impl Running {
    fn start(informer: SharedIndexInformer) -> Self {
        let stop = CancellationToken::new();
        let run = tokio::spawn(informer.run(stop.clone()));
        Self { informer, stop, run }
    }

    async fn synced(informer: SharedIndexInformer) -> Self {
        let running = Self::start(informer);
        assert!(running.informer.synced().await);
        running
    }

    async fn stop(self) {
        self.stop.cancel();
        self.run.await.expect("no panic").expect("no error");
    }
}

/// Returns a source with a list of these pods, at the versions 2, 3, ….
fn source_of(names: &[&str]) -> FakeSource {
    let source = FakeSource::new();
    source.set_initial_events(InitialEvents::Unsupported);
    for name in names {
        source.add(pod(name));
    }
    source
}

fn of_kind(source: &FakeSource, kind: QueueKind) -> SharedIndexInformer {
    SharedIndexInformer::builder(source.clone()).queue(kind).build()
}

/// Waits, in the runtime's time, until the condition holds.
async fn until(what: &str, mut is: impl FnMut() -> bool) {
    for _ in 0..100_000 {
        if is() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("never: {what}");
}

async fn advance(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

fn state(object: &Object) -> String {
    format!("{}@{}", object.key(), object.resource_version())
}

/// Returns the stored objects in key order.
fn stored(informer: &SharedIndexInformer) -> Vec<String> {
    let mut objects = informer.get_store().list();
    objects.sort_by(|one, other| one.key().cmp(other.key()));
    objects.iter().map(|object| state(object)).collect()
}

/// Returns the source's objects in key order.
fn source_state(source: &FakeSource) -> Vec<String> {
    source.objects().iter().map(|object| state(object)).collect()
}

/// Returns the notifications of a subscription until none arrives for a minute.
async fn notifications(subscription: &mut Subscription) -> Vec<String> {
    let mut lines = Vec::new();
    while let Ok(Some(next)) = tokio::time::timeout(Duration::from_mins(1), subscription.recv()).await {
        lines.push(next.to_string());
    }
    lines
}

/// A handler that records its notifications.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("lines"))
    }

    fn len(&self) -> usize {
        self.0.lock().expect("lines").len()
    }
}

impl ResourceEventHandler for Recorder {
    fn on_notification(&self, notification: Notification) {
        self.0.lock().expect("lines").push(notification.to_string());
    }
}

/// The state after replaying notifications.
#[derive(Default)]
struct Replay(BTreeMap<Key, String>);

impl Replay {
    fn read(&mut self, notification: &Notification) {
        let what = notification.to_string();
        match notification {
            Notification::Added { object, .. } => {
                assert!(self.0.insert(object.key().clone(), state(object)).is_none(), "{what}");
            }
            Notification::Updated { old, new, .. } => {
                assert_eq!(self.0.insert(new.key().clone(), state(new)), Some(state(old)), "{what}");
            }
            Notification::Deleted { object, .. } => {
                assert!(self.0.remove(object.key()).is_some(), "{what}");
            }
            Notification::Mark(_) => {}
        }
    }

    /// Reads a subscription to its end and returns the final state.
    async fn replay_to_end(subscription: &mut Subscription) -> Vec<String> {
        let mut replay = Self::default();
        while let Some(notification) = subscription.recv().await {
            replay.read(&notification);
        }
        replay.0.into_values().collect()
    }
}
