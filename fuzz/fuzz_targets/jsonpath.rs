//! A jsonpath template on a list of one item: streaming gives the output of the whole list.
#![no_main]

use kdelta::object::{JsonPath, JsonPathError, JsonValue};

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8])| {
    let (template, item) = input;
    let Ok(path) = JsonPath::parse(template) else { return };
    let path = path.allow_missing_keys(item.len() % 2 == 0);
    let item = match JsonValue::parse(item) {
        JsonValue::Raw(_) => JsonValue::Null,
        item => item,
    };
    let mut text = br#"{"apiVersion":"v1","items":["#.to_vec();
    item.write_compact(&mut text);
    text.extend_from_slice(br#"],"kind":"List","metadata":{"resourceVersion":""}}"#);
    let list = JsonValue::parse(&text);
    let mut whole = Vec::new();
    let printed = path.execute(&list, &mut whole);
    assert!(printed.is_ok() || whole.is_empty(), "output of a failed execution");
    let is_limited =
        |result: &Result<(), JsonPathError>| matches!(result, Err(JsonPathError::TooManySteps { .. }));
    let Some(mut stream) = path.streaming() else { return };
    let mut out = Vec::new();
    let streamed = stream
        .begin(&mut out)
        .and_then(|()| stream.item(&item, &mut out))
        .and_then(|()| stream.end(&mut out));
    if !is_limited(&printed) && !is_limited(&streamed) {
        assert_eq!(printed, streamed, "another result");
        assert!(streamed.is_err() || whole == out, "another output");
    }
});
