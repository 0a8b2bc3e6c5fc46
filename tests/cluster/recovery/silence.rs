//! Nothing arrives, and nothing says so. The machine itself is run here, on real connections and in a time of the test's
//! own: what takes minutes to notice is not waited for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kdelta::api::{Client, Config, ConfigOptions, ResourceClient};
use kdelta::object::{ApiResource, KeyLister};
use kdelta::reflector::{Reflector, ReflectorEvent, ReflectorOptions};
use kdelta::store::Cache;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Scene;
use crate::support::{Bookmarks, Strike, eventually};

/// How long the wire has, in real time, to carry what a step of the test's time has caused: a server that is asked whether
/// it is there has three of them to answer.
const WIRE: Duration = Duration::from_millis(200);
/// One step of the test's time.
const STEP: Duration = Duration::from_secs(5);

/// A reflector of the scene's config maps.
struct Watched {
    store: Arc<Cache>,
    events: Arc<Mutex<Vec<ReflectorEvent>>>,
    running: JoinHandle<Result<(), kdelta::listwatch::Error>>,
}

impl Watched {
    fn start(runtime: &Runtime, scene: &Scene, alone: Option<&str>, http1_only: bool) -> Self {
        let kubeconfig = Some(scene.proxy.kubeconfig(&scene.env, &scene.namespace));
        let options = ConfigOptions {
            kubeconfig,
            http1_only,
            watch_connections: alone.map(str::to_owned),
            ..ConfigOptions::default()
        };
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
        let told = Arc::clone(&events);
        let observer = Arc::new(move |event: &ReflectorEvent| {
            told.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        });
        // Without chance, a watch ends after the shortest time.
        let jitter = Arc::new(|| 0.0);
        let options = ReflectorOptions { observer: Some(observer), jitter, ..ReflectorOptions::default() };
        let store = Arc::new(Cache::new());
        let reflector = Reflector::new(source, Arc::clone(&store), options);
        let running = runtime.spawn(reflector.run(CancellationToken::new()));
        Self { store, events, running }
    }

    fn find<T>(&self, wanted: impl FnMut(&ReflectorEvent) -> Option<T>) -> Option<T> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).iter().find_map(wanted)
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

    /// Lets time pass until the watch is lost, or until it is over, and answers how much has passed.
    async fn pass(&self, time: Duration) -> Duration {
        tokio::time::pause();
        let mut passed = Duration::ZERO;
        while passed < time && self.loss().is_none() {
            tokio::time::advance(STEP).await;
            passed += STEP;
            // While a blocking task runs the paused time stands still, and the wire does not.
            let _slept = tokio::task::spawn_blocking(|| std::thread::sleep(WIRE)).await;
        }
        tokio::time::resume();
        passed
    }
}

/// When a watch was left that had been struck.
#[derive(Debug)]
struct Left {
    /// Since it was struck, in seconds.
    struck: u64,
    /// Since before it was asked for.
    asked: Duration,
    /// Since it stood.
    stood: Duration,
}

/// A watch that is struck is left, made anew, and has missed nothing. Nothing where there is no server.
fn left_after(way: (Option<&str>, bool), strike: Strike) -> Option<Left> {
    let scene = Scene::set()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let now = || runtime.block_on(async { tokio::time::Instant::now() });
    let asked = now();
    let watched = Watched::start(&runtime, &scene, way.0, way.1);
    let wait = || runtime.block_on(async { tokio::time::sleep(WIRE).await });
    eventually("the watch stands", || {
        wait();
        (scene.proxy.open_watches() == 1).then_some(())
    });
    let stood = now();
    // Bookmarks come by the server's time, and who is used to them waits for less long.
    scene.proxy.bookmarks(Bookmarks::None);
    // Longer than the HTTP library keeps a connection that nobody asks anything on.
    runtime.block_on(watched.pass(Duration::from_mins(2)));
    assert_eq!(watched.loss(), None, "silence by itself is nothing");
    scene.proxy.strike(strike);
    scene.change();
    wait();
    let passed = runtime.block_on(watched.pass(Duration::from_hours(1))).as_secs();
    let left = Left { struck: passed, asked: now() - asked, stood: now() - stood };
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
    let said = [
        format!("configmaps: lost: {loss}"),
        format!("configmaps: resumed at {version} after 0s, nothing was missed"),
    ];
    scene.row.check_stderr("the reflector", &said);
    Some(left)
}

/// All speak HTTP/2.
const SHARED: (Option<&str>, bool) = (Some("0"), false);
/// The watch speaks HTTP/1.1 and has its connection for itself.
const ALONE: (Option<&str>, bool) = (None, false);
/// All speak HTTP/1.1.
const HTTP1: (Option<&str>, bool) = (None, true);

#[test]
fn a_connection_with_nobody_behind_it_is_found_by_its_pings() {
    // Asked after 30 s and waited for 15 s, whatever has passed since the last answer.
    let Some(left) = left_after(SHARED, Strike::Freeze) else { return };
    assert!((15..=60).contains(&left.struck), "{left:?}");
}

#[test]
fn a_connection_without_pings_is_asked_after_over_another() {
    for way in [ALONE, HTTP1] {
        let Some(left) = left_after(way, Strike::Freeze) else { return };
        assert!((15..=60).contains(&left.struck), "{left:?}");
    }
}

#[test]
fn a_watch_that_stalls_is_left_at_its_end() {
    for way in [SHARED, ALONE] {
        let Some(left) = left_after(way, Strike::Stall) else { return };
        // Five minutes, and half a minute more. It may have been open for a moment less than it was seen to stand.
        let due = Duration::from_secs(330);
        assert!(left.asked >= due && left.stood <= due + 2 * STEP, "{left:?}");
    }
}
