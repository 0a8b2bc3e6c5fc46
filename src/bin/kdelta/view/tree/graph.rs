//! Trees as graphs for drawing programs: DOT and Mermaid.

use std::fmt::Write;

use super::build::Tree;
use super::object::TreeObject;
use super::owner_index::OwnerIndex;
use crate::view::escape_line;

/// Returns the graph in the language of Graphviz.
pub(crate) fn dot(tree: &Tree, index: &OwnerIndex) -> String {
    let quoted = |text: &str| escape_line(text).replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = "digraph tree {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for (at, row) in tree.rows.iter().enumerate() {
        let Some(object) = index.get(&row.uid) else { continue };
        let [title, status] = labels(object).map(|label| quoted(&label));
        let style = if row.is_requested { " penwidth=2" } else { "" };
        // Writing to a String can't fail.
        let _ = writeln!(out, "  n{at} [label=\"{title}\\n{status}\"{style}];");
    }
    for (parent, child) in edges(tree) {
        let _ = writeln!(out, "  n{parent} -> n{child};");
    }
    out.push_str("}\n");
    out
}

/// Returns the graph in the language of Mermaid.
pub(crate) fn mermaid(tree: &Tree, index: &OwnerIndex) -> String {
    let mut out = "graph LR\n".to_owned();
    for (at, row) in tree.rows.iter().enumerate() {
        let Some(object) = index.get(&row.uid) else { continue };
        let [title, status] = labels(object).map(|label| entities(&escape_line(&label)));
        let _ = writeln!(out, "  n{at}[\"{title}<br/>{status}\"]");
    }
    for (parent, child) in edges(tree) {
        let _ = writeln!(out, "  n{parent} --> n{child}");
    }
    out
}

fn labels(object: &TreeObject) -> [String; 2] {
    let status = object.status.map_or("", |status| status.as_str());
    [object.title(), status.to_owned()]
}

/// Replaces all characters that Mermaid or HTML could interpret by their numbers.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | ' ') {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}

fn edges(tree: &Tree) -> impl Iterator<Item = (usize, usize)> {
    tree.rows.iter().enumerate().filter_map(|(child, row)| Some((row.parent?, child)))
}
