//! The request rates at failing sources, compared with client-go's on the same sources.
//!
//! `tests/testbed/pacing` generates the sources and counts the requests of client-go's Reflector in a few virtual
//! hours.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListerWatcher, WatchEvent, WatchStream};
use kdelta::object::{Ingest, TypeMeta};

/// A watch that ends within this time of its timeout has not ended early.
const EARLY: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scenario {
    watch_list: bool,
    lists: Vec<ListStep>,
    watches: Vec<WatchStep>,
}

#[derive(Deserialize)]
struct ListStep {
    millis: u64,
    error: String,
}

#[derive(Clone, Deserialize)]
struct WatchStep {
    start: String,
    unfinished: bool,
    events: u32,
    bookmark: bool,
    millis: u64,
    end: String,
}

#[derive(Deserialize)]
struct ClientGo {
    hours: u64,
    scenarios: Vec<Figures>,
}

#[derive(Deserialize)]
struct Figures {
    lists: usize,
    watches: usize,
}

fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testbed/pacing").join(name);
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

#[derive(Default)]
struct Counts {
    lists: AtomicUsize,
    watches: AtomicUsize,
    /// Watches that failed to start or ended well before their timeout.
    ended_early: AtomicUsize,
    progress: AtomicUsize,
    version: AtomicUsize,
}

fn get(count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

/// Increments a counter and returns its previous value. Panics in a loop that makes no progress in time, which would
/// never end.
fn add(count: &AtomicUsize) -> usize {
    let before = count.fetch_add(1, Ordering::Relaxed);
    assert!(before < 100_000, "a hot loop");
    before
}

/// A source that follows the scripts of its scenario.
#[derive(Clone)]
struct Scripted {
    scenario: Arc<Scenario>,
    counts: Arc<Counts>,
}

impl Scripted {
    fn version(&self) -> ResourceVersion {
        ResourceVersion::new(&(get(&self.counts.version) + 1).to_string())
    }

    /// Returns the current state of the only object.
    fn object(&self) -> Arc<Object> {
        let version = self.version().to_string();
        let json = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": version}
        });
        let of = Arc::new(TypeMeta { api_version: "v1".into(), kind: "ConfigMap".into() });
        Arc::new(Object::from_json(json.to_string().as_bytes(), &Ingest::of(of)).expect("an object"))
    }
}

/// Returns the error as kdelta's own client does.
fn failure(name: &str) -> Error {
    match name {
        "410" => expired(),
        "500" => Error::Internal(status_with("broken")),
        "429" => too_many(None),
        "503" => Error::Unavailable { status: status_with("unavailable"), retry_after: None },
        "401" => Error::Unauthorized(status_with("who")),
        "403" => Error::Forbidden(status_with("no")),
        "404" => Error::NotFound(status_with("none")),
        "tooLarge" => Error::TooLargeResourceVersion(status_with("too large")),
        "decode" | "html" => Error::Decode("garbage".into()),
        "refused" => refused(),
        "cut" => cut(),
        other => panic!("{other}"),
    }
}

struct ScriptedList {
    object: Option<Arc<Object>>,
    meta: ListMeta,
}

impl ListStream for ScriptedList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        Ok(self.object.take())
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}

struct ScriptedWatch {
    source: Scripted,
    step: WatchStep,
    first: Vec<WatchEvent>,
    ends: tokio::time::Instant,
    timeout: tokio::time::Instant,
    is_over: bool,
}

impl WatchStream for ScriptedWatch {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        if let Some(event) = self.first.pop() {
            return Some(Ok(event));
        }
        if self.step.events > 0 {
            self.step.events -= 1;
            add(&self.source.counts.version);
            return Some(Ok(WatchEvent::Modified(self.source.object())));
        }
        if std::mem::take(&mut self.step.bookmark) {
            let resource_version = self.source.version();
            return Some(Ok(WatchEvent::Bookmark { resource_version, initial_events_end: false }));
        }
        tokio::time::sleep_until(self.ends.min(self.timeout)).await;
        if std::mem::replace(&mut self.is_over, true) {
            return None;
        }
        let is_error = !self.step.end.is_empty() && self.ends < self.timeout;
        is_error.then(|| Err(failure(&self.step.end)))
    }
}

impl Drop for ScriptedWatch {
    /// Either the source ended it, or the reflector abandoned it as silent.
    fn drop(&mut self) {
        if tokio::time::Instant::now() + EARLY < self.timeout {
            add(&self.source.counts.ended_early);
        }
    }
}

impl ListerWatcher for Scripted {
    type List = ScriptedList;
    type Watch = ScriptedWatch;

