//! `--sort-by` as kubectl has it: an expression, a key for each object, and the sort of a list by its keys.
//!
//! A caller keeps a [`SortKey`] and a payload for each object, such as a compressed body or a row of cells; the object
//! itself can be dropped.
//!
//! ```
//! use kdelta::object::JsonValue;
//! use kdelta::query::{SortBy, SortedItems};
//!
//! let by = SortBy::parse(".status.capacity", SortedItems::Objects)?;
//! let mut disks = Vec::new();
//! for json in [r#"{"status":{"capacity":"1Gi"}}"#, r#"{"status":{"capacity":"200Mi"}}"#, "{}"] {
//!     disks.push((by.key(&JsonValue::parse(json.as_bytes()))?, json));
//! }
//! by.sort(&mut disks)?;
//! let sizes = [None, Some("200Mi"), Some("1Gi")];
//! assert!(disks.iter().zip(sizes).all(|((_, json), size)| json.contains(size.unwrap_or("{}"))));
//! # Ok::<(), kdelta::query::SortError>(())
//! ```
//!
//! # kubectl's rules around the sort
//!
//! - It requests tables with the whole objects (`includeObject=Object`) and sorts the rows by them. A list is requested in
//!   one piece: `--chunk-size` is ignored.
//! - A single table is sorted if it has two rows or more; with fewer, the expression is not even parsed. After an error of
//!   the expression nothing is printed but `No resources found`, with success; only values that can't be compared
//!   end kubectl with an error.
//! - Several tables (one per type, and one per name if names are given) are first sorted among each other as
//!   [`SortedItems::Objects`]: the expression selects in the Table documents, so that `.metadata.name` is an error and
//!   `.metadata.resourceVersion` is not. Then the rows of each are sorted.
//! - Everything else is one list of objects, of all types together. An empty list is not sorted. One object alone is not
//!   sorted, and its expression not parsed, as a table or if its name was given.
//! - With `--watch`, the initial objects are sorted only if they are a table; see [`WATCH_WARNING`].

mod error;
mod items;
mod key;
mod order;
#[cfg(test)]
mod tests;

pub use error::SortError;
pub use items::SortedItems;
pub use key::{Incomparable, SortKey};
pub use order::go_sort;

use crate::object::{JsonPath, JsonValue, relaxed_jsonpath};

/// The warning on standard error for `--sort-by` with `--watch`.
pub const WATCH_WARNING: &str =
    "warning: --watch requested, --sort-by will be ignored for watch events received";

/// The warning on standard error for `--sort-by` with `--watch-only`.
pub const WATCH_ONLY_WARNING: &str = "warning: --watch-only requested, --sort-by will be ignored";

/// A parsed sort expression.
#[derive(Debug)]
pub struct SortBy {
    items: SortedItems,
    expression: String,
    path: JsonPath,
}

impl SortBy {
    /// Parses the value of `--sort-by`. The braces and the first dot of a path may be missing.
    ///
    /// # Errors
    ///
    /// The expression can't be parsed.
    pub fn parse(text: &str, items: SortedItems) -> Result<Self, SortError> {
        let failure = |error| SortError::Expression { items, error };
        let expression = match (relaxed_jsonpath(text), items) {
            (Ok(expression), _) => expression,
            (Err(_), SortedItems::Rows) => text.to_owned(),
            (Err(error), SortedItems::Objects) => return Err(failure(error)),
        };
        let path = JsonPath::parse(&expression).map_err(failure)?.allow_missing_keys(true);
        Ok(Self { items, expression, path })
    }

    /// Whether the expression reads nothing but the metadata of an object.
    #[must_use]
    pub fn reads_only_metadata(&self) -> bool {
        self.path.root_field() == Some("metadata")
    }

    /// Returns the key of an object: the first value at the path.
    ///
    /// # Errors
    ///
    /// The expression fails on this object, such as an index beyond an array. kubectl then sorts nothing.
    pub fn key(&self, object: &JsonValue<'_>) -> Result<SortKey, SortError> {
        let results = self.path.find_results(object).map_err(|error| SortError::Evaluation {
            items: self.items,
            expression: self.expression.clone(),
            error,
        })?;
        let first = results.first().and_then(|values| values.first());
        Ok(first.map_or_else(SortKey::missing, |value| SortKey::of(value)))
    }

    /// Sorts a list by its keys, in kubectl's order. The sort is not stable: the order of equal keys is kubectl's too. An
    /// empty list is sorted. The sort moves the payloads; large ones should be boxed.
    ///
    /// # Errors
    ///
    /// - No object has the field.
    /// - Two values can't be compared. The list is then in an unspecified order.
    pub fn sort<T>(&self, list: &mut [(SortKey, T)]) -> Result<(), SortError> {
        if !list.is_empty() && list.iter().all(|(key, _)| key.is_missing()) {
            return Err(SortError::NotFound { expression: self.expression.clone() });
        }
        go_sort(list, |(a, _), (b, _)| a.is_less(b)).map_err(|reason| SortError::Incomparable {
            items: self.items,
            expression: self.expression.clone(),
            reason,
        })
    }
}
