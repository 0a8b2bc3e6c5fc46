//! Tests of waits with the objects of a cluster.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Moment, Quantifier, WaitCondition, WaitMachine, WaitRules, WaitState};
use crate::object::{Ingest, Object, TypeMeta};
use crate::query::KubectlCondition;

/// Returns a moment so many seconds after the start, which is at 2026-11-25T10:00:00Z.
pub(super) fn at(seconds: u64) -> Moment {
    let start: Timestamp = "2026-11-25T10:00:00Z".parse().expect("a time");
    let elapsed = Duration::from_secs(seconds);
    Moment { wall: start + elapsed, elapsed }
}

pub(super) fn object(json: &Value) -> Arc<Object> {
    let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
    Arc::new(Object::from_json(json.to_string().as_bytes(), &Ingest::of(type_meta)).expect("an object"))
}

fn conditions(texts: &[&str]) -> Vec<Arc<WaitCondition>> {
    texts.iter().map(|text| Arc::new(WaitCondition::parse(text).expect(text))).collect()
}

fn kubectl(text: &str) -> Arc<WaitCondition> {
    Arc::new(WaitCondition::kubectl(text, KubectlCondition::parse(text).expect(text)))
}

fn rules(texts: &[&str]) -> WaitRules {
    WaitRules { conditions: conditions(texts), ..WaitRules::default() }
}

/// Returns a machine with one synced collection.
fn machine(rules: WaitRules, initial: &[Value]) -> WaitMachine {
    let mut machine = WaitMachine::new(rules);
    machine.add_part(0, false);
    machine.set_parts_complete(true, true, at(0));
    for each in initial {
        machine.observe(0, &object(each), true, at(0));
    }
    machine.synced(0, at(0));
    machine
}

/// Returns a machine for one named object.
fn named(rules: WaitRules) -> WaitMachine {
    let mut machine = WaitMachine::new(rules);
    machine.add_part(0, true);
    machine.set_parts_complete(true, true, at(0));
    machine
}

fn pod(name: &str, status: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name}, "status": status})
}

fn ready_pod(name: &str) -> Value {
    pod(name, &json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}))
}

fn job(status: &Value) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "shop", "uid": "j"}, "status": status})
}

fn is_met(machine: &WaitMachine) -> bool {
    matches!(machine.state(), WaitState::Met(_))
}

fn failure(machine: &WaitMachine) -> Option<&str> {
    match machine.state() {
        WaitState::Failed(failure) => Some(&failure.reason),
        _ => None,
    }
}

fn reasons(machine: &WaitMachine, seconds: u64) -> Vec<String> {
    let text = |missing: super::MissingObject<'_>| match (missing.key, missing.reason) {
        (Some(key), Some(reason)) => format!("{key}: {}", reason.text(at(seconds).wall)),
        (Some(key), None) => format!("{key}: counts"),
        (None, _) => "absent".to_owned(),
    };
    machine.missing().map(text).collect()
}

#[test]
fn all_needs_every_object_at_the_same_moment() {
    let waiting = pod("b", &json!({"phase": "Pending"}));
    let mut machine = machine(rules(&["ready"]), &[ready_pod("a"), waiting]);
    assert_eq!(machine.progress(), (1, 2));
    machine.observe(0, &object(&pod("a", &json!({"phase": "Running"}))), false, at(1));
    machine.observe(0, &object(&ready_pod("b")), false, at(2));
    assert!(!is_met(&machine), "a is no longer ready");
    machine.observe(0, &object(&ready_pod("a")), false, at(3));
    let WaitState::Met(met) = machine.state() else { panic!("{:?}", machine.state()) };
    let by = met.by.as_ref().expect("an object");
    assert_eq!((&*by.key, met.met, met.total, met.at), ("shop/a", 2, 2, at(3)));
}

