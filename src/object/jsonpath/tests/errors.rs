//! Evaluation errors.

use super::{assert_errors, execute};
use crate::object::JsonValue;
use crate::object::jsonpath::{JsonPath, JsonPathError};

const SHOP: &str = r#"{"Labels":{"web":1,"k8s":2},"Book":[{"Price":8.5,"Title":"x","New":true,"Tags":[1]}]}"#;

#[test]
fn errors_match_client_go() {
    assert_errors(
        SHOP,
        &[
            ("{hello}", "unrecognized identifier hello"),
            ("{.hello}", "hello is not found"),
            ("{.}", " is not found"),
            ("{.Labels[0]}", "map[string]interface {} is not array or slice"),
            ("{.Labels.web[0]}", "int64 is not array or slice"),
            ("{.Book[0].Price[0]}", "float64 is not array or slice"),
            ("{.Book[0].Title[0]}", "string is not array or slice"),
            ("{.Book[0].New[0]}", "bool is not array or slice"),
            ("{3[0]}", "int is not array or slice"),
            ("{.Book[0].Title.*[0]}", "uint8 is not array or slice"),
            ("{.Labels[?(@.x)]}", "map[k8s:2 web:1] is not array or slice and cannot be filtered"),
            ("{.Book[?(@.Price<>10)]}", "unrecognized filter operator <>"),
            ("{.Book[?(@.Price==8)]}", "incompatible types for comparison"),
            ("{.Book[?(@.Title==8)]}", "incompatible types for comparison"),
            ("{.Book[?(@.New>false)]}", "invalid type for comparison"),
            ("{.Book[?(@.Tags==1)]}", "invalid type for comparison"),
            ("{.Book[?(@.*=='x')]}", "can only compare one element at a time"),
            ("{range .Labels.*}{@}{end}{end}", "not in range, nothing to end"),
        ],
    );
}

#[test]
fn missing_key_is_an_error_of_its_own() {
    assert_eq!(execute("{.hello}", SHOP), Err(JsonPathError::NotFound("hello".to_owned())));
}

#[test]
fn failed_execution_leaves_the_output_unchanged() {
    let mut out = b"before".to_vec();
    let path = JsonPath::parse("text {.Labels} {.hello}").expect("a template");
    assert!(path.execute(&JsonValue::parse(SHOP.as_bytes()), &mut out).is_err());
    assert!(path.execute_json(&JsonValue::parse(SHOP.as_bytes()), &mut out).is_err());
    assert_eq!(out, b"before");
}

#[test]
fn templates_that_crash_client_go_return_errors_or_text() {
    assert!(execute("{range [*]}{[0]}{end}", "[]").is_err());
    assert_eq!(execute("{range [*]}{range}{@}{end}{end}", "[null]").as_deref(), Ok("<no value>"));
}
