//! The branches that are drawn in front of the rows of a tree.

use super::build::Tree;

/// Returns the text in front of each row: `├─ ` and `└─ ` before a child, `├╌ ` and `└╌ ` before a related object, `│  ` below
/// a parent with further rows.
pub(crate) fn prefixes(tree: &Tree) -> Vec<String> {
    // The text in front of the children of each row.
    let mut below: Vec<String> = Vec::with_capacity(tree.rows.len());
    let mut prefixes = Vec::with_capacity(tree.rows.len());
    for row in &tree.rows {
        let Some(parent) = row.parent else {
            prefixes.push(String::new());
            below.push(String::new());
            continue;
        };
        let (branch, further) = match (row.is_last, row.link) {
            (true, None) => ("└─ ", "   "),
            (true, Some(_)) => ("└╌ ", "   "),
            (false, None) => ("├─ ", "│  "),
            (false, Some(_)) => ("├╌ ", "│  "),
        };
        prefixes.push(format!("{}{branch}", below[parent]));
        below.push(format!("{}{further}", below[parent]));
    }
    prefixes
}
