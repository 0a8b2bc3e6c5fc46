//! Connections that fall silent without an error. The tests run the reflector on real connections under tokio's paused
//! clock, so detection times of minutes pass at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kdelta::api::{Client, ResourceClient};
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::object::{ApiResource, KeyLister};
use kdelta::reflector::{Reflector, ReflectorEvent, ReflectorOptions};
use kdelta::store::Cache;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::Scene;
use crate::support::{Bookmarks, Fault, PATIENCE, eventually};

/// The interval of polling in real time; no result depends on it.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// One step of the paused clock.
const STEP: Duration = Duration::from_secs(5);
/// The silence after which a ping or a probe is certainly on its way: it is sent after 30 s, and a response is noticed up to
/// one step late.
const PROBED: Duration = Duration::from_secs(30).saturating_add(STEP);

/// A reflector of the scene's config maps.
struct TestReflector {
    store: Arc<Cache>,
    events: Arc<Mutex<Vec<ReflectorEvent>>>,
    running: JoinHandle<Result<(), kdelta::listwatch::Error>>,
}

impl TestReflector {
    fn start(runtime: &Runtime, scene: &Scene, alone: Option<&str>, http1_only: bool) -> Self {
        let kubeconfig = Some(scene.proxy.kubeconfig(&scene.env, &scene.namespace));
        let options = ConfigOptions::default()
            .kubeconfig(kubeconfig)
            .http1_only(http1_only)
            .watch_connections(alone.map(str::to_owned));
        let client = Client::new(&Config::load(&options).expect("a configuration")).expect("a client");
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
        };
        let source = ResourceClient::new(client, resource).namespace(Some(scene.namespace.clone()));
        let events = Arc::new(Mutex::new(Vec::new()));
        let summary = Arc::clone(&events);
        let observer = Arc::new(move |event: &ReflectorEvent| {
            summary.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        });
        // Without jitter a watch has the shortest timeout.
        let jitter = Arc::new(|| 0.0);
        let options = ReflectorOptions::default().observer(Some(observer)).jitter(jitter);
        let store = Arc::new(Cache::new());
        let reflector = Reflector::new(source, Arc::clone(&store), options);
        let running = runtime.spawn(reflector.run(CancellationToken::new()));
        Self { store, events, running }
    }

    fn find<T>(&self, expected: impl FnMut(&ReflectorEvent) -> Option<T>) -> Option<T> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).iter().find_map(expected)
    }

    fn is_synced(&self) -> bool {
        self.find(|event| matches!(event, ReflectorEvent::Listed { .. }).then_some(())).is_some()
    }

    fn loss(&self) -> Option<String> {
        self.find(|event| match event {
            ReflectorEvent::Lost { error, .. } => Some(error.to_string()),
            _ => None,
        })
    }

    fn recovery(&self) -> Option<String> {
        self.find(|event| match event {
            ReflectorEvent::Recovered { version, .. } => Some(version.to_string()),
            _ => None,
        })
    }

    /// Advances the paused clock until the watch is lost or the time is over, and returns the elapsed time.
    ///
    /// If the server responds to pings and probes, the clock stands still while a response is due: it is in time, however slow
    /// the machine is.
    async fn advance(&self, time: Duration, mut responses: Option<&mut Responses<'_>>) -> Duration {
        let start = Instant::now();
        while start.elapsed() < time && self.loss().is_none() {
            tokio::time::advance(STEP).await;
            run_ready_tasks().await;
            if let Some(responses) = &mut responses {
                responses.catch_up().await;
            }
        }
        start.elapsed()
    }
}

/// The server's responses to pings and probes.
struct Responses<'a> {
    count: &'a dyn Fn() -> u64,
    last_count: u64,
    last_at: Instant,
}

impl<'a> Responses<'a> {
    fn new(count: &'a dyn Fn() -> u64) -> Self {
        Self { count, last_count: count(), last_at: Instant::now() }
    }

    /// Waits for a response if one is due.
    async fn catch_up(&mut self) {
        let is_due = self.last_at.elapsed() >= PROBED;
        let start = std::time::Instant::now();
        while is_due && (self.count)() == self.last_count {
            assert!(start.elapsed() < PATIENCE, "no response to a ping or probe");
            // The interval of polling. The paused clock stands still during a blocking task, while the network continues.
            let _slept = tokio::task::spawn_blocking(|| std::thread::sleep(POLL_INTERVAL)).await;
        }
        if (self.count)() != self.last_count {
            (self.last_count, self.last_at) = ((self.count)(), Instant::now());
            run_ready_tasks().await;
        }
    }
}

