//! `rollout status` next to kubectl's. The server has no controllers: the test writes the statuses.

use serde_json::{Value, json};

use super::{Outcome, start_kdelta, start_kubectl};
use crate::support::{OnServer, Running, TestEnv};

fn workloads(on: &OnServer, plural: &str) -> String {
    format!("/apis/apps/v1/namespaces/{}/{plural}", on.namespace)
}

fn create(on: &OnServer, plural: &str, more: &Value) {
    let labels = json!({"app": "web"});
    let container = json!({"name": "main", "image": "main"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let mut spec = json!({"selector": {"matchLabels": labels}, "template": template});
    spec.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
    on.api.create(&workloads(on, plural), &json!({"metadata": {"name": "web"}, "spec": spec}));
}

/// Runs both programs. Once each has printed its first line, the statuses are written. Fails the test unless both have
/// this outcome.
#[track_caller]
fn assert_both(on: &OnServer, plural: &str, first: &str, statuses: &[Value], rest: &Outcome) {
    let words = format!("rollout status {plural}/web");
    let mut programs: [Running; 2] = [start_kubectl(on, &words), start_kdelta(on, &words)];
    for running in &programs {
        assert_eq!(running.stdout.find("the first status", |_| true).trim_end(), first, "{words}");
    }
    // kubectl prints the first status when it has listed; kdelta before, and it prints no state twice.
    programs[1].stderr.find("the watched object", |line| line.contains(": listed at "));
    for status in statuses {
        on.api.patch(&format!("{}/web/status", workloads(on, plural)), &json!({"status": status}));
    }
    for running in &mut programs {
        assert_eq!(Outcome::of(running), *rest, "{words}");
    }
}

fn done(lines: &[&str]) -> Outcome {
    let stdout = lines.iter().flat_map(|line| [line, "\n"]).collect();
    Outcome { stdout, stderr: String::new(), success: true }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deployment_prints_each_stage() {
    let on = TestEnv::on_server();
    create(&on, "deployments", &json!({"replicas": 2}));
    let status = |replicas: u32, updated: u32, available: u32| json!({"observedGeneration": 1, "replicas": replicas, "updatedReplicas": updated, "availableReplicas": available, "readyReplicas": available});
    let statuses = [status(2, 1, 1), status(3, 2, 2), status(2, 2, 1), status(2, 2, 2)];
    let expected = done(&[
        r#"Waiting for deployment "web" rollout to finish: 1 out of 2 new replicas have been updated..."#,
        r#"Waiting for deployment "web" rollout to finish: 1 old replicas are pending termination..."#,
        r#"Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available..."#,
        r#"deployment "web" successfully rolled out"#,
    ]);
    assert_both(
        &on,
        "deployments",
        "Waiting for deployment spec update to be observed...",
        &statuses,
        &expected,
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deployment_without_progress_fails() {
    let on = TestEnv::on_server();
    create(&on, "deployments", &json!({"replicas": 1}));
    let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
    let statuses = [json!({"observedGeneration": 1, "conditions": [condition]})];
    let expected = Outcome::failed(r#"error: deployment "web" exceeded its progress deadline"#);
    assert_both(
        &on,
        "deployments",
        "Waiting for deployment spec update to be observed...",
        &statuses,
        &expected,
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn daemon_set_prints_each_stage() {
    let on = TestEnv::on_server();
    create(&on, "daemonsets", &json!({}));
    let status = |updated: u32, available: u32| json!({"observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2, "numberMisscheduled": 0, "numberReady": available, "updatedNumberScheduled": updated, "numberAvailable": available});
    let statuses = [status(1, 1), status(2, 1), status(2, 2)];
    let expected = done(&[
        r#"Waiting for daemon set "web" rollout to finish: 1 out of 2 new pods have been updated..."#,
        r#"Waiting for daemon set "web" rollout to finish: 1 of 2 updated pods are available..."#,
        r#"daemon set "web" successfully rolled out"#,
    ]);
    assert_both(
        &on,
        "daemonsets",
        "Waiting for daemon set spec update to be observed...",
        &statuses,
        &expected,
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn stateful_set_prints_each_stage() {
    let on = TestEnv::on_server();
    create(&on, "statefulsets", &json!({"replicas": 2, "serviceName": "web"}));
    // The server fills in a partition of 0.
    let status = |ready: u32, updated: u32| json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": ready, "updatedReplicas": updated, "currentRevision": "a", "updateRevision": "b"});
    let statuses = [status(1, 0), status(2, 1), status(2, 2)];
    let expected = done(&[
        "Waiting for 1 pods to be ready...",
        "Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...",
        "partitioned roll out complete: 2 new pods have been updated...",
    ]);
    assert_both(
        &on,
        "statefulsets",
        "Waiting for statefulset spec update to be observed...",
        &statuses,
        &expected,
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deleted_object_fails() {
    let on = TestEnv::on_server();
    create(&on, "deployments", &json!({"replicas": 1}));
    let words = "rollout status deployments/web";
    let mut programs = [start_kubectl(&on, words), start_kdelta(&on, words)];
    for running in &programs {
        running.stdout.find("the first status", |_| true);
    }
    programs[1].stderr.find("the watched object", |line| line.contains(": listed at "));
    on.api.delete(&format!("{}/web", workloads(&on, "deployments")));
    for running in &mut programs {
        assert_eq!(Outcome::of(running), Outcome::failed("error: object has been deleted"));
    }
}
