//! Templates executed by kdelta and by Go's `text/template` with kubectl's functions (`tests/testbed/template`).

mod cases;
mod combinations;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kdelta::object::JsonValue;
use kdelta::query::GoTemplate;
use serde_json::Value;

use crate::support::module_file;

/// The object of the combined templates: small numbers, since their ranges are nested.
const SMALL: &str = r#"{"kind":"List","nothing":null,"n":{"int":5,"neg":-7,"float":3.14159,"big":1e30,"tiny":1e-7,"half":2.5},
 "s":{"word":"hello","uni":"héllo 世","empty":""},"l":{"ints":[3,1,2],"strings":["b","a"],"nulls":[null,1],"empty":[]},
 "m":{"deep":{"a":{"b":"c"}},"nulls":{"x":null}},"t":true,"f":false,"metadata":{"name":"m","labels":{"b":"2","a":"1"}},
 "items":[{"kind":"Pod"},null,5]}"#;

struct Case {
    template: String,
    object: &'static str,
    allow_missing: bool,
}

/// Printed bytes and the error, or an empty string.
type Outcome = (Vec<u8>, String);

#[test]
#[cfg_attr(not(has_go), ignore = "there is no Go")]
fn each_construct_prints_what_go_prints() {
    let formats = cases::FORMATS.iter().map(|format| format!("{{{{printf {format}}}}}"));
    let templates: Vec<_> = cases::TEMPLATES.iter().map(|text| (*text).to_owned()).chain(formats).collect();
    let case = |allow_missing| {
        move |template: &String| Case { template: template.clone(), object: cases::OBJECT, allow_missing }
    };
    compare(&templates.iter().map(case(true)).chain(templates.iter().map(case(false))).collect::<Vec<_>>());
}

#[test]
#[cfg_attr(not(has_go), ignore = "there is no Go")]
fn combined_templates_print_what_go_prints() {
    let mut rng = fastrand::Rng::with_seed(19);
    let case =
        |_| Case { template: combinations::template(&mut rng), object: SMALL, allow_missing: rng.bool() };
    compare(&(0..3_000).map(case).collect::<Vec<_>>());
}

fn compare(cases: &[Case]) {
    let expected = run_go(cases);
    assert_eq!(expected.len(), cases.len());
    for (case, expected) in cases.iter().zip(expected) {
        let (printed, error) = run(case);
        assert_eq!(error, expected.1, "{}", case.template);
        assert_eq!(
            String::from_utf8_lossy(&printed),
            String::from_utf8_lossy(&expected.0),
            "{}",
            case.template
        );
    }
}

fn run(case: &Case) -> Outcome {
    let object = JsonValue::parse(case.object.as_bytes());
    let mut out = Vec::new();
    let result = GoTemplate::parse(&case.template)
        .and_then(|template| template.allow_missing_keys(case.allow_missing).execute(&object, &mut out));
    (out, result.err().map_or_else(String::new, |error| error.to_string()))
}

/// Executes the templates with Go.
fn run_go(cases: &[Case]) -> Vec<Outcome> {
    let mut child = Command::new(build())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the built program starts");
    let mut requests = String::new();
    for case in cases {
        let (template, object) = (Value::from(case.template.as_str()), case.object.replace('\n', " "));
        let allow_missing = case.allow_missing;
        writeln!(requests, r#"{{"template":{template},"value":{object},"allowMissing":{allow_missing}}}"#)
            .expect("a string grows");
    }
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = thread::spawn(move || stdin.write_all(requests.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends").expect("the program reads");
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).expect("JSON");
    lines.lines().map(outcome).collect()
}

fn outcome(line: &str) -> Outcome {
    let response: Value = serde_json::from_str(line).expect("JSON");
    let output = response["output"].as_str().unwrap_or_default();
    (STANDARD.decode(output).expect("base64"), response["error"].as_str().expect("a text").to_owned())
}

/// Builds the Go program and returns its path. Go's own cache makes a second build short.
fn build() -> PathBuf {
    let module = module_file();
    let id = thread::current().name().unwrap_or_default().replace("::", "-");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("template-{id}"));
    let status = Command::new("go")
        .args(["build", "-trimpath", "-modfile"])
        .arg(&module)
        .arg("-o")
        .arg(&program)
        .arg("./template")
        .current_dir(module.parent().expect("tests/testbed"))
        .stdin(Stdio::null())
        .status()
        .expect("go runs");
    assert!(status.success(), "`go build ./template` in tests/testbed failed");
    program
}
