//! `kdelta record` killed at random points under churn: the recording has every change that a watch delivers, once, and
//! equals the server's list at every compared version. Changes that the server could not repeat are in a recorded gap.

mod awaited_type;
mod refused_watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kdelta::recording::{Moment, Recording};
use serde_json::{Value, json};

use crate::cluster::busy;
use crate::support::{
    Api, PATIENCE, Recorded, Running, TestEnv, Testbed, eventually, open_recording, print_line,
    recorded_objects, recorded_resource, tool,
};

const SEED: u64 = 22;
/// Changes per second.
const RATE: u32 = 150;
const KINDS: [&str; 3] = ["pods", "configmaps", "secrets"];

/// The objects of a type at a version: uid and version by `namespace/name`.
type List = BTreeMap<String, (String, u64)>;

/// A delta: type, namespace, name, version, and whether it is a deletion.
type Delta = (String, String, String, u64, bool);

struct Churned {
    env: TestEnv,
    testbed: Option<Testbed>,
    dir: PathBuf,
    /// A watch that runs all the time.
    observer: Running,
    observed: Vec<Value>,
    random: fastrand::Rng,
    kills: usize,
    /// The lists that were taken meanwhile: type, version, objects.
    lists: Vec<(&'static str, u64, List)>,
}

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).expect("a version")
}

/// Lists a type, and returns the version of the list.
fn list(api: &Api, plural: &str) -> (u64, List) {
    let list = api.get(&format!("/api/v1/{plural}"));
    let items = list["items"].as_array().expect("items").iter();
    let entry = |item: &Value| {
        let metadata = &item["metadata"];
        let text = |field: &str| metadata[field].as_str().expect("a text").to_owned();
        (
            format!("{}/{}", text("namespace"), text("name")),
            (text("uid"), number(&metadata["resourceVersion"])),
        )
    };
    (number(&list["metadata"]["resourceVersion"]), items.map(entry).collect())
}

fn churn(testbed: &Testbed, seconds: u64, seed: u64) -> JoinHandle<()> {
    let mut command = tool();
    command.args(["churn", "--kubeconfig", testbed.kubeconfig(), "--rate", &RATE.to_string()]);
    command.args(["--kinds", &KINDS.join(","), "--duration", &format!("{seconds}s")]);
    command.args(["--seed", &seed.to_string()]);
    thread::spawn(move || {
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    })
}

impl Churned {
    fn start() -> Self {
        let env = TestEnv::new();
        let testbed = env.own_server();
        let mut load = tool();
        load.args(["load", "--kubeconfig", testbed.kubeconfig(), "--namespaces", "5", "--pods", "50"]);
        assert!(load.output().expect("it runs").status.success(), "load");
        let words = ["watch", "pods,cm,secrets", "-A", "-o", "json"];
        let observer = env.kdelta_on(&testbed, &words).start();
        let dir = env.home().join("recordings");
        let random = fastrand::Rng::with_seed(SEED);
        let testbed = Some(testbed);
        Self { env, testbed, dir, observer, observed: Vec::new(), random, kills: 0, lists: Vec::new() }
    }

    fn server(&self) -> &Testbed {
        self.testbed.as_ref().expect("it runs but for a moment")
    }

    fn record(&self) -> Running {
        let to = self.dir.to_str().expect("text");
        let words = ["record", "pods,cm,secrets", "-A", "--to", to];
        self.env.kdelta_on(self.server(), &words).start()
    }

    /// Kills a recorder at a random point, as often as there is time for it.
    fn kill_recorders(&mut self, changing: &JoinHandle<()>) {
        while !changing.is_finished() {
            let mut running = self.record();
            let end = Instant::now() + Duration::from_millis(self.random.u64(50..2500));
            while Instant::now() < end && !running.has_ended() {
                if self.random.u8(..) < 20 {
                    let plural = KINDS[self.random.usize(..KINDS.len())];
                    let (version, objects) = list(&Api::of(self.server()), plural);
                    self.lists.push((plural, version, objects));
                }
                self.observed.extend(lines(&self.observer));
                // The interval of polling; no result depends on it.
                thread::sleep(Duration::from_millis(10));
            }
            assert!(!running.has_ended(), "{}", running.stderr.drain());
            running.signal("KILL");
            running.wait();
            self.kills += 1;
        }
    }

