//! The library's informer under churn on a real kube-apiserver, compared with client-go's on the same events: the same
//! notifications per object, the same final list as the server, and no more live objects than stored and queued ones.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use kdelta::api::{Client, ResourceClient};
use kdelta::informer::{
    HandlerOptions, Notification, NotificationFn, OnSlow, QueueKind, Registration, SharedIndexInformer,
};
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::object::{ApiResource, Object};
use kdelta::store::{Indexer, index_funcs};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::support::{OnServer, PATIENCE, TestEnv, Testbed, eventually, print_line, tool};

/// Operations per second.
const RATE: u32 = 300;
/// The object of the last change.
const MARKER: &str = "marker";
const LABEL: &str = "track";
/// The limit of live objects beyond the stored ones: in the queue, in the handlers' channels, in the state of the
/// coalescing handler, and on the wire.
const IN_FLIGHT: usize = 4 * 1024;

/// The notifications of each object in order: the type, the uid, and the version, since the previous one.
type Sequences = BTreeMap<String, Vec<(&'static str, String, String)>>;

fn pods() -> ApiResource {
    ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    }
}

fn source(testbed: &Testbed, namespace: &str) -> ResourceClient {
    let kubeconfig = Some(testbed.kubeconfig().into());
    let config = Config::load(&ConfigOptions::default().kubeconfig(kubeconfig)).expect("a config");
    ResourceClient::new(Client::new(&config).expect("a client"), pods()).namespace(Some(namespace.to_owned()))
}

/// The notifications of one handler.
#[derive(Default)]
struct Received {
    sequences: Sequences,
    /// The states in its notifications; each is alive while another owner holds it.
    states: Vec<Weak<Object>>,
    ended: bool,
}

impl Received {
    fn read(&mut self, notification: &Notification) {
        let (what, object, version) = match notification {
            Notification::Added { object, .. } => ("ADDED", object, object.resource_version().to_string()),
            Notification::Updated { old, new, .. } => {
                ("MODIFIED", new, format!("{}>{}", old.resource_version(), new.resource_version()))
            }
            Notification::Deleted { object, .. } => {
                let object = object.object().expect("a state");
                ("DELETED", object, object.resource_version().to_string())
            }
            Notification::Mark(_) => return,
        };
        self.ended |= object.name() == MARKER;
        self.states.push(Arc::downgrade(object));
        let sequence = self.sequences.entry(object.key().to_string()).or_default();
        sequence.push((what, object.uid().to_string(), version));
    }

    /// Returns the number of live states and drops dead ones.
    fn alive(&mut self) -> usize {
        self.states.retain(|state| state.strong_count() > 0);
        self.states.len()
    }
}

/// The library's informer with a fast and a slow handler.
struct Ours {
    informer: SharedIndexInformer,
    quick: Arc<Mutex<Received>>,
    slow: Arc<Mutex<Received>>,
    slow_registration: Registration,
    running: JoinHandle<Result<(), kdelta::listwatch::Error>>,
}

impl Ours {
    /// Starts the informer. The slow handler takes `slow` per notification.
    fn start(
        runtime: &Runtime,
        source: ResourceClient,
        queue: QueueKind,
        (on_slow, pause): (OnSlow, Duration),
        stop: &CancellationToken,
    ) -> Self {
        let informer = SharedIndexInformer::builder(source)
            .queue(queue)
            .indexers([(LABEL.to_owned(), index_funcs::label(LABEL))].into())
            .build();
        let handler = |pause: Duration| {
            let received = Arc::new(Mutex::new(Received::default()));
            let write = Arc::clone(&received);
            let handler = NotificationFn(move |notification| {
                // The work of a slow handler.
                thread::sleep(pause);
                write.lock().expect("no panic").read(&notification);
            });
            (received, handler)
        };
        let (quick, quick_handler) = handler(Duration::ZERO);
        let (slow, slow_handler) = handler(pause);
        informer.add_event_handler(quick_handler).expect("not stopped");
        let options = HandlerOptions::default().on_slow(on_slow);
        let slow_registration =
            informer.add_event_handler_with_options(slow_handler, options).expect("not stopped");
        let running = runtime.spawn(informer.run(stop.clone()));
        assert!(runtime.block_on(informer.synced()));
        Self { informer, quick, slow, slow_registration, running }
    }

