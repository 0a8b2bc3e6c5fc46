//! The selectors that correspond to conditions. Pure.

use kdelta::object::LabelSelector;

use super::known_fields::{KnownField, KnownFields};
use crate::session::part::Part;
use crate::settings::{By, Condition, IndexName};

/// Returns the label selector of a condition on a label. A key or value that the server would refuse belongs to no object;
/// it is left to the index.
pub(super) fn label_selector(by: &By) -> Option<String> {
    let IndexName::Label(key) = &by.index else { return None };
    let set = |values: &[String]| {
        let is_clear = |value: &String| !value.is_empty() && !value.contains([',', ' ', '(', ')']);
        values.iter().all(is_clear).then(|| values.join(","))
    };
    let selector = match &by.condition {
        Condition::Exists => key.clone(),
        Condition::Absent => format!("!{key}"),
        Condition::AnyOf(values) => match values.as_slice() {
            [value] => format!("{key}={value}"),
            values => format!("{key} in ({})", set(values)?),
        },
        Condition::NoneOf(values) => match values.as_slice() {
            [value] => format!("{key}!={value}"),
            values => format!("{key} notin ({})", set(values)?),
        },
    };
    // A comma or an operator in a key or a value would make another selector.
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    let values = match &by.condition {
        Condition::AnyOf(values) | Condition::NoneOf(values) => values.as_slice(),
        Condition::Exists | Condition::Absent => &[],
    };
    let is_plain = is_plain(key) && values.iter().all(|value| is_plain(value));
    (is_plain && LabelSelector::parse(&selector).is_ok()).then_some(selector)
}

/// Whether a condition is on a label, a name or a field whose values are texts in every object. To an expression, a text
/// differs from a number or a boolean that a selector writes in the same way.
pub(super) fn is_of_texts(part: &Part, by: &By, known: &KnownFields) -> bool {
    let is_text = |path| known.find(&part.resource, path).is_some_and(|field| field.is_text);
    match &by.index {
        IndexName::Label(_) | IndexName::Name | IndexName::Namespace => true,
        IndexName::Node => is_text("spec.nodeName"),
        IndexName::Field(path) => is_text(path),
        IndexName::Annotation(_) | IndexName::Owner | IndexName::Image | IndexName::Cel(_) => false,
    }
}

/// Returns the field selector of a condition on a name, a namespace or a field that the server selects by. A field selector
/// has no alternatives.
pub(super) fn field_selector(part: &Part, by: &By, known: &KnownFields) -> Option<String> {
    let found = match &by.index {
        // Every object has them.
        IndexName::Name | IndexName::Namespace if by.condition == Condition::Exists => return None,
        IndexName::Name => KnownField::metadata("metadata.name"),
        IndexName::Namespace if part.resource.namespaced && part.namespace.is_empty() => {
            KnownField::metadata("metadata.namespace")
        }
        IndexName::Node => known.find(&part.resource, "spec.nodeName")?,
        IndexName::Field(path) => known.find(&part.resource, path)?,
        IndexName::Namespace
        | IndexName::Label(_)
        | IndexName::Annotation(_)
        | IndexName::Owner
        | IndexName::Image
        | IndexName::Cel(_) => return None,
    };
    let KnownField { field, absent, .. } = found;
    let term = |operator: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
        format!("{field}{operator}{value}")
    };
    // To an index, an absent field has no value.
    let is_distinct = |value: &String| !value.is_empty() && absent != Some(value);
    match &by.condition {
        Condition::AnyOf(values) => match values.as_slice() {
            [value] if is_distinct(value) => Some(term("=", value)),
            _ => None,
        },
        Condition::NoneOf(values) if values.iter().all(is_distinct) => {
            Some(values.iter().map(|value| term("!=", value)).collect::<Vec<_>>().join(","))
        }
        Condition::NoneOf(_) => None,
        Condition::Exists => Some(term("!=", absent?)),
        Condition::Absent => Some(term("=", absent?)),
    }
}
