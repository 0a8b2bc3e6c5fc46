//! The fields of Go's type for events, in the order in which its JSON has them.

use std::borrow::Cow;

use kdelta::object::JsonValue;

/// The shape of a value.
enum Shape {
    /// Printed as received: text, numbers, maps.
    Any,
    Struct(&'static [Field]),
    List(&'static [Field]),
}

/// A field of a type.
struct Field {
    name: &'static str,
    shape: Shape,
    empty: WhenEmpty,
}

/// The JSON of a field with Go's zero value.
#[derive(Clone, Copy)]
enum WhenEmpty {
    Omitted,
    Null,
    Text,
    Struct,
}

const fn omitted(name: &'static str) -> Field {
    Field { name, shape: Shape::Any, empty: WhenEmpty::Omitted }
}

const fn with(name: &'static str, shape: Shape, empty: WhenEmpty) -> Field {
    Field { name, shape, empty }
}

const OWNER: &[Field] = &[
    with("apiVersion", Shape::Any, WhenEmpty::Text),
    with("kind", Shape::Any, WhenEmpty::Text),
    with("name", Shape::Any, WhenEmpty::Text),
    with("uid", Shape::Any, WhenEmpty::Text),
    omitted("controller"),
    omitted("blockOwnerDeletion"),
];

const MANAGED_FIELDS: &[Field] = &[
    omitted("manager"),
    omitted("operation"),
    omitted("apiVersion"),
    omitted("time"),
    omitted("fieldsType"),
    omitted("fieldsV1"),
    omitted("subresource"),
];

const METADATA: &[Field] = &[
    omitted("name"),
    omitted("generateName"),
    omitted("namespace"),
    omitted("selfLink"),
    omitted("uid"),
    omitted("resourceVersion"),
    omitted("generation"),
    omitted("creationTimestamp"),
    omitted("deletionTimestamp"),
    omitted("deletionGracePeriodSeconds"),
    omitted("labels"),
    omitted("annotations"),
    with("ownerReferences", Shape::List(OWNER), WhenEmpty::Omitted),
    omitted("finalizers"),
    with("managedFields", Shape::List(MANAGED_FIELDS), WhenEmpty::Omitted),
];

const REFERENCE: &[Field] = &[
    omitted("kind"),
    omitted("namespace"),
    omitted("name"),
    omitted("uid"),
    omitted("apiVersion"),
    omitted("resourceVersion"),
    omitted("fieldPath"),
];

const SOURCE: &[Field] = &[omitted("component"), omitted("host")];

const SERIES: &[Field] = &[omitted("count"), with("lastObservedTime", Shape::Any, WhenEmpty::Null)];

const EVENT: &[Field] = &[
    omitted("kind"),
    omitted("apiVersion"),
    with("metadata", Shape::Struct(METADATA), WhenEmpty::Struct),
    with("involvedObject", Shape::Struct(REFERENCE), WhenEmpty::Struct),
    omitted("reason"),
    omitted("message"),
    with("source", Shape::Struct(SOURCE), WhenEmpty::Struct),
    with("firstTimestamp", Shape::Any, WhenEmpty::Null),
    with("lastTimestamp", Shape::Any, WhenEmpty::Null),
    omitted("count"),
    omitted("type"),
    with("eventTime", Shape::Any, WhenEmpty::Null),
    with("series", Shape::Struct(SERIES), WhenEmpty::Omitted),
    omitted("action"),
    with("related", Shape::Struct(REFERENCE), WhenEmpty::Omitted),
    with("reportingComponent", Shape::Any, WhenEmpty::Text),
    with("reportingInstance", Shape::Any, WhenEmpty::Text),
];

/// Returns an event with the fields of its type only. A value of another type than the field's is kept.
pub(super) fn event(value: JsonValue<'_>) -> JsonValue<'_> {
    structure(value, EVENT)
}

fn structure<'a>(value: JsonValue<'a>, fields: &[Field]) -> JsonValue<'a> {
    let JsonValue::Object(mut members) = value else { return value };
    let mut ordered = Vec::with_capacity(fields.len());
    for field in fields {
        let at = members.iter().position(|(name, _)| name == field.name);
        let value = at.map_or(JsonValue::Null, |at| members.swap_remove(at).1);
        if is_zero(&value) && !matches!((&value, &field.shape), (JsonValue::Object(_), Shape::Struct(_))) {
            ordered.extend(zero(field.empty).map(|value| (Cow::Borrowed(field.name), value)));
            continue;
        }
        let value = match (&field.shape, value) {
            (Shape::Struct(fields), value) => structure(value, fields),
            (Shape::List(fields), JsonValue::Array(items)) => {
                JsonValue::Array(items.into_iter().map(|item| structure(item, fields)).collect())
            }
            (_, value) => value,
        };
        ordered.push((Cow::Borrowed(field.name), value));
    }
    JsonValue::Object(ordered)
}

/// Whether Go's encoder treats the value as empty.
fn is_zero(value: &JsonValue<'_>) -> bool {
    match value {
        JsonValue::Null | JsonValue::Int(0) | JsonValue::Bool(false) => true,
        JsonValue::Text(text) => text.is_empty(),
        JsonValue::Array(items) => items.is_empty(),
        JsonValue::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn zero(empty: WhenEmpty) -> Option<JsonValue<'static>> {
    match empty {
        WhenEmpty::Omitted => None,
        WhenEmpty::Null => Some(JsonValue::Null),
        WhenEmpty::Text => Some(JsonValue::Text(Cow::Borrowed(""))),
        WhenEmpty::Struct => Some(JsonValue::Object(Vec::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(json: &str) -> String {
        let mut out = Vec::new();
        event(JsonValue::parse(json.as_bytes())).write_compact(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn fields_have_the_order_of_the_type() {
        assert_eq!(
            compact(
                r#"{"type":"Normal","count":0,"series":{"count":2},"unknown":1,"message":"m","kind":"Event","apiVersion":"v1","lastTimestamp":"t","metadata":{"namespace":"n","name":"e","ownerReferences":[{"name":"o","kind":"K"}]},"involvedObject":{"name":"x","kind":"Pod"}}"#
            ),
            r#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","ownerReferences":[{"apiVersion":"","kind":"K","name":"o","uid":""}]},"involvedObject":{"kind":"Pod","name":"x"},"message":"m","source":{},"firstTimestamp":null,"lastTimestamp":"t","type":"Normal","eventTime":null,"series":{"count":2,"lastObservedTime":null},"reportingComponent":"","reportingInstance":""}"#
        );
    }

    #[test]
    fn values_of_other_types_are_kept() {
        assert_eq!(compact("[1]"), "[1]");
        assert!(compact(r#"{"metadata":3,"source":"x","series":[]}"#).starts_with(r#"{"metadata":3,"#));
    }
}
