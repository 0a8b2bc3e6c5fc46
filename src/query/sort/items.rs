//! The kinds of sorted lists.

/// The kinds of list that kubectl sorts, with the same comparison and different error texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortedItems {
    /// Objects, as for `-o json` and with `--server-print=false`. The expression is a path, with or without braces.
    Objects,
    /// The rows of a server's table. The expression may also be a template, of which the first part counts.
    Rows,
}
