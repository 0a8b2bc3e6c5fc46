//! A steady stream of changes and no fault: what is printed is one to one, and in the same order, what client-go's
//! informer and `kubectl get -w` tell of the same time.

use serde_json::{Value, json};

use super::replay::text;
use super::{busy, kubectl};
use crate::support::{Api, Kdelta, PATIENCE, Running, TestEnv, Testbed, tell, tool};

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

/// What a stream tells between the two markers, the second included.
fn between_markers(running: &Running, read: impl Fn(&Value) -> Told) -> Vec<Told> {
    let is = |told: &Told, name: &str| told[0] == "ADDED" && told[2] == name;
    let lines = running.stdout.json_until("the end", |line| is(&read(line), "end"));
    let told: Vec<Told> = lines.iter().map(read).collect();
    let begin = told.iter().position(|told| is(told, "begin")).expect("the beginning");
    told[begin..].to_vec()
}

/// The same of kubectl, as far as it goes: it ends without a word when the server drops its watch.
fn told_by_kubectl(running: &Running, read: impl Fn(&Value) -> Told) -> (Vec<Told>, bool) {
    let mut told = Vec::new();
    while let Some(line) = running.stdout.within(PATIENCE) {
        told.push(read(&serde_json::from_str(&line).expect("JSON")));
        if told.last().is_some_and(|told| told[0] == "ADDED" && told[2] == "end") {
            return (told, true);
        }
    }
    (told, false)
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

fn start_informer(testbed: &Testbed, resource: &str) -> Running {
    let mut informer = tool();
    informer.args(["informer", "--kubeconfig", testbed.kubeconfig(), "--resource", resource]);
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
    let informers = KINDS.map(|(_, resource)| start_informer(&testbed, resource));
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
        let theirs = between_markers(&informers[at], |line| told(&line["type"], line, line));
        assert_eq!(first_difference(&ours, &theirs), None, "client-go tells otherwise of {kind}");
        if let Some(kubectl) = &kubectls[at] {
            let (told, whole) = told_by_kubectl(kubectl, by_event);
            let begin = told.iter().position(|told| told[2] == "begin").expect("the beginning");
            let told = &told[begin..];
            if !whole {
                tell(&format!(
                    "COMPARED IN PART: kubectl ended by itself after {} of {} changes of {kind}",
                    told.len(),
                    ours.len()
                ));
            }
            let all = if whole { ours.len() } else { told.len() };
            assert_eq!(first_difference(&ours[..all], told), None, "kubectl tells otherwise of {kind}");
        }
    }
}
