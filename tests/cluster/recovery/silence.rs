//! Connections that fall silent without an error. The tests run the reflector on real connections under tokio's paused
//! clock, so detection times of minutes pass at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kdelta::api::{Client, ResourceClient};
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::object::{ApiResource, KeyLister};
use kdelta::reflector::{Reflector, ReflectorEvent, ReflectorOptions};
use kdelta::store::Cache;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Scene;
use crate::support::{Bookmarks, Strike, eventually};

/// Real time per step of the paused clock for the network to deliver its effects. A server that gets a liveness probe
/// has three steps to respond.
const WIRE: Duration = Duration::from_millis(200);
/// One step of the paused clock.
const STEP: Duration = Duration::from_secs(5);

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

    /// Advances the clock until the watch is lost or the time is over, and returns the elapsed time.
    async fn advance(&self, time: Duration) -> Duration {
        tokio::time::pause();
        let mut passed = Duration::ZERO;
        while passed < time && self.loss().is_none() {
            tokio::time::advance(STEP).await;
            passed += STEP;
            // The paused clock stands still during a blocking task, while the network continues.
            let _slept = tokio::task::spawn_blocking(|| std::thread::sleep(WIRE)).await;
        }
        tokio::time::resume();
        passed
    }
}

/// The times at which an interrupted watch was abandoned.
#[derive(Debug)]
struct Abandoned {
    /// Seconds since the interruption.
    struck: u64,
    /// Time since before its request.
    requested: Duration,
    /// Time since its start.
    stood: Duration,
}

/// Interrupts a watch and asserts that it is abandoned, replaced, and misses no changes.
fn abandoned_after(way: (Option<&str>, bool), strike: Strike) -> Abandoned {
    let scene = Scene::set();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let now = || runtime.block_on(async { tokio::time::Instant::now() });
    let requested = now();
    let watched = TestReflector::start(&runtime, &scene, way.0, way.1);
    let wait = || runtime.block_on(async { tokio::time::sleep(WIRE).await });
    eventually("the watch stands", || {
        wait();
        (scene.proxy.open_watches() == 1).then_some(())
    });
    let stood = now();
    // Bookmarks arrive on the server's schedule, and a watch that receives them has a shorter limit.
    scene.proxy.bookmarks(Bookmarks::None);
    // Longer than the HTTP library keeps an idle connection.
    runtime.block_on(watched.advance(Duration::from_mins(2)));
    assert_eq!(watched.loss(), None, "silence by itself is nothing");
    scene.proxy.strike(strike);
    scene.change();
    wait();
    let passed = runtime.block_on(watched.advance(Duration::from_hours(1))).as_secs();
    let left = Abandoned { struck: passed, requested: now() - requested, stood: now() - stood };
    let loss = watched.loss().expect("it is found");
    let version = eventually("the watch recovers", || {
        wait();
        watched.recovery()
    });
    eventually("what was missed is made up for", || {
        wait();
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
    let left = abandoned_after(SHARED, Strike::Freeze);
    assert!((15..=60).contains(&left.struck), "{left:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn dead_connection_without_pings_is_detected_by_a_probe() {
    for way in [ALONE, HTTP1] {
        let left = abandoned_after(way, Strike::Freeze);
        assert!((15..=60).contains(&left.struck), "{left:?}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn stalled_watch_ends_at_its_timeout() {
    for way in [SHARED, ALONE] {
        let left = abandoned_after(way, Strike::Stall);
        // Five minutes plus half a minute. The watch may have started slightly later than observed.
        let due = Duration::from_secs(330);
        assert!(left.requested >= due && left.stood <= due + 2 * STEP, "{left:?}");
    }
}