#[test]
fn empty_set_meets_none_and_gone_but_not_all() {
    assert!(!is_met(&machine(rules(&["ready"]), &[])));
    assert!(is_met(&machine(rules(&["gone"]), &[])));
    assert!(is_met(&machine(WaitRules { quantifier: Quantifier::None, ..rules(&["failed"]) }, &[])));
    let created = WaitRules { wait_for_create: true, ..rules(&["gone"]) };
    let mut machine = machine(created, &[]);
    assert!(!is_met(&machine));
    machine.observe(0, &object(&ready_pod("a")), false, at(1));
    assert!(!is_met(&machine));
    machine.delete(0, &object(&ready_pod("a")), at(2));
    assert!(is_met(&machine));
}

#[test]
fn recreated_object_counts_as_gone() {
    let mut machine = machine(rules(&["gone"]), &[ready_pod("a"), ready_pod("b")]);
    let mut again = ready_pod("a");
    again["metadata"]["uid"] = "a2".into();
    machine.delete(0, &object(&ready_pod("a")), at(1));
    machine.observe(0, &object(&again), false, at(1));
    assert!(!is_met(&machine));
    machine.delete(0, &object(&ready_pod("b")), at(2));
    assert!(is_met(&machine), "{:?}", machine.state());
}

#[test]
fn absent_name_is_not_yet_or_gone() {
    let mut machine = named(rules(&["ready"]));
    machine.synced(0, at(0));
    assert_eq!((machine.progress(), reasons(&machine, 0)), ((0, 1), vec!["absent".to_owned()]));
    machine.observe(0, &object(&ready_pod("a")), false, at(1));
    assert!(is_met(&machine));
    let mut gone = named(rules(&["gone"]));
    assert!(!is_met(&gone));
    gone.synced(0, at(0));
    assert!(is_met(&gone));
}

#[test]
fn short_state_counts_with_was() {
    let finished = pod("a", &json!({"phase": "Succeeded"}));
    for was in [false, true] {
        let mut machine = named(WaitRules { was, ..rules(&["ready"]) });
        machine.synced(0, at(0));
        machine.observe(0, &object(&pod("a", &json!({"phase": "Pending"}))), false, at(1));
        machine.observe(0, &object(&ready_pod("a")), false, at(2));
        machine.observe(0, &object(&finished), false, at(2));
        assert!(is_met(&machine), "met at the state itself");
    }
    let other = |status| pod("b", status);
    let mut machine =
        machine(WaitRules { was: true, ..rules(&["ready"]) }, &[pod("a", &json!({})), other(&json!({}))]);
    machine.observe(0, &object(&ready_pod("a")), false, at(1));
    machine.observe(0, &object(&finished), false, at(1));
    machine.delete(0, &object(&finished), at(2));
    assert!(!is_met(&machine) && failure(&machine).is_none());
    machine.observe(0, &object(&ready_pod("b")), false, at(3));
    assert!(is_met(&machine));
}

#[test]
fn stable_needs_the_whole_interval() {
    let rules = WaitRules { stable: Duration::from_secs(30), ..rules(&["ready"]) };
    let mut machine = machine(rules, &[ready_pod("a")]);
    assert_eq!(machine.next_check(), Some(Duration::from_secs(30)));
    machine.observe(0, &object(&pod("a", &json!({}))), false, at(20));
    assert_eq!(machine.next_check(), None);
    machine.observe(0, &object(&ready_pod("a")), false, at(25));
    machine.gap(at(40));
    machine.advance(at(55));
    assert!(!is_met(&machine), "states may have been missed until 40");
    machine.advance(at(70));
    assert!(is_met(&machine));
}

