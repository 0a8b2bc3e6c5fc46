//! The division of conditions between the server and this program.

mod definition;
mod known_fields;
mod selectors;

pub(crate) use known_fields::KnownFields;

use kdelta::api::Request;

use super::part::Part;
use crate::settings::{By, Selection};
use selectors::{field_selector, label_selector};

/// Conditions that the server evaluates, as selectors, and those that are evaluated here.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerConditions {
    /// Label selectors, each with its condition.
    labels: Vec<(String, By)>,
    /// Field selectors, each with its condition.
    fields: Vec<(String, By)>,
    /// The conditions that are evaluated here.
    pub(crate) local: Vec<By>,
    /// The request that was sent for the definition, for the selectable fields.
    pub(crate) definition: Option<Request>,
}

impl ServerConditions {
    /// Divides conditions on the objects of a part whose server selects by these fields. A named object is requested
    /// whatever it is, so that one that does not match is not reported as missing. A server that may ignore selectors
    /// receives them, but its objects are compared here too.
    pub(crate) fn divide(part: &Part, by: &[By], known: &KnownFields) -> Self {
        let definition = known.definition.as_ref().map(|definition| definition.request.clone());
        let mut divided = Self { definition, ..Self::default() };
        let is_exact = known.is_exact(&part.resource);
        for by in by {
            let selectors = match &part.name {
                Some(_) => (None, None),
                None => (label_selector(by), field_selector(part, by, known)),
            };
            let is_sent = match selectors {
                (Some(selector), _) => {
                    divided.labels.push((selector, by.clone()));
                    true
                }
                (None, Some(selector)) => {
                    divided.fields.push((selector, by.clone()));
                    true
                }
                (None, None) => false,
            };
            if !is_sent || !is_exact {
                divided.local.push(by.clone());
            }
        }
        divided
    }

    /// Whether the server evaluates a condition, so that it does not send all objects.
    pub(crate) fn narrows(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    /// Returns the conditions that the server evaluates, each with its selector.
    pub(crate) fn described(&self) -> impl Iterator<Item = String> {
        let labels =
            self.labels.iter().map(|(selector, by)| format!("--by {by}, as the label selector {selector}"));
        let fields =
            self.fields.iter().map(|(selector, by)| format!("--by {by}, as the field selector {selector}"));
        labels.chain(fields)
    }

    /// Returns the selection with the selectors of the conditions in addition to those of the user.
    pub(crate) fn selection(&self, selection: &Selection) -> Selection {
        let joined = |own: &Option<String>, more: &[(String, By)]| {
            let all = own.iter().chain(more.iter().map(|(selector, _)| selector));
            let all: Vec<&str> = all.map(String::as_str).collect();
            (!all.is_empty()).then(|| all.join(","))
        };
        Selection {
            label_selector: joined(&selection.label_selector, &self.labels),
            field_selector: joined(&selection.field_selector, &self.fields),
            ..selection.clone()
        }
    }
}

#[cfg(test)]
mod tests;