    async fn list(&self, _: &ListOptions) -> Result<ScriptedList, Error> {
        let number = add(&self.counts.lists);
        let step = &self.scenario.lists[number % self.scenario.lists.len()];
        tokio::time::sleep(Duration::from_millis(step.millis)).await;
        if !step.error.is_empty() {
            return Err(failure(&step.error));
        }
        let meta = ListMeta { resource_version: self.version(), continue_token: String::new() };
        Ok(ScriptedList { object: Some(self.object()), meta })
    }

    async fn watch(&self, options: &WatchOptions) -> Result<ScriptedWatch, Error> {
        let number = add(&self.counts.watches);
        let step = self.scenario.watches[number % self.scenario.watches.len()].clone();
        if !step.start.is_empty() {
            add(&self.counts.ended_early);
            return Err(failure(&step.start));
        }
        let mut first = Vec::new();
        if options.send_initial_events {
            if !step.unfinished {
                let resource_version = self.version();
                first.push(WatchEvent::Bookmark { resource_version, initial_events_end: true });
            }
            first.push(WatchEvent::Added(self.object()));
        }
        let now = tokio::time::Instant::now();
        let (ends, timeout) = (now + Duration::from_millis(step.millis), now + options.timeout.expect("one"));
        Ok(ScriptedWatch { source: self.clone(), step, first, ends, timeout, is_over: false })
    }

    async fn progress(&self, _: &ResourceVersion) -> Result<ResourceVersion, Error> {
        add(&self.counts.progress);
        Ok(self.version())
    }

    fn supports_watch_list(&self) -> bool {
        self.scenario.watch_list
    }
}

/// The number of requests in the hours of one scenario.
struct RequestCounts {
    lists: usize,
    watches: usize,
    progress: usize,
    ended_early: usize,
}

/// Runs a reflector with the library's defaults for this time.
async fn run(scenario: Scenario, hours: u64, seed: u64) -> RequestCounts {
    let source = Scripted { scenario: Arc::new(scenario), counts: Arc::default() };
    let counts = Arc::clone(&source.counts);
    let random = Mutex::new(fastrand::Rng::with_seed(seed));
    let jitter = Arc::new(move || random.lock().expect("no panic").f64());
    let options = ReflectorOptions::default().jitter(jitter);
    let reflector = Reflector::new(source, Arc::new(RecordingStore::default()), options);
    let mut run = std::pin::pin!(reflector.run(CancellationToken::new()));
    let ended = tokio::time::timeout(Duration::from_hours(hours), &mut run).await;
    ended.expect_err("it goes on");
    // Read while the last watch is open: the test ends it, not the source.
    RequestCounts {
        lists: get(&counts.lists),
        watches: get(&counts.watches),
        progress: get(&counts.progress),
        ended_early: get(&counts.ended_early),
    }
}

/// Returns 1.1 × client-go's figure plus 3 per hour.
fn bound(figure: usize, hours: u64) -> usize {
    figure * 11 / 10 + 3 * usize::try_from(hours).expect("a few")
}

/// Lists and watches count together: after many errors kdelta watches again where client-go lists and watches. For
/// sources that are only listed, lists also count alone.
#[tokio::test(start_paused = true)]
async fn request_rates_at_failing_sources_stay_below_client_gos() {
    let client_go: ClientGo = read("client-go.json");
    let scenarios: Vec<Scenario> = read("scenarios.json");
    assert_eq!((scenarios.len(), client_go.scenarios.len()), (200, 200));
    let (mut over, mut sums) = (Vec::new(), [0; 5]);
    for (number, (scenario, theirs)) in scenarios.into_iter().zip(&client_go.scenarios).enumerate() {
        let is_listed = !scenario.watch_list;
        let RequestCounts { lists, watches, progress, ended_early: early } =
            run(scenario, client_go.hours, 17).await;
        let line = format!(
            "{number}: {lists} lists of {}, {watches} watches of {}, {progress} progress requests after {early} early ends",
            theirs.lists, theirs.watches
        );
        let figures = [lists, watches, progress, theirs.lists, theirs.watches];
        sums = std::array::from_fn(|at| sums[at] + figures[at]);
        let all = bound(theirs.lists + theirs.watches, client_go.hours);
        let is_over = lists + watches > all || is_listed && lists > bound(theirs.lists, client_go.hours);
        if is_over || progress > early {
            over.push(line);
        }
    }
    let [lists, watches, progress, their_lists, their_watches] =
        sums.map(|sum| sum / (200 * usize::try_from(client_go.hours).expect("a few")));
    println!(
        "a source and hour: {lists} lists, {watches} watches, {progress} progress requests; client-go {their_lists} and {their_watches}"
    );
    assert!(over.is_empty(), "{over:#?}");
}
