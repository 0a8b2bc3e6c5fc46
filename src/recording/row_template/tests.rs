//! Tests of row templates.

use super::*;
use crate::object::{Ingest, TypeMeta};

fn object(kind: &str, json: &str) -> Object {
    let type_meta = TypeMeta { api_version: "v1".to_owned(), kind: kind.to_owned() };
    Object::from_json(json.as_bytes(), &Ingest::of(Arc::new(type_meta))).expect("an object")
}

fn pod() -> Object {
    object(
        "Pod",
        r#"{"metadata":{"name":"web","creationTimestamp":"2026-11-24T03:00:00Z"},"status":{"startTime":"2026-11-24T03:10:00Z","containerStatuses":[{"state":{"running":{"startedAt":"2026-11-24T03:10:05Z"}},"lastState":{"terminated":{"startedAt":"2026-11-24T03:00:02Z","finishedAt":"2026-11-24T03:10:00Z"}}},{"lastState":{},"state":{"terminated":{"finishedAt":"2026-11-24T03:11:00Z"}}}]}}"#,
    )
}

fn columns(names: &[&str]) -> Arc<[Column]> {
    let column = |name: &&str| Column { name: (*name).to_owned(), format: String::new(), priority: 0 };
    names.iter().map(column).collect()
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// Returns the cells of a row at another time than that of its receipt.
fn cells_at(object: &Object, names: &[&str], cells: &[&str], received: &str, now: &str) -> Vec<String> {
    let columns = columns(names);
    let row = Row::new(Arc::clone(&columns), cells);
    let template = to_template(&row, object, &object.json(), time(received));
    let at = |now: &str| {
        let row = render(&template, &columns, object, time(now)).expect("a row");
        let cells: Vec<_> = row.cells().map(str::to_owned).collect();
        assert_eq!(is_writable(&template), !needs_body(&template));
        if is_writable(&template) {
            let mut written = Vec::new();
            write_row(&template, object.name(), time(now), &mut |cell| written.push(cell.to_owned()));
            assert_eq!(written, cells);
        }
        cells
    };
    assert_eq!(at(received), cells);
    at(now)
}

#[test]
fn ages_are_those_of_the_time_and_other_cells_stay() {
    let names = ["Name", "Restarts", "Duration", "Age"];
    let cells = ["web", "3 (2m ago)", "12m", "12m"];
    let at = |now: &str| cells_at(&pod(), &names, &cells, "2026-11-24T03:12:00Z", now);
    assert_eq!(at("2026-11-24T03:13:00Z"), ["web", "3 (3m ago)", "12m", "13m"]);
    assert_eq!(at("2026-11-25T05:00:00Z"), ["web", "3 (25h ago)", "12m", "26h"]);
    let template = |cells: [&str; 4], received: &str| {
        to_template(&Row::new(columns(&names), cells), &pod(), &pod().json(), time(received))
    };
    assert_eq!(
        template(["web", "3 (3m1s ago)", "12m", "13m"], "2026-11-24T03:13:01Z"),
        template(cells, "2026-11-24T03:12:00Z"),
        "only the ages have changed"
    );
}

#[test]
fn ages_are_counted_from_their_own_fields() {
    // 10 s ago a Job began and a pod was scheduled; other times of the body explain the same cell.
    let job = |status: &str| {
        object(
            "Job",
            &format!(
                r#"{{"metadata":{{"name":"backup","creationTimestamp":"2026-11-24T03:00:00Z"}},"status":{{"startTime":"2026-11-24T03:00:00Z"{status}}}}}"#
            ),
        )
    };
    let duration = |job: &Object| {
        cells_at(job, &["Duration", "Age"], &["10s", "10s"], "2026-11-24T03:00:10Z", "2026-11-24T03:01:00Z")
    };
    assert_eq!(duration(&job("")), ["60s", "60s"], "it is running");
    assert_eq!(
        duration(&job(r#","completionTime":"2026-11-24T03:00:10Z""#)),
        ["10s", "60s"],
        "it is complete"
    );
    let cron_job = object(
        "CronJob",
        r#"{"metadata":{"name":"x","creationTimestamp":"2026-11-24T02:00:00Z"},"status":{"lastScheduleTime":"2026-11-24T03:00:00Z","lastSuccessfulTime":"2026-11-24T03:00:09Z"}}"#,
    );
    let at =
        cells_at(&cron_job, &["Last Schedule"], &["10s"], "2026-11-24T03:00:10Z", "2026-11-24T03:01:00Z");
    assert_eq!(at, ["60s"]);
    let invalid = cells_at(&pod(), &["Age"], &["<invalid>"], "2026-11-24T02:59:00Z", "2026-11-24T03:01:00Z");
    assert_eq!(invalid, ["60s"]);
}

#[test]
fn rows_of_events_consist_of_their_bodies() {
    let event = |name: &str, last: &str, count: u32| {
        object(
            "Event",
            &format!(
                r#"{{"metadata":{{"name":"{name}.17","namespace":"a","creationTimestamp":"2026-11-24T03:00:00Z"}},"involvedObject":{{"kind":"Pod","name":"{name}","fieldPath":"spec.containers{{c0}}"}},"reason":"BackOff","message":"Back-off of \"{name}\"","source":{{"component":"kubelet","host":"node-1"}},"firstTimestamp":"2026-11-24T03:00:00Z","lastTimestamp":"{last}","count":{count},"type":"Warning"}}"#
            ),
        )
    };
    let names = ["Last Seen", "Type", "Reason", "Object", "Source", "Message", "First Seen", "Count", "Name"];
    let cells = |name: &str, last: &str, first: &str, count: &str| {
        [
            last.to_owned(),
            "Warning".to_owned(),
            "BackOff".to_owned(),
            format!("pod/{name}"),
            "kubelet, node-1".to_owned(),
            format!("Back-off of \"{name}\""),
            first.to_owned(),
            count.to_owned(),
            format!("{name}.17"),
        ]
    };
    let template = |event: &Object, cells: [String; 9], received: &str| {
        to_template(&Row::new(columns(&names), cells), event, &event.json(), time(received))
    };
    let one = event("web-1", "2026-11-24T03:05:00Z", 3);
    let first = template(&one, cells("web-1", "10s", "5m10s", "3"), "2026-11-24T03:05:10Z");
    assert!(needs_body(&first) && first.len() <= 40, "{first:?}");
    let other = event("api-2", "2026-11-24T03:08:00Z", 41);
    let second = template(&other, cells("api-2", "60s", "9m", "41"), "2026-11-24T03:09:00Z");
    assert_eq!(first, second);
    let row = render(&second, &columns(&names), &other, time("2026-11-24T03:10:00Z")).expect("a row");
    assert_eq!(row.cells().collect::<Vec<_>>(), cells("api-2", "2m", "10m", "41"));
}

#[test]
fn ages_without_a_time_stay_texts() {
    let names = ["Age", "Age", "Restarts", "Restarts"];
    for cells in [["<unknown>", "5d", "0", "7 (x ago)"], ["", "3", "(", "1 (9y ago)"]] {
        let at = cells_at(&pod(), &names, &cells, "2026-11-24T03:12:00Z", "2027-01-01T00:00:00Z");
        assert_eq!(at, cells);
    }
}

#[test]
fn damaged_templates_are_refused() {
    let columns = columns(&["Age"]);
    let damaged = [
        &[][..],
        &[0, 9],
        &[0, 0, 5, b'a'],
        &[0, 1, 0],
        &[0, 0, 1, 0xff],
        &[0xff; 12],
        &[2, 2],
        &[0, 3, 1, 1],
        &[1, 4, 99],
    ];
    for template in damaged {
        assert_eq!(render(template, &columns, &pod(), Timestamp::UNIX_EPOCH), None, "{template:?}");
        assert!(!is_writable(template), "{template:?}");
    }
}
