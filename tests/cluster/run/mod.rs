//! `kdelta run` on a real server: 10,000 deltas across kills of the program, and a checkpoint that is too old.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::busy;
use crate::support::{Api, Kdelta, OnServer, Proxy, TestEnv, config_maps, eventually};

const OBJECTS: usize = 100;
const WRITERS: usize = 4;
/// Additions, updates and deletions: 10,000 in all.
const UPDATES: usize = 98;
const SEED: u64 = 11;

/// A command that fails once in eight calls, and leaves a file with its lines if it does not.
const UNRELIABLE: &str = "f=$(mktemp $D/lines.XXXXXXXX) && cat > $f || exit 1
[ $(( $(od -An -N1 -tu1 /dev/urandom) % 8 )) -ne 0 ] || { rm $f; exit 1; }
mv $f $f.done";

/// A delta: name, version, and whether it is a deletion.
type Delta = (String, String, bool);

fn command(env: &TestEnv, lines: &Path, words: &[&str], script: &str) -> Kdelta {
    env.kdelta(&[&["run"], words, &["--", "sh", "-c", script]].concat())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("D", lines)
}

/// Returns the lines of the calls that succeeded.
fn handled(folder: &Path) -> Vec<Value> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let done = entries.filter(|path| path.extension().is_some_and(|extension| extension == "done"));
    let text: String = done.map(|path| fs::read_to_string(path).expect("a file")).collect();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn deltas(folder: &Path) -> BTreeSet<Delta> {
    let text = |line: &Value, field: &str| line[field].as_str().expect(field).to_owned();
    let lines = handled(folder);
    lines
        .iter()
        .map(|line| (text(line, "name"), text(line, "resourceVersion"), line["type"] == "DELETED"))
        .collect()
}

