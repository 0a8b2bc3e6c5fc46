//! Tests of the forms of a summary.

use jiff::Timestamp;
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{Ingest, Object, Origin};
use kdelta::recording::Gap;
use serde_json::{Value, json as value};

use super::*;
use crate::view::summary::{ChangeTracker, ObjectChanges};

fn pods() -> Arc<ApiResource> {
    let [group, version, resource, kind] = ["", "v1", "pods", "Pod"].map(str::to_owned);
    Arc::new(ApiResource { group, version, resource, kind, namespaced: true })
}

fn at(minutes: i64) -> Timestamp {
    let start: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
    start + jiff::SignedDuration::from_mins(minutes)
}

fn range(gaps: usize) -> SummaryRange {
    let gap = |number| Gap {
        from: at(number),
        to: at(number + 1),
        resource: (number % 2 == 0).then(pods),
        namespace: "".into(),
        except: vec!["shop".into()],
    };
    let gaps = (0..i64::try_from(gaps).expect("few")).map(gap).collect();
    SummaryRange { context: "prod".into(), since: at(0), until: at(60), gaps }
}

/// Returns a summary with that many deleted pods.
fn summary(pods_deleted: usize) -> ChangeSummary {
    let deleted = (0..pods_deleted).map(|number| {
        let json =
            value!({"metadata": {"name": format!("pod-{number:04}"), "namespace": "shop"}}).to_string();
        let object = Object::from_json(json.as_bytes(), &Ingest::of(pods().type_meta())).expect("a pod");
        let change = Change {
            kind: ChangeKind::Deleted,
            object: Arc::new(object),
            old: None,
            origin: Origin::Watch,
            final_state_unknown: false,
            resource: pods(),
            context: "prod".into(),
            received: at(1),
        };
        let mut changes = ObjectChanges::default();
        changes.record(0, &change, None);
        changes
    });
    ChangeTracker::of(deleted.collect()).summary(at(60))
}

fn written(gaps: usize, deleted: usize, lines: Option<usize>) -> String {
    let form = SummaryTable { headers: true, colour: false, width: RowWidth::default(), lines };
    let mut out = Vec::new();
    write_summary(&range(gaps), &summary(deleted), form, &mut out).expect("a Vec takes all");
    String::from_utf8(out).expect("text")
}

#[test]
fn table_names_the_range_and_its_gaps() {
    assert_eq!(
        written(2, 1, None),
        "\
prod: 1 change of 1 object in 1 group, 2026-11-24T03:00:00Z to 2026-11-24T04:00:00Z (60m)
pods were not observed from 2026-11-24T03:00:00Z to 2026-11-24T03:01:00Z: changes may be missing
nothing was recorded from 2026-11-24T03:01:00Z to 2026-11-24T03:02:00Z: changes may be missing
NAMESPACE   OWNER          STATE      WHAT
shop        pod/pod-0000   vanished   deleted
"
    );
}

#[test]
fn table_fits_a_screen() {
    for (lines, gaps) in [(24, 0), (24, 9), (50, 3)] {
        let text = written(gaps, 100, Some(lines));
        // One line is left for the prompt.
        assert_eq!(text.lines().count(), lines - 1, "{text}");
        assert!(text.ends_with("more groups; -o json prints all\n"), "{text}");
    }
    assert_eq!(written(0, 100, None).lines().count(), 102);
}

#[test]
fn document_has_every_field() {
    let mut out = Vec::new();
    write_summary_json(&range(2), &summary(1), false, &mut out).expect("a Vec takes all");
    let document: Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(
        document,
        value!({
            "context": "prod", "since": "2026-11-24T03:00:00Z", "until": "2026-11-24T04:00:00Z",
            "changes": 1, "objects": 1,
            "gaps": [
                {"from": "2026-11-24T03:00:00Z", "to": "2026-11-24T03:01:00Z",
                    "group": "", "resource": "pods", "namespace": "", "except": ["shop"]},
                {"from": "2026-11-24T03:01:00Z", "to": "2026-11-24T03:02:00Z"},
            ],
            "groups": [{
                "group": "", "kind": "Pod", "namespace": "shop", "name": "pod-0000", "importance": "vanished",
                "created": false, "deleted": true, "recreated": false, "objects": 1, "changes": 1,
                "unready": {}, "unreadyReasons": {}, "recovered": {}, "restarts": {}, "contentChanges": 0,
                "fields": [], "appeared": {}, "vanished": {}, "warnings": {},
            }],
        })
    );
}

#[test]
fn brief_of_several_recordings_fits_in_2_kb() {
    let all: Vec<_> = (0..7).map(|_| (range(20), summary(500))).collect();
    for count in [1, 2, 7] {
        let mut out = Vec::new();
        write_brief(&all[..count], &mut out).expect("a Vec takes all");
        assert!((100..=2048).contains(&out.len()), "{} bytes", out.len());
    }
}

#[test]
fn recording_without_a_context_has_no_prefix() {
    let range = SummaryRange { context: "".into(), ..range(0) };
    let mut out = Vec::new();
    write_brief(&[(range, summary(0))], &mut out).expect("a Vec takes all");
    let text = String::from_utf8(out).expect("text");
    assert!(text.starts_with("0 changes of 0 objects in 0 groups, "), "{text}");
}
