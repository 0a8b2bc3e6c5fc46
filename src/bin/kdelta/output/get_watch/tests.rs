//! Tests of the output of `get -w`. The expected texts are kubectl 1.36's.

use std::sync::Arc;

use kdelta::object::{ApiResource, Column, Ingest, JsonPath, Origin, Row};
use kdelta::query::GoTemplate;

use super::*;
use crate::view::NamespaceColumn;

const ON_A_PIPE: GetWatchOptions =
    GetWatchOptions { events: false, waits_for_list: true, for_terminal: false, colour: false };
const EVENTS: GetWatchOptions = GetWatchOptions { events: true, ..ON_A_PIPE };

/// Returns a change of a pod, whose row has these columns and cells.
fn change_of(kind: ChangeKind, name: &str, columns: &[&str], cells: &[&str]) -> Change {
    let resource = Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    });
    let column = |name: &&str| Column { name: (*name).into(), format: String::new(), priority: 0 };
    let columns: Arc<[Column]> = columns.iter().map(column).collect();
    let json = format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","generation":1234567}}}}"#);
    let object = Object::from_json(json.as_bytes(), &Ingest::of(resource.type_meta())).expect("a pod");
    Change {
        kind,
        object: Arc::new(object.with_row(Row::new(columns, cells))),
        old: None,
        origin: Origin::Watch,
        final_state_unknown: false,
        resource,
        context: "".into(),
        received: "2026-11-21T10:30:00Z".parse().expect("a time"),
    }
}

fn change(kind: ChangeKind, name: &str, status: &str) -> Change {
    change_of(kind, name, &["Name", "Status", "Age"], &[name, status, "1s"])
}

fn print(output: &mut GetWatchOutput, change: &Change, out: &mut Vec<u8>) {
    output.change(change, out).expect("a pod that can be printed");
    // The watch loop flushes after each batch.
    output.flush(out).expect("a Vec takes all");
}

#[test]
fn colours_do_not_change_widths() {
    let table = |colour| {
        let options = GetWatchOptions { colour, ..EVENTS };
        let layout = Layout { event: true, ..Layout::default() };
        printed(GetWatchOutput::table(layout, true, None, options))
    };
    let coloured = table(true);
    assert!(
        coloured.contains("\x1b[2mMODIFIED\x1b[0m   a      \x1b[31mCrashLoopBackOff\x1b[0m   1s\n"),
        "{coloured}"
    );
    assert_eq!(coloured.matches('\x1b').count(), 2 * (4 + 3), "marks and abnormal cells: {coloured}");
    let plain = ["\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"]
        .iter()
        .fold(coloured, |text, own| text.replace(own, ""));
    assert_eq!(plain, table(false));
}

/// Prints two listed pods, a change and a deletion.
fn printed(mut output: GetWatchOutput) -> String {
    let mut out = Vec::new();
    for name in ["b", "a"] {
        print(&mut output, &change(ChangeKind::Added, name, "Pending"), &mut out);
    }
    output.end_list(&mut out).expect("rows that can be sorted");
    print(&mut output, &change(ChangeKind::Modified, "a", "CrashLoopBackOff"), &mut out);
    print(&mut output, &change(ChangeKind::Deleted, "a", "Running"), &mut out);
    String::from_utf8(out).expect("text")
}

fn table(options: GetWatchOptions) -> GetWatchOutput {
    let layout = Layout { event: options.events, ..Layout::default() };
    GetWatchOutput::table(layout, true, None, options)
}

#[test]
fn list_waits_and_each_event_is_printed_at_once() {
    let (mut output, mut out) = (table(ON_A_PIPE), Vec::new());
    print(&mut output, &change(ChangeKind::Added, "web-1", "Pending"), &mut out);
    assert_eq!(out, b"");
    output.end_list(&mut out).expect("no order");
    assert_eq!(String::from_utf8_lossy(&out), "NAME    STATUS    AGE\nweb-1   Pending   1s\n");
    output.change(&change(ChangeKind::Modified, "web-1", "Running"), &mut out).expect("a row");
    assert!(out.ends_with(b"\nweb-1   Running   1s\n"));
    let several = GetWatchOptions { waits_for_list: false, ..ON_A_PIPE };
    let (mut output, mut out) = (table(several), Vec::new());
    print(&mut output, &change(ChangeKind::Added, "web-1", "Pending"), &mut out);
    assert_eq!(String::from_utf8_lossy(&out), "NAME    STATUS    AGE\nweb-1   Pending   1s\n");
}

