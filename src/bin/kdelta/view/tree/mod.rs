//! Trees of objects by ownership: an index of owners, the tree around requested objects, and its lines.

mod build;
mod graph;
mod object;
mod owner_index;
mod prefix;
mod related;
#[cfg(test)]
mod tests;

pub(crate) use build::{Tree, TreeRow};
pub(crate) use graph::{dot, mermaid};
pub(crate) use object::{ObjectId, OwnerReference, Presence, TreeObject};
pub(crate) use owner_index::OwnerIndex;
pub(crate) use prefix::prefixes;
pub(crate) use related::{
    EventNote, KindName, Link, ListNeed, ListScope, Needs, Relations, Repetition, Target,
};
