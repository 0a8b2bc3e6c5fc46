//! The errors of sorting, in kubectl's words.

use super::items::SortedItems;
use super::key::Incomparable;
use crate::object::{JsonPathError, go_quote};

/// A list that can't be sorted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SortError {
    /// The expression can't be parsed.
    #[error("{}{error}", match .items { SortedItems::Objects => "", SortedItems::Rows => "sorting error: " })]
    Expression {
        /// The kind of list; the texts differ.
        items: SortedItems,
        /// The reason.
        error: JsonPathError,
    },
    /// The expression fails on an object, such as an index beyond an array.
    #[error("{}", evaluation(*.items, .expression, .error))]
    Evaluation {
        /// The kind of list; the texts differ.
        items: SortedItems,
        /// The expression.
        expression: String,
        /// The reason.
        error: JsonPathError,
    },
    /// No object has the field.
    #[error("couldn't find any field with path {} in the list of objects", go_quote(.expression))]
    NotFound {
        /// The expression, such as `{.spec.replicas}`.
        expression: String,
    },
    /// Two objects have values that can't be compared.
    #[error(
        "Field {expression} in {} is an unsortable type: interface, err: {reason}",
        match .items { SortedItems::Objects => "*unstructured.Unstructured", SortedItems::Rows => "[][][]reflect.Value" }
    )]
    Incomparable {
        /// The kind of list; the texts differ.
        items: SortedItems,
        /// The expression.
        expression: String,
        /// The reason.
        reason: Incomparable,
    },
}

fn evaluation(items: SortedItems, expression: &str, error: &JsonPathError) -> String {
    match items {
        SortedItems::Objects => error.to_string(),
        SortedItems::Rows => format!(
            "Failed to get values for [][]reflect.Value(nil) using {expression} (&errors.errorString{{s:{}}})",
            go_quote(&error.to_string())
        ),
    }
}
