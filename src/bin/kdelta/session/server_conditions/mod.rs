//! The division of conditions between the server and this program.

mod definition;
mod known_fields;
mod selectors;

pub(crate) use known_fields::KnownFields;

use kdelta::api::Request;

use super::part::Part;
use crate::settings::{By, Condition, IndexName, ObjectFilter, Selection};
use selectors::{field_selector, is_of_texts, label_selector};

/// Conditions that the server evaluates, as selectors, and those that are evaluated here.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerConditions {
    /// Label selectors, each with its condition as it is shown.
    labels: Vec<(String, String)>,
    /// Field selectors, each with its condition as it is shown.
    fields: Vec<(String, String)>,
    /// The namespace of the request, with its condition as it is shown.
    namespace: Option<(String, String)>,
    /// The conditions that are evaluated here.
    pub(crate) local: Vec<By>,
    /// The filter without the expressions that the server evaluates as a whole.
    pub(crate) filter: ObjectFilter,
    /// The request that was sent for the definition, for the selectable fields.
    pub(crate) definition: Option<Request>,
}

impl ServerConditions {
    /// Divides conditions on the objects of a part whose server selects by these fields. A named object is requested
    /// whatever it is, so that one that does not match is not reported as missing. A server that may ignore selectors
    /// receives them, but its objects are compared here too. So are those of an expression with other terms than such
    /// comparisons, or with one of a field that may hold other values than texts.
    pub(crate) fn divide(part: &Part, by: &[By], filter: &ObjectFilter, known: &KnownFields) -> Self {
        let definition = known.definition.as_ref().map(|definition| definition.request.clone());
        let mut divided = Self { definition, ..Self::default() };
        let is_exact = known.is_exact(&part.resource);
        for by in by {
            if is_path(part, by) {
                divided.namespace = Some((part.namespace.to_string(), format!("--by {by}")));
                continue;
            }
            let is_sent = divided.send(part, by, format!("--by {by}"), known);
            if !is_sent || !is_exact {
                divided.local.push(by.clone());
            }
        }
        divided.filter = filter.without(|expression| {
            let mut is_decided = is_exact && expression.required_suffice();
            for by in expression.required() {
                let is_sent = divided.send(part, &by, format!("{by} of --where"), known);
                is_decided &= is_sent && is_of_texts(part, &by, known);
            }
            is_decided
        });
        divided
    }

    /// Adds the selector of a condition. Returns whether there is one.
    fn send(&mut self, part: &Part, by: &By, shown: String, known: &KnownFields) -> bool {
        if part.name.is_some() {
            return false;
        }
        if let Some(selector) = label_selector(by) {
            self.labels.push((selector, shown));
        } else if let Some(selector) = field_selector(part, by, known) {
            self.fields.push((selector, shown));
        } else {
            return false;
        }
        true
    }

    /// Whether the server evaluates a condition, so that it does not send all objects.
    pub(crate) fn narrows(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Returns the conditions that the server evaluates, each with its selector.
    pub(crate) fn described(&self) -> impl Iterator<Item = String> {
        let labels =
            self.labels.iter().map(|(selector, shown)| format!("{shown}, as the label selector {selector}"));
        let fields =
            self.fields.iter().map(|(selector, shown)| format!("{shown}, as the field selector {selector}"));
        let namespace =
            self.namespace.iter().map(|(namespace, shown)| format!("{shown}, as the namespace {namespace}"));
        labels.chain(fields).chain(namespace)
    }

    /// Returns the selection with the selectors of the conditions in addition to those of the user, and without the conditions
    /// that these replace.
    pub(crate) fn selection(&self, selection: &Selection) -> Selection {
        let joined = |own: &Option<String>, more: &[(String, String)]| {
            let all = own.iter().chain(more.iter().map(|(selector, _)| selector));
            let all: Vec<&str> = all.map(String::as_str).collect();
            (!all.is_empty()).then(|| all.join(","))
        };
        Selection {
            label_selector: joined(&selection.label_selector, &self.labels),
            field_selector: joined(&selection.field_selector, &self.fields),
            filter: self.filter.clone(),
            ..selection.clone()
        }
    }
}

/// Whether the part has only objects that match: those of one namespace. Of a named object, the namespace is given.
fn is_path(part: &Part, by: &By) -> bool {
    let is_namespace = |values: &[String]| matches!(values, [value] if **value == *part.namespace);
    let values = match (&by.index, &by.condition) {
        (IndexName::Namespace, Condition::AnyOf(values)) => values.as_slice(),
        _ => return false,
    };
    part.name.is_none() && part.resource.namespaced && !part.namespace.is_empty() && is_namespace(values)
}

#[cfg(test)]
mod tests;