#[test]
fn columns_grow_with_each_event() {
    assert_eq!(
        printed(table(ON_A_PIPE)),
        "NAME   STATUS    AGE\n\
         b      Pending   1s\n\
         a      Pending   1s\n\
         a      CrashLoopBackOff   1s\n\
         a      Running            1s\n"
    );
    assert_eq!(
        printed(table(EVENTS)),
        "EVENT      NAME   STATUS    AGE\n\
         ADDED      b      Pending   1s\n\
         ADDED      a      Pending   1s\n\
         MODIFIED   a      CrashLoopBackOff   1s\n\
         DELETED    a      Running            1s\n"
    );
}

#[test]
fn header_is_printed_again_only_for_other_columns() {
    let (mut output, mut out) = (table(ON_A_PIPE), Vec::new());
    output.end_list(&mut out).expect("no order");
    assert_eq!(out, b"", "no header without rows");
    for columns in [["Name", "Status"], ["Name", "Status"], ["Name", "Phase"]] {
        print(&mut output, &change_of(ChangeKind::Modified, "a", &columns, &["a", "x"]), &mut out);
    }
    assert_eq!(String::from_utf8_lossy(&out), "NAME   STATUS\na      x\na      x\nNAME   PHASE\na      x\n");
}

#[test]
fn namespace_follows_the_event() {
    let layout = Layout { event: true, namespace: NamespaceColumn::Always, ..Layout::default() };
    let (mut output, mut out) = (GetWatchOutput::table(layout, false, None, EVENTS), Vec::new());
    print(&mut output, &change(ChangeKind::Added, "a", "x"), &mut out);
    output.end_list(&mut out).expect("no order");
    assert_eq!(String::from_utf8_lossy(&out), "ADDED      shop   a     x     1s\n");
}

#[test]
fn only_listed_rows_are_sorted() {
    let sorted = |options, by: &str| GetWatchOutput::table(Layout::default(), false, Some(by), options);
    let text = printed(sorted(ON_A_PIPE, ".metadata.name"));
    assert!(
        text.starts_with("a     Pending   1s\nb     Pending   1s\na     CrashLoopBackOff   1s\n"),
        "{text}"
    );
    assert!(printed(sorted(EVENTS, ".metadata.name")).starts_with("b     Pending"));
    let failure = |names: &[&str], by: &str| {
        let (mut output, mut out) = (sorted(ON_A_PIPE, by), Vec::new());
        for name in names {
            print(&mut output, &change(ChangeKind::Added, name, "x"), &mut out);
        }
        let ended = output.end_list(&mut out);
        ended.map(|()| String::from_utf8_lossy(&out).into_owned()).map_err(|error| error.to_string())
    };
    assert_eq!(failure(&["a"], ".nope["), Ok("a     x     1s\n".into()));
    assert_eq!(
        failure(&["a", "b"], ".nope"),
        Err("unable to output the provided object: couldn't find any field with path \"{.nope}\" in the list of objects".into())
    );
}

