//! One file for each command, and what several of them need.

pub(crate) mod api_resources;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod demo;
mod empty;
mod forbidden;
mod format;
pub(crate) mod get;
pub(crate) mod index;
pub(crate) mod man;
mod needs;
mod stats;
mod synced;
mod walk;
pub(crate) mod watch;
mod watched;

pub(crate) use watched::Watched;
