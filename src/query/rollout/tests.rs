//! Tests of the rules, with the cases of kubectl's.

use super::{RolloutKind, RolloutStatus};
use crate::object::JsonValue;

/// A message, and whether the rollout is complete; `None` for an error.
type Outcome = (String, Option<bool>);

fn status(kind: RolloutKind, object: &str, revision: i64) -> Outcome {
    match RolloutStatus::of(kind, &JsonValue::parse(object.as_bytes()), revision) {
        Ok(status) => (status.message, Some(status.is_done)),
        Err(error) => failed(&error.to_string()),
    }
}

fn pending(message: &str) -> Outcome {
    (message.to_owned(), Some(false))
}

fn done(message: &str) -> Outcome {
    (message.to_owned(), Some(true))
}

fn failed(message: &str) -> Outcome {
    (message.to_owned(), None)
}

#[test]
fn only_three_types_have_rollouts() {
    for (group, kind, expected) in [
        ("apps", "Deployment", Some(RolloutKind::Deployment)),
        ("extensions", "Deployment", Some(RolloutKind::Deployment)),
        ("extensions", "DaemonSet", Some(RolloutKind::DaemonSet)),
        ("apps", "StatefulSet", Some(RolloutKind::StatefulSet)),
        ("extensions", "StatefulSet", None),
        ("apps", "ReplicaSet", None),
        ("", "Pod", None),
    ] {
        assert_eq!(RolloutKind::of(group, kind), expected, "{group} {kind}");
    }
}

fn deployment(generation: i64, wanted: &str, status: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"foo","generation":{generation},"annotations":{{"deployment.kubernetes.io/revision":"2"}}}},"spec":{{{wanted}}},"status":{{"observedGeneration":1,{status}}}}}"#
    )
}

#[test]
fn deployment_goes_through_its_stages() {
    let numbers = |replicas: u32, updated: u32, available: u32| {
        format!(
            r#""replicas":{replicas},"updatedReplicas":{updated},"availableReplicas":{available},"unavailableReplicas":0"#
        )
    };
    let wanted = r#""replicas":2"#;
    for (object, expected) in [
        (
            deployment(0, r#""replicas":1"#, &numbers(1, 0, 1)),
            pending(
                r#"Waiting for deployment "foo" rollout to finish: 0 out of 1 new replicas have been updated..."#,
            ),
        ),
        (
            deployment(1, r#""replicas":1"#, &numbers(2, 1, 2)),
            pending(
                r#"Waiting for deployment "foo" rollout to finish: 1 old replicas are pending termination..."#,
            ),
        ),
        (
            deployment(1, wanted, &numbers(2, 2, 1)),
            pending(
                r#"Waiting for deployment "foo" rollout to finish: 1 of 2 updated replicas are available..."#,
            ),
        ),
        (deployment(1, wanted, &numbers(2, 2, 2)), done(r#"deployment "foo" successfully rolled out"#)),
        (deployment(1, "", &numbers(0, 0, 0)), done(r#"deployment "foo" successfully rolled out"#)),
        (
            deployment(2, wanted, &numbers(2, 2, 2)),
            pending("Waiting for deployment spec update to be observed..."),
        ),
        (
            deployment(
                1,
                wanted,
                r#""conditions":[{"type":"Available"},{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]"#,
            ),
            failed(r#"deployment "foo" exceeded its progress deadline"#),
        ),
    ] {
        assert_eq!(status(RolloutKind::Deployment, &object, 0), expected, "{object}");
    }
}

#[test]
fn deployment_has_the_desired_revision() {
    let object = deployment(1, "", r#""replicas":0"#);
    assert_eq!(
        status(RolloutKind::Deployment, &object, 2),
        done(r#"deployment "foo" successfully rolled out"#)
    );
    assert_eq!(
        status(RolloutKind::Deployment, &object, 3),
        failed("desired revision (3) is different from the running revision (2)")
    );
    let none = r#"{"metadata":{"name":"foo"}}"#;
    assert_eq!(
        status(RolloutKind::Deployment, none, 1),
        failed("desired revision (1) is different from the running revision (0)")
    );
    let malformed = object.replace(r#":"2""#, r#":"x""#);
    assert_eq!(
        status(RolloutKind::Deployment, &malformed, 1),
        failed(
            r#"cannot get the revision of deployment "foo": strconv.ParseInt: parsing "x": invalid syntax"#
        )
    );
}

#[test]
fn daemon_set_goes_through_its_stages() {
    let object = |generation: u32, updated: u32, available: u32| {
        format!(
            r#"{{"metadata":{{"name":"foo","generation":{generation}}},"spec":{{"updateStrategy":{{"type":"RollingUpdate"}}}},"status":{{"observedGeneration":1,"updatedNumberScheduled":{updated},"desiredNumberScheduled":2,"numberAvailable":{available}}}}}"#
        )
    };
    for (object, expected) in [
        (
            object(0, 0, 2),
            pending(
                r#"Waiting for daemon set "foo" rollout to finish: 0 out of 2 new pods have been updated..."#,
            ),
        ),
        (
            object(1, 2, 1),
            pending(
                r#"Waiting for daemon set "foo" rollout to finish: 1 of 2 updated pods are available..."#,
            ),
        ),
        (object(1, 2, 2), done(r#"daemon set "foo" successfully rolled out"#)),
        (object(2, 2, 2), pending("Waiting for daemon set spec update to be observed...")),
        (
            object(1, 2, 2).replace("RollingUpdate", "OnDelete"),
            failed("rollout status is only available for RollingUpdate strategy type"),
        ),
    ] {
        assert_eq!(status(RolloutKind::DaemonSet, &object, 0), expected, "{object}");
    }
}

#[test]
fn stateful_set_goes_through_its_stages() {
    let object = |strategy: &str, status: &str| {
        format!(
            r#"{{"metadata":{{"name":"foo","generation":1}},"spec":{{"replicas":3,"updateStrategy":{{"type":{strategy}}}}},"status":{{{status}}}}}"#
        )
    };
    let rolling = r#""RollingUpdate""#;
    let partition =
        |partition: u32| format!(r#""RollingUpdate","rollingUpdate":{{"partition":{partition}}}"#);
    let ready = |more: &str| format!(r#""observedGeneration":1,"readyReplicas":3,{more}"#);
    let revisions = |current: &str| {
        ready(&format!(
            r#""updatedReplicas":1,"currentReplicas":2,"currentRevision":"{current}","updateRevision":"b""#
        ))
    };
    for (object, expected) in [
        (
            object(r#""OnDelete""#, ""),
            failed("rollout status is only available for RollingUpdate strategy type"),
        ),
        (object(rolling, ""), pending("Waiting for statefulset spec update to be observed...")),
        (
            object(rolling, r#""observedGeneration":1,"readyReplicas":1"#),
            pending("Waiting for 2 pods to be ready..."),
        ),
        (
            object(&partition(1), &ready(r#""updatedReplicas":1"#)),
            pending("Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated..."),
        ),
        (
            object(&partition(2), &ready(r#""updatedReplicas":1"#)),
            done("partitioned roll out complete: 1 new pods have been updated..."),
        ),
        (
            object(rolling, &revisions("a")),
            pending("waiting for statefulset rolling update to complete 1 pods at revision b..."),
        ),
        (
            object(rolling, &revisions("b")),
            done("statefulset rolling update complete 2 pods at revision b..."),
        ),
    ] {
        assert_eq!(status(RolloutKind::StatefulSet, &object, 0), expected, "{object}");
    }
}