#[test]
fn finished_pod_never_gets_ready() {
    for (owner, expected) in [
        (Value::Null, Some("the pod has failed (Evicted) and is not started again")),
        (
            json!({"apiVersion": "batch/v1", "kind": "Job", "controller": true}),
            Some("the pod has failed (Evicted) and is not started again"),
        ),
        (json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": true}), None),
        (json!({"apiVersion": "example.com/v1", "kind": "Cluster", "controller": true}), None),
    ] {
        let mut evicted = pod("a", &json!({"phase": "Failed", "reason": "Evicted"}));
        if !owner.is_null() {
            evicted["metadata"]["ownerReferences"] = json!([owner]);
        }
        for text in ["ready", "ready && object.metadata.name == 'a'"] {
            assert_eq!(
                failure(&machine(rules(&[text]), std::slice::from_ref(&evicted))),
                expected,
                "{owner} {text}"
            );
        }
        let with = |rules| machine(rules, std::slice::from_ref(&evicted));
        assert_eq!(failure(&with(rules(&["ready || failed"]))), None);
        assert_eq!(failure(&with(rules(&["ready || object.metadata.name == 'b'"]))), None);
        assert_eq!(failure(&with(WaitRules { quantifier: Quantifier::Any, ..rules(&["ready"]) })), None);
        evicted["metadata"]["deletionTimestamp"] = "2026-11-25T10:00:00Z".into();
        assert_eq!(failure(&machine(rules(&["ready"]), &[evicted])), None, "it is about to leave the set");
    }
}

#[test]
fn finished_job_decides() {
    let failed =
        job(&json!({"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}));
    let complete = job(&json!({"conditions": [{"type": "Complete", "status": "True"}]}));
    let reason = Some("the Job has failed (BackoffLimitExceeded)");
    for text in ["complete", "ready", "current"] {
        assert_eq!(failure(&machine(rules(&[text]), std::slice::from_ref(&failed))), reason, "{text}");
        assert!(is_met(&machine(rules(&[text]), std::slice::from_ref(&complete))), "{text}");
    }
    assert!(is_met(&machine(rules(&["complete || failed"]), std::slice::from_ref(&failed))));
    assert_eq!(
        failure(&machine(rules(&["failed"]), std::slice::from_ref(&complete))),
        Some("the Job is complete")
    );
    let status = |kind| vec![kubectl(&format!("condition={kind}"))];
    let of_status = |kind| WaitRules { conditions: status(kind), ..WaitRules::default() };
    assert_eq!(failure(&machine(of_status("complete"), std::slice::from_ref(&failed))), reason);
    assert!(is_met(&machine(of_status("FAILED"), &[failed])));
    assert_eq!(failure(&machine(of_status("Failed"), &[complete])), Some("the Job is complete"));
}

#[test]
fn all_names_doomed_ends_any() {
    let any = |fail_fast| WaitRules { quantifier: Quantifier::AtLeast(2), fail_fast, ..rules(&["ready"]) };
    let mut machine = WaitMachine::new(any(false));
    for part in 0..3 {
        machine.add_part(part, true);
        machine.synced(part, at(0));
    }
    machine.set_parts_complete(true, true, at(0));
    let finished = |name| object(&pod(name, &json!({"phase": "Succeeded"})));
    machine.observe(0, &finished("a"), true, at(0));
    assert_eq!(failure(&machine), None, "two may get ready");
    machine.observe(1, &finished("b"), true, at(0));
    assert!(failure(&machine).is_some());
}

#[test]
fn fail_fast_ends_at_states_that_rarely_pass() {
    let waiting = |reason: &str| {
        let state = json!([{"name": "app", "state": {"waiting": {"reason": reason}}}]);
        pod("a", &json!({"phase": "Pending", "containerStatuses": state}))
    };
    let fast = || WaitRules { fail_fast: true, ..rules(&["ready"]) };
    for reason in ["ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff"] {
        let expected = format!("container app waits: {reason}");
        assert_eq!(failure(&machine(fast(), &[waiting(reason)])), Some(expected.as_str()));
        assert_eq!(failure(&machine(rules(&["ready"]), &[waiting(reason)])), None);
    }
    assert_eq!(failure(&machine(fast(), &[waiting("ContainerCreating")])), None);
    let exceeded = json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "web", "generation": 1},
        "spec": {"progressDeadlineSeconds": 10}, "status": {"observedGeneration": 1, "conditions": exceeded}});
    assert_eq!(failure(&machine(fast(), &[deployment])), Some("ProgressDeadlineExceeded"));
}

#[test]
fn fail_on_ends_at_once() {
    let with = || WaitRules { fail_on: conditions(&["failed", "gone"]), ..rules(&["ready"]) };
    let failed = pod("a", &json!({"phase": "Failed"}));
    assert_eq!(failure(&machine(with(), &[failed])), Some("failed is true"));
    let mut gone = machine(with(), &[pod("a", &json!({}))]);
    gone.delete(0, &object(&pod("a", &json!({}))), at(1));
    assert_eq!(failure(&gone), Some("gone is true"));
}

#[test]
fn quantifiers_count() {
    let pods = [ready_pod("a"), ready_pod("b"), pod("c", &json!({}))];
    for (quantifier, expected) in [
        (Quantifier::All, false),
        (Quantifier::Any, true),
        (Quantifier::None, false),
        (Quantifier::AtLeast(2), true),
        (Quantifier::AtLeast(3), false),
        (Quantifier::AtMost(2), true),
        (Quantifier::AtMost(1), false),
    ] {
        let machine = machine(WaitRules { quantifier, ..rules(&["ready"]) }, &pods);
        assert_eq!(is_met(&machine), expected, "{quantifier:?}");
    }
    let mut none = machine(WaitRules { quantifier: Quantifier::None, ..rules(&["ready"]) }, &pods[1..]);
    assert_eq!(reasons(&none, 0), ["shop/b: counts"]);
    none.delete(0, &object(&pods[1]), at(1));
    assert!(is_met(&none));
}

#[test]
fn new_custom_resource_gets_time_for_a_status() {
    let created = |time: &str, status: &Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": status,
            "metadata": {"name": "w", "uid": "w", "creationTimestamp": time}})
    };
    let new = created("2026-11-25T09:59:57Z", &json!({}));
    let mut machine = machine(rules(&["current"]), std::slice::from_ref(&new));
    assert_eq!(machine.next_check(), Some(Duration::from_secs(7)));
    assert_eq!(reasons(&machine, 0), ["w: no status yet"]);
    machine.advance(at(6));
    assert!(!is_met(&machine));
    machine.advance(at(7));
    assert!(is_met(&machine));

    let old = created("2026-11-24T09:59:57Z", &json!({}));
    assert!(is_met(&self::machine(rules(&["current"]), std::slice::from_ref(&old))));
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let ready = created("2026-11-25T09:59:57Z", &ready);
    assert!(is_met(&self::machine(rules(&["current"]), &[ready])));
    let mut later = self::machine(rules(&["ready"]), &[]);
    later.observe(0, &object(&old), false, at(3));
    assert_eq!(later.next_check(), Some(Duration::from_secs(13)), "its clock may be wrong");
}

