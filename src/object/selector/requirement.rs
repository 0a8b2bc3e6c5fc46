//! The requirements of a label selector.

/// A condition on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) label: String,
    pub(super) test: Test,
}

/// The condition on the label's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Exists,
    Absent,
    /// The operator as written, and the value.
    Is(&'static str, String),
    IsNot(String),
    /// Sorted, distinct, not empty.
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}