    fn has_ended(&self) -> bool {
        [&self.quick, &self.slow].iter().all(|received| received.lock().expect("no panic").ended)
    }
}

/// client-go's informer of the same pods, after its sync.
struct Theirs {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Theirs {
    fn start(testbed: &Testbed, namespace: &str) -> Self {
        let mut command = tool();
        command.args(["informer", "--kubeconfig", testbed.kubeconfig(), "-n", namespace]);
        command.args(["--stdin-ends", "--relists"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("SYNCED") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a line") > 0, "it ended before its sync");
        }
        Self { child, lines }
    }

    /// Returns its notifications up to the marker, and whether they are complete: after a relist, forced by a busy
    /// server, client-go leaves out intermediate changes.
    fn sequences(mut self) -> (Sequences, bool) {
        let (mut sequences, mut whole) = (Sequences::new(), true);
        for line in self.lines.lines() {
            let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            if line["type"] == "RELISTING" {
                whole = false;
                break;
            }
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            let (what, version) = match line["type"].as_str() {
                Some("ADDED") => ("ADDED", text("resourceVersion")),
                Some("MODIFIED") => {
                    ("MODIFIED", format!("{}>{}", text("oldResourceVersion"), text("resourceVersion")))
                }
                Some("DELETED") => ("DELETED", text("resourceVersion")),
                _ => continue,
            };
            let sequence = sequences.entry(format!("{}/{}", text("namespace"), text("name"))).or_default();
            sequence.push((what, text("uid"), version));
            if text("name") == MARKER {
                break;
            }
        }
        drop(self.child.stdin.take());
        let _ended = (self.child.kill(), self.child.wait());
        (sequences, whole)
    }
}

/// Returns the state after a sequence: the version of each object.
fn replayed(sequences: &Sequences) -> BTreeMap<String, String> {
    let last = sequences.iter().filter_map(|(key, sequence)| {
        let (what, _, version) = sequence.last()?;
        let version = version.rsplit('>').next()?.to_owned();
        (*what != "DELETED").then(|| (key.clone(), version))
    });
    last.collect()
}

/// Returns the server's state at a version: the version of each pod, and the pods per value of the label.
fn listed(
    server: &OnServer,
    version: &str,
) -> (BTreeMap<String, String>, BTreeMap<String, BTreeSet<String>>) {
    let namespace = &server.namespace;
    let query = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    let list = server.api.get(&format!("/api/v1/namespaces/{namespace}/pods?{query}"));
    let mut versions = BTreeMap::new();
    let mut by_label: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in list["items"].as_array().expect("items") {
        let metadata = &item["metadata"];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let key = format!("{namespace}/{}", text(&metadata["name"]));
        if metadata["labels"][LABEL].is_string() {
            by_label.entry(text(&metadata["labels"][LABEL])).or_default().insert(key.clone());
        }
        versions.insert(key, text(&metadata["resourceVersion"]));
    }
    (versions, by_label)
}

fn indexed(indexer: &dyn Indexer) -> BTreeMap<String, BTreeSet<String>> {
    let values = indexer.list_index_func_values(LABEL);
    let keys = |value: &str| indexer.index_keys(LABEL, value).expect("an index");
    values
        .iter()
        .map(|value| (value.clone(), keys(value).iter().map(ToString::to_string).collect()))
        .collect()
}

/// Returns the resident memory of this process in MiB, or `None` on systems that do not report it.
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096 / (1 << 20))
}

/// Churns pods for this time and returns the number of operations.
fn churn(server: &OnServer, seconds: u64, mut meanwhile: impl FnMut(Duration)) -> u64 {
    let mut command = tool();
    command.args(["churn", "--kubeconfig", server.testbed.kubeconfig(), "-n", &server.namespace]);
    command.args(["--rate", &RATE.to_string(), "--duration", &format!("{seconds}s")]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        // The sampling interval; no result depends on it.
        thread::sleep(Duration::from_millis(250));
        meanwhile(began.elapsed());
    }
    let report: Value = serde_json::from_reader(child.stdout.take().expect("a pipe")).expect("a report");
    // A busy server may reject an operation; the notifications of the others are still compared.
    report["operations"].as_object().expect("counts").values().filter_map(Value::as_u64).sum()
}