#[test]
fn expressions_of_the_time_are_evaluated_again() {
    let text = "now - timestamp(object.metadata.creationTimestamp) > duration('5s')";
    let mut created = ready_pod("a");
    created["metadata"]["creationTimestamp"] = "2026-11-25T09:59:58Z".into();
    let mut machine = machine(rules(&[text]), &[created]);
    let mut checks = 0;
    while let Some(next) = machine.next_check() {
        machine.advance(Moment { wall: at(0).wall + next, elapsed: next });
        checks += 1;
    }
    // At the moment of equality, and right after it.
    assert!(is_met(&machine) && checks == 2, "{checks}");
}

#[test]
fn reasons_name_the_state() {
    let conditions = json!([
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "lastTransitionTime": "2026-11-25T09:58:00Z"},
    ]);
    let waiting = json!([{"name": "app", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]);
    let pulling =
        pod("a", &json!({"phase": "Pending", "conditions": conditions, "containerStatuses": waiting}));
    let machine_of = |text: &str, object: Value| machine(rules(&[text]), &[object]);
    let reason = |text: &str, object: &Value| reasons(&machine_of(text, object.clone()), 0).remove(0);
    assert_eq!(reason("ready", &pulling), "shop/a: ContainersNotReady (ImagePullBackOff 2m)");
    assert_eq!(
        reason("object.status.phase == 'Running'", &pulling),
        "shop/a: ContainersNotReady (ImagePullBackOff 2m)"
    );
    assert_eq!(
        reason("object.metadata.labels.x == 'y'", &pulling),
        "shop/a: object.metadata.labels.x == 'y' has no result: no field metadata.labels"
    );
    assert_eq!(
        reason("object.status.phase == 'x'", &ready_pod("a")),
        "shop/a: object.status.phase == 'x' is false"
    );
    assert_eq!(reason("ready", &pod("a", &json!({"phase": "Pending"}))), "shop/a: Pending");
    assert_eq!(reason("gone", &ready_pod("a")), "shop/a: exists");
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "web", "generation": 1},
        "spec": {"replicas": 3}, "status": {"observedGeneration": 1, "replicas": 1}});
    assert_eq!(reason("ready", &deployment), "shop/web: Replicas: 1/3");
}

