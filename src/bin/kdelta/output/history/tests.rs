//! Tests of the rows of versions.

use std::time::Duration;

use kdelta::object::Ingest;
use kdelta::recording::Author;
use serde_json::{Value, json};

use super::*;

fn pods() -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    })
}

fn object(uid: &str, restarts: u64, ready: &str, image: &str) -> Object {
    let json = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": uid},
        "spec": {"image": image},
        "status": {
            "conditions": [
                {"type": "ContainersReady", "status": ready, "reason": "x"},
                {"type": "Ready", "status": ready, "reason": "ContainersNotReady"},
            ],
            "containerStatuses": [{"name": "web", "restartCount": restarts,
                "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}],
        },
    });
    Object::from_json(json.to_string().as_bytes(), &Ingest::of(pods().type_meta())).expect("a pod")
}

fn change(kind: ChangeKind, object: Object, old: Option<Object>, seconds: i64) -> Change {
    let start: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
    Change {
        kind,
        object: Arc::new(object),
        old: old.map(Arc::new),
        origin: if seconds == 0 { Origin::List } else { Origin::Watch },
        final_state_unknown: false,
        resource: pods(),
        context: "prod".into(),
        received: start + SignedDuration::from_secs(seconds),
    }
}

fn options() -> HistoryOptions {
    HistoryOptions {
        names: false,
        contexts: false,
        headers: true,
        colour: false,
        details: Details { noise: false, secrets: false },
        width: RowWidth::default(),
    }
}

fn written(options: HistoryOptions, changes: &[Change]) -> String {
    let (mut rows, mut out) = (HistoryRows::new(options), Vec::new());
    for change in changes {
        let author = change.object.author_since(None);
        let author = author.map(|(manager, subresource)| Author { manager, subresource });
        rows.recorded(change, author.as_ref(), None, &mut out).expect("a Vec takes all");
    }
    rows.flush(&mut out).expect("a Vec takes all");
    String::from_utf8(out).expect("text")
}

#[test]
fn each_version_has_a_row_with_its_changes_below() {
    let first = || object("u-1", 3, "True", "web:1");
    let second = || object("u-1", 4, "False", "web:2").with_author("kubelet", "status");
    let text = written(
        options(),
        &[
            change(ChangeKind::Added, first(), None, 0),
            change(ChangeKind::Modified, second(), Some(first()), 61),
            change(ChangeKind::Modified, second(), Some(second()), 62),
            change(ChangeKind::Deleted, object("u-1", 4, "False", "web:2"), None, 70),
            change(ChangeKind::Added, object("u-2", 0, "True", "web:2").with_author("helm", ""), None, 100),
        ],
    );
    assert_eq!(
        text,
        "\
TIME                       EVENT      AUTHOR             WHAT
2026-11-24T03:00:00.000Z   ADDED      -                  in the initial list
2026-11-24T03:01:01.000Z   MODIFIED   kubelet (status)   container web restarted: 3 → 4 (OOMKilled, exit code 137); Ready: True → False (ContainersNotReady)
  spec.image: web:1 → web:2
  status.conditions[ContainersReady].status: True → False
  status.conditions[Ready].status: True → False
  status.containerStatuses[web].restartCount: 3 → 4
2026-11-24T03:01:02.000Z   MODIFIED   kubelet (status)   only heartbeats, versions or field managers
2026-11-24T03:01:10.000Z   DELETED    -                  deleted
2026-11-24T03:01:40.000Z   ADDED      helm               re-created 30s after the deletion, uid u-2
"
    );
}

#[test]
fn each_state_is_compared_with_the_one_before() {
    let states: Vec<_> = [("True", 0), ("False", 0), ("True", 1)]
        .map(|(ready, restarts)| Arc::new(object("u", restarts, ready, "x")))
        .into();
    let mut changes = vec![change(ChangeKind::Added, object("u", 0, "True", "x"), None, 0)];
    for (seconds, pair) in (1..).zip(states.windows(2)) {
        let change = change(ChangeKind::Modified, object("u", 0, "True", "x"), None, seconds);
        changes.push(Change { object: Arc::clone(&pair[1]), old: Some(Arc::clone(&pair[0])), ..change });
    }
    let text = written(HistoryOptions { headers: false, ..options() }, &changes);
    let what: Vec<_> = text.lines().filter(|line| line.contains("MODIFIED")).collect();
    assert!(what[0].ends_with("Ready: True → False (ContainersNotReady)"), "{text}");
    assert!(what[1].contains("restarted: 0 → 1") && what[1].contains("Ready: False → True"), "{text}");
}

#[test]
fn gaps_are_lines_between_rows() {
    let (mut rows, mut out) = (HistoryRows::new(options()), Vec::new());
    let received = change(ChangeKind::Added, object("u", 0, "True", "x"), None, 60).received;
    let kind = MarkKind::Gap { from: "7".into(), to: "9".into(), lasted: Duration::from_secs(30) };
    let mark =
        Mark { kind, resource: pods(), context: "".into(), namespace: "".into(), name: None, received };
    rows.mark(&mark);
    rows.gap(None, received, received + SignedDuration::from_secs(1));
    rows.flush(&mut out).expect("a Vec takes all");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "── pods were not observed from 2026-11-24T03:00:30.000Z to 2026-11-24T03:01:00.000Z ──\n\
         ── nothing was recorded from 2026-11-24T03:01:00.000Z to 2026-11-24T03:01:01.000Z ──\n"
    );
}

#[test]
fn names_and_contexts_are_columns_if_there_are_several() {
    let options = HistoryOptions { names: true, contexts: true, headers: false, ..options() };
    let text = written(options, &[change(ChangeKind::Added, object("u", 0, "True", "x"), None, 5)]);
    assert_eq!(text, "2026-11-24T03:00:05.000Z   prod   pod/web in shop   ADDED   -     created\n");
}

#[test]
fn texts_of_the_cluster_are_escaped() {
    let evil = |status: &str| {
        let json: Value = json!({"metadata": {"name": "web", "uid": "u"}, "status": {"conditions": [
            {"type": "Re\u{1b}[2Jady", "status": status, "reason": "a\nb"}]}});
        Object::from_json(json.to_string().as_bytes(), &Ingest::of(pods().type_meta())).expect("a pod")
    };
    let update =
        change(ChangeKind::Modified, evil("False").with_author("\u{1b}x", "\u{9b}"), Some(evil("True")), 5);
    let text = written(HistoryOptions { headers: false, ..options() }, &[update]);
    assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text}");
    assert!(text.contains("^[x (\\u009b)") && text.contains("Re^[[2Jady: True → False (a\\nb)"), "{text}");
}

#[test]
fn deletion_during_a_gap_is_named() {
    let mut gone = change(ChangeKind::Deleted, object("u", 0, "True", "x"), None, 5);
    gone.final_state_unknown = true;
    assert!(written(options(), &[gone]).contains("deleted while it was not observed"));
}
