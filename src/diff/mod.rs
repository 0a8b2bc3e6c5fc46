//! Two states of an object and what is different between them. Pure: text in, changes out.
//!
//! Both states are JSON text and stay it. What is equal byte for byte is not looked into, so a change deep inside costs
//! what lies on the way to it; what differs is taken apart one level at a time.
//!
//! [`changes`] says what changed, as a patch that a program can apply and a person can read; [`Scope`] says whether
//! anything changed in the places that somebody cares for.

mod change;
mod level;
mod list;
mod scope;
mod walk;

pub use change::{Change, ChangeOp, ChangePath, PathStep};
pub use scope::Scope;

use crate::object::FieldPath;

/// What turns the old state into the new one; both are JSON. What lies at a path of `skip`, or below, is passed over,
/// unless something around it came or went as a whole.
///
/// Objects are compared member by member, strings and numbers by value, lists element by element. Where every element
/// that is not the same in both lists is an object with a `name`, `type`, `containerPort`, `port`, `mountPath`,
/// `devicePath`, `uid`, `ip`, `key` or `topologyKey` (the first of these that tells all of them apart), elements belong
/// together that have the same; in lists of texts and numbers those that are the same; in other lists those that stand
/// in the same place. An element that changed its place among the others is removed and added.
///
/// The order is that of the text, the same at each call. To get the new state from the old one, remove what was
/// removed, from the last change to the first, and then, from the first to the last, add and replace: this is why
/// the path of a removal leads to its value in the old state, and every other path to its value in the new one.
///
/// It is bounded: what lies more than 64 levels deep, and a place in which more than 1,000 things changed, counts as
/// replaced as a whole.
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
    walk::walk(old.trim(), new.trim(), skip)
}
