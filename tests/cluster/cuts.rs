//! Connections cut at random moments and a server restarted with unseen changes, under a steady stream of changes: the
//! printed lines, replayed, give the server's list and report no change that did not happen.

use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::busy;
use super::replay::{Replay, listed};
use crate::support::{
    Api, Fault, FaultProxy, OnServer, Proxy, Running, TestEnv, Testbed, config_maps, eventually, print_line,
    tool,
};

const SEED: u64 = 20;
const RATE: usize = 100;
/// The number of cuts while the server runs, each after at most `LINES_BETWEEN` lines: fewer than there are changes.
const CUTS: usize = 4;
const LINES_BETWEEN: usize = 120;
const SECONDS: usize = 6;
const SELECTED: &str = "track=canary";

/// A running watch and its replayed lines.
struct Watcher {
    running: Running,
    replay: Replay,
    /// The selector of the server's list of the same objects.
    query: &'static str,
}

impl Watcher {
    /// Reads lines up to the first match.
    fn read_until(&mut self, what: &str, mut expected: impl FnMut(&Value) -> bool) {
        let replay = &mut self.replay;
        self.running.stdout.json_until(what, |line| {
            replay.take(line);
            expected(line)
        });
    }

    /// Reads this many lines; returns false if the changes end first.
    fn read(&mut self, lines: usize, changing: &JoinHandle<Option<usize>>) -> bool {
        let mut left = lines;
        while left > 0 {
            match self.running.stdout.within(Duration::from_millis(100)) {
                Some(line) => {
                    self.replay.take(&serde_json::from_str(&line).expect("JSON"));
                    left -= 1;
                }
                None if changing.is_finished() => return false,
                None => {}
            }
        }
        true
    }
}

/// Starts churning pods and returns the number of changes that a watch reports, or `None` if a busy server timed out:
/// it may still have applied the change.
fn churn(testbed: &Testbed, seconds: usize, seed: u64) -> JoinHandle<Option<usize>> {
    let mut command = tool();
    command.args(["churn", "--kubeconfig", testbed.kubeconfig(), "--rate", &RATE.to_string()]);
    command.args(["--duration", &format!("{seconds}s"), "--seed", &seed.to_string()]);
    thread::spawn(move || {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        if report["failures"] != 0 {
            print_line(&format!("COMPARED IN PART: a busy server did not do everything in time: {report}"));
            return None;
        }
        let count =
            |operation: &Value| operation.as_u64().and_then(|n| usize::try_from(n).ok()).expect("few");
        let operations = report["operations"].as_object().expect("counts");
        // Deleting a pod first sets its deletion timestamp, which is a separate change.
        Some(operations.values().map(count).sum::<usize>() + count(&report["operations"]["delete"]))
    })
}

/// Cuts all connections each time this many lines have arrived, allows them again once the loss is reported, and
/// continues after the recovery: a loss within a loss is not reported. Stops when the changes end, after one cut at
/// least.
fn cut_now_and_then(
    cuts: usize,
    random: &mut fastrand::Rng,
    proxy: &mut Proxy,
    watcher: &mut Watcher,
    changing: &JoinHandle<Option<usize>>,
) {
    for cut in 0..cuts {
        if !watcher.read(random.usize(1..=LINES_BETWEEN), changing) {
            assert!(cut > 0, "too few changes for a cut");
            return;
        }
        proxy.cut();
        watcher.running.stderr.find("the loss", |line| line.contains("lost"));
        proxy.reopen();
        let is_back = |line: &str| line.contains("resumed at") || line.contains("re-listed at");
        watcher.running.stderr.find("the recovery", is_back);
    }
}

/// Creates a pod that every watch selects, and reads all watches up to its second version, which arrives through a
/// watch.
fn read_up_to_marker(api: &Api, name: &str, watchers: &mut [Watcher]) {
    let pods = "/api/v1/namespaces/default/pods";
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    api.create(pods, &json!({"metadata": {"name": name, "labels": {"track": "canary"}}, "spec": spec}));
    for watcher in &mut *watchers {
        watcher.read_until("the marker", |line| line["name"] == name);
    }
    api.patch(&format!("{pods}/{name}"), &json!({"metadata": {"annotations": {"a": "b"}}}));
    for watcher in watchers {
        watcher.read_until("the marker's change", |line| line["name"] == name && line["type"] == "MODIFIED");
    }
}

