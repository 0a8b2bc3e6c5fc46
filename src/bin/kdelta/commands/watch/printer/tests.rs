//! Tests of the printed lines and their versions to resume from.

use kdelta::diff::Scope;
use kdelta::informer::Notification::{Added, Deleted};
use kdelta::lines::LineOptions;
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Ingest};

use super::*;
use crate::output::Messages;
use crate::session::ChangeFilter;
use crate::session::part_fixtures::{resource, template};

/// Returns a JSON-lines printer with one part, and its reporter.
fn printer(initial: bool) -> (DeltaPrinter<Vec<u8>>, Reporter) {
    let reporter = Reporter::new(Arc::new(Messages::stderr(false, false)), false);
    let stream = WatchOutput::json_lines(LineOptions::default(), false);
    let selected = DeltaSelection {
        scope: Scope::default(),
        changed_by: ChangedResults::default(),
        filter: ChangeFilter::default(),
        resumable: true,
    };
    let mut printer = DeltaPrinter::new(stream, selected, &reporter, Vec::new());
    printer.add_part(0, &Part { resource: resource("pods"), ..template("shop") }, initial);
    (printer, reporter)
}

fn pod(uid: &str, version: &str) -> Arc<Object> {
    let metadata =
        serde_json::json!({"name": "a", "namespace": "shop", "uid": uid, "resourceVersion": version});
    let json = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}).to_string();
    let ingest = Ingest::of(resource("pods").type_meta());
    Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
}

fn print_all(printer: &mut DeltaPrinter<Vec<u8>>, notifications: impl IntoIterator<Item = Notification>) {
    for notification in notifications {
        printer.notification(0, Timestamp::UNIX_EPOCH, notification).expect("a Vec takes all");
    }
}

#[test]
fn inferred_delete_has_no_resume_version() {
    let (mut printer, _) = printer(true);
    let old = pod("u-1", "7");
    let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
    let gone = Deleted { object: DeletedObject::FinalStateUnknown(tombstone), origin: Origin::Watch };
    let new = Added { object: pod("u-2", "20"), is_in_initial_list: false, origin: Origin::Watch };
    let known = Deleted { object: DeletedObject::Known(pod("u-2", "21")), origin: Origin::Watch };
    print_all(&mut printer, [gone, new, known]);
    let resumes: Vec<_> = lines_of(printer).iter().map(|line| line["resume"].clone()).collect();
    assert_eq!(resumes, [serde_json::Value::Null, "20".into(), "21".into()]);
}

fn lines_of(printer: DeltaPrinter<Vec<u8>>) -> Vec<serde_json::Value> {
    let text = String::from_utf8(printer.out).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn resync_keeps_resume_version() {
    let (mut printer, _) = printer(true);
    let again =
        || Notification::Updated { old: pod("u-1", "7"), new: pod("u-1", "7"), origin: Origin::Resync };
    let synced = Notification::Mark(queue::Mark::Synced { resource_version: "9".into() });
    let new = Added { object: pod("u-2", "20"), is_in_initial_list: false, origin: Origin::Watch };
    let lasted = std::time::Duration::ZERO;
    let gap = Notification::Mark(queue::Mark::Gap { from: "20".into(), to: "31".into(), lasted });
    print_all(&mut printer, [again(), synced, again(), new, again(), gap, again()]);
    let resumes: Vec<_> = lines_of(printer).iter().map(|line| line["resume"].clone()).collect();
    let [none, at_9, at_20] = [serde_json::Value::Null, "9".into(), "20".into()];
    assert_eq!(resumes, [&none, &at_9, &at_9, &at_20, &at_20, &none, &none].map(Clone::clone));
}

#[test]
fn resume_version_never_decreases_between_gaps() {
    let (mut printer, _) = printer(true);
    let synced = |version: &str| Notification::Mark(queue::Mark::Synced { resource_version: version.into() });
    let live =
        |version| Added { object: pod("u-1", version), is_in_initial_list: false, origin: Origin::Watch };
    let gone = |version| Deleted { object: DeletedObject::Known(pod("u-1", version)), origin: Origin::Watch };
    let lasted = std::time::Duration::ZERO;
    let gap = Notification::Mark(queue::Mark::Gap { from: "20".into(), to: "9".into(), lasted });
    let notifications = [
        synced("9"),
        live("8"),
        live("20"),
        gone("19"),
        live("x"),
        live(""),
        live("100"),
        live("30"),
        gap,
        live("11"),
        gone("10"),
    ];
    print_all(&mut printer, notifications);
    let lines = lines_of(printer);
    let resumes: Vec<_> = lines.iter().map(|line| line["resume"].as_str().unwrap_or("none")).collect();
    assert_eq!(resumes, ["9", "9", "20", "20", "20", "20", "100", "100", "none", "11", "11"]);
}

#[test]
fn error_mark_has_name_of_part() {
    let (mut printer, _) = printer(true);
    for (number, name) in [(1, "x"), (2, "y")] {
        let part = Part { resource: resource("pods"), name: Some(name.into()), ..template("shop") };
        printer.add_part(number, &part, true);
        let error = part.not_found().expect("it is a name");
        printer.ended(number, Timestamp::UNIX_EPOCH, &error).expect("a Vec takes all");
    }
    printer.ended(0, Timestamp::UNIX_EPOCH, &Error::Refused("refused".into())).expect("a Vec takes all");
    let marks: Vec<_> = lines_of(printer)
        .iter()
        .map(|line| {
            [&line["name"], &line["object"]["details"]["name"], &line["object"]["code"]].map(Clone::clone)
        })
        .collect();
    let none = serde_json::Value::Null;
    assert_eq!(
        marks,
        [
            ["x".into(), "x".into(), 404.into()],
            ["y".into(), "y".into(), 404.into()],
            [none.clone(), none.clone(), none]
        ]
    );
}

#[test]
fn suppressed_initial_state_is_not_counted() {
    let (mut printer, reporter) = printer(false);
    let listed = Added { object: pod("u-1", "7"), is_in_initial_list: true, origin: Origin::List };
    let gone = Deleted { object: DeletedObject::Known(pod("u-1", "9")), origin: Origin::Watch };
    print_all(&mut printer, [listed, gone]);
    let expected = "1 received, 1 printed, 0 suppressed, ";
    assert!(reporter.summary().starts_with(expected), "{}", reporter.summary());
}
