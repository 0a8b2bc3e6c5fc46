//! The key of a group.

use std::sync::Arc;

/// The key of a group: a scope, and a value of each index.
///
/// `None` stands for any value, in the totals of a cross table. With several indices the last one makes the columns: a
/// group without it is the total of a row, a group with it alone is the total of a column, and a group without values is
/// the total of the table. With one index there are no totals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey {
    /// The scope, such as the number of a cluster. Groups of different scopes share no object.
    pub scope: usize,
    /// The values, in the order of the indices.
    pub values: Box<[Option<Arc<str>>]>,
}
