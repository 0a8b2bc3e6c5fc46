//! A watch that goes on from a version: what a script does that was killed, and what it is told when that is not possible.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, PATIENCE, Proxy, Running, TestEnv, config_maps, tool};

const SEED: u64 = 7;
const RATE: usize = 60;
const SECONDS: usize = 6;
/// Lines that a run prints before it is killed, at most.
const LINES: usize = 40;
/// How long nothing comes until no more is waited for.
const PAUSE: Duration = Duration::from_secs(2);

/// Type, name and version of a live delta; nothing of anything else.
fn told(line: &Value) -> Option<(String, String, String)> {
    let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
    (line["origin"] == "watch").then(|| (text("type"), text("name"), text("resourceVersion")))
}

/// Takes so many lines, or fewer when no more come, kills it, and takes what it had still written: the whole lines. For
/// the first line it waits longer.
fn killed_after(mut running: Running, lines: usize, first: Duration) -> Vec<Value> {
    let pause = |line| if line == 0 { first } else { PAUSE };
    let mut texts: Vec<String> = (0..lines).map_while(|line| running.stdout.within(pause(line))).collect();
    running.signal("KILL");
    assert_eq!(running.wait(), -1);
    texts.extend(std::iter::from_fn(|| running.stdout.within(PATIENCE)));
    let whole = texts.iter().filter(|text| text.ends_with('\n'));
    whole.map(|text| serde_json::from_str(text).expect("JSON")).collect()
}

#[test]
fn a_script_that_is_killed_goes_on_where_it_was() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let watch = ["watch", "pods", "-n", &namespace, "-o", "json"];
    let unbroken = env.kdelta_on(testbed, &watch).start();
    let first = env.kdelta_on(testbed, &watch).start();
    for running in [&unbroken, &first] {
        running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    }
    let mut churn = tool();
    churn.args([
        "churn",
        "--kubeconfig",
        testbed.kubeconfig(),
        "-n",
        &namespace,
        "--rate",
        &RATE.to_string(),
    ]);
    churn.args(["--duration", &format!("{SECONDS}s"), "--seed", &SEED.to_string()]);
    let churning = thread::spawn(move || assert!(churn.output().expect("it runs").status.success(), "churn"));

    let mut random = fastrand::Rng::with_seed(SEED);
    // What makes the changes is only being started.
    let mut lines = killed_after(first, random.usize(1..=LINES), PATIENCE);
    let mut runs = 1;
    let start = |lines: &[Value]| {
        let resume =
            lines.last().and_then(|line| line["resume"].as_str()).expect("a live line says where to go on");
        env.kdelta_on(testbed, &[&watch[..], &["--resource-version", resume]].concat()).start()
    };
    while !churning.is_finished() {
        let running = start(&lines);
        lines.extend(killed_after(running, random.usize(1..=LINES), PAUSE));
        runs += 1;
    }
    churning.join().expect("the churn");
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    api.create(
        &format!("/api/v1/namespaces/{namespace}/pods"),
        &json!({"metadata": {"name": "end"}, "spec": spec}),
    );
    lines.extend(start(&lines).stdout.json_until("the end", |line| line["name"] == "end"));
    let whole = unbroken.stdout.json_until("the end", |line| line["name"] == "end");

    assert!(runs > 2, "{runs} runs");
    let (lines, whole): (Vec<_>, Vec<_>) =
        (lines.iter().map(told).collect(), whole.iter().map(told).collect());
    assert!(whole.len() > RATE, "{} lines", whole.len());
    assert_eq!(lines, whole, "nothing lost, nothing twice, in {runs} runs");
}

#[test]
fn a_version_that_is_too_old_ends_it_with_its_name() {
    let env = TestEnv::new();
    let Some(testbed) = env.own_server() else { return };
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let made = api.create_config_map(&namespace, "a", &json!({}));
    let version = made["metadata"]["resourceVersion"].as_str().expect("a version");
    api.create_config_map(&namespace, "b", &json!({}));
    testbed.stop();
    // A server that was restarted knows no old versions.
    let testbed = env.own_server().expect("it was there before");
    let watch = ["watch", "cm", "-n", &namespace, "--resource-version", version];
    let error = env.kdelta_on(&testbed, &watch).finish().failure(1);
    let wanted = format!(
        "Error from server (Expired): the server no longer knows what happened since {version} (too old resource version: {version} ("
    );
    assert!(error.starts_with(&wanted), "{error}");
    assert!(error.ends_with("leave out --resource-version to begin with what is there now\n"), "{error}");
    let lines = env.kdelta_on(&testbed, &[&watch[..], &["-o", "json"]].concat()).finish();
    assert_eq!(lines.code, 1);
    let line: Value = serde_json::from_str(&lines.stdout).expect("one line");
    assert_eq!((&line["type"], &line["object"]["code"]), (&json!("ERROR"), &json!(410)));
}

#[test]
fn what_the_server_says_is_printed_as_it_says_it() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let made = api.create_config_map(&namespace, "a", &json!({}));
    let version = made["metadata"]["resourceVersion"].as_str().expect("a version");
    let path = format!("{}/a", config_maps(&namespace));
    for n in ["1", "2"] {
        api.patch(&path, &json!({"data": {"n": n}}));
    }
    let watch = ["watch", "cm", "-n", &namespace, "--resource-version", version];
    let running = env.kdelta_on(testbed, &[&watch[..], &["-o", "json", "--changes"]].concat()).start();
    let mut lines = running.stdout.json_until("the second", |line| line["object"]["data"]["n"] == "2");
    api.delete(&path);
    lines.extend(running.stdout.json_until("DELETED", |line| line["type"] == "DELETED"));
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["MODIFIED", "MODIFIED", "DELETED"]);
    assert!(lines[0].get("changes").is_none(), "nobody knows what was before: {}", lines[0]);
    assert_eq!(lines[1]["changes"][0]["path"], "/data/n");
    assert!(lines.iter().all(|line| line["resume"] == line["resourceVersion"]), "{lines:#?}");

    let selector = ["--field-selector", "data.n=1"];
    let error = env.kdelta_on(testbed, &[&watch[..], &selector].concat()).finish().failure(1);
    assert!(error.contains("\"data.n\" is not a known field selector"), "{error}");
}

#[test]
fn a_connection_that_is_cut_is_taken_up_without_a_list() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let made = api.create_config_map(&namespace, "a", &json!({}));
    let version = made["metadata"]["resourceVersion"].as_str().expect("a version");
    api.create_config_map(&namespace, "b", &json!({}));
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(testbed, "admin", &namespace, proxy.port());
    let watch = ["watch", "cm", "-o", "json", "--resource-version", version];
    let running = env.kdelta(&watch).env("KUBECONFIG", config).start();
    running.stdout.json_until("b", |line| line["name"] == "b");
    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("lost"));
    api.delete(&format!("{}/a", config_maps(&namespace)));
    proxy.reopen();
    let lines = running.stdout.json_until("the delete", |line| line["type"] == "DELETED");
    assert_eq!((lines.len(), &lines[0]["name"]), (1, &json!("a")), "{lines:#?}");
    running.stderr.find("the recovery", |line| line.contains("resumed"));
}
