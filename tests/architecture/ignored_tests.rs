//! The rule that a test on the real server is reported as ignored where the server can't be built.

use std::fs;
use std::path::{Path, PathBuf};

use super::assert_none;
use super::sources::collect;

/// The calls that start or use the real server.
const SERVERS: [&str; 2] = ["on_server()", "own_server()"];

/// Returns the names of the tests in `code` that call a server and lack the condition.
fn unconditional(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for test in code.split("#[test]\n").skip(1) {
        let Some((attributes, rest)) = test.split_once("fn ") else { continue };
        let body = rest.split_once("\n}\n").map_or(rest, |(body, _)| body);
        if SERVERS.iter().any(|call| body.contains(call)) && !attributes.contains("has_go") {
            found.extend(rest.split('(').next());
        }
    }
    found
}

#[test]
fn tests_on_the_server_are_ignored_without_it() {
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut files);
    let mut found = Vec::new();
    for file in files {
        let code = fs::read_to_string(&file).expect("a file");
        found.extend(unconditional(&code).into_iter().map(|test| format!("{}: {test}", file.display())));
    }
    assert_none(&found);
}

#[test]
fn unconditional_tests_are_found() {
    let test = |attribute: &str, call: &str| format!("#[test]\n{attribute}fn a() {{\n    {call};\n}}\n");
    let condition = "#[cfg_attr(not(has_go), ignore = \"needs Go\")]\n";
    assert_eq!(unconditional(&test("", SERVERS[0])), ["a"]);
    assert_eq!(unconditional(&test(condition, SERVERS[0])), [""; 0]);
    assert_eq!(unconditional(&test("", "TestEnv::new()")), [""; 0]);
}
