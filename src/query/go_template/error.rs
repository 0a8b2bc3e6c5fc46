//! The errors of templates, with kubectl's texts.

/// A template that can't be parsed or executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The text is not a template. Only another text helps.
    #[error("error parsing template {template}, {message}")]
    Syntax {
        /// The text.
        template: String,
        /// Go's message, with the line.
        message: String,
    },
    /// The template does not fit the object.
    #[error("error executing template {quoted}: {message}")]
    Execution {
        /// The text as a quoted Go string.
        quoted: String,
        /// Go's message, with the position in the text.
        message: String,
    },
    /// The execution needs more depth, steps or memory than a template may use. Go has no such limit.
    #[error("error executing template {quoted}: {message}")]
    Limit {
        /// The text as a quoted Go string.
        quoted: String,
        /// The limit, with the position in the text.
        message: String,
    },
}