/// Lets all tasks run that can, and lets the runtime read its sockets, without a pause in which the paused clock would
/// advance on its own.
async fn run_ready_tasks() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Counts the responses to probes, from the library's log.
#[derive(Clone, Default)]
struct ProbeLog(Arc<AtomicU64>);

impl Subscriber for ProbeLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.fields().field("has_responded").is_some()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The times at which an interrupted watch was abandoned.
#[derive(Debug)]
struct AbandonmentTimes {
    /// Seconds since the interruption.
    seconds_after_fault: u64,
    /// Time since before its request.
    request_age: Duration,
    /// Time since its start.
    watch_age: Duration,
}

/// Interrupts a watch and asserts that it is abandoned, replaced, and misses no changes.
fn abandoned_after(way: (Option<&str>, bool), fault: Fault) -> AbandonmentTimes {
    let scene = Scene::set();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let probes = ProbeLog::default();
    let _log = tracing::subscriber::set_default(probes.clone());
    let now = || runtime.block_on(async { Instant::now() });
    let requested = now();
    let watched = TestReflector::start(&runtime, &scene, way.0, way.1);
    // Runs the reflector in real time, between two polls.
    let run = || runtime.block_on(async { tokio::time::sleep(POLL_INTERVAL).await });
    eventually("the watch stands", || {
        run();
        (scene.proxy.open_watches() == 1 && watched.is_synced()).then_some(())
    });
    // Bookmarks arrive on the server's schedule, and a watch that receives them has a shorter limit.
    scene.proxy.bookmarks(Bookmarks::None);
    runtime.block_on(async { tokio::time::pause() });
    let stood = now();
    // Over HTTP/2 the proxy writes nothing to an idle watch but responses to pings.
    let count = || if way == SHARED { scene.proxy.writes() } else { probes.0.load(Ordering::SeqCst) };
    let mut responses = runtime.block_on(async { Responses::new(&count) });
    // Longer than the HTTP library keeps an idle connection.
    runtime.block_on(watched.advance(Duration::from_mins(2), Some(&mut responses)));
    assert_eq!(watched.loss(), None, "silence alone is no failure");
    let is_alive = matches!(fault, Fault::Stall);
    scene.proxy.inject(fault);
    scene.change();
    let responses = is_alive.then_some(&mut responses);
    let passed = runtime.block_on(watched.advance(Duration::from_hours(1), responses)).as_secs();
    let left = AbandonmentTimes {
        seconds_after_fault: passed,
        request_age: now() - requested,
        watch_age: now() - stood,
    };
    let loss = watched.loss().expect("it is found");
    runtime.block_on(async { tokio::time::resume() });
    let version = eventually("the watch recovers", || {
        run();
        watched.recovery()
    });
    eventually("the missed changes arrive", || {
        run();
        let mut keys: Vec<_> = watched.store.list_keys().iter().map(ToString::to_string).collect();
        keys.sort();
        (keys == ["changed", "kept", "made"].map(|name| format!("{}/{name}", scene.namespace))).then_some(())
    });
    watched.running.abort();
    let output = [
        format!("configmaps: lost: {loss}"),
        format!("configmaps: resumed at {version} after 0s, nothing was missed"),
    ];
    scene.row.check_stderr("the reflector", &output);
    left
}

/// All requests use HTTP/2.
const SHARED: (Option<&str>, bool) = (Some("0"), false);
/// The watch uses HTTP/1.1 on its own connection.
const ALONE: (Option<&str>, bool) = (None, false);
/// All requests use HTTP/1.1.
const HTTP1: (Option<&str>, bool) = (None, true);

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn dead_connection_is_detected_by_pings() {
    // The ping is sent after 30 s and has 15 s, regardless of earlier responses.
    let left = abandoned_after(SHARED, Fault::Freeze);
    assert!((15..=60).contains(&left.seconds_after_fault), "{left:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn dead_connection_without_pings_is_detected_by_a_probe() {
    for way in [ALONE, HTTP1] {
        let left = abandoned_after(way, Fault::Freeze);
        assert!((15..=60).contains(&left.seconds_after_fault), "{left:?}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn stalled_watch_ends_at_its_timeout() {
    for way in [SHARED, ALONE] {
        let left = abandoned_after(way, Fault::Stall);
        // Five minutes plus half a minute. The watch may have started slightly later than observed.
        let due = Duration::from_secs(330);
        assert!(left.request_age >= due && left.watch_age <= due + 2 * STEP, "{left:?}");
    }
}
