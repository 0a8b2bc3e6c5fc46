//! A template and the object that it is executed on, as a whole and item by item.
#![no_main]

use kdelta::object::JsonValue;
use kdelta::query::GoTemplate;

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8], bool)| {
    let (text, json, allow_missing_keys) = input;
    let Ok(template) = GoTemplate::parse(text) else { return };
    let template = template.allow_missing_keys(allow_missing_keys);
    let value = JsonValue::parse(json);
    let mut out = Vec::new();
    let _failed = template.execute(&value, &mut out);
    if let Some(mut execution) = template.list_execution() {
        out.clear();
        execution.begin(&mut out);
        let _failed = execution.item(&value, &mut out);
        execution.end(&mut out);
    }
});
