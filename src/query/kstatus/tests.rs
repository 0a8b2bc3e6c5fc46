//! kstatus' own cases for each kind, and the limits of the parser.

use super::*;

const NOW: &str = "2026-11-25T05:00:00Z";

fn computed(json: &str) -> Result<ComputedStatus, StatusError> {
    ComputedStatus::of(json.as_bytes(), NOW.parse().expect("a time"))
}

/// Returns an object of generation 1 with further members.
fn object(api_version: &str, kind: &str, members: &str) -> String {
    let separator = if members.is_empty() { "" } else { "," };
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"test","generation":1}}{separator}{members}}}"#
    )
}

/// Asserts the statuses of objects of one kind. An object that is in progress or has failed has a condition with the given
/// reason, any other has none.
fn assert_cases(api_version: &str, kind: &str, cases: &[(&str, &str, &str)]) {
    for (members, status, reason) in cases {
        let found = computed(&object(api_version, kind, members)).expect("a status");
        assert_eq!(found.status.as_str(), *status, "{kind} {members}");
        let condition_type = match *status {
            "InProgress" => Some("Reconciling"),
            "Failed" => Some("Stalled"),
            _ => None,
        };
        let condition = found.condition.as_ref();
        assert_eq!(condition.map(|found| found.condition_type.as_str()), condition_type, "{kind} {members}");
        assert_eq!(condition.map_or("", |found| &found.reason), *reason, "{kind} {members}");
    }
}

