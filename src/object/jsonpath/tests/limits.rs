//! Hostile templates end early.

use super::execute_allowing;
use crate::object::jsonpath::JsonPathError;

fn tree(depth: usize) -> String {
    if depth == 0 {
        return "\"x\"".to_owned();
    }
    let inner = tree(depth - 1);
    format!("{{\"a\":[{inner},{inner}],\"b\":{inner}}}")
}

#[test]
fn multiplying_templates_reach_the_limit() {
    let unions = format!("{{{}}}", "['a','a','a','a','a','a','a','a','a','a'][*]".repeat(12));
    let ranges = "{range ..}".repeat(20);
    let long = format!("{{{}}}", "[?(@..a)]".repeat(8));
    let descents = format!("{{{}}}", "..*".repeat(12));
    for template in [&unions, &ranges, &descents] {
        for json in [tree(7), tree(3)] {
            let result = execute_allowing(template, &json);
            let is_bounded = match &result {
                Ok(output) => output.len() < 200_000_000,
                Err(error) => !error.to_string().is_empty(),
            };
            assert!(is_bounded, "{template}");
        }
    }
    for template in [&ranges, &long, &unions] {
        let _bounded = execute_allowing(template, &tree(7));
    }
    let error = execute_allowing(&ranges, &tree(7)).expect_err("a limit");
    assert!(matches!(error, JsonPathError::TooManySteps { .. }), "{error}");
}

#[test]
fn limit_is_the_same_each_time() {
    let template = "{range ..}".repeat(6);
    let first = execute_allowing(&template, &tree(5));
    assert_eq!(first, execute_allowing(&template, &tree(5)));
    assert!(matches!(first, Err(JsonPathError::TooManySteps { .. })));
}

#[test]
fn repeated_output_reaches_the_limit() {
    let big = format!("[[{}1]]", "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",".repeat(10_000));
    let template = format!("{{range [0][*]}}{}{{end}}", "{'a'}".repeat(10));
    assert!(execute_allowing(&template, &big).is_ok());
    let union = format!("{{[{}]}}", vec!["0"; 1000].join(","));
    let error = execute_allowing(&union, &big).expect_err("a limit");
    assert!(matches!(error, JsonPathError::TooManySteps { .. }), "{error}");
}

#[test]
fn nesting_is_limited() {
    let ranges = "{range @}".repeat(1000);
    let error = execute_allowing(&ranges, "{\"a\":1}").expect_err("a limit");
    assert_eq!(error.to_string(), "ranges are nested more than 64 times");
    let filters = format!("{{{}{}}}", "[?(@.a".repeat(5000), ")]".repeat(5000));
    assert!(execute_allowing(&filters, "[]").is_err());
    assert!(execute_allowing(&"{['a']}".repeat(1000), "{}").is_ok());
}