/// Starts four watches through the proxied kubeconfig, and one through the direct one.
fn start_watchers(env: &TestEnv, config: &Path, straight: &Path) -> Vec<Watcher> {
    let by = format!("label:{SELECTED}");
    let shared = ("KDELTA_WATCH_CONNECTIONS", "0");
    let http1 = ("DISABLE_HTTP2", "1");
    let alone = ("KDELTA_WATCH_CONNECTIONS", "8");
    let ways: [(&[&str], _, &str, &Path); 5] = [
        (&[], alone, "", config),
        (&["--list-mode", "list", "--chunk-size", "37"], http1, "", config),
        (&["-l", SELECTED], shared, SELECTED, config),
        (&["--by", &by], http1, SELECTED, config),
        (&[], alone, "", straight),
    ];
    let start = |(arguments, (variable, value), query, config): (&[&str], _, &'static str, &Path)| {
        let arguments = [&["watch", "pods", "-A", "-o", "json"], arguments].concat();
        let kdelta = env.kdelta(&arguments).env("KUBECONFIG", config).env(variable, value);
        let replay = Replay::of_selected(!query.is_empty(), arguments.contains(&"--by"));
        let mut watcher = Watcher { running: kdelta.start(), replay, query };
        watcher.read_until("SYNCED", |line| line["type"] == "SYNCED");
        watcher
    };
    ways.map(start).into()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn replayed_lines_equal_the_list_after_cuts_and_a_restart() {
    let _turn = busy();
    let env = TestEnv::new();
    let testbed = env.own_server();
    let mut load = tool();
    load.args(["load", "--kubeconfig", testbed.kubeconfig(), "--namespaces", "3", "--pods", "150"]);
    assert!(load.output().expect("it runs").status.success(), "load");
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", "default", proxy.port());
    let mut watchers = start_watchers(&env, &config, Path::new(testbed.kubeconfig()));
    let mut random = fastrand::Rng::with_seed(SEED);

    // The server keeps its history: no change is missed, and each is reported once.
    let changing = churn(&testbed, SECONDS, SEED);
    cut_now_and_then(CUTS, &mut random, &mut proxy, &mut watchers[0], &changing);
    let changes = changing.join().expect("the churn");
    read_up_to_marker(&Api::of(&testbed), "first", &mut watchers);
    assert!(watchers.iter().all(|watcher| watcher.replay.gaps() == [0]), "nothing was missed");
    let watched = |at: usize| &watchers[at].replay.parts["Pod"].watched;
    if let Some(changes) = changes {
        assert_eq!(watched(0).len(), changes + 2, "each change once, and both of the marker");
    }
    assert_eq!(watched(0), watched(4), "each change once, as where nothing was cut");
    assert_eq!(watched(0), watched(1));
    assert_eq!(watched(2), watched(3), "a selection of ours is as one of the server's");
    // The direct watch would see the changes that the others miss.
    watchers.truncate(4);

    // The server loses its history, and changes while the watches are cut.
    proxy.cut();
    testbed.stop();
    let testbed = env.own_server();
    churn(&testbed, 1, SEED + 1).join().expect("the churn");
    proxy.reopen();
    for watcher in &mut watchers {
        watcher.read_until("the gap", |line| line["type"] == "GAP");
    }
    let changing = churn(&testbed, 2, SEED + 2);
    cut_now_and_then(1, &mut random, &mut proxy, &mut watchers[0], &changing);
    changing.join().expect("the churn");
    let api = Api::of(&testbed);
    read_up_to_marker(&api, "last", &mut watchers);
    for watcher in &watchers {
        assert_eq!(watcher.replay.gaps(), [1], "one restart, one gap");
        assert_eq!(
            watcher.replay.state,
            listed(&api, "Pod", &format!("/api/v1/pods?labelSelector={}", watcher.query))
        );
    }
    for watcher in &mut watchers {
        watcher.running.signal("INT");
        assert_eq!(watcher.running.wait(), 130);
    }
}

/// The number of cuts of a protobuf watch, one in each change.
const CUTS_WITHIN: usize = 20;

/// A cut within a frame's length, its tags and lengths, or a text reports nothing of the frame and loses no other
/// frame.
#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn protobuf_frames_cut_anywhere_are_reported_once() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({"text": "b"}));
    let proxy = FaultProxy::before(testbed);
    proxy.allow_protobuf();
    let config = proxy.kubeconfig(&env, &namespace);
    let watch = ["watch", "cm", "-o", "json", "--fields", "type,name,resourceVersion,origin"];
    let mut running = env.kdelta(&watch).env("KUBECONFIG", config).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut reported, mut expected) = (Vec::new(), Vec::new());
    for round in 0..CUTS_WITHIN {
        eventually("the watch stands", || (proxy.open_watches() == 1).then_some(()));
        proxy.pieces(random.usize(1..=200), Duration::ZERO);
        // First within the length of a frame, then anywhere.
        let at = if round < 5 { round } else { random.usize(..) };
        proxy.inject(if round % 2 == 0 { Fault::BreakAt(at) } else { Fault::TruncateAt(at) });
        let text = "ü".repeat(random.usize(0..300));
        let changed = api.patch(
            &format!("{}/a", config_maps(&namespace)),
            &json!({"metadata": {"annotations": {"text": format!("{round} {text}")}}}),
        );
        let version = changed["metadata"]["resourceVersion"].clone();
        reported.extend(running.stdout.json_until("the change", |line| line["resourceVersion"] == version));
        expected
            .push(json!({"type": "MODIFIED", "name": "a", "resourceVersion": version, "origin": "watch"}));
    }
    assert!(proxy.protobuf_watches() > CUTS_WITHIN, "{}", proxy.protobuf_watches());
    api.delete(&format!("{}/a", config_maps(&namespace)));
    let mut rest = running.stdout.json_until("its end", |line| line["type"] == "DELETED");
    assert_eq!((rest.len(), &rest.remove(0)["name"]), (1, &json!("a")));
    assert_eq!(reported, expected);
    running.signal("INT");
    assert_eq!(running.wait(), 130);
}
