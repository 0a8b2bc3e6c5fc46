//! What is said of JSON lines in several places is the same in all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{TestEnv, schema};

/// The words in backticks of the first column of the README's table of fields.
fn readme_fields() -> Vec<String> {
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let table = readme.split("| Field | Meaning |").nth(1).expect("the table of fields");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1).map(str::to_owned));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The names that the program knows, in its order.
fn program_fields() -> Vec<String> {
    let env = TestEnv::new();
    let call = env.kdelta(&["watch", "pods", "-o", "json", "--fields", "name,nonsense"]);
    let error = call.finish().failure(2);
    let names = error.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next());
    let names = names.unwrap_or_else(|| panic!("no names: {error}"));
    assert!(error.starts_with("error: invalid value 'nonsense' for '--fields <FIELD>'"), "{error}");
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn readme_program_and_schema_know_the_same_fields() {
    let schema = schema();
    let wanted: BTreeSet<String> =
        schema["properties"].as_object().expect("properties").keys().cloned().collect();
    for (place, fields) in [("README", readme_fields()), ("--fields", program_fields())] {
        let found: BTreeSet<String> = fields.iter().cloned().collect();
        assert_eq!(found.len(), fields.len(), "{place}: each once: {fields:?}");
        assert_eq!(found, wanted, "{place}");
    }
}

#[test]
fn a_path_that_can_not_be_read_is_said() {
    let env = TestEnv::new();
    let error = env.kdelta(&["watch", "pods", "--demo", "--ignore", "a["]).finish().failure(2);
    assert!(error.starts_with("error: invalid field path \"a[\": "), "{error}");
}

#[test]
fn a_version_is_that_of_one_collection() {
    let env = TestEnv::new();
    for more in [&["pods,services"][..], &["pods", "-n", "a,b"], &["pods", "x", "y"]] {
        let arguments = [&["watch", "--demo", "--resource-version", "7"], more].concat();
        let error = env.kdelta(&arguments).finish().failure(2);
        assert!(
            error.starts_with(
                "error: --resource-version is the version of one collection, and this is 2 of them"
            ),
            "{error}"
        );
    }
}