#[test]
fn documents_of_events_have_a_type() {
    let object =
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"generation":1234567,"name":"b","namespace":"shop"}}"#;
    let text = printed(GetWatchOutput::json(EVENTS));
    assert_eq!(text.lines().next(), Some(&*format!(r#"{{"type":"ADDED","object":{object}}}"#)));
    assert!(text.lines().last().is_some_and(|line| line.starts_with(r#"{"type":"DELETED","object":{"#)));
    assert!(printed(GetWatchOutput::json(ON_A_PIPE)).starts_with("{\n    \"apiVersion\": \"v1\",\n"));
    assert!(printed(GetWatchOutput::yaml(EVENTS)).contains("\ntype: ADDED\n---\nobject:\n"));
    assert!(printed(GetWatchOutput::yaml(ON_A_PIPE)).contains("\n---\napiVersion: v1\n"));
    assert!(printed(GetWatchOutput::kyaml(EVENTS)).starts_with("---\n{\n  type: \"ADDED\",\n"));
    assert_eq!(printed(GetWatchOutput::names(EVENTS)), "pod/b\npod/a\npod/a\npod/a\n");
}

fn template(text: &'static str, options: GetWatchOptions) -> GetWatchOutput {
    let path = Box::leak(Box::new(JsonPath::parse(text).expect(text)));
    GetWatchOutput::template(Engine::JsonPath(path, text), options)
}

#[test]
fn tabs_of_templates_are_aligned() {
    let text = r#"{.metadata.name}{"\t"}{.kind}{"\n"}"#;
    assert_eq!(printed(template(text, ON_A_PIPE)), "b     Pod\na     Pod\na     Pod\na     Pod\n");
    assert_eq!(printed(template("{.metadata.name}", ON_A_PIPE)), "baaa");
}

#[test]
fn jsonpath_of_an_event_reads_numbers_as_floats() {
    let text = r#"{.type} {.object.metadata.generation}{"\n"}"#;
    let printed_events = printed(template(text, EVENTS));
    assert_eq!(printed_events.lines().next(), Some("ADDED 1.234567e+06"));
    let go = GoTemplate::parse("{{.type}} {{.object.metadata.generation}}\n").expect("a template");
    let output = GetWatchOutput::template(Engine::Go(Box::leak(Box::new(go))), EVENTS);
    assert_eq!(printed(output).lines().next(), Some("ADDED 1234567"));
    let columns = CustomColumns::parse("T:.type,G:.object.metadata.generation", false).expect("columns");
    let text = printed(GetWatchOutput::custom_columns(&columns, EVENTS));
    assert!(text.starts_with("T       G\nADDED   1234567\nADDED   1234567\nMODIFIED   1234567\n"), "{text}");
}

#[test]
fn failure_in_the_list_is_described_as_kubectl_does() {
    let fail = |is_live: bool| {
        let mut output = template("{.metadata.nope.x[5]}", ON_A_PIPE);
        let mut out = Vec::new();
        if is_live {
            output.end_list(&mut out).expect("nothing");
        }
        output.change(&change(ChangeKind::Added, "a", "x"), &mut out).expect_err("no such field")
    };
    let (listed, live) = (fail(false), fail(true));
    assert!(
        listed.to_string().starts_with("unable to output the provided object: error executing jsonpath \"")
    );
    assert!(live.to_string().starts_with("error executing jsonpath \""));
    assert!(listed.has_own_lines() && live.has_own_lines());
}

#[test]
fn terminal_output_is_escaped() {
    let evil = |kind| {
        let change = change(kind, "a", "x");
        let json = r#"{"metadata":{"name":"a","labels":{"x":"\u009b31m"}}}"#;
        let ingest = Ingest::of(change.resource.type_meta());
        let object = Object::from_json(json.as_bytes(), &ingest).expect("a pod");
        Change { object: Arc::new(object), ..change }
    };
    let shown = GetWatchOptions { for_terminal: true, ..ON_A_PIPE };
    let columns = CustomColumns::parse("X:.metadata.labels.x,N:.metadata.name", false).expect("columns");
    for mut output in [
        GetWatchOutput::json(shown),
        GetWatchOutput::yaml(shown),
        GetWatchOutput::kyaml(shown),
        template("{.metadata.labels.x}", shown),
        GetWatchOutput::custom_columns(&columns, shown),
        GetWatchOutput::table(Layout { show_labels: true, ..Layout::default() }, true, None, shown),
    ] {
        let mut out = Vec::new();
        print(&mut output, &evil(ChangeKind::Added), &mut out);
        output.end_list(&mut out).expect("nothing");
        print(&mut output, &evil(ChangeKind::Modified), &mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("31m") && !text.contains('\u{9b}'), "{text}");
    }
}
