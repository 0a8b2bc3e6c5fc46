//! Compiled CEL expressions whose result is a boolean.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::check;
use super::error::{CelError, CelSyntaxError, Problem};
use super::eval::{Evaluation, Validity, Variables};
use super::plan::{PathStep, Program};
use super::required::{RequiredValue, required_values, required_values_suffice};
use super::syntax::{self, Expr};

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
    required_values_suffice: bool,
}

/// The time for which a result holds while the object stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CelValidity {
    /// The result does not depend on the time.
    Always,
    /// The result may be another from this moment on.
    Until(SystemTime),
    /// The result may be another at any moment: the expression passes the time to a function, for example.
    Unknown,
}

impl CelValidity {
    fn of(validity: Validity) -> Self {
        match validity {
            Validity { is_unknown: true, .. } => Self::Unknown,
            Validity { until: None, .. } => Self::Always,
            Validity { until: Some(nanos), .. } => {
                // A moment that does not fit is more than 500 years away.
                let nanos = u64::try_from(nanos.max(0)).unwrap_or(u64::MAX);
                Self::Until(UNIX_EPOCH + Duration::from_nanos(nanos))
            }
        }
    }
}

/// The values of an expression's variables.
#[derive(Debug, Clone, Copy)]
pub struct CelInput<'a> {
    pub(super) variables: Variables<'a>,
}

impl<'a> CelInput<'a> {
    /// Returns the input for an object, as JSON, at a time. There is no old state: `old` is null.
    #[must_use]
    pub fn new(object: &'a [u8], now: SystemTime) -> Self {
        let nanos = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
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
        syntax::parse(text)
            .and_then(|expr| Self::compile(&expr, text, has_old))
            .map_err(|problem| problem.in_text(text))
    }

    /// Compiles a parsed expression with this text.
    ///
    /// # Errors
    /// The first problem.
    pub(super) fn compile(expr: &Expr, text: &str, has_old: bool) -> Result<Self, Problem> {
        let program = check::check(expr, check::Purpose::Filter { has_old })?;
        Ok(Self {
            program,
            text: text.to_owned(),
            required: required_values(expr),
            required_values_suffice: required_values_suffice(expr),
        })
    }

    /// Returns whether the expression is true.
    ///
    /// # Errors
    /// The expression has no result, or one that is no boolean.
    pub fn evaluate(&self, input: &CelInput<'_>) -> Result<bool, CelError> {
        Evaluation::new(&self.program, input.variables).boolean().0
    }

    /// Returns whether the expression is true, and how long this is so while the object stays the same.
    ///
    /// Comparisons of the time, or of a sum or difference with it, change at a moment that is known: that of
    /// `now - timestamp(object.status.startTime) > duration("1h")` is an hour after the start. Comparisons that were not
    /// evaluated, such as those after `false &&`, do not count.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use kdelta::query::{CelFilter, CelInput, CelValidity};
    /// let filter = CelFilter::parse("now >= timestamp(object.end)", false)?;
    /// let input = CelInput::new(br#"{"end":"1970-01-01T01:00:00Z"}"#, SystemTime::UNIX_EPOCH);
    /// let end = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    /// assert_eq!(filter.evaluate_with_validity(&input), (Ok(false), CelValidity::Until(end)));
    /// # Ok::<(), kdelta::query::CelSyntaxError>(())
    /// ```
    pub fn evaluate_with_validity(&self, input: &CelInput<'_>) -> (Result<bool, CelError>, CelValidity) {
        let (result, validity, _) = Evaluation::new(&self.program, input.variables).boolean();
        (result, CelValidity::of(validity))
    }

    /// Returns values without which an object can't match: those that `==` or `in` compares a field of the object with,
    /// where the comparison must be true for the expression to be.
    #[must_use]
    pub fn required_values(&self) -> &[RequiredValue] {
        &self.required
    }

    /// Whether the expression is true for each object that has the [required values](Self::required_values).
    #[must_use]
    pub fn required_values_suffice(&self) -> bool {
        self.required_values_suffice
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
        self.program.object_paths()
    }
}

/// Shows the expression.
impl fmt::Debug for CelFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CelFilter").field(&self.text).finish()
    }
}
