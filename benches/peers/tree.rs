//! `kdelta tree` of a deployment with 1,000 pods among all others, compared with a client that lists every type as
//! kubectl-tree does; and the delay of `tree -w` compared with curl's watch of the same pods.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::targets::TargetResult;
use crate::test_server::{BenchServer, NAMESPACE};

/// The deployment, whose pods have its name as label.
const NAME: &str = "tree-root";
const PODS: usize = 1000;
/// The pods that are created while the tree is watched, and the pause between two.
const NEW_PODS: usize = 200;
const PAUSE: Duration = Duration::from_millis(100);
/// The limits: the share of the other client's time, and the seconds behind curl.
const TIME_BAR: f64 = 1.0 / 5.0;
const DELAY_LIMIT: f64 = 0.05;
const PATIENCE: Duration = Duration::from_mins(1);

/// Measures both.
pub(crate) fn compare(
    server: &BenchServer,
    lists: &Path,
    rounds: usize,
) -> anyhow::Result<Vec<TargetResult>> {
    let owner = create_deployment(server)?;
    let mut kdelta = Command::new(env!("CARGO_BIN_EXE_kdelta"));
    kdelta.args(["tree", &format!("deploy/{NAME}"), "-n", NAMESPACE, "--kubeconfig", server.kubeconfig()]);
    let mut peer = Command::new(lists);
    peer.args(["--kubeconfig", server.kubeconfig(), "-n", NAMESPACE, "deployments", NAME]);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    // The first run of each fills caches.
    for round in 0..=rounds {
        eprintln!("tree: round {round} of {rounds}");
        let times = [time(&mut kdelta, server)?, time(&mut peer, server)?];
        if round > 0 {
            own.push(times[0]);
            others.push(times[1]);
        }
    }
    let (own, others) = (median(own), median(others));
    println!("tree of {PODS} pods: kdelta {own:.3} s, all types as kubectl-tree lists them {others:.3} s");
    let faster =
        TargetResult::at_most("tree", "time against lists of all types".into(), own / others, TIME_BAR);
    let delay = delay_behind_curl(server, &owner)?;
    println!("tree -w: {:.1} ms behind curl's watch at p95 of {NEW_PODS} pods", delay * 1e3);
    let what = "50 ms behind curl's watch, p95".into();
    let live = TargetResult::at_most("tree -w", what, delay / DELAY_LIMIT, 1.0);
    Ok(vec![faster, live])
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the seconds of a run, which must print all pods.
fn time(command: &mut Command, server: &BenchServer) -> anyhow::Result<f64> {
    let start = Instant::now();
    let output = command.env("HOME", server.folder()).output()?;
    let elapsed = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let pods = text.lines().filter(|line| line.to_lowercase().contains(&format!("pod/{NAME}-"))).count();
    ensure!(pods == PODS, "{command:?} printed {pods} pods");
    Ok(elapsed)
}

/// Creates the deployment with its replica set and pods; returns the owner reference to the replica set.
fn create_deployment(server: &BenchServer) -> anyhow::Result<Value> {
    let apps = format!("/apis/apps/v1/namespaces/{NAMESPACE}");
    let deployment = post(server, &[(format!("{apps}/deployments"), workload(&Value::Null))])?;
    let owner = reference("Deployment", &deployment[0]);
    let set = post(server, &[(format!("{apps}/replicasets"), workload(&owner))])?;
    let owner = reference("ReplicaSet", &set[0]);
    let pods: Vec<_> = (0..PODS).map(|at| new_pod(&format!("{NAME}-{at}"), &owner)).collect();
    ensure!(post(server, &pods)?.len() == PODS, "not all pods were created");
    Ok(owner)
}

fn labels() -> Value {
    json!({"app": NAME})
}

fn workload(owner: &Value) -> Value {
    let owners = if owner.is_null() { json!([]) } else { json!([owner]) };
    json!({
        "metadata": {"name": NAME, "labels": labels(), "ownerReferences": owners},
        "spec": {
            "replicas": PODS, "selector": {"matchLabels": labels()},
            "template": {"metadata": {"labels": labels()}, "spec": {"containers": containers()}},
        },
    })
}

fn containers() -> Value {
    json!([{"name": "c", "image": "registry.example.com/tree:1"}])
}

fn reference(kind: &str, object: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "name": NAME, "uid": object["metadata"]["uid"], "controller": true,
    })
}

