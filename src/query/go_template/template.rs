//! A parsed template and its execution on one object.

use super::error::TemplateError;
use super::exec::{Budget, Executor, Failure, FailureKind, Flow, Options};
use super::format::{Buffer, print_value, quote};
use super::limits::MAX_OUTPUT;
use super::syntax::{Template, parse};
use super::value::Value;
use crate::object::JsonValue;

/// A parsed template of Go's `text/template` with kubectl's functions.
///
/// ```
/// use kdelta::object::JsonValue;
/// use kdelta::query::GoTemplate;
///
/// let template = GoTemplate::parse(r#"{{range .items}}{{printf "%-5s" .metadata.name}}|{{end}}"#)?;
/// let list = JsonValue::parse(br#"{"items":[{"metadata":{"name":"web"}},{"metadata":{"name":"db"}}]}"#);
/// let mut out = Vec::new();
/// template.execute(&list, &mut out)?;
/// assert_eq!(out, b"web  |db   |");
/// # Ok::<(), kdelta::query::TemplateError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GoTemplate {
    text: Box<str>,
    template: Template,
    allow_missing_keys: bool,
}

impl GoTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// [`TemplateError::Syntax`] with the message of kubectl.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        match parse(text) {
            Ok(template) => Ok(Self { text: text.into(), template, allow_missing_keys: true }),
            Err(message) => Err(TemplateError::Syntax { template: text.to_owned(), message }),
        }
    }

    /// Sets whether a missing key is printed as `<no value>` (the default, as in kubectl) or is an error.
    #[must_use]
    pub fn allow_missing_keys(mut self, is_allowed: bool) -> Self {
        self.allow_missing_keys = is_allowed;
        self
    }

    /// Executes the template on an object and appends its output. If that fails, the output up to there and kubectl's
    /// description of template and object are appended.
    ///
    /// # Errors
    /// [`TemplateError::Execution`] if the template does not fit the object, and [`TemplateError::Limit`].
    pub fn execute(&self, object: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), TemplateError> {
        self.execute_within(Budget::full(), object, out)
    }

    pub(super) fn execute_within(
        &self,
        budget: Budget,
        object: &JsonValue<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), TemplateError> {
        let mut executor = Executor::new(self.options(), Value::concrete(object), budget, out);
        let result = match executor.definition("output") {
            Some(definition) => executor.walk(&Value::concrete(object), &definition.nodes),
            None => Ok(Flow::Next),
        };
        match result {
            Ok(_) => Ok(()),
            Err(failure) => {
                self.describe(&failure, object, out);
                Err(self.error(*failure))
            }
        }
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }

    pub(super) fn options(&self) -> Options<'_> {
        Options { text: &self.text, template: &self.template, allow_missing_keys: self.allow_missing_keys }
    }

    pub(super) fn error(&self, failure: Failure) -> TemplateError {
        let (quoted, message) = (quote(self.text.as_bytes()), failure.message);
        match failure.kind {
            FailureKind::Invalid => TemplateError::Execution { quoted, message },
            FailureKind::Limit => TemplateError::Limit { quoted, message },
        }
    }

    /// Appends what kubectl prints about a failed execution.
    fn describe(&self, failure: &Failure, object: &JsonValue<'_>, out: &mut Vec<u8>) {
        let (message, text) = (&failure.message, &self.text);
        let head = format!(
            "Error executing template: {message}. Printing more information for debugging the template:\n\
             \ttemplate was:\n\t\t{text}\n\traw data was:\n\t\t"
        );
        out.extend_from_slice(head.as_bytes());
        object.write_compact(out);
        out.extend_from_slice(b"\n\tobject given to template engine was:\n\t\t");
        print_value(&Value::concrete(object), &mut Buffer::new(out, MAX_OUTPUT));
        out.extend_from_slice(b"\n\n");
    }
}
