//! Random faults from a seed, about one per second, under churn of three kinds in twenty namespaces, with server
//! restarts that no watch can bridge: every printed line stays valid, and the replayed lines equal the server's list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::busy;
use super::replay::{Replay, State, listed};
use crate::support::{
    Api, Bookmarks, Fault, FaultProxy, FaultResponse, PATIENCE, RequestClass, Running, TestEnv, Testbed, tool,
};

const SEED: u64 = 6;
/// Changes per second.
const RATE: u32 = 300;
const KINDS: [(&str, &str); 3] = [("ConfigMap", "configmaps"), ("Pod", "pods"), ("Secret", "secrets")];

/// A fault: its name, and the function that injects it. [`Chaos::heal`] ends it.
type NamedFault = (&'static str, fn(&mut FaultProxy, &mut fastrand::Rng));
const FAULTS: &[NamedFault] = &[
    ("cut", |proxy, _| proxy.inject(Fault::Cut)),
    ("reset", |proxy, _| proxy.inject(Fault::Reset)),
    ("refused", |proxy, _| proxy.refuse()),
    ("wrong certificate", |proxy, _| {
        proxy.use_unknown_certificate(true);
        proxy.inject(Fault::Cut);
    }),
    ("GOAWAY", |proxy, random| {
        proxy.inject(Fault::GoAway);
        proxy.inject(if random.bool() { Fault::End } else { Fault::Break });
    }),
    ("frozen", |proxy, _| proxy.inject(Fault::Freeze)),
    ("stalled", |proxy, _| proxy.inject(Fault::Stall)),
    ("ended", |proxy, _| proxy.inject(Fault::End)),
    ("frame truncated", |proxy, _| proxy.inject(Fault::Truncate)),
    ("frame broken off", |proxy, _| proxy.inject(Fault::Break)),
    ("frame corrupted", |proxy, _| proxy.inject(Fault::Corrupt)),
    ("garbage", |proxy, _| proxy.inject(Fault::Garbage)),
    ("pieces", |proxy, random| proxy.pieces(random.usize(1..500), Duration::from_micros(random.u64(0..50)))),
    ("no bookmarks", |proxy, _| {
        proxy.bookmarks(Bookmarks::None);
        proxy.inject(Fault::End);
    }),
    ("410 in the stream", |proxy, _| proxy.inject(Fault::Error(410))),
    ("429 in the stream", |proxy, _| proxy.inject(Fault::Error(429))),
    ("500 in the stream", |proxy, _| proxy.inject(Fault::Error(500))),
    ("410", |proxy, random| refuse_some(proxy, random, RequestClass::Rewatches, FaultResponse::status(410))),
    ("410 for a page", |proxy, random| {
        refuse_some(proxy, random, RequestClass::LaterPages, FaultResponse::status(410));
        proxy.inject(Fault::Error(410));
    }),
    ("401", |proxy, random| refuse_some(proxy, random, RequestClass::All, FaultResponse::status(401))),
    ("403", |proxy, random| refuse_some(proxy, random, RequestClass::All, FaultResponse::status(403))),
    ("429", |proxy, random| {
        refuse_some(proxy, random, RequestClass::All, FaultResponse::status(429).retry_after(1));
    }),
    ("500", |proxy, random| refuse_some(proxy, random, RequestClass::All, FaultResponse::status(500))),
    ("503", |proxy, random| refuse_some(proxy, random, RequestClass::All, FaultResponse::page(503))),
    ("504", |proxy, random| refuse_some(proxy, random, RequestClass::Rewatches, FaultResponse::status(504))),
];

/// Gives the next few matching requests this response, and causes some requests.
fn refuse_some(proxy: &FaultProxy, random: &mut fastrand::Rng, class: RequestClass, response: FaultResponse) {
    proxy.respond(class, response, random.usize(1..6));
    proxy.inject(if random.bool() { Fault::Cut } else { Fault::End });
}

/// Watches of all changes, behind a fault-injecting proxy.
struct Chaos {
    env: TestEnv,
    testbed: Option<Testbed>,
    proxy: FaultProxy,
    watchers: Vec<Watcher>,
    random: fastrand::Rng,
    faults: BTreeMap<&'static str, usize>,
}

struct Watcher {
    name: &'static str,
    running: Running,
    replay: Replay,
}

impl Chaos {
    fn start() -> Self {
        let env = TestEnv::new();
        let testbed = env.own_server();
        let mut load = tool();
        load.args(["load", "--kubeconfig", testbed.kubeconfig(), "--namespaces", "20", "--pods", "200"]);
        assert!(load.output().expect("it runs").status.success(), "load");
        let proxy = FaultProxy::before(&testbed);
        let config = proxy.kubeconfig(&env, "default");
        let ways: [(_, &[&str], _, _); 3] = [
            ("a connection each", &[], "KDELTA_WATCH_CONNECTIONS", "8"),
            ("HTTP/2", &[], "KDELTA_WATCH_CONNECTIONS", "0"),
            ("HTTP/1.1 by pages", &["--list-mode", "list", "--chunk-size", "37"], "DISABLE_HTTP2", "1"),
        ];
        let watchers = ways.map(|(name, arguments, variable, value)| {
            let arguments = [&["watch", "pods,cm,secrets", "-A", "-o", "json"], arguments].concat();
            let kdelta = env.kdelta(&arguments).env("KUBECONFIG", &config).env(variable, value);
            Watcher { name, running: kdelta.start(), replay: Replay::default() }
        });
        let mut chaos = Self {
            env,
            testbed: Some(testbed),
            proxy,
            watchers: watchers.into(),
            random: fastrand::Rng::with_seed(SEED),
            faults: BTreeMap::new(),
        };
        let synced = |watcher: &Watcher| {
            watcher.replay.parts.len() == KINDS.len() && watcher.replay.parts.values().all(|part| part.synced)
        };
        chaos.read_until("all are synced", synced);
        chaos
    }

    fn server(&self) -> &Testbed {
        self.testbed.as_ref().expect("it runs but for a moment")
    }

    /// Reads the lines of all watchers.
    fn read_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            for watcher in &mut self.watchers {
                while let Some(line) = watcher.running.stdout.within(Duration::ZERO) {
                    let line: Value = serde_json::from_str(&line).expect("JSON");
                    watcher.replay.take(&line);
                }
            }
            if Instant::now() >= end {
                return;
            }
            // The interval of polling; no result depends on it.
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn read_until(&mut self, what: &str, expected: impl Fn(&Watcher) -> bool) {
        let start = Instant::now();
        while let Some(waits) = self.watchers.iter().find(|watcher| !expected(watcher)) {
            let name = waits.name;
            assert!(start.elapsed() < PATIENCE, "{name}: not within {PATIENCE:?}: {what}");
            self.read_for(Duration::from_millis(50));
        }
    }

    /// Injects one fault for a while, followed by a pause.
    fn inject(&mut self) {
        let (name, inject) = FAULTS[self.random.usize(..FAULTS.len())];
        *self.faults.entry(name).or_default() += 1;
        inject(&mut self.proxy, &mut self.random);
        let lasts = Duration::from_millis(self.random.u64(100..1000));
        self.read_for(lasts);
        self.heal(name);
        let pause = Duration::from_millis(self.random.u64(100..900));
        self.read_for(pause);
    }

    /// Ends the fault. Stalled connections are released: the test does not wait for their detection.
    fn heal(&mut self, name: &str) {
        self.proxy.forward_all();
        self.proxy.use_unknown_certificate(false);
        self.proxy.pieces(usize::MAX, Duration::ZERO);
        self.proxy.bookmarks(Bookmarks::All);
        self.proxy.accept();
        if matches!(name, "frozen" | "stalled") {
            self.proxy.inject(Fault::Cut);
        }
    }

    /// Cuts the watches, changes everything meanwhile, and restarts the server so that it has no history.
    fn gap(&mut self, seed: u64) {
        *self.faults.entry("restart").or_default() += 1;
        let before: BTreeMap<_, _> =
            self.watchers.iter().map(|watcher| (watcher.name, watcher.replay.gaps())).collect();
        self.proxy.refuse();
        churn(self.server(), 1, seed).join().expect("the churn");
        self.testbed.take().expect("it runs").stop();
        self.testbed = Some(self.env.own_server());
        churn(self.server(), 1, seed + 1).join().expect("the churn");
        self.proxy.accept();
        self.read_until("every collection reports the gap", |watcher| {
            watcher.replay.gaps().iter().zip(&before[watcher.name]).all(|(now, before)| now > before)
        });
    }

    /// Reads both watchers up to a last change of each kind and compares their states with the server's lists.
    fn settle(&mut self) {
        let api = Api::of(self.server());
        let mut last = State::new();
        for (kind, resource) in KINDS {
            let path = format!("/api/v1/namespaces/default/{resource}");
            let mut marker = json!({"metadata": {"name": "marker"}});
            if kind == "Pod" {
                marker["spec"] = json!({"containers": [{"name": "c", "image": "i"}]});
            }
            api.create(&path, &marker);
            let change = json!({"metadata": {"labels": {"a": "b"}}});
            let metadata = api.patch(&format!("{path}/marker"), &change)["metadata"].clone();
            let version = metadata["resourceVersion"].as_str().and_then(|version| version.parse().ok());
            let uid = metadata["uid"].as_str().expect("a uid").to_owned();
            last.insert(format!("{kind} default/marker"), (uid, version.expect("a version")));
        }
        self.read_until("the last changes", |watcher| {
            last.iter().all(|(key, state)| watcher.replay.state.get(key) == Some(state))
        });
        // Another change of each object, read until it arrives through a watch: the first may arrive in a list that is
        // not complete yet.
        let last: Vec<(&str, u64)> = KINDS
            .iter()
            .map(|(kind, resource)| {
                let path = format!("/api/v1/namespaces/default/{resource}/marker");
                let made = api.patch(&path, &json!({"metadata": {"labels": {"a": "c"}}}));
                let version = made["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok());
                (*kind, version.expect("a version"))
            })
            .collect();
        self.read_until("the last changes through a watch", |watcher| {
            let is_told = |(kind, version): &(&str, u64)| {
                watcher.replay.parts[*kind].watched.iter().any(|(_, _, reported)| reported == version)
            };
            last.iter().all(is_told)
        });
        let there: State = KINDS
            .iter()
            .flat_map(|(kind, resource)| listed(&api, kind, &format!("/api/v1/{resource}")))
            .collect();
        for Watcher { name, replay, .. } in &self.watchers {
            assert!(replay.state == there, "{name}: {:?}", difference(&replay.state, &there));
        }
    }

    /// Prints statistics to stderr; the harness shows captured output only for failures.
    fn report(&self, operations: u64, began: Instant) {
        let mut reported = format!(
            "chaos: {operations} operations in {:.0} s, {} faults {:?}\n",
            began.elapsed().as_secs_f64(),
            self.faults.values().sum::<usize>(),
            self.faults,
        );
        for Watcher { name, replay, .. } in &self.watchers {
            // Writing to a String can't fail.
            let _ = writeln!(
                reported,
                "chaos: {name}: {} deltas, {} of them after gaps, re-lists {:?}, {:.1} s behind at most",
                replay.deltas,
                replay.differences,
                replay.gaps(),
                replay.behind,
            );
        }
        let _sent = std::io::stderr().write_all(reported.as_bytes());
    }
}

fn difference<'a>(reported: &'a State, there: &'a State) -> Vec<(&'a String, Option<&'a (String, u64)>)> {
    let differs = |key: &&String| reported.get(*key) != there.get(*key);
    reported.keys().chain(there.keys()).filter(differs).map(|key| (key, there.get(key))).take(10).collect()
}

/// Changes objects through the testbed's churn and returns the number of operations. Operations that a busy server
/// fails do not matter: the final comparison reads the server's state.
fn churn(testbed: &Testbed, seconds: u64, seed: u64) -> JoinHandle<u64> {
    let mut command = tool();
    command.args(["churn", "--kubeconfig", testbed.kubeconfig(), "--rate", &RATE.to_string()]);
    command.args(["--kinds", "pods,configmaps,secrets"]);
    command.args(["--duration", &format!("{seconds}s"), "--seed", &seed.to_string()]);
    thread::spawn(move || {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["operations"].as_object().expect("counts").values().filter_map(Value::as_u64).sum()
    })
}

/// Runs rounds of this many seconds under faults, with a restart between two rounds.
fn chaos(rounds: u64, seconds: u64) {
    let _turn = busy();
    let mut chaos = Chaos::start();
    let began = Instant::now();
    let mut operations = 0;
    for round in 0..rounds {
        if round > 0 {
            chaos.gap(1000 * round);
        }
        let changing = churn(chaos.server(), seconds, round);
        while !changing.is_finished() {
            chaos.inject();
        }
        operations += changing.join().expect("the churn");
    }
    chaos.settle();
    chaos.report(operations, began);
    for watcher in &mut chaos.watchers {
        watcher.running.signal("INT");
        assert_eq!(watcher.running.wait(), 130, "{}", watcher.name);
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn replayed_lines_equal_the_list_under_random_faults() {
    chaos(3, 12);
}

#[test]
#[ignore = "ten minutes: cargo test -- --ignored chaos"]
fn replayed_lines_equal_the_list_after_ten_minutes_of_random_faults() {
    chaos(4, 140);
}
