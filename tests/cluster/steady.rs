//! A steady stream of changes and no fault: what is printed is one to one, and in the same order, what client-go's
//! informer and `kubectl get -w` tell of the same time.

use serde_json::{Value, json};

use super::replay::text;
use super::{busy, kubectl};
use crate::support::{
    Api, FaultProxy, Kdelta, OnServer, PATIENCE, Running, Strike, TestEnv, Testbed, eventually, tell, tool,
};

const RATE: &str = "300";
const SECONDS: &str = "8s";
const KINDS: [(&str, &str); 3] = [("ConfigMap", "configmaps"), ("Pod", "pods"), ("Secret", "secrets")];

/// Type, namespace, name and version.
type Told = [String; 4];

fn told(kind: &Value, names: &Value, metadata: &Value) -> Told {
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

/// What a stream tells from the first marker to the second, or as far as it goes: kubectl ends without a word when the
/// server drops its watch, and client-go lists anew where it can't go on, and then tells of the last states only. Both
/// depend on how busy the machine is.
fn told_by(running: &Running, read: impl Fn(&Value) -> Told) -> (Vec<Told>, bool) {
    let is = |told: &Told, name: &str| told[0] == "ADDED" && told[2] == name;
    let (mut all, mut whole) = (Vec::new(), false);
    while !whole && let Some(line) = running.stdout.within(PATIENCE) {
        let line: Value = serde_json::from_str(&line).expect("JSON");
        if line["type"] == "RELISTING" {
            break;
        }
        all.push(read(&line));
        whole = all.last().is_some_and(|told| is(told, "end"));
    }
    let begin = all.iter().position(|told| is(told, "begin")).expect("the beginning");
    (all.split_off(begin), whole)
}

/// Compares what another tells with ours, as far as it tells it.
#[track_caller]
fn compare(who: &str, kind: &str, ours: &[Told], theirs: &(Vec<Told>, bool)) {
    let (theirs, whole) = theirs;
    if !whole {
        tell(&format!(
            "COMPARED IN PART: {who} told {} of {} changes of {kind} and then ended or listed anew",
            theirs.len(),
            ours.len()
        ));
    }
    let ours = if *whole { ours } else { &ours[..theirs.len().min(ours.len())] };
    assert_eq!(first_difference(ours, theirs), None, "{who} tells otherwise of {kind}");
}

/// Where two streams part, with what follows there in each.
fn first_difference(ours: &[Told], theirs: &[Told]) -> Option<String> {
    let at = ours.iter().zip(theirs).position(|(one, other)| one != other);
    let at = at.or((ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())))?;
    let some = |told: &[Told]| {
        format!("{} in all, {:?}", told.len(), told.iter().skip(at).take(5).collect::<Vec<_>>())
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

fn start_kubectl(testbed: &Testbed, resource: &str) -> Option<Running> {
    let arguments = ["get", resource, "-A", "-w", "--output-watch-events", "-o", "json"];
    let running = Kdelta::other(kubectl(testbed.kubeconfig(), &arguments)?).start();
    running.stdout.json_until("kubectl's initial state", |line| line["type"] == "ADDED");
    Some(running)
}

#[test]
fn under_a_steady_churn_deltas_equal_those_of_client_go_and_kubectl() {
    let _turn = busy();
    let env = TestEnv::new();
    let Some(testbed) = env.own_server() else { return };
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
        |line: &Value| told(&line["type"], &line["object"]["metadata"], &line["object"]["metadata"]);
    for (at, (kind, _)) in KINDS.iter().enumerate() {
        let ours: Vec<Told> = lines.iter().filter(|line| line["kind"] == *kind).map(by_event).collect();
        assert!(ours.len() > 100, "{} changes of {kind}", ours.len());
        let theirs = told_by(&informers[at], |line| told(&line["type"], line, line));
        compare("client-go", kind, &ours, &theirs);
        if let Some(kubectl) = &kubectls[at] {
            compare("kubectl", kind, &ours, &told_by(kubectl, by_event));
        }
    }
}

/// Or what is compared above would be more than client-go promises.
#[test]
fn client_go_says_when_it_lists_anew() {
    let Some(OnServer { env, testbed, namespace, .. }) = TestEnv::on_server() else { return };
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let informer = start_informer(config.to_str().expect("UTF-8"), "configmaps");
    eventually("it watches", || (proxy.open_watches() == 1).then_some(()));
    proxy.strike(Strike::Error(410));
    informer.stdout.json_until("the list", |line| line["type"] == "RELISTING");
}
