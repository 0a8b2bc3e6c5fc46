//! Compiled expressions.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::{CelError, CelSyntaxError};
use super::eval::{Evaluation, Variables};
use super::plan::{Path, PathStep, Program};
use super::required::{RequiredValue, required_values};
use super::{check, syntax};

/// A compiled CEL expression whose result is a boolean.
///
/// The variables are `object`; `old`, if the filter was compiled with it; and `now`, a timestamp. The functions and
/// macros are those of Kubernetes' validating admission policies, without the authorizer. Times in objects are strings;
/// `timestamp` converts them.
///
/// ```
/// # use std::time::SystemTime;
/// # use kdelta::query::{CelFilter, CelInput};
/// let filter = CelFilter::parse("object.spec.replicas > 2 && !has(object.spec.paused)", false)?;
/// let input = CelInput::new(br#"{"spec":{"replicas":3}}"#, SystemTime::UNIX_EPOCH);
/// assert_eq!(filter.evaluate(&input), Ok(true));
/// let error = CelFilter::parse("object.name == nam", false).unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 16: unknown variable \"nam\"");
/// # Ok::<(), kdelta::query::CelSyntaxError>(())
/// ```
///
/// An evaluation takes at most a million steps, in macros and functions, too. The limit depends only on the
/// expression and the object.
pub struct CelFilter {
    program: Program,
    text: String,
    required: Vec<RequiredValue>,
}

/// The values of an expression's variables.
#[derive(Debug, Clone, Copy)]
pub struct CelInput<'a> {
    variables: Variables<'a>,
}

impl<'a> CelInput<'a> {
    /// Returns the input for an object, as JSON, at a time. There is no old state: `old` is null.
    #[must_use]
    pub fn new(object: &'a [u8], now: SystemTime) -> Self {
        let nanos = |duration: std::time::Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
        let now = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => nanos(since),
            Err(before) => -nanos(before.duration()),
        };
        Self { variables: Variables { object, old: None, now } }
    }

    /// Sets the state of the object before, as JSON.
    #[must_use]
    pub fn with_old(mut self, old: &'a [u8]) -> Self {
        self.variables.old = Some(old);
        self
    }
}

impl CelFilter {
    /// Compiles an expression. `old` is a variable only if `has_old`.
    ///
    /// # Errors
    /// The first problem, with its position.
    pub fn parse(text: &str, has_old: bool) -> Result<Self, CelSyntaxError> {
        let parsed =
            syntax::parse(text).and_then(|expr| Ok((check::check(&expr, has_old)?, required_values(&expr))));
        let (program, required) = parsed.map_err(|problem| problem.in_text(text))?;
        Ok(Self { program, text: text.to_owned(), required })
    }

    /// Returns whether the expression is true.
    ///
    /// # Errors
    /// The expression has no result, or one that is no boolean.
    pub fn evaluate(&self, input: &CelInput<'_>) -> Result<bool, CelError> {
        Evaluation::new(&self.program, input.variables).run().0
    }

    /// Returns values without which an object can't match: those that `==` or `in` compares a field of the object with,
    /// where the comparison must be true for the expression to be.
    #[must_use]
    pub fn required_values(&self) -> &[RequiredValue] {
        &self.required
    }

    /// Whether the result depends on the time.
    #[must_use]
    pub fn uses_now(&self) -> bool {
        self.program.uses_now
    }

    /// Whether the result depends on the state before.
    #[must_use]
    pub fn uses_old(&self) -> bool {
        self.program.paths.iter().any(|path| path.step == PathStep::Old)
    }

    /// Returns the values of the object that the expression reads: the names of the fields on the way to each, up to the
    /// first element or key that is not constant. A value may be below another one; an empty path is the whole object.
    #[must_use]
    pub fn paths(&self) -> Vec<Vec<&str>> {
        let paths = self.program.paths.iter().filter(|path| path.reads > 0);
        let mut names: Vec<Vec<&str>> = paths.filter_map(|path| self.names(path)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the names of the fields up to the first element; `None` for a path below `old`.
    fn names<'p>(&'p self, path: &'p Path) -> Option<Vec<&'p str>> {
        let mut steps = vec![&path.step];
        let mut parent = path.parent;
        while let Some(place) = parent {
            steps.push(&self.program.paths[place].step);
            parent = self.program.paths[place].parent;
        }
        let mut names = Vec::new();
        for step in steps.into_iter().rev() {
            match step {
                PathStep::Object => {}
                PathStep::Old => return None,
                PathStep::Field(name) => names.push(&**name),
                PathStep::Element(_) => break,
            }
        }
        Some(names)
    }
}

/// Shows the expression.
impl fmt::Debug for CelFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CelFilter").field(&self.text).finish()
    }
}
