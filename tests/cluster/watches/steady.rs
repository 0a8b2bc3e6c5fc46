//! A steady stream of changes without faults: the printed deltas equal those of client-go's informer and `kubectl get
//! -w`, one to one and in the same order.

use serde_json::{Value, json};

use crate::cluster::replay::text;
use crate::cluster::{busy, kubectl};
use crate::support::{
    Api, Fault, FaultProxy, Kdelta, OnServer, PATIENCE, Running, TestEnv, Testbed, eventually, print_line,
    tool,
};

const RATE: &str = "300";
const SECONDS: &str = "8s";
const KINDS: [(&str, &str); 3] = [("ConfigMap", "configmaps"), ("Pod", "pods"), ("Secret", "secrets")];

/// Type, namespace, name and version.
type Delta = [String; 4];

fn delta(kind: &Value, names: &Value, metadata: &Value) -> Delta {
    let name = |field: &str| text(&names[field]);
    [text(kind), name("namespace"), name("name"), text(&metadata["resourceVersion"])]
}

fn create(api: &Api, resource: &str, name: &str) {
    let mut object = json!({"metadata": {"name": name}});
    if resource == "pods" {
        object["spec"] = json!({"containers": [{"name": "c", "image": "i"}]});
    }
    api.create(&format!("/api/v1/namespaces/default/{resource}"), &object);
}

/// Returns the deltas of a stream from the first marker to the second, and whether they are complete: kubectl ends
/// silently when the server drops its watch, and client-go relists when it can't resume and then reports final states
/// only. Both depend on the load of the machine.
fn deltas_of(running: &Running, read: impl Fn(&Value) -> Delta) -> (Vec<Delta>, bool) {
    let is = |delta: &Delta, name: &str| delta[0] == "ADDED" && delta[2] == name;
    let (mut all, mut whole) = (Vec::new(), false);
    while !whole && let Some(line) = running.stdout.within(PATIENCE) {
        let line: Value = serde_json::from_str(&line).expect("JSON");
        if line["type"] == "RELISTING" {
            break;
        }
        all.push(read(&line));
        whole = all.last().is_some_and(|delta| is(delta, "end"));
    }
    let begin = all.iter().position(|delta| is(delta, "begin")).expect("the beginning");
    (all.split_off(begin), whole)
}

/// Compares the other program's deltas with ours, as far as they are complete.
#[track_caller]
fn compare(who: &str, kind: &str, ours: &[Delta], theirs: &(Vec<Delta>, bool)) {
    let (theirs, whole) = theirs;
    if !whole {
        print_line(&format!(
            "COMPARED IN PART: {who} received {} of {} changes of {kind} and then ended or listed again",
            theirs.len(),
            ours.len()
        ));
    }
    let ours = if *whole { ours } else { &ours[..theirs.len().min(ours.len())] };
    assert_eq!(first_difference(ours, theirs), None, "{who} differs for {kind}");
}

/// Returns the first difference of two streams, with the following deltas of each.
fn first_difference(ours: &[Delta], theirs: &[Delta]) -> Option<String> {
    let at = ours.iter().zip(theirs).position(|(one, other)| one != other);
    let at = at.or((ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())))?;
    let some = |delta: &[Delta]| {
        format!("{} in all, {:?}", delta.len(), delta.iter().skip(at).take(5).collect::<Vec<_>>())
    };
    Some(format!("at {at}: {} but {}", some(ours), some(theirs)))
}

fn start_informer(kubeconfig: &str, resource: &str) -> Running {
    let mut informer = tool();
    informer.args(["informer", "--kubeconfig", kubeconfig, "--resource", resource, "--relists"]);
    let running = Kdelta::other(informer).start();
    running.stdout.json_until("the informer's sync", |line| line["type"] == "SYNCED");
    running
}

fn start_kubectl(testbed: &Testbed, resource: &str) -> Running {
    let arguments = ["get", resource, "-A", "-w", "--output-watch-events", "-o", "json"];
    let running = Kdelta::other(kubectl(testbed.kubeconfig(), &arguments)).start();
    running.stdout.json_until("kubectl's initial state", |line| line["type"] == "ADDED");
    running
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deltas_equal_those_of_client_go_and_kubectl_under_steady_churn() {
    let _turn = busy();
    let env = TestEnv::new();
    let testbed = env.own_server();
    let mut load = tool();
    load.args(["load", "--kubeconfig", testbed.kubeconfig(), "--namespaces", "20", "--pods", "100"]);
    assert!(load.output().expect("it runs").status.success(), "load");
    let api = Api::of(&testbed);
    for (_, resource) in KINDS {
        create(&api, resource, "first");
    }
    let ours = env.kdelta_on(&testbed, &["watch", "pods,cm,secrets", "-A", "-o", "json"]).start();
    let mut synced = 0;
    ours.stdout.json_until("all three are synced", |line| {
        synced += usize::from(line["type"] == "SYNCED");
        synced == KINDS.len()
    });
    let informers = KINDS.map(|(_, resource)| start_informer(testbed.kubeconfig(), resource));
    let kubectls = KINDS.map(|(_, resource)| start_kubectl(&testbed, resource));

    for (_, resource) in KINDS {
        create(&api, resource, "begin");
    }
    let mut churn = tool();
    churn.args(["churn", "--kubeconfig", testbed.kubeconfig(), "--kinds", "pods,configmaps,secrets"]);
    churn.args(["--rate", RATE, "--duration", SECONDS]);
    let report = churn.output().expect("it runs");
    assert!(report.status.success(), "{report:?}");
    for (_, resource) in KINDS {
        create(&api, resource, "end");
    }

    let mut ends = 0;
    let lines = ours.stdout.json_until("the end of all three", |line| {
        ends += usize::from(line["type"] == "ADDED" && line["name"] == "end");
        ends == KINDS.len()
    });
    assert!(lines.iter().all(|line| line["origin"] == "watch"), "nothing is lost without a fault");
    let by_event =
        |line: &Value| delta(&line["type"], &line["object"]["metadata"], &line["object"]["metadata"]);
    for (at, (kind, _)) in KINDS.iter().enumerate() {
        let ours: Vec<Delta> = lines.iter().filter(|line| line["kind"] == *kind).map(by_event).collect();
        assert!(ours.len() > 100, "{} changes of {kind}", ours.len());
        let theirs = deltas_of(&informers[at], |line| delta(&line["type"], line, line));
        compare("client-go", kind, &ours, &theirs);
        compare("kubectl", kind, &ours, &deltas_of(&kubectls[at], by_event));
    }
}

/// The comparison above relies on it.
#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn client_go_reports_its_relists() {
    let OnServer { env, testbed, namespace, .. } = TestEnv::on_server();
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let informer = start_informer(config.to_str().expect("UTF-8"), "configmaps");
    eventually("it watches", || (proxy.open_watches() == 1).then_some(()));
    proxy.inject(Fault::Error(410));
    informer.stdout.json_until("the list", |line| line["type"] == "RELISTING");
}
