//! Differences between two states of an object. Pure: text in, changes out.
//!
//! Both states are JSON text and stay text. Byte-equal parts are not parsed, so a change deep inside costs only the
//! levels on its path; different parts are parsed one level at a time.
//!
//! [`changes`] returns the differences for programs and people; [`json_patch`] and [`merge_patch`] write them as
//! standard patches, [`unified()`] compares texts line by line. [`Scope`] decides whether anything changed at the selected
//! paths.

mod change;
mod document;
mod level;
mod list;
mod patch;
mod scope;
mod unified;
mod walk;

pub use change::{Change, ChangeOp, ChangePath, PathStep};
pub use document::Document;
pub use patch::{json_patch, merge_patch};
pub use scope::Scope;
pub use unified::unified;

use crate::object::FieldPath;

/// Returns the changes that turn the old state into the new one; both are JSON. Values at or below a path of `skip` are
/// ignored, unless an enclosing value is added or removed as a whole.
///
/// Objects are compared member by member, strings and numbers by value, lists element by element. Elements of a list
/// are paired by key if every unequal element is an object with a `name`, `type`, `containerPort`, `port`, `mountPath`,
/// `devicePath`, `uid`, `ip`, `key` or `topologyKey` (the first of these that is unique); by value in lists of strings
/// and numbers; and by index in other lists. An element that moved among the others is removed and added.
///
/// The order of the changes is that of the text, and deterministic. To derive the new state from the old one, apply the
/// removals from the last to the first, then the additions and replacements from the first to the last. The path of a
/// removal therefore refers to the old state, every other path to the new one.
///
/// The result is bounded: a difference more than 64 levels deep, or a value with more than 1,000 changes, is reported
/// as one replacement.
///
/// ```
/// let old = r#"{"status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False"}]}}"#;
/// let new = r#"{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}"#;
/// let changes = kdelta::diff::changes(old, new, &[]);
/// let read: Vec<_> = changes.iter().map(|change| (change.path.to_string(), change.old, change.new)).collect();
/// assert_eq!(
///     read,
///     [
///         ("status.phase".to_owned(), Some("\"Pending\""), Some("\"Running\"")),
///         ("status.conditions[Ready].status".to_owned(), Some("\"False\""), Some("\"True\"")),
///     ]
/// );
/// assert_eq!(changes[1].path.pointer(), "/status/conditions/0/status");
/// ```
#[must_use]
pub fn changes<'a>(old: &'a str, new: &'a str, skip: &[FieldPath]) -> Vec<Change<'a>> {
    changes_between(Document::of(old), Document::of(new), skip)
}

/// Returns [`changes`] between two documents. The tokens of a text that is compared more than once need be found only once.
#[must_use]
pub fn changes_between<'a>(old: Document<'a>, new: Document<'a>, skip: &[FieldPath]) -> Vec<Change<'a>> {
    walk::walk(old, new, skip)
}
