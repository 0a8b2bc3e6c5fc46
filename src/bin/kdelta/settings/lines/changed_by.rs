//! The values of `--changed-by`: what an update must change to be printed.

use kdelta::query::JqFilter;

use crate::settings::UsageError;

/// A part of an object, or a result computed from it.
#[derive(Debug, Clone)]
pub(crate) enum ChangedBy {
    /// An unparsed path.
    Path(String),
    /// The results of an expression, which lives as long as the process.
    Jq(&'static JqFilter),
}

/// Expressions are equal if they are the same one.
impl PartialEq for ChangedBy {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a == b,
            (Self::Jq(a), Self::Jq(b)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }
}

impl Eq for ChangedBy {}

impl ChangedBy {
    pub(in crate::settings) fn read(text: &str) -> Result<Self, UsageError> {
        let Some(expression) = text.strip_prefix("jq=") else { return Ok(Self::Path(text.to_owned())) };
        let filter = JqFilter::parse(expression)
            .map_err(|error| UsageError::ChangedBy { text: expression.to_owned(), error })?;
        Ok(Self::Jq(Box::leak(Box::new(filter))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_paths_or_expressions() {
        assert_eq!(ChangedBy::read("spec.replicas"), Ok(ChangedBy::Path("spec.replicas".into())));
        assert!(matches!(ChangedBy::read("jq=.spec | keys"), Ok(ChangedBy::Jq(_))));
        let error = ChangedBy::read("jq=.spec | nope").expect_err("no such filter").to_string();
        assert!(
            error.starts_with("invalid --changed-by: error parsing jq .spec | nope: line 1, column 9"),
            "{error}"
        );
    }
}