/// Memory after the first quarter of the run, and its maximum afterwards.
#[derive(Debug, Default)]
struct Memory {
    settled: Option<u64>,
    most: u64,
}

/// Asserts that each object has the same notifications as in client-go, as far as client-go's are complete.
#[track_caller]
fn assert_equal_sequences(ours: &Sequences, theirs: &Sequences, whole: bool) {
    if whole {
        assert_eq!(ours, theirs);
    }
    for (name, theirs) in theirs {
        let ours = ours.get(name).map_or(&[][..], Vec::as_slice);
        assert!(ours.starts_with(theirs), "{name}: {theirs:?} of client-go, and {ours:?}");
    }
}

fn compare_under_churn(seconds: u64) -> Memory {
    let server = TestEnv::on_server();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let stop = CancellationToken::new();
    let start =
        |queue, slow| Ours::start(&runtime, source(server.testbed, &server.namespace), queue, slow, &stop);
    // The first can't keep up and coalesces; the second only just keeps up and delays the others.
    let ours = [
        start(QueueKind::Delta, (OnSlow::Coalesce, Duration::from_millis(20))),
        start(QueueKind::Ordered, (OnSlow::default(), Duration::from_millis(2))),
    ];
    let theirs = Theirs::start(server.testbed, &server.namespace);
    let mut memory = Memory::default();
    let operations = churn(&server, seconds, |passed| {
        for one in &ours {
            let stored = one.informer.get_store().list_keys().len();
            let alive = one.quick.lock().expect("no panic").alive();
            assert!(alive <= stored + IN_FLIGHT, "{alive} states are alive, {stored} stored");
        }
        if passed.as_secs() >= seconds / 4 {
            let now = resident().unwrap_or_default();
            memory.settled.get_or_insert(now);
            memory.most = memory.most.max(now);
        }
    });
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    let path = format!("/api/v1/namespaces/{}/pods", server.namespace);
    server
        .api
        .create(&path, &json!({"metadata": {"name": MARKER, "labels": {LABEL: "stable"}}, "spec": spec}));
    let (theirs, whole) = theirs.sequences();
    let received: usize = theirs.values().map(Vec::len).sum();
    if !whole {
        print_line(&format!(
            "COMPARED IN PART: client-go received {received} changes of {operations} and then listed again"
        ));
    }
    eventually("every handler is notified of the marker", || ours.iter().all(Ours::has_ended).then_some(()));
    for one in &ours {
        let version = one.informer.last_store_sync_resource_version().to_string();
        let (versions, by_label) = listed(&server, &version);
        let received = |received: &Arc<Mutex<Received>>| {
            std::mem::take(&mut received.lock().expect("no panic").sequences)
        };
        let (quick, slow) = (received(&one.quick), received(&one.slow));
        assert_equal_sequences(&quick, &theirs, whole);
        assert_eq!((replayed(&quick), replayed(&slow)), (versions.clone(), versions.clone()));
        let stored: BTreeMap<_, _> = {
            let objects = one.informer.get_store().list();
            objects.iter().map(|it| (it.key().to_string(), it.resource_version().to_string())).collect()
        };
        assert_eq!(stored, versions);
        assert_eq!(indexed(&*one.informer.get_indexer()), by_label);
    }
    assert!(operations > 100, "{operations}");
    assert!(
        !whole || u64::try_from(received).is_ok_and(|received| received > operations),
        "{received} of {operations}"
    );
    assert!(ours[0].slow_registration.coalesced() > 0, "the slow one was not slow");
    assert_eq!(ours[1].slow_registration.coalesced(), 0);
    stop.cancel();
    for one in ours {
        let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, one.running).await });
        ended.expect("in time").expect("no panic").expect("no error");
    }
    eprintln!("{operations} operations, {received} notifications; MiB: {memory:?}");
    memory
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn notifications_equal_client_gos_and_the_index_equals_the_list_under_churn() {
    compare_under_churn(8);
}

/// Run alone for its figures: `cargo test --release --test integration -- --ignored --nocapture memory_is_stable`.
#[test]
#[ignore = "a minute, and its memory is that of the process only where no other test runs in it"]
fn memory_is_stable_over_a_minute_of_churn() {
    let memory = compare_under_churn(60);
    let settled = memory.settled.unwrap_or_default();
    assert!(memory.most <= settled + 24, "{memory:?}");
}
