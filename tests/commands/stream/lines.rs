//! Equality of the JSON line fields in the schema, docs/json-lines.md and the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{TestEnv, schema};

/// Returns the words in backticks in the first column of the table in docs/json-lines.md.
fn documented_fields() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json-lines.md");
    let page = fs::read_to_string(page).expect("docs/json-lines.md");
    let table = page.split("| Field | Meaning |").nth(1).expect("the table of fields");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1).map(str::to_owned));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns the program's field names in order.
fn program_fields() -> Vec<String> {
    let env = TestEnv::new();
    let call = env.kdelta(&["watch", "pods", "-o", "json", "--fields", "name,nonsense"]);
    let error = call.finish().failure(2);
    let names = error.lines().next().and_then(|line| line.split("must be one of ").nth(1));
    let names = names.unwrap_or_else(|| panic!("no names: {error}"));
    assert!(
        error.starts_with("error: invalid argument \"nonsense\" for \"--fields\" flag: must be one of v, "),
        "{error}"
    );
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn docs_program_and_schema_list_equal_fields() {
    let schema = schema();
    let expectation: BTreeSet<String> =
        schema["properties"].as_object().expect("properties").keys().cloned().collect();
    for (place, fields) in [("docs", documented_fields()), ("--fields", program_fields())] {
        let found: BTreeSet<String> = fields.iter().cloned().collect();
        assert_eq!(found.len(), fields.len(), "{place}: each once: {fields:?}");
        assert_eq!(found, expectation, "{place}");
    }
}

#[test]
fn invalid_path_is_reported() {
    let env = TestEnv::new();
    let error = env.kdelta(&["watch", "pods", "--demo", "--ignore", "a["]).finish().failure(2);
    assert!(error.starts_with("error: invalid field path \"a[\": "), "{error}");
}

#[test]
fn resume_version_needs_one_collection() {
    let env = TestEnv::new();
    for more in [&["pods,services"][..], &["pods", "-n", "a,b"], &["pods", "x", "y"]] {
        let arguments = [&["watch", "--demo", "--resource-version", "7"], more].concat();
        let error = env.kdelta(&arguments).finish().failure(2);
        assert!(
            error.starts_with("error: --resource-version needs a single collection, but 2 are selected"),
            "{error}"
        );
    }
}

/// Applies `changes` as the schema defines it: removals first, from the last to the first, then the rest in order.
fn with_changes(old: &Value, changes: &[Value]) -> Value {
    let mut state = old.clone();
    let (removals, others): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change["op"] == "remove");
    for change in removals.into_iter().rev().chain(others) {
        let path = change["path"].as_str().expect("a path");
        let (parent, last) = path.rsplit_once('/').expect("no root of an object is replaced");
        let parent = state.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}: {change}"));
        let last = last.replace("~1", "/").replace("~0", "~");
        match (parent, change.get("new")) {
            (Value::Object(members), Some(new)) => drop(members.insert(last, new.clone())),
            (Value::Object(members), None) => assert_eq!(members.remove(&last).as_ref(), change.get("old")),
            (Value::Array(elements), new) => {
                let at: usize = last.parse().expect("a place");
                match new {
                    Some(new) if change["op"] == "add" => elements.insert(at, new.clone()),
                    Some(new) => elements[at] = new.clone(),
                    None => assert_eq!(Some(&elements.remove(at)), change.get("old")),
                }
            }
            (parent, _) => panic!("{parent} has nothing in it: {change}"),
        }
    }
    state
}

#[test]
fn changes_applied_to_the_old_object_give_the_new_one() {
    let env = TestEnv::new();
    let kinds = "pods,deployments,replicasets,nodes,leases,jobs";
    let watch =
        ["watch", kinds, "-A", "--demo", "--speed", "100", "--watch-only", "-o", "json", "--count", "400"];
    let stdout = env.kdelta(&[&watch[..], &["--old", "--changes"]].concat()).finish().quiet_success();
    let mut updates = 0;
    for line in stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
        let Some(changes) = line["changes"].as_array() else { continue };
        let mut expected = line["object"].clone();
        expected["metadata"]["resourceVersion"] = line["old"]["metadata"]["resourceVersion"].clone();
        assert_eq!(with_changes(&line["old"], changes), expected, "{line}");
        updates += 1;
    }
    assert!(updates > 100, "{updates}");
}