    /// Restarts the server without its history, with changes before and after.
    fn lose_history(&mut self, seed: u64) {
        churn(self.server(), 1, seed).join().expect("the churn");
        self.testbed.take().expect("it runs").stop();
        self.testbed = Some(self.env.own_server());
        churn(self.server(), 1, seed + 1).join().expect("the churn");
    }

    /// Records until the recording has the server's objects, then ends the recorder with a signal.
    fn settle(&mut self) {
        let mut running = self.record();
        let api = Api::of(self.server());
        for plural in KINDS {
            let spec = json!({"containers": [{"name": "c", "image": "registry/web:1"}]});
            let spec = if plural == "pods" { spec } else { Value::Null };
            let marker = json!({"metadata": {"name": "marker"}, "spec": spec});
            api.create(&format!("/api/v1/namespaces/load-0/{plural}"), &marker);
        }
        let there: Vec<_> = KINDS.iter().map(|plural| (*plural, list(&api, plural).1)).collect();
        let state = |recording: &Recording, plural: &str| {
            let state = recording.state(Moment::End).ok()?;
            Some(recorded_objects(&state, &recorded_resource(recording, plural)))
        };
        eventually("the recording has the server's objects", || {
            let recording = open_recording(&self.dir);
            there
                .iter()
                .all(|(plural, there)| state(&recording, plural).as_ref() == Some(there))
                .then_some(())
        });
        running.signal("TERM");
        assert_eq!(running.wait(), 143, "{}", running.stderr.drain());
        // The marker is the last change of its type, and a watch is in order: all others have been delivered too.
        let is_delivered = |lines: &[Value], (plural, list): &(&str, List)| {
            let last = list.values().map(|(_, version)| *version).max();
            lines.iter().any(|line| line["resource"] == *plural && version(line) >= last)
        };
        let start = Instant::now();
        while !there.iter().all(|each| is_delivered(&self.observed, each)) {
            assert!(start.elapsed() < PATIENCE, "the observer delivers the last changes");
            self.observed.extend(
                self.observer.stdout.within(Duration::from_millis(50)).iter().map(|line| parsed(line)),
            );
        }
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("JSON")
}

fn lines(observer: &Running) -> Vec<Value> {
    observer.stdout.at_hand().iter().map(|line| parsed(line)).collect()
}

fn version(line: &Value) -> Option<u64> {
    line["resourceVersion"].as_str().and_then(|text| text.parse().ok())
}

/// A gap: the type, and the versions before and after it.
type Gap = (String, u64, u64);

/// Returns the deltas that the observer's watch delivered, all of its deltas, and its gaps.
fn observed(lines: &[Value]) -> (BTreeSet<Delta>, BTreeSet<Delta>, Vec<Gap>) {
    let (mut watched, mut all, mut gaps) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for line in lines {
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        if line["type"] == "GAP" {
            gaps.push((text("resource"), number(&line["from"]), number(&line["to"])));
        }
        let Some(version) = version(line) else { continue };
        let is_deletion = line["type"] == "DELETED";
        let delta = (text("resource"), text("namespace"), text("name"), version, is_deletion);
        if line["origin"] == "watch" {
            watched.insert(delta.clone());
        }
        all.insert(delta);
    }
    (watched, all, gaps)
}

fn is_within(gaps: &[Gap], (plural, _, _, version, _): &Delta) -> bool {
    gaps.iter().any(|(of, from, to)| of == plural && from < version && version <= to)
}

/// Kills recorders during rounds of this many seconds, with a restart of the server between two rounds.
fn killed_recorders(rounds: u64, seconds: u64) {
    let _turn = busy();
    let mut churned = Churned::start();
    // The observer has the first list before anything changes.
    let synced = churned.observer.stdout.json_until("three SYNCED", {
        let mut count = 0;
        move |line| {
            count += usize::from(line["type"] == "SYNCED");
            count == KINDS.len()
        }
    });
    churned.observed.extend(synced);
    for round in 0..rounds {
        if round > 0 {
            churned.lose_history(1000 * round);
        }
        let changing = churn(churned.server(), seconds, round);
        churned.kill_recorders(&changing);
        changing.join().expect("the churn");
    }
    churned.settle();
    let recording = open_recording(&churned.dir);
    let recorded = Recorded::read(&recording);
    let (watched, all, observer_gaps) = observed(&churned.observed);
    // Nothing is lost: what a watch delivered after the first complete list is recorded, or within a recorded gap.
    let first = |plural: &str| {
        let synced = recorded.synced.iter().find(|(of, _)| of == plural);
        synced.unwrap_or_else(|| panic!("{plural} was never complete")).1
    };
    let here: BTreeSet<_> = recorded.watched.iter().chain(&recorded.listed).cloned().collect();
    let lost: Vec<_> = watched
        .iter()
        .filter(|delta| delta.3 > first(&delta.0))
        .filter(|delta| !here.contains(*delta) && !is_within(&recorded.gaps, delta))
        .collect();
    assert!(lost.is_empty(), "{} lost of {}: {lost:?}", lost.len(), watched.len());
    // Nothing is invented: the observer has it too, unless it lost its watch.
    let invented: Vec<_> = recorded
        .watched
        .iter()
        .filter(|delta| !all.contains(*delta) && !is_within(&observer_gaps, delta))
        .collect();
    assert!(invented.is_empty(), "{} invented: {invented:?}", invented.len());
    // Nothing is repeated.
    let times: BTreeSet<_> = recorded.watched.iter().collect();
    assert_eq!(times.len(), recorded.watched.len(), "repeated");
    // Every loss of the history is a gap of each type, and nothing else is one.
    let restarts = usize::try_from(rounds - 1).expect("few");
    assert!(recorded.gaps.len() >= restarts * KINDS.len(), "{:?}", recorded.gaps);
    let mut compared = 0;
    for (plural, version, objects) in &churned.lists {
        let probe = ((*plural).to_owned(), String::new(), String::new(), *version, false);
        if *version < first(plural) || is_within(&recorded.gaps, &probe) {
            continue;
        }
        let state = recording.state(Moment::Version(*version)).expect("a state");
        let here = recorded_objects(&state, &recorded_resource(&recording, plural));
        assert_eq!(here, *objects, "{plural} at {version}");
        compared += 1;
    }
    assert!(compared > 0, "no list was compared");
    print_line(&format!(
        "record: {} kills, {} starts, {} versions of a watch and {} of lists, {} gaps, {compared} lists compared",
        churned.kills,
        recorded.starts,
        recorded.watched.len(),
        recorded.listed.len(),
        recorded.gaps.len(),
    ));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn killed_recorders_lose_repeat_and_invent_nothing() {
    killed_recorders(2, 6);
}

#[test]
#[ignore = "ten minutes: cargo test -- --ignored killed_recorders"]
fn killed_recorders_lose_repeat_and_invent_nothing_in_ten_minutes() {
    killed_recorders(4, 140);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn author_is_the_manager_of_the_change() {
    let crate::support::OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let dir = env.home().join("recordings");
    let words = ["record", "cm", "-n", &namespace, "--to", dir.to_str().expect("text")];
    let mut running = env.kdelta_on(testbed, &words).start();
    let count = || {
        let contexts = Recording::contexts(&dir).ok()?;
        let recording = Recording::open(&contexts.first()?.1).ok()?;
        Some(Recorded::read(&recording).watched.len())
    };
    eventually("the initial state", || {
        let contexts = Recording::contexts(&dir).ok()?;
        let recording = Recording::open(&contexts.first()?.1).ok()?;
        recording.resources().ok().filter(|resources| !resources.is_empty())
    });
    let path = crate::support::config_maps(&namespace);
    api.create(
        &format!("{path}?fieldManager=creator"),
        &json!({"metadata": {"name": "x"}, "data": {"a": "0"}}),
    );
    api.patch(&format!("{path}/x?fieldManager=editor"), &json!({"data": {"a": "1"}}));
    eventually("both changes", || (count()? >= 2).then_some(()));
    running.signal("INT");
    assert_eq!(running.wait(), 130);
    let authors = Recorded::read(&open_recording(&dir)).authors;
    assert_eq!(authors.into_iter().collect::<Vec<_>>(), [("creator/".into(), 1), ("editor/".into(), 1)]);
}
