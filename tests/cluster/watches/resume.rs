//! Watches from a given version: a script that is killed and resumes, and the error if resuming is impossible.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, PATIENCE, Proxy, Running, TestEnv, config_maps, tool};

const SEED: u64 = 7;
const RATE: usize = 60;
const SECONDS: usize = 6;
/// The maximum of lines that a run prints before it is killed.
const LINES: usize = 40;
/// The silence after which no more lines are expected.
const PAUSE: Duration = Duration::from_secs(2);

/// Returns the type, name and version of a live delta, or `None` for other lines.
fn live_delta(line: &Value) -> Option<(String, String, String)> {
    let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
    (line["origin"] == "watch").then(|| (text("type"), text("name"), text("resourceVersion")))
}

/// Reads up to this many lines, kills the program, and reads the complete lines that it had still written. The first
/// line has its own time limit.
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
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn killed_script_resumes_where_it_stopped() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
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
    // The churn is still starting.
    let mut lines = killed_after(first, random.usize(1..=LINES), PATIENCE);
    let mut runs = 1;
    let start = |lines: &[Value]| {
        let resume =
            lines.last().and_then(|line| line["resume"].as_str()).expect("a live line has a resume version");
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
        (lines.iter().map(live_delta).collect(), whole.iter().map(live_delta).collect());
    assert!(whole.len() > RATE, "{} lines", whole.len());
    assert_eq!(lines, whole, "nothing lost, nothing twice, in {runs} runs");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn resume_from_an_expired_version_fails_with_its_error_name() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let made = api.create_config_map(&namespace, "a", &json!({}));
    let version = made["metadata"]["resourceVersion"].as_str().expect("a version");
    api.create_config_map(&namespace, "b", &json!({}));
    testbed.stop();
    // A restarted server has no history.
    let testbed = env.own_server();
    let watch = ["watch", "cm", "-n", &namespace, "--resource-version", version];
    let error = env.kdelta_on(&testbed, &watch).finish().failure(1);
    let expected = format!(
        "Error from server (Expired): the server no longer knows what happened since {version} (too old resource version: {version} ("
    );
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.ends_with("omit --resource-version to start with the current objects\n"), "{error}");
    let lines = env.kdelta_on(&testbed, &[&watch[..], &["-o", "json"]].concat()).finish();
    assert_eq!(lines.code, 1);
    let line: Value = serde_json::from_str(&lines.stdout).expect("one line");
    assert_eq!((&line["type"], &line["object"]["code"]), (&json!("ERROR"), &json!(410)));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_events_are_printed_unchanged() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
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
    assert!(lines[0].get("changes").is_none(), "the previous state is unknown: {}", lines[0]);
    assert_eq!(lines[1]["changes"][0]["path"], "/data/n");
    assert!(lines.iter().all(|line| line["resume"] == line["resourceVersion"]), "{lines:#?}");

    let selector = ["--field-selector", "data.n=1"];
    let error = env.kdelta_on(testbed, &[&watch[..], &selector].concat()).finish().failure(1);
    assert!(error.contains("\"data.n\" is not a known field selector"), "{error}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn cut_connection_resumes_without_a_list() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
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
