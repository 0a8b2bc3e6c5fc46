//! The classification of a template: which section walks the items, and whether the others are independent of them.

use std::borrow::Cow;

use super::node::{Filter, Node, Test};
use crate::object::JsonValue;

/// The section that walks the items.
#[derive(Debug)]
pub(super) struct Plan<'t> {
    /// The section's position.
    pub at: usize,
    /// The position of its `end` if it is a range.
    pub end: Option<usize>,
    /// The selection of items.
    pub element: Element<'t>,
    /// The nodes after the selection.
    pub chain: &'t [Node],
}

/// The selection of items.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element<'t> {
    /// `.items[*]`.
    Everything,
    /// `.items[?(…)]`.
    Filter(&'t Filter),
}

impl<'t> Plan<'t> {
    pub(super) fn of(nodes: &'t [Node]) -> Option<Self> {
        let mut plan = None;
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            if !is_independent(node) {
                let Node::List(list) = node else { return None };
                let found = Self::of_section(nodes, at, list).filter(|_| plan.is_none())?;
                at = found.end.unwrap_or(at);
                plan = Some(found);
            }
            at += 1;
        }
        plan
    }

    fn of_section(nodes: &'t [Node], at: usize, list: &'t [Node]) -> Option<Self> {
        let (is_range, path) = match list {
            [first, path @ ..] if is_word(first, "range") => (true, path),
            path => (false, path),
        };
        let [Node::Field(items), element, chain @ ..] = path else { return None };
        if items != "items" || path.iter().any(has_identifier) || !chain.iter().all(is_itemwise) {
            return None;
        }
        let element = match element {
            Node::Wildcard => Element::Everything,
            Node::Array(slice) if slice.is_everything() => Element::Everything,
            Node::Filter(filter) => Element::Filter(filter),
            _ => return None,
        };
        let end = if is_range { Some(end_of_range(nodes, at)?) } else { None };
        Some(Self { at, end, element, chain })
    }
}

/// Returns the position of a range's `end`; `None` where `range` or `end` stand in unusual places.
fn end_of_range(nodes: &[Node], at: usize) -> Option<usize> {
    let mut depth = 1;
    for (at, node) in nodes.iter().enumerate().skip(at + 1) {
        let Node::List(list) = node else { continue };
        match &list[..] {
            [only] if is_word(only, "end") => depth -= 1,
            [first, path @ ..] if is_word(first, "range") && !path.iter().any(has_identifier) => depth += 1,
            list if list.iter().any(has_identifier) => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns whether a section's output is the same on a list without items.
fn is_independent(node: &Node) -> bool {
    let Node::List(list) = node else { return matches!(node, Node::Text(_)) };
    let is_constant =
        |node: &Node| matches!(node, Node::Text(_) | Node::Int(_) | Node::Float(_) | Node::Bool(_));
    match &list[..] {
        [Node::Field(name), ..] => name != "items" && !list.iter().any(has_identifier),
        list => !list.is_empty() && list.iter().all(is_constant),
    }
}

/// Returns whether a node's results for several values are those for each value, one after another. For an array's slice
/// this holds up to the first empty one.
fn is_itemwise(node: &Node) -> bool {
    !matches!(node, Node::Text(_) | Node::List(_) | Node::Union(_) | Node::Identifier(_))
}

fn is_word(node: &Node, word: &str) -> bool {
    matches!(node, Node::Identifier(name) if name == word)
}

fn has_identifier(node: &Node) -> bool {
    match node {
        Node::Identifier(_) => true,
        Node::List(nodes) => nodes.iter().any(has_identifier),
        Node::Union(lists) => lists.iter().flatten().any(has_identifier),
        Node::Filter(filter) => {
            let right = match &filter.test {
                Test::Exists => &[][..],
                Test::Compare { right, .. } => right,
            };
            filter.left.iter().chain(right).any(has_identifier)
        }
        _ => false,
    }
}

/// Returns whether a node may fail on some value. Descents and wildcards may take too many steps.
pub(super) fn may_fail(node: &Node, allow_missing_keys: bool) -> bool {
    match node {
        Node::Field(_) => !allow_missing_keys,
        Node::List(nodes) => nodes.iter().any(|node| may_fail(node, allow_missing_keys)),
        Node::Array(_) | Node::Filter(_) | Node::Wildcard | Node::Recursive | Node::Union(_) => true,
        Node::Identifier(_) | Node::Text(_) | Node::Int(_) | Node::Float(_) | Node::Bool(_) => false,
    }
}

/// Returns kubectl's list without items.
pub(super) fn empty_list() -> JsonValue<'static> {
    let text = |text| JsonValue::Text(Cow::Borrowed(text));
    let member = |name, value| (Cow::Borrowed(name), value);
    JsonValue::Object(vec![
        member("apiVersion", text("v1")),
        member("items", JsonValue::Array(Vec::new())),
        member("kind", text("List")),
        member("metadata", JsonValue::Object(vec![member("resourceVersion", text(""))])),
    ])
}
