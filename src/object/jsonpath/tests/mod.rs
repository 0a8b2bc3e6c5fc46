//! Tests of jsonpath templates: client-go's cases, hostile templates and streaming.

mod errors;
mod limits;
mod parsing;
mod ranges;
mod results;
mod slices;
mod streaming;

use super::{JsonPath, JsonPathError};
use crate::object::JsonValue;

/// Executes a template without allowing missing keys.
fn execute(template: &str, json: &str) -> Result<String, JsonPathError> {
    run(template, json, false)
}

/// Executes a template as kubectl does by default.
fn execute_allowing(template: &str, json: &str) -> Result<String, JsonPathError> {
    run(template, json, true)
}

fn run(template: &str, json: &str, allow_missing_keys: bool) -> Result<String, JsonPathError> {
    let mut out = Vec::new();
    let path = JsonPath::parse(template)?.allow_missing_keys(allow_missing_keys);
    path.execute(&JsonValue::parse(json.as_bytes()), &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn assert_outputs(json: &str, cases: &[(&str, &str)]) {
    for (template, output) in cases {
        assert_eq!(execute(template, json).as_deref(), Ok(*output), "{template}");
    }
}

fn assert_errors(json: &str, cases: &[(&str, &str)]) {
    for (template, text) in cases {
        let error = execute(template, json).expect_err(template);
        assert_eq!(error.to_string(), *text, "{template}");
    }
}
