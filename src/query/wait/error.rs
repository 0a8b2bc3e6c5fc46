//! The errors of conditions on an object.

use crate::object::JsonPathError;

/// Why an object can't be tested. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionTestError {
    /// A field has another type.
    #[error("{path} accessor error: {value} is of the type {found}, expected {expected}")]
    FieldType {
        /// The path of the field.
        path: &'static str,
        /// Its value.
        value: String,
        /// The name of the value's Go type.
        found: &'static str,
        /// The name of the expected Go type.
        expected: &'static str,
    },
    /// The path has several sections.
    #[error("given jsonpath expression matches more than one list")]
    SeveralLists,
    /// The path has several values.
    #[error("given jsonpath expression matches more than one value")]
    SeveralValues,
    /// The path has an object or an array, which are not compared.
    #[error("jsonpath leads to a nested object or list which is not supported")]
    Nested,
    /// The path does not fit the object.
    #[error(transparent)]
    Path(#[from] JsonPathError),
}
