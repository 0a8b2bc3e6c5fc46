//! Summaries of changes: objects that appeared, vanished, changed, restarted or became unready in a range of time,
//! grouped by their topmost owner.
//!
//! [`ChangeTracker`] receives the changes one by one and keeps a [`track`] of each object. [`ChangeTracker::summary`] joins
//! the tracks to groups, the most important first.

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
pub(crate) use reasons::ReasonCounts;
pub(crate) use tracker::{ChangeSummary, ChangeTracker};
