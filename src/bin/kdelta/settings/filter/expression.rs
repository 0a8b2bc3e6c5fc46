//! `--where`: a CEL expression on objects.

use std::sync::Arc;

use kdelta::query::{CelFilter, CelSyntaxError, RequiredValue};

use super::needs::{FilterNeeds, ObjectContent};
use crate::settings::by::{By, Condition, IndexName};
use crate::settings::usage::UsageError;

/// A compiled expression. Two are equal if their texts are.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    text: Arc<str>,
    filter: Arc<CelFilter>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl Expression {
    /// Compiles an expression. In a watch that prints changes, it may read the state before a change.
    pub(super) fn parse(text: &str, is_watch: bool) -> Result<Self, UsageError> {
        match CelFilter::parse(text, is_watch) {
            Ok(filter) => Ok(Self { text: text.into(), filter: Arc::new(filter) }),
            Err(error) if !is_watch && CelFilter::parse(text, true).is_ok() => {
                let problem = "old is the state before a change, and only watch and get -w print changes";
                let error = CelSyntaxError { problem: problem.to_owned(), ..error };
                Err(UsageError::Expression { flag: "where", error })
            }
            Err(error) => Err(UsageError::Expression { flag: "where", error }),
        }
    }

    /// Returns the expression as it was typed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the compiled expression.
    pub(crate) fn filter(&self) -> &Arc<CelFilter> {
        &self.filter
    }

    /// Returns conditions on indices that hold for each object that the expression matches.
    pub(crate) fn required(&self) -> impl Iterator<Item = By> {
        self.filter.required_values().iter().filter_map(|RequiredValue { path, values }| {
            let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let index = match names.as_slice() {
                ["metadata", "labels", key] => IndexName::Label((*key).to_owned()),
                ["metadata", "name"] => IndexName::Name,
                ["metadata", "namespace"] => IndexName::Namespace,
                names if !names.is_empty() && names.iter().all(|name| is_plain(name)) => {
                    IndexName::Field(names.join("."))
                }
                _ => return None,
            };
            Some(By { index, condition: Condition::AnyOf(values.clone()) })
        })
    }

    /// Whether the expression matches each object for which the conditions of [`Expression::required`] hold as comparisons of
    /// texts.
    pub(crate) fn required_suffice(&self) -> bool {
        self.filter.required_values_suffice()
            && self.required().count() == self.filter.required_values().len()
    }

    /// Whether the expression reads the state before a change.
    pub(super) fn reads_old(&self) -> bool {
        self.filter.uses_old()
    }

    /// Returns what the expression reads of an object.
    pub(super) fn needs(&self) -> FilterNeeds {
        if self.reads_old() {
            return FilterNeeds::content(ObjectContent::Body);
        }
        let contents = self.filter.paths().into_iter().map(|path| match path.first() {
            Some(&"metadata") => ObjectContent::Metadata,
            _ => ObjectContent::Body,
        });
        FilterNeeds::content(contents.max().unwrap_or_default())
    }
}
