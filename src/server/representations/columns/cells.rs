//! The building blocks of rows: common columns, and cell formats of kubectl.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object::human_duration;

/// Name, type, priority.
pub(super) type Definition = (&'static str, &'static str, u8);

pub(super) const NAME: Definition = ("Name", "string", 0);
pub(super) const AGE: Definition = ("Age", "string", 0);
pub(super) const CREATED_AT: Definition = ("Created At", "date", 0);
pub(super) const CONTAINERS: Definition = ("Containers", "string", 1);
pub(super) const IMAGES: Definition = ("Images", "string", 1);
pub(super) const SELECTOR: Definition = ("Selector", "string", 1);

/// The name and time that every row needs.
pub(crate) struct RowContext {
    pub(super) name: Value,
    pub(super) age: Value,
    pub(super) now: Timestamp,
}

pub(super) fn definition((name, kind, priority): &Definition) -> Value {
    let format = if *name == "Name" { "name" } else { "" };
    json!({
        "name": name, "type": kind, "format": format, "priority": priority,
        "description": format!("{name} of the object"),
    })
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a string, or kubectl's placeholder for an empty one.
pub(super) fn or_none(text: &str) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

pub(super) fn joined(values: &Value, key: &str) -> String {
    let each = values.as_array().into_iter().flatten();
    each.map(|value| text(&value[key])).collect::<Vec<_>>().join(",")
}

/// Returns `matchLabels` as `a=b,c=d`.
pub(super) fn labels(labels: &Value) -> Value {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", text(value))).collect();
    or_none(&pairs.join(","))
}

/// Returns a `LabelSelector` as text, sorted by label.
pub(crate) fn selector(selector: &Value) -> String {
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<(&str, String)> =
        pairs.map(|(key, value)| (key.as_str(), format!("{key}={}", text(value)))).collect();
    for term in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(&term["key"]);
        let mut values: Vec<&str> = term["values"].as_array().into_iter().flatten().map(text).collect();
        values.sort_unstable();
        let values = values.join(",");
        terms.push((
            key,
            match text(&term["operator"]) {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                _ => key.to_owned(),
            },
        ));
    }
    terms.sort();
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}

/// Returns the first few strings and the number of the others.
pub(super) fn first_few(list: &[String], separator: &str, none: &str) -> Value {
    const MOST: usize = 3;
    match list.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} + {more} more...", list[..MOST].join(separator)).into(),
        _ if list.is_empty() => none.into(),
        _ => list.join(separator).into(),
    }
}

pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a number or string as text.
pub(super) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the age of a timestamp in kubectl's format.
pub(super) fn since(time: &Value, now: Timestamp) -> String {
    match time.as_str().and_then(|time| time.parse::<Timestamp>().ok()) {
        Some(time) => human_duration(now.as_second() - time.as_second()),
        None => "<unknown>".to_owned(),
    }
}
