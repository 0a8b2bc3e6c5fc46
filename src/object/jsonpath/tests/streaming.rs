//! Streaming gives the output of the whole list.

use proptest::prelude::*;

use super::JsonPath;
use crate::object::{JsonPathError, JsonValue};

/// Executes a template item by item.
fn stream(path: &JsonPath, items: &[String]) -> Option<Result<Vec<u8>, JsonPathError>> {
    let mut stream = path.streaming()?;
    let mut out = Vec::new();
    let mut run = || {
        stream.begin(&mut out)?;
        for item in items {
            stream.item(&JsonValue::parse(item.as_bytes()), &mut out)?;
        }
        stream.end(&mut out)
    };
    Some(run().map(|()| out))
}

/// Executes a template on kubectl's list.
fn whole(path: &JsonPath, items: &[String]) -> Result<Vec<u8>, JsonPathError> {
    let list = format!(
        r#"{{"apiVersion":"v1","items":[{}],"kind":"List","metadata":{{"resourceVersion":""}}}}"#,
        items.join(",")
    );
    let mut out = Vec::new();
    path.execute(&JsonValue::parse(list.as_bytes()), &mut out)?;
    Ok(out)
}

#[test]
fn templates_are_classified() {
    let is_streamed = |template: &str| JsonPath::parse(template).expect(template).streaming().is_some();
    for template in [
        "{range .items[*]}{.metadata.name}{'\\n'}{end}",
        "{range .items[*]}{range .spec.containers[*]}{.image}{end}{end}",
        "{range .items[*].spec.containers[*]}{.image} {end}",
        "{range $.items.*}{@..name}{['a','b']}{end}",
        "{.items[*].metadata.name}",
        "items: {.items[*].spec.containers[*].image}\n{.kind}{'\\n'}",
        "{.items[?(@.status.phase=='Running')].metadata.name}",
        "{.kind} {.metadata.resourceVersion} {range .items[?(@.a)]}x{ end }{.apiVersion}",
        "{.items[*]..name}",
    ] {
        assert!(is_streamed(template), "{template}");
    }
    for template in [
        "",
        "text",
        "{.kind}",
        "{.items}",
        "{.items[0].metadata.name}",
        "{.items[1:].metadata.name}",
        "{..name}",
        "{@}",
        "{.items[*].a}{.items[*].b}",
        "{range .items[*]}{.a}{end}{.items[*].b}",
        "{.items[*]['a','b']}",
        "{.items[*].a 'x'}",
        "{range .items[*]}{.a}",
        "{range .items[*]}{.a}{end}{end}",
        "{range .items[*]}{end end}{end}",
        "{.items[*] range}{end}",
        "{range .items}{.a}{end}",
    ] {
        assert!(!is_streamed(template), "{template}");
    }
}

#[test]
fn streams_that_can_fail_are_marked() {
    let may_fail = |template: &str, allow| {
        let path = JsonPath::parse(template).expect(template).allow_missing_keys(allow);
        path.streaming().expect(template).may_fail()
    };
    assert!(!may_fail("{range .items[*]}{.metadata.name} {'x'}{end}{.kind}", true));
    assert!(!may_fail("{.items[*].metadata.name}", true));
    assert!(may_fail("{.items[*].metadata.name}", false));
    assert!(may_fail("{range .items[*]}{.a[0]}{end}", true));
    assert!(may_fail("{.items[?(@.a>1)].metadata.name}", true));
}

#[test]
fn error_of_the_earliest_node_is_returned() {
    let items = [r#"{"a":[1]}"#, r#"{"a":2}"#, "{}"].map(str::to_owned);
    for (template, error) in [
        ("{.items[*].a[5]}", "array index out of bounds: index 5, length 1"),
        ("{.items[*].a[0].b}", "int64 is not array or slice"),
        ("{.items[?(@.a==2)].a[0]}", "invalid type for comparison"),
        ("{.items[*].b}", "b is not found"),
    ] {
        let path = JsonPath::parse(template).expect(template);
        let streamed = stream(&path, &items).expect("streamed").expect_err(template);
        assert_eq!(streamed.to_string(), error, "{template}");
        assert_eq!(Err(streamed), whole(&path, &items), "{template}");
    }
}

fn item() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("\"x\"".to_owned()),
        (-1..4_i64).prop_map(|number| number.to_string()),
        prop::collection::vec(0..4_i64, 0..3).prop_map(|numbers| format!("{numbers:?}")),
        prop::collection::vec(0..4_i64, 0..3).prop_map(|numbers| {
            let items: Vec<String> = numbers.iter().map(|number| format!("{{\"a\":{number}}}")).collect();
            format!("[{}]", items.join(","))
        }),
        (0..4_i64).prop_map(|number| format!("{{\"a\":{number},\"b\":\"y\"}}")),
    ];
    prop::collection::btree_map("[abc]", value, 0..4).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn template() -> impl Strategy<Value = String> {
    let around = "|x |\\{\"\\\\n\"\\}|\\{\\.kind\\}|\\{\\.metadata\\}|\\{\\.missing\\}";
    let element = "\\[\\*\\]|\\.\\*|\\[\\?\\(@\\.a\\)\\]|\\[\\?\\(@\\.a>1\\)\\]|\\[\\?\\(@\\.b==\"x\"\\)\\]";
    let chain =
        "(\\.a|\\.b|\\.c|\\[0\\]|\\[\\*\\]|\\.\\*|\\.\\.a|\\[:1\\]|\\[0:0\\]|\\[\\?\\(@\\.a<2\\)\\]){0,3}";
    let body = "(\\{\\.a\\}|\\{@\\}| |\\{\\.b\\[0\\]\\}|\\{\\.\\.a\\}|\\{range \\.c\\[\\*\\]\\}\\{\\.a\\},\\{end\\}){0,3}";
    (around, element, chain, prop::option::of(body), around).prop_map(
        |(before, element, chain, body, after)| match body {
            Some(body) => format!("{before}{{range .items{element}{chain}}}{body}{{end}}{after}"),
            None => format!("{before}{{.items{element}{chain}}}{after}"),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn streaming_equals_the_whole(template in template(), items in prop::collection::vec(item(), 0..5), allow: bool) {
        let path = JsonPath::parse(&template).expect("a template").allow_missing_keys(allow);
        let streamed = stream(&path, &items).expect("streamed");
        prop_assert_eq!(streamed, whole(&path, &items));
    }

    #[test]
    fn stream_that_cannot_fail_succeeds(template in template(), items in prop::collection::vec(item(), 0..5), allow: bool) {
        let path = JsonPath::parse(&template).expect("a template").allow_missing_keys(allow);
        if path.streaming().is_some_and(|stream| !stream.may_fail()) {
            prop_assert!(whole(&path, &items).is_ok());
        }
    }

    #[test]
    fn any_template_gives_output_or_an_error(template in "[{}\\[\\]().,:*?@$ 'a\"=<0-2-]{0,24}|\\PC{0,12}", item in item(), allow: bool) {
        if let Ok(path) = JsonPath::parse(&template) {
            let path = path.allow_missing_keys(allow);
            let mut out = Vec::new();
            let printed = path.execute(&JsonValue::parse(item.as_bytes()), &mut out);
            prop_assert!(printed.is_ok() || out.is_empty());
            let items = [item];
            if let Some(streamed) = stream(&path, &items) {
                prop_assert_eq!(streamed, whole(&path, &items));
            }
        }
    }
}
