//! An object as a member of groups: its values and its numbers.

use std::sync::Arc;

use super::group_key::GroupKey;
use super::numbers::Number;

/// The most groups of one object. Each index of a cross table multiplies them.
const MAX_GROUPS: usize = 4096;

/// An object of [`Groups`](super::Groups).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    scope: usize,
    /// The values in each index, sorted, each once.
    values: Vec<Vec<Arc<str>>>,
    /// The numbers at each path.
    numbers: Vec<Vec<Number>>,
}

/// An object has so many values that it would belong to more than 4096 groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the object has too many combinations of values: at most {MAX_GROUPS} are counted")]
pub struct TooManyGroups;

impl Member {
    /// Creates a member of a scope with the values of each index and the numbers at each path. Without a value in one of
    /// the indices, it belongs to no group. Repeated values count once, repeated numbers as often as they occur.
    ///
    /// # Errors
    /// The object would belong to too many groups.
    pub fn new(
        scope: usize,
        mut values: Vec<Vec<Arc<str>>>,
        numbers: Vec<Vec<Number>>,
    ) -> Result<Self, TooManyGroups> {
        for values in &mut values {
            values.sort_unstable();
            values.dedup();
        }
        let count = match values.as_slice() {
            [only] => Some(only.len()),
            // The totals of a table add a row, a column and a cell.
            all => all.iter().try_fold(1_usize, |product, values| product.checked_mul(values.len() + 1)),
        };
        // With a single index, the text of the object bounds the number of its values.
        if values.len() > 1 && count.is_none_or(|count| count > MAX_GROUPS) {
            return Err(TooManyGroups);
        }
        Ok(Self { scope, values, numbers })
    }

    /// Returns the numbers at each path.
    pub(super) fn numbers(&self) -> &[Vec<Number>] {
        &self.numbers
    }

    /// Returns the keys of its groups, each once.
    pub(super) fn groups(&self) -> impl Iterator<Item = GroupKey> + use<> {
        let scope = self.scope;
        self.combinations().into_iter().map(move |values| GroupKey { scope, values: values.into() })
    }

    fn combinations(&self) -> Vec<Vec<Option<Arc<str>>>> {
        let Some((columns, rows)) = self.values.split_last() else { return Vec::new() };
        if self.values.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        let mut before: Vec<Vec<Option<Arc<str>>>> = vec![Vec::new()];
        for values in rows {
            let extended = before.iter().flat_map(|row| {
                values.iter().map(move |value| [row.as_slice(), &[Some(Arc::clone(value))]].concat())
            });
            before = extended.collect();
        }
        let has_totals = !rows.is_empty();
        if has_totals {
            before.push(vec![None; rows.len()]);
        }
        let total = has_totals.then_some(None);
        let ends: Vec<_> = columns.iter().cloned().map(Some).chain(total).collect();
        before
            .iter()
            .flat_map(|row| ends.iter().map(move |end| [row.as_slice(), std::slice::from_ref(end)].concat()))
            .collect()
    }
}
