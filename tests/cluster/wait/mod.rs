//! `wait` and `rollout status` while the objects change.

mod rollout;
mod scenarios;
mod survival;

use serde_json::{Value, json};

use super::kubectl;
use crate::support::{Kdelta, OnServer, Running};

/// The result of a program: its stdout, its errors on stderr, and whether it succeeded.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    stdout: String,
    stderr: String,
    success: bool,
}

impl Outcome {
    fn of(running: &mut Running) -> Self {
        let success = running.wait() == 0;
        let stdout = running.stdout.drain();
        let stderr = running.stderr.drain();
        let is_error = |line: &&str| line.starts_with("error: ") || line.starts_with("Error from server");
        let stderr = stderr.lines().filter(is_error).collect::<Vec<_>>().join("\n");
        Self { stdout, stderr, success }
    }

    fn met(lines: &[&str]) -> Self {
        let stdout = lines.iter().flat_map(|line| [line, " condition met\n"]).collect();
        Self { stdout, stderr: String::new(), success: true }
    }

    fn failed(stderr: &str) -> Self {
        Self { stdout: String::new(), stderr: stderr.to_owned(), success: false }
    }
}

/// Starts kdelta with these words, in the test's namespace.
fn start_kdelta(on: &OnServer, words: &str) -> Running {
    let words: Vec<&str> = words.split(' ').chain(["-v", "-n", &on.namespace]).collect();
    on.env.kdelta_on(on.testbed, &words).start()
}

/// Starts kubectl with these words, in the test's namespace. It logs its requests.
fn start_kubectl(on: &OnServer, words: &str) -> Running {
    let words: Vec<&str> = words.split(' ').chain(["-v=6", "-n", &on.namespace]).collect();
    Kdelta::other(kubectl(on.testbed.kubeconfig(), &words)).start()
}

/// Runs both programs while `change` changes the objects; it is called once both have read the watched object. Fails the
/// test unless both have this outcome.
#[track_caller]
fn assert_both(on: &OnServer, words: &str, change: impl FnOnce(), expected: &Outcome) {
    let mut oracle = start_kubectl(on, words);
    let mut running = start_kdelta(on, words);
    running.stderr.find("the watched object", |line| line.contains(": listed at "));
    // kubectl polls for an object that is to be created.
    let request = if words.contains("--for=create") { "/pods" } else { "watch=true" };
    oracle.stderr.find("kubectl's request", |line| line.contains(request));
    change();
    assert_eq!(Outcome::of(&mut running), *expected, "kdelta {words}");
    assert_eq!(Outcome::of(&mut oracle), *expected, "kubectl {words}");
}

fn pods(on: &OnServer) -> String {
    format!("/api/v1/namespaces/{}/pods", on.namespace)
}

fn create_pod(on: &OnServer, name: &str) {
    let spec = json!({"containers": [{"name": "main", "image": "main"}], "terminationGracePeriodSeconds": 0});
    let labels = json!({"app": "web"});
    on.api.create(&pods(on), &json!({"metadata": {"name": name, "labels": labels}, "spec": spec}));
}

fn delete_pod(on: &OnServer, name: &str) {
    on.api.delete(&format!("{}/{name}?gracePeriodSeconds=0", pods(on)));
}

fn set_status(on: &OnServer, name: &str, status: &Value) {
    on.api.patch(&format!("{}/{name}/status", pods(on)), &json!({"status": status}));
}

/// Returns a status with the phase Running and this condition Ready.
fn running(ready: &str) -> Value {
    json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]})
}
