//! The branches that are drawn in front of the rows of a tree.

use super::build::Tree;

/// Returns the text in front of each row: `├─ ` and `└─ ` before a child, `│  ` below a parent with further children.
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
        let (branch, further) = if row.is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        prefixes.push(format!("{}{branch}", below[parent]));
        below.push(format!("{}{further}", below[parent]));
    }
    prefixes
}