#[test]
fn met_branch_is_named() {
    let machine = machine(rules(&["complete || (failed && object.kind == 'Pod')"]), &[]);
    let mut machine = machine;
    machine.observe(0, &object(&pod("a", &json!({"phase": "Failed"}))), false, at(1));
    let WaitState::Met(met) = machine.state() else { panic!("{:?}", machine.state()) };
    assert_eq!(met.branches, [Some("failed && object.kind == 'Pod'".to_owned())]);
}

#[test]
fn object_of_an_initial_state_that_holds_decides() {
    let failed = |name: &str| pod(name, &json!({"phase": "Failed"}));
    let machine = machine(rules(&["ready || failed"]), &[ready_pod("a"), failed("b")]);
    let WaitState::Met(met) = machine.state() else { panic!("{:?}", machine.state()) };
    assert_eq!(met.branches, [Some("failed".to_owned())]);
    assert_eq!(met.by.as_ref().map(|by| by.uid.to_string()), Some("b".to_owned()));
}

#[test]
fn object_that_counts_no_more_does_not_decide() {
    let mut machine = WaitMachine::new(WaitRules { stable: Duration::from_secs(9), ..rules(&["ready"]) });
    machine.add_part(0, false);
    machine.observe(0, &object(&ready_pod("a")), true, at(0));
    machine.observe(0, &object(&ready_pod("b")), true, at(0));
    machine.delete(0, &object(&ready_pod("b")), at(0));
    machine.set_parts_complete(true, true, at(1));
    machine.synced(0, at(1));
    machine.advance(at(10));
    let WaitState::Met(met) = machine.state() else { panic!("{:?}", machine.state()) };
    assert_eq!(met.by, None);
}

#[test]
fn outdated_condition_does_not_count() {
    let widget = |observed: i64| {
        let conditions = json!([{"type": "Synced", "status": "Yes", "observedGeneration": observed}]);
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "status": {"conditions": conditions},
            "metadata": {"name": "w", "uid": "w", "generation": 2}})
    };
    let of_status =
        || WaitRules { conditions: vec![kubectl("condition=synced=yes")], ..WaitRules::default() };
    assert!(!is_met(&machine(of_status(), &[widget(1)])));
    assert!(is_met(&machine(of_status(), &[widget(2)])));
}

#[test]
fn metadata_suffices_for_some_conditions() {
    for (text, expected) in [
        ("gone", true),
        ("exists && object.metadata.labels['a'] == 'b'", true),
        ("ready", false),
        ("object.spec.x", false),
        ("object == object", false),
    ] {
        assert_eq!(rules(&[text]).reads_only_metadata(), expected, "{text}");
    }
    assert!(!WaitRules { fail_fast: true, ..rules(&["gone"]) }.reads_only_metadata());
}

#[test]
fn conditions_of_kubectl_are_accepted() {
    let with = |text: &str| WaitRules { conditions: vec![kubectl(text)], ..WaitRules::default() };
    let pods = [ready_pod("a")];
    for (text, expected) in [
        ("create", true),
        ("delete", false),
        ("condition=ready", true),
        ("jsonpath={.status.phase}=Running", true),
        ("jsonpath={.status.phase}=Pending", false),
        ("jsonpath={.status.conditions}=x", false),
    ] {
        assert_eq!(is_met(&machine(with(text), &pods)), expected, "{text}");
    }
    assert_eq!(
        reasons(&machine(with("jsonpath={.status.conditions}=x"), &pods), 0),
        [
            "shop/a: jsonpath={.status.conditions}=x has no result: jsonpath leads to a nested object or list which is not supported"
        ]
    );
    assert!(is_met(&machine(with("delete"), &[])));
}
