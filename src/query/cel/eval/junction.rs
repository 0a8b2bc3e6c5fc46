//! Conditions joined by `&&`, `||`, `all` or `exists`.

use crate::query::cel::error::CelError;
use crate::query::cel::value::{Outcome, Value};

/// Joined conditions. The one with the decisive value hides the errors of those before and after it.
pub(super) struct Junction {
    decisive: bool,
    /// The operator or macro, for errors.
    name: &'static str,
    error: Option<CelError>,
}

impl Junction {
    /// Joins conditions of which each has to be true.
    pub(super) fn all(name: &'static str) -> Self {
        Self { decisive: false, name, error: None }
    }

    /// Joins conditions of which one has to be true.
    pub(super) fn any(name: &'static str) -> Self {
        Self { decisive: true, name, error: None }
    }

    /// Adds the outcome of a condition. Returns whether it decides the result, so that no other is evaluated.
    ///
    /// # Errors
    /// The limit on steps was reached, which no value hides.
    pub(super) fn add(&mut self, outcome: Outcome<'_>) -> Result<bool, CelError> {
        let error = match outcome {
            Ok(Value::Bool(value)) => return Ok(value == self.decisive),
            Ok(_) => CelError::NoOverload(self.name),
            Err(CelError::TooManySteps) => return Err(CelError::TooManySteps),
            Err(error) => error,
        };
        self.error.get_or_insert(error);
        Ok(false)
    }

    /// Returns the result if a condition decided it.
    pub(super) fn decided<'a>(&self) -> Value<'a> {
        Value::Bool(self.decisive)
    }

    /// Returns the result if no condition decided it.
    ///
    /// # Errors
    /// The first error.
    pub(super) fn undecided<'a>(self) -> Outcome<'a> {
        self.error.map_or(Ok(Value::Bool(!self.decisive)), Err)
    }
}
