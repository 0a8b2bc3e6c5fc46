//! The values of an enumeration as text.

use crate::object::{JsonValue, format_go_float};

/// Returns a value as Go's templates print it: strings without quotes, numbers as float64.
pub(super) fn enum_text(value: &JsonValue<'_>) -> String {
    match value {
        JsonValue::Null => "<no value>".to_owned(),
        value => nested_text(value),
    }
}

/// Returns a value within a list or map, where `null` prints differently.
#[expect(clippy::cast_precision_loss, reason = "encoding/json parses every number as float64")]
fn nested_text(value: &JsonValue<'_>) -> String {
    match value {
        JsonValue::Null => "<nil>".to_owned(),
        JsonValue::Bool(value) => value.to_string(),
        JsonValue::Int(value) => format_go_float(*value as f64),
        JsonValue::Float(value) => format_go_float(*value),
        JsonValue::Text(text) => text.clone().into_owned(),
        JsonValue::Array(values) => {
            format!("[{}]", values.iter().map(nested_text).collect::<Vec<_>>().join(" "))
        }
        JsonValue::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key}:{}", nested_text(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
        JsonValue::Raw(json) => String::from_utf8_lossy(json).into_owned(),
    }
}