#[test]
fn pods() {
    let completed = r#"[{"type":"Ready","status":"False","reason":"PodCompleted"}]"#;
    let unscheduled = r#"[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]"#;
    let looping = r#"[{"name":"nginx","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]"#;
    let status = |phase: &str, more: &str| format!(r#""status":{{"phase":"{phase}"{more}}}"#);
    assert_cases(
        "v1",
        "Pod",
        &[
            ("", "InProgress", "PodNotObserved"),
            (&status("Running", r#","conditions":[{"type":"Ready","status":"True"}]"#), "Current", ""),
            (&status("Succeeded", &format!(r#","conditions":{completed}"#)), "Current", ""),
            (&status("Failed", &format!(r#","conditions":{completed}"#)), "Current", ""),
            (&status("Pending", &format!(r#","conditions":{unscheduled}"#)), "Failed", "PodUnschedulable"),
            (
                &status("Running", &format!(r#","conditions":{unscheduled},"containerStatuses":{looping}"#)),
                "Failed",
                "ContainerCrashLooping",
            ),
            (&status("Pending", ""), "InProgress", "PodPending"),
            (&status("Running", ""), "InProgress", "PodRunningNotReady"),
            (
                &status(
                    "Running",
                    r#","containerStatuses":[7,{"name":"x"},{"name":"y","state":{"running":{}}}]"#,
                ),
                "InProgress",
                "PodRunningNotReady",
            ),
        ],
    );
    assert_eq!(
        computed(&object("v1", "Pod", &status("Odd", ""))),
        Err(StatusError::UnknownPhase("Odd".into()))
    );
}

#[test]
fn pods_have_time_to_be_scheduled() {
    let of = |created: &str| {
        let pod = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"creationTimestamp":"{created}"}},"status":{{"phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable"}}]}}}}"#
        );
        computed(&pod).expect("a status").status
    };
    assert_eq!(of(NOW), ObjectStatus::InProgress);
    assert_eq!(of("2026-11-25T04:59:46Z"), ObjectStatus::InProgress);
    assert_eq!(of("2026-11-25T04:59:45Z"), ObjectStatus::Failed);
    assert_eq!(of("yesterday"), ObjectStatus::Failed);
}

#[test]
fn claims() {
    assert_cases(
        "v1",
        "PersistentVolumeClaim",
        &[("", "InProgress", "NotBound"), (r#""status":{"phase":"Bound"}"#, "Current", "")],
    );
}

#[test]
fn stateful_sets() {
    let status =
        |numbers: &str| format!(r#""spec":{{"replicas":4}},"status":{{"observedGeneration":1,{numbers}}}"#);
    assert_cases(
        "apps/v1",
        "StatefulSet",
        &[
            ("", "InProgress", "LessReplicas"),
            (r#""status":{"observedGeneration":1,"currentReplicas":1}"#, "InProgress", "LessReplicas"),
            (&status(r#""currentReplicas":4,"readyReplicas":4,"replicas":4"#), "Current", ""),
            (&status(r#""currentReplicas":4,"readyReplicas":2,"replicas":4"#), "InProgress", "LessReady"),
            (&status(r#""currentReplicas":2,"readyReplicas":4,"replicas":4"#), "InProgress", "LessCurrent"),
            (&status(r#""currentReplicas":4,"readyReplicas":4,"replicas":8"#), "InProgress", "ExtraPods"),
            (
                &status(
                    r#""currentReplicas":4,"readyReplicas":4,"replicas":4,"currentRevision":"a","updateRevision":"b""#,
                ),
                "InProgress",
                "RevisionMismatch",
            ),
        ],
    );
    let partitioned = |updated: u32| {
        format!(
            r#""spec":{{"replicas":4,"updateStrategy":{{"type":"RollingUpdate","rollingUpdate":{{"partition":3}}}}}},"status":{{"replicas":4,"readyReplicas":4,"updatedReplicas":{updated}}}"#
        )
    };
    assert_cases(
        "apps/v1",
        "StatefulSet",
        &[
            (&partitioned(0), "InProgress", "PartitionRollout"),
            (&partitioned(1), "Current", ""),
            (r#""spec":{"replicas":4,"updateStrategy":{"type":"OnDelete"}}"#, "Current", ""),
        ],
    );
}

#[test]
fn daemon_sets() {
    let status = |available: u32, ready: u32| {
        format!(
            r#""status":{{"observedGeneration":1,"desiredNumberScheduled":4,"currentNumberScheduled":4,"updatedNumberScheduled":4,"numberAvailable":{available},"numberReady":{ready}}}"#
        )
    };
    assert_cases(
        "apps/v1",
        "DaemonSet",
        &[
            ("", "InProgress", "NoObservedGeneration"),
            (r#""status":{"observedGeneration":1,"currentReplicas":1}"#, "InProgress", "NoDesiredNumber"),
            (&status(4, 4), "Current", ""),
            (&status(4, 2), "InProgress", "LessReady"),
            (&status(2, 4), "InProgress", "LessAvailable"),
            (&status(4, 4).replace(":1,", ":3,"), "InProgress", "LatestGenerationNotObserved"),
        ],
    );
    let unborn = r#"{"apiVersion":"apps/v1","kind":"DaemonSet","status":{"observedGeneration":1}}"#;
    assert_eq!(computed(unborn).expect("a status").message, "DaemonSet metadata.generation not found");
}

#[test]
fn deployments() {
    let status = |spec: &str, conditions: &str| {
        format!(
            r#""spec":{{{spec}}},"status":{{"observedGeneration":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"replicas":1,"conditions":[{conditions}]}}"#
        )
    };
    let complete = r#"{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}"#;
    let stopped = r#"{"type":"Progressing","status":"False","reason":"Some reason"}"#;
    let exceeded = r#"{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}"#;
    let available = r#"{"type":"Available","status":"True"}"#;
    let unavailable = r#"{"type":"Available","status":"False"}"#;
    let deadline = r#""progressDeadlineSeconds":45"#;
    assert_cases(
        "apps/v1",
        "Deployment",
        &[
            ("", "InProgress", "LessReplicas"),
            (&status("", &format!("{complete},{available}")), "Current", ""),
            (&status(deadline, &format!("{complete},{available}")), "Current", ""),
            (&status(deadline, &format!("{stopped},{available}")), "InProgress", "ReplicaSetNotAvailable"),
            (&status("", available), "Current", ""),
            (&status("", &format!("{complete},{unavailable}")), "InProgress", "DeploymentNotAvailable"),
            (&status(deadline, &format!("{available},{exceeded}")), "Failed", "ProgressDeadlineExceeded"),
            (&status(r#""replicas":0"#, available), "InProgress", "ExtraPods"),
        ],
    );
}

#[test]
fn replica_sets() {
    let status = |replicas: u32, [labelled, available, ready]: [u32; 3], failure: &str| {
        format!(
            r#""spec":{{"replicas":{replicas}}},"status":{{"observedGeneration":1,"replicas":{replicas},"readyReplicas":{ready},"availableReplicas":{available},"fullyLabeledReplicas":{labelled},"conditions":[{failure}]}}"#
        )
    };
    let failure = |status: &str| format!(r#"{{"type":"ReplicaFailure","status":"{status}"}}"#);
    assert_cases(
        "apps/v1",
        "ReplicaSet",
        &[
            ("", "InProgress", "LessLabelled"),
            (&status(2, [2, 2, 2], &failure("False")), "Current", ""),
            (&status(2, [2, 2, 2], ""), "Current", ""),
            (&status(4, [4, 2, 4], ""), "InProgress", "LessAvailable"),
            (&status(4, [4, 4, 2], ""), "InProgress", "LessReady"),
            (&status(4, [4, 4, 4], &failure("True")), "InProgress", "ReplicaFailure"),
        ],
    );
}

#[test]
fn disruption_budgets() {
    assert_cases(
        "policy/v1beta1",
        "PodDisruptionBudget",
        &[
            (r#""status":{"observedGeneration":0}"#, "InProgress", "LatestGenerationNotObserved"),
            (r#""status":{"observedGeneration":1}"#, "Current", ""),
        ],
    );
}

#[test]
fn custom_resources() {
    let ready = |status: &str, reason: &str| {
        format!(r#""status":{{"conditions":[{{"type":"Ready","status":"{status}","reason":"{reason}"}}]}}"#)
    };
    let standard = |kind: &str, status: &str| {
        format!(r#""status":{{"conditions":[{{"type":"{kind}","status":"{status}","reason":"Why"}}]}}"#)
    };
    assert_cases(
        "something/v1",
        "MyCR",
        &[
            ("", "Current", ""),
            (&ready("True", "AllOk"), "Current", ""),
            (&ready("False", "NotReadyYet"), "InProgress", "NotReadyYet"),
            (&ready("Unknown", "NotYet"), "InProgress", "NotYet"),
            (&ready("Odd", "NotYet"), "Current", ""),
            (r#""status":{"conditions":[{"type":"SomeCondition","status":"False"}]}"#, "Current", ""),
            (r#""status":{"observedGeneration":2}"#, "InProgress", "LatestGenerationNotObserved"),
            (&standard("Reconciling", "True"), "InProgress", "Why"),
            (&standard("Reconciling", "False"), "Current", ""),
            (&standard("Stalled", "True"), "Failed", "Why"),
        ],
    );
}

#[test]
fn jobs() {
    assert_cases(
        "batch/v1",
        "Job",
        &[
            ("", "InProgress", "JobNotStarted"),
            (
                r#""status":{"succeeded":1,"active":0,"conditions":[{"type":"Complete","status":"True"}]}"#,
                "Current",
                "",
            ),
            (
                r#""spec":{"completions":4},"status":{"succeeded":3,"failed":1,"conditions":[{"type":"Failed","status":"True","reason":"JobFailed"}]}"#,
                "Failed",
                "JobFailed",
            ),
            (
                r#""spec":{"completions":10,"parallelism":2},"status":{"startTime":"2019-06-04T01:17:13Z","succeeded":3,"failed":1,"active":2,"conditions":[{"type":"Failed","status":"False"},{"type":"Complete","status":"False"}]}"#,
                "Current",
                "",
            ),
        ],
    );
}

#[test]
fn kinds_that_are_always_ready() {
    let not_ready = r#""status":{"conditions":[{"type":"Ready","status":"False"}]}"#;
    for (api_version, kind) in [("batch/v1", "CronJob"), ("v1", "Secret"), ("v1", "ConfigMap")] {
        let cases = [("", "Current", ""), (r#""status":null"#, "Current", ""), (not_ready, "Current", "")];
        assert_cases(api_version, kind, &cases);
    }
}

#[test]
fn services() {
    assert_cases(
        "v1",
        "Service",
        &[
            ("", "Current", ""),
            (r#""spec":{"type":"NodePort"}"#, "Current", ""),
            (r#""spec":{"type":"LoadBalancer"}"#, "InProgress", "NoIPAssigned"),
            (r#""spec":{"type":"LoadBalancer","clusterIP":"1.2.3.4"}"#, "Current", ""),
        ],
    );
}

#[test]
fn resource_definitions() {
    let conditions = |names: &str, reason: &str, established: &str| {
        let names = format!(r#"{{"type":"NamesAccepted","status":"{names}","reason":"{reason}"}}"#);
        format!(r#""status":{{"conditions":[{names}{established}]}}"#)
    };
    let established = |status: &str, reason: &str| {
        format!(r#",{{"type":"Established","status":"{status}","reason":"{reason}"}}"#)
    };
    assert_cases(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[
            ("", "InProgress", "Installing"),
            (
                &conditions("True", "NoConflicts", &established("False", "Installing")),
                "InProgress",
                "Installing",
            ),
            (&conditions("False", "SomeReason", ""), "Failed", "SomeReason"),
            (&conditions("True", "NoConflicts", &established("True", "InitialNamesAccepted")), "Current", ""),
            (
                &conditions("True", "NoConflicts", &established("False", "NotAccepted")),
                "Failed",
                "NotAccepted",
            ),
        ],
    );
}

#[test]
fn objects_being_deleted() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":"2026-11-25T04:00:00Z"},"status":{"phase":"Odd"}}"#;
    let found = computed(pod).expect("a status");
    assert_eq!((found.status, found.condition), (ObjectStatus::Terminating, None));
}

#[test]
fn rules_apply_to_group_and_kind() {
    let pending = r#""status":{"phase":"Pending"}"#;
    assert_cases("apps/v1", "Pod", &[(pending, "Current", "")]);
    assert_cases("v1/v1/v1", "Pod", &[(pending, "Current", "")]);
    assert_cases("extensions/v1beta1", "Deployment", &[("", "InProgress", "LessReplicas")]);
    assert_cases("extensions/v1beta1", "StatefulSet", &[("", "Current", "")]);
}

#[test]
fn fields_of_wrong_types() {
    for (json, path) in [
        (r#"{"metadata":{"deletionTimestamp":7}}"#, "metadata.deletionTimestamp"),
        (r#"{"metadata":[]}"#, "metadata.deletionTimestamp"),
        (r#"{"metadata":{"generation":1.5}}"#, "metadata.generation"),
        (r#"{"metadata":{"generation":1},"status":"x"}"#, "status.observedGeneration"),
        (r#"{"status":true}"#, "status.conditions"),
        (r#"{"status":{"conditions":{}}}"#, "status.conditions"),
        (r#"{"status":{"conditions":["x"]}}"#, "status.conditions"),
        (r#"{"status":{"conditions":[{"type":1}]}}"#, "status.conditions"),
    ] {
        match computed(json) {
            Err(StatusError::FieldType { path: found, .. }) => assert_eq!(found, path, "{json}"),
            other => panic!("{json}: {other:?}"),
        }
    }
    // These have defaults.
    let lenient =
        r#""spec":{"replicas":"4","updateStrategy":[]},"status":{"replicas":1.0,"conditions":[null]}"#;
    assert_cases("apps/v1", "StatefulSet", &[(lenient, "InProgress", "LessReplicas")]);
}

#[test]
fn only_named_fields_are_read() {
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let json = format!(
        r#"{{"a":{deep},"kind":"Pod","apiVersion":"v1","status":{{"phase":"Odd","phase":"Failed","b":{deep}}}}}"#
    );
    assert_eq!(computed(&json).expect("a status").message, "Pod has completed, but not successfully");
    for malformed in ["", "[]", "{", r#"{"kind":"Pod"} x"#, &format!(r#"{{"status":{deep}}}"#)] {
        assert_eq!(computed(malformed), Err(StatusError::Malformed), "{malformed}");
    }
}
