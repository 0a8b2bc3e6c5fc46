//! Summaries of changes: objects that appeared, vanished, changed, restarted or became unready in a range of time,
//! grouped by their topmost owner.
//!
//! [`ObjectChanges`] receives the changes of one object and keeps a [`track`] of it. [`ChangeTracker`] joins the tracks, and
//! [`ChangeTracker::summary`] groups them, the most important group first.

mod brief;
mod group;
mod owners;
mod phrases;
mod reasons;
mod snapshot;
#[cfg(test)]
mod tests;
mod track;
mod tracker;

pub(crate) use brief::brief;
pub(crate) use group::ChangeGroup;
pub(crate) use owners::OwnerType;
pub(crate) use reasons::ReasonCounts;
pub(crate) use tracker::{ChangeSummary, ChangeTracker, ObjectChanges};
