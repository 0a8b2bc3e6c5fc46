//! The reflector's behaviour on a fake source, under the runtime's paused clock.

mod client_go;
mod default_observer;
mod external_waits;
mod faults;
mod limits;
mod list_once;
mod list_watch;
mod local_selector;
mod pacing;
mod pages_first;
mod restored_source;
mod resume;
mod stop;
mod unexpected_type;
mod watch_list;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use kdelta::listwatch::{Error, ListOptions, Status, WatchOptions};
use kdelta::object::{Key, Object, Origin, ResourceVersion};
use kdelta::reflector::{
    MissedEvents, Reflector, ReflectorEvent, ReflectorHandle, ReflectorOptions, ReflectorStore,
};
use kdelta::testing::{FakeSource, Request};

/// A log with one line per store call or reflector event.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn push(&self, line: String) {
        self.0.lock().expect("lines").push(line);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().expect("lines").clone()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("lines"))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("no room for {0}")]
struct Rejected(String);

/// A store that records its calls.
struct RecordingStore {
    calls: Lines,
    objects: Mutex<BTreeMap<Key, Arc<Object>>>,
    /// True if it accepts list items as they arrive.
    streams: bool,
    /// The items since the list began.
    listed: Mutex<BTreeMap<Key, Arc<Object>>>,
    /// The name of an object that it rejects.
    refused: &'static str,
    full: watch::Sender<bool>,
}

impl Default for RecordingStore {
    fn default() -> Self {
        Self {
            calls: Lines::default(),
            objects: Mutex::default(),
            streams: false,
            listed: Mutex::default(),
            refused: "",
            full: watch::Sender::new(false),
        }
    }
}

impl RecordingStore {
    fn objects(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Object>>> {
        self.objects.lock().expect("objects")
    }

    /// Returns `name@version` of each object in key order.
    fn content(&self) -> Vec<String> {
        self.objects().values().map(|object| short(object)).collect()
    }

    fn write(&self, verb: &str, object: Arc<Object>, origin: Origin) -> Result<(), Rejected> {
        self.calls.push(format!("{verb} {} {origin}", short(&object)));
        if object.name() == self.refused {
            return Err(Rejected(object.name().to_owned()));
        }
        let key = object.key().clone();
        match verb {
            "delete" => {
                self.listed.lock().expect("listed").remove(&key);
                self.objects().remove(&key)
            }
            _ => self.objects().insert(key, object),
        };
        Ok(())
    }
}

impl ReflectorStore for RecordingStore {
    type Error = Rejected;

    async fn ready(&self) {
        self.full.subscribe().wait_for(|full| !full).await.expect("a store");
    }

    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), Rejected> {
        self.write("add", object, origin)
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), Rejected> {
        self.write("update", object, origin)
    }

    fn delete(&self, object: Arc<Object>, origin: Origin) -> Result<(), Rejected> {
        self.write("delete", object, origin)
    }

    fn list_begin(&self, origin: Origin, may_be_unrelated: bool) {
        self.listed.lock().expect("listed").clear();
        self.calls.push(format!("begin {origin}"));
        if may_be_unrelated {
            self.calls.push("in doubt".into());
        }
    }

    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> {
        if !self.streams {
            return Some(object);
        }
        self.calls.push(format!("item {} {origin}", short(&object)));
        self.listed.lock().expect("listed").insert(object.key().clone(), object);
        None
    }

    fn flush(&self) {}

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
        missed: Option<MissedEvents>,
    ) -> Result<(), Rejected> {
        if let Some(MissedEvents { after, lasted }) = missed {
            self.calls.push(format!("gap {after} to {version}, {:.1}s", lasted.as_secs_f64()));
        }
        let names: Vec<_> = objects.iter().map(|object| short(object)).collect();
        self.calls.push(format!("replace [{}] at {version} {origin}", names.join(" ")));
        if objects.iter().any(|object| object.name() == self.refused) {
            return Err(Rejected(self.refused.to_owned()));
        }
        let mut all = std::mem::take(&mut *self.listed.lock().expect("listed"));
        all.extend(objects.into_iter().map(|object| (object.key().clone(), object)));
        *self.objects() = all;
        Ok(())
    }

    fn resync(&self) -> Result<(), Rejected> {
        self.calls.push("resync".into());
        if self.refused == "resync" { Err(Rejected("a resync".into())) } else { Ok(()) }
    }

    fn bookmark(&self, version: &ResourceVersion) {
        self.calls.push(format!("bookmark {version}"));
    }
}