/// Returns the path and the body of a new pod.
fn new_pod(name: &str, owner: &Value) -> (String, Value) {
    let metadata = json!({"name": name, "labels": labels(), "ownerReferences": [owner]});
    let pod = json!({"metadata": metadata, "spec": {"containers": containers()}});
    (format!("/api/v1/namespaces/{NAMESPACE}/pods"), pod)
}

/// Creates objects with one curl, and returns them as the server does.
fn post(server: &BenchServer, objects: &[(String, Value)]) -> anyhow::Result<Vec<Value>> {
    let file = server.folder().join("post");
    let options = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
    let mut requests = options.open(&file)?;
    for (path, object) in objects {
        let body = serde_json::to_string(&object.to_string())?;
        writeln!(requests, "url = \"{}{path}\"\ndata = {body}", server.server())?;
        writeln!(requests, "header = \"Content-Type: application/json\"\nnext")?;
        server.write_curl_settings(&mut requests)?;
    }
    // The last block has settings only, and a URL that costs nothing.
    writeln!(requests, "url = \"{}/readyz\"\noutput = /dev/null", server.server())?;
    let mut curl = server.curl("application/json");
    let output = curl.arg("--config").arg(&file).output()?;
    ensure!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    Ok(values.collect::<Result<_, _>>()?)
}

/// Returns the seconds by which the tree shows new pods after curl does, at p95.
fn delay_behind_curl(server: &BenchServer, owner: &Value) -> anyhow::Result<f64> {
    let watch =
        format!("{}/api/v1/namespaces/{NAMESPACE}/pods?watch=1&labelSelector=app%3D{NAME}", server.server());
    let mut curl = server.curl("application/json");
    curl.args(["--http1.1", "--no-buffer", &watch]);
    let mut tree = Command::new(env!("CARGO_BIN_EXE_kdelta"));
    tree.args(["tree", &format!("deploy/{NAME}"), "-n", NAMESPACE, "-w", "-o", "json", "--kubeconfig"]);
    tree.arg(server.kubeconfig()).env("HOME", server.folder());
    let (mut curl, mut tree) = (Reading::start(&mut curl)?, Reading::start(&mut tree)?);
    let last = format!("{NAME}-{}\"", PODS - 1);
    curl.find(&last)?;
    tree.find(&last)?;
    let mut behind = Vec::new();
    for at in 0..NEW_PODS {
        let name = format!("{NAME}-new-{at:03}");
        post(server, &[new_pod(&name, owner)])?;
        let name = format!("{name}\"");
        let (first, second) = (curl.find(&name)?, tree.find(&name)?);
        behind.push(second.saturating_duration_since(first).as_secs_f64());
        thread::sleep(PAUSE);
    }
    behind.sort_by(f64::total_cmp);
    behind.get(NEW_PODS * 95 / 100).copied().context("a delay")
}

/// A process whose lines are read with their times. It is killed on drop.
struct Reading {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Reading {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let out = BufReader::new(child.stdout.take().context("a pipe")?);
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines })
    }

    /// Returns the time of the next line with this text.
    fn find(&mut self, text: &str) -> anyhow::Result<Instant> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (time, line) =
                self.lines.recv_timeout(left).with_context(|| format!("no line has {text}"))?;
            if line.contains(text) {
                return Ok(time);
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let _ended = (self.child.kill(), self.child.wait());
    }
}
