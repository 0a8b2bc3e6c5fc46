//! Fields of JSON objects. Those of the wrong type are absent.

use kdelta::object::JsonValue;

pub(super) fn path<'a>(value: &'a JsonValue<'a>, names: &[&str]) -> Option<&'a JsonValue<'a>> {
    names.iter().try_fold(value, |value, name| value.get(name))
}

pub(super) fn text<'a>(value: &'a JsonValue<'a>, names: &[&str]) -> Option<&'a str> {
    match path(value, names)? {
        JsonValue::Text(text) => Some(text),
        _ => None,
    }
}

pub(super) fn items<'a>(value: Option<&'a JsonValue<'a>>) -> impl Iterator<Item = &'a JsonValue<'a>> {
    let items: &[JsonValue<'a>] = match value {
        Some(JsonValue::Array(items)) => items,
        _ => &[],
    };
    items.iter()
}
