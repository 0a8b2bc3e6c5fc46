//! The expression of an index whose values are its results.

use std::sync::Arc;

use kdelta::query::CelValues;

use crate::settings::usage::UsageError;

/// A compiled expression. Two are equal if their texts are.
#[derive(Debug, Clone)]
pub(crate) struct CelIndex {
    text: Arc<str>,
    values: Arc<CelValues>,
}

impl PartialEq for CelIndex {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CelIndex {}

impl CelIndex {
    pub(super) fn parse(text: &str) -> Result<Self, UsageError> {
        match CelValues::parse(text) {
            Ok(values) => Ok(Self { text: text.into(), values: Arc::new(values) }),
            Err(error) => Err(UsageError::Expression { flag: "by cel", error }),
        }
    }

    /// Returns the expression as it was typed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the compiled expression.
    pub(crate) fn values(&self) -> &Arc<CelValues> {
        &self.values
    }

    /// Whether the expression reads more of an object than its metadata.
    pub(crate) fn needs_body(&self) -> bool {
        self.values.paths().iter().any(|path| path.first() != Some(&"metadata"))
    }
}