/// Creates, updates and deletes the objects of one writer. Returns the deltas.
fn write(api: &Api, namespace: &str, writer: usize) -> Vec<Delta> {
    let version =
        |object: &Value| object["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    let names: Vec<String> = (0..OBJECTS)
        .filter(|object| object % WRITERS == writer)
        .map(|object| format!("x-{object}"))
        .collect();
    let mut deltas = Vec::new();
    for name in &names {
        let created = api.create_config_map(namespace, name, &json!({}));
        deltas.push((name.clone(), version(&created), false));
    }
    for update in 0..UPDATES {
        for name in &names {
            let path = format!("{}/{name}", config_maps(namespace));
            let updated = api.patch(&path, &json!({"data": {"n": update.to_string()}}));
            deltas.push((name.clone(), version(&updated), false));
        }
    }
    for name in names.iter().step_by(2) {
        api.delete(&format!("{}/{name}", config_maps(namespace)));
        deltas.push((name.clone(), String::new(), true));
    }
    deltas
}

/// Returns the command lines of the processes that have this text in their environment.
fn processes_with(text: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("/proc").filter_map(|entry| Some(entry.ok()?.path()));
    let found = entries.filter(|path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.windows(text.len()).any(|window| window == text.as_bytes())
    });
    found.map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default()).collect()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn no_delta_is_lost_when_the_program_is_killed() {
    let OnServer { env, testbed, api: _, namespace } = TestEnv::on_server();
    let _busy = busy();
    let (lines, checkpoint) = (env.home().join("lines"), env.home().join("checkpoint"));
    fs::create_dir(&lines).expect("a folder");
    let words = [
        "cm",
        "-n",
        &namespace,
        "--field-selector",
        "metadata.name!=kube-root-ca.crt",
        "--jobs",
        "3",
        "--batch",
        "25",
        "--retry-delay",
        "20ms",
        "--max-retries",
        "50",
        "--checkpoint",
        checkpoint.to_str().expect("text"),
    ];
    let start = || command(&env, &lines, &words, UNRELIABLE).env("KUBECONFIG", testbed.kubeconfig()).start();
    let mut running = start();
    // The first checkpoint is that of the empty namespace.
    eventually("the first checkpoint", || {
        fs::read_to_string(&checkpoint).ok().filter(|text| text.contains("resourceVersion"))
    });
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let namespace = namespace.clone();
            thread::spawn(move || write(&Api::of(testbed), &namespace, writer))
        })
        .collect();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut kills = 0;
    while kills < 4 || writers.iter().any(|writer| !writer.is_finished()) {
        // The moment of the kill.
        thread::sleep(Duration::from_millis(random.u64(300..3000)));
        running.signal("KILL");
        assert_eq!(running.wait(), -1);
        kills += 1;
        running = start();
    }
    let expected: Vec<Delta> =
        writers.into_iter().flat_map(|writer| writer.join().expect("the writes")).collect();
    assert!(expected.len() >= OBJECTS * (UPDATES + 1));
    let is_handled = |found: &BTreeSet<Delta>, delta: &&Delta| match delta {
        // The version of a deletion is not that of a response.
        (name, _, true) => found.iter().any(|(other, _, is_deletion)| *is_deletion && other == name),
        delta => found.contains(*delta),
    };
    eventually("every delta", || {
        let found = deltas(&lines);
        let missing: Vec<_> = expected.iter().filter(|delta| !is_handled(&found, delta)).collect();
        missing.is_empty().then_some(())
    });
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    let stderr = running.stderr.drain();
    assert!(!stderr.contains("GAP") && !stderr.contains("given up"), "{stderr}");
    let folder = format!("D={}", lines.display());
    eventually("no process is left", || processes_with(&folder).is_empty().then_some(()));
    // Each call has the lines of an object in order.
    let mut versions: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (name, version, _) in deltas(&lines) {
        versions.entry(name).or_default().insert(version.parse().expect("a number"));
    }
    assert_eq!(versions.len(), OBJECTS);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn checkpoint_that_is_too_old_leads_to_the_difference() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let (lines, checkpoint) = (env.home().join("lines"), env.home().join("checkpoint"));
    fs::create_dir(&lines).expect("a folder");
    // A restarted server has another port.
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let checkpoint_path = checkpoint.to_str().expect("text");
    let words =
        ["cm", "--field-selector", "metadata.name!=kube-root-ca.crt", "--checkpoint", checkpoint_path];
    let script = "f=$(mktemp $D/lines.XXXXXXXX) && cat > $f && mv $f $f.done";
    let start = || command(&env, &lines, &words, script).env("KUBECONFIG", &config).start();
    for name in ["same", "changed", "deleted"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut running = start();
    eventually("three additions", || (handled(&lines).len() == 3).then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    let path = |name: &str| format!("{}/{name}", config_maps(&namespace));
    api.patch(&path("changed"), &json!({"data": {"n": "1"}}));
    api.delete(&path("deleted"));
    api.create_config_map(&namespace, "new", &json!({}));
    // A restarted server has no history: it responds to the watch with 410.
    proxy.cut();
    testbed.stop();
    let _testbed = env.own_server();
    proxy.reopen();
    let mut running = start();
    eventually("the difference", || (handled(&lines).len() >= 6).then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    let stderr = running.stderr.drain();
    assert!(stderr.contains("configmaps: GAP: changes from "), "{stderr}");
    let mut found: Vec<_> = handled(&lines)
        .iter()
        .filter(|line| line["origin"] == "relist")
        .map(|line| {
            let text = |field: &str| line[field].as_str().expect(field).to_owned();
            assert!(!text("uid").is_empty());
            format!("{} {}", text("type"), text("name"))
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["ADDED new", "DELETED deleted", "MODIFIED changed"], "{stderr}");
    assert_eq!(handled(&lines).len(), 6);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn updates_without_a_selected_change_are_skipped() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "x", &json!({"a": "1"}));
    let words = ["run", "cm/x", "-n", &namespace, "--only", "data", "--ignore", "data.noise"];
    let script = "echo $KDELTA_EVENT_TYPE $KDELTA_EVENT_RESOURCE_VERSION";
    let mut running = env
        .kdelta_on(testbed, &[&words[..], &["--count", "2", "--", "sh", "-c", script]].concat())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .start();
    let patch = |object: Value| {
        let patched = api.patch(&format!("{}/x", config_maps(&namespace)), &object);
        patched["metadata"]["resourceVersion"].as_str().expect("a version").to_owned()
    };
    let next = || running.stdout.within(Duration::from_mins(1)).expect("a line");
    assert!(next().starts_with("ADDED "));
    patch(json!({"metadata": {"labels": {"a": "b"}}}));
    patch(json!({"data": {"noise": "1"}}));
    let version = patch(json!({"data": {"a": "last", "noise": "2"}}));
    assert_eq!(next(), format!("MODIFIED {version}\n"));
    assert_eq!(running.wait(), 0);
}
