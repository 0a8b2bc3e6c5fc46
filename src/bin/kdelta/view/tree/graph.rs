//! Trees as graphs for drawing programs: DOT and Mermaid.

use std::collections::HashMap;
use std::fmt::Write;

use super::build::Tree;
use super::object::{ObjectId, TreeObject};
use super::owner_index::OwnerIndex;
use crate::view::escape_line;

/// Returns the graph in the language of Graphviz.
pub(crate) fn dot(tree: &Tree, index: &OwnerIndex) -> String {
    let quoted = |text: &str| escape_line(text).replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = "digraph tree {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for (at, object) in nodes(tree, index) {
        let [title, status] = labels(object).map(|label| quoted(&label));
        let style = match &tree.rows[at] {
            row if row.is_requested => " penwidth=2",
            row if row.link.is_some() => " style=dashed",
            _ => "",
        };
        // Writing to a String can't fail.
        let _ = writeln!(out, "  n{at} [label=\"{title}\\n{status}\"{style}];");
    }
    for (from, kind, to) in edges(tree) {
        let _ = match kind {
            None => writeln!(out, "  n{from} -> n{to};"),
            Some(kind) => writeln!(out, "  n{from} -> n{to} [label=\"{kind}\" style=dashed];"),
        };
    }
    out.push_str("}\n");
    out
}

/// Returns the graph in the language of Mermaid.
pub(crate) fn mermaid(tree: &Tree, index: &OwnerIndex) -> String {
    let mut out = "graph LR\n".to_owned();
    for (at, object) in nodes(tree, index) {
        let [title, status] = labels(object).map(|label| entities(&escape_line(&label)));
        let [open, close] = if tree.rows[at].link.is_some() { ["(", ")"] } else { ["[", "]"] };
        let _ = writeln!(out, "  n{at}{open}\"{title}<br/>{status}\"{close}");
    }
    for (from, kind, to) in edges(tree) {
        let _ = match kind {
            None => writeln!(out, "  n{from} --> n{to}"),
            Some(kind) => writeln!(out, "  n{from} -. {kind} .-> n{to}"),
        };
    }
    out
}

fn labels(object: &TreeObject) -> [String; 2] {
    if let Some(note) = object.event() {
        return [format!("event {}", note.title()), note.event_type.clone()];
    }
    let status = object.status.map_or("", |status| status.as_str());
    [object.title(), status.to_owned()]
}

/// Returns the objects with the number of their first row.
fn nodes<'a>(tree: &'a Tree, index: &'a OwnerIndex) -> impl Iterator<Item = (usize, &'a TreeObject)> {
    let first = tree.rows.iter().enumerate().filter(|(_, row)| !row.is_repetition());
    first.filter_map(|(at, row)| Some((at, index.get(&row.uid)?)))
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

/// Returns the numbers of the rows at both ends of each edge, and the kind of a relation.
fn edges(tree: &Tree) -> impl Iterator<Item = (usize, Option<&'static str>, usize)> {
    let first = tree.rows.iter().enumerate().filter(|(_, row)| !row.is_repetition());
    let places: HashMap<&ObjectId, usize> = first.map(|(at, row)| (&row.uid, at)).collect();
    tree.rows.iter().filter_map(move |row| {
        let (parent, own) = (row.parent?, *places.get(&row.uid)?);
        Some(match row.link {
            None => (parent, None, own),
            Some(link) if link.is_reverse => (own, Some(link.kind.name()), parent),
            Some(link) => (parent, Some(link.kind.name()), own),
        })
    })
}
