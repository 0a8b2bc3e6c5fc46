//! Messages about preferences that are not applied.

/// A message about preferences that are not applied, with kubectl's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Printed as it is.
    Plain(String),
    /// Printed as a warning.
    Warning(String),
}
