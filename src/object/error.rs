//! The error of a text that is not a valid object.

/// The reasons why a text is not a valid object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The text is not JSON, or its metadata does not have the types of the API conventions. The message does not
    /// contain the text: it may be a Secret.
    #[error("not a Kubernetes object: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The text is not UTF-8. The JSON parser checks only the strings that it returns, but bodies are printed and
    /// searched as text.
    #[error("not a Kubernetes object: it is not UTF-8")]
    NotUtf8,
    /// The object has no `metadata.name`.
    #[error("not a Kubernetes object: it has no metadata.name")]
    Nameless,
}