/// A running reflector.
struct Running {
    source: FakeSource,
    store: Arc<RecordingStore>,
    handle: ReflectorHandle,
    events: Lines,
    stop: CancellationToken,
    task: JoinHandle<Result<(), Error>>,
}

/// Returns options without jitter that use list and watch only.
fn plain() -> ReflectorOptions {
    ReflectorOptions::default().watch_list(false).jitter(Arc::new(|| 0.0))
}

fn start(source: &FakeSource, options: ReflectorOptions) -> Running {
    start_into(source, RecordingStore::default(), options)
}

fn start_into(source: &FakeSource, store: RecordingStore, mut options: ReflectorOptions) -> Running {
    let events = Lines::default();
    let lines = events.clone();
    options.observer = Some(Arc::new(move |event| lines.push(line(event))));
    let store = Arc::new(store);
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), options);
    let (handle, stop) = (reflector.handle(), CancellationToken::new());
    let task = tokio::spawn(reflector.run(stop.clone()));
    Running { source: source.clone(), store, handle, events, stop, task }
}

impl Running {
    /// Waits until the reflector has received this version.
    async fn at(&self, version: &str) {
        let version = ResourceVersion::new(version);
        until(|| self.handle.last_sync_resource_version() == version).await;
    }

    /// Waits until the reflector has received all events and has an open watch.
    async fn caught_up(&self) {
        until(|| {
            self.handle.last_sync_resource_version() == self.source.version()
                && self.source.open_watches() == 1
        })
        .await;
    }

    /// Stops it and returns its result.
    async fn stop(self) -> Result<(), Error> {
        self.stop.cancel();
        self.task.await.expect("no panic")
    }
}

/// Waits, in the runtime's paused time, until the condition holds.
async fn until(condition: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never is so");
}

/// Waits until a new watch is close to its timeout, when a clean end is not early.
async fn advance_most_of_a_watch() {
    advance(290).await;
}

async fn advance(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

fn short(object: &Object) -> String {
    format!("{}@{}", object.key(), object.resource_version())
}

/// Returns an event as one line.
fn line(event: &ReflectorEvent) -> String {
    match event {
        ReflectorEvent::Listed { phase, origin, version, items, .. } => {
            format!("{origin} of {items} at {version} by {phase}")
        }
        ReflectorEvent::PagesFellBack { error } => format!("no pages: {error}"),
        ReflectorEvent::WatchListFellBack { error, for_good: true } => {
            format!("no watch-list any more: {error}")
        }
        ReflectorEvent::WatchListFellBack { error, .. } => format!("no watch-list: {error}"),
        ReflectorEvent::Lost { phase, error } => format!("{phase:?} lost: {error}"),
        ReflectorEvent::Retrying { after } => format!("retrying in {}s", after.as_secs_f64()),
        ReflectorEvent::Relisting { from } => format!("relisting from {from}"),
        ReflectorEvent::Recovered { version, lasted } => {
            format!("recovered at {version} after {}s", lasted.as_secs())
        }
        ReflectorEvent::WentBack { from, to } => format!("went back from {from} to {to}"),
        ReflectorEvent::UnexpectedType { expected, found, key } => {
            format!("{} {key} in place of a {}", found.kind, expected.kind)
        }
        ReflectorEvent::StoreRefused { error } => format!("refused: {error}"),
        other => format!("{other:?}"),
    }
}

/// Returns requests as lines: `list 0/500`, `list C1/4`, `watch 7`, `watch-list 7`.
fn request_lines(requests: &[Request]) -> Vec<String> {
    let text = |request: &Request| match request {
        Request::List(ListOptions { resource_version, limit, continue_token, .. }) => {
            format!("list {resource_version}{continue_token}/{limit}")
        }
        Request::Watch(WatchOptions { resource_version, send_initial_events: true, .. }) => {
            format!("watch-list {resource_version}")
        }
        Request::Watch(WatchOptions { resource_version, .. }) => format!("watch {resource_version}"),
    };
    requests.iter().map(text).collect()
}

fn status_with(message: &str) -> Status {
    Status { message: message.into(), ..Status::default() }
}

fn expired() -> Error {
    Error::Expired(status_with("too old"))
}

fn too_many(retry_after: Option<u64>) -> Error {
    Error::TooManyRequests {
        status: status_with("too many"),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

fn refused() -> Error {
    Error::Refused("refused".into())
}

fn cut() -> Error {
    Error::Transport("cut".into())
}
