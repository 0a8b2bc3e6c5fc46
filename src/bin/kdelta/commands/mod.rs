//! The commands, one file each, and the code that several of them share.

pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod discovery;
mod empty_result;
mod error_tree;
pub(crate) mod events;
pub(crate) mod explain;
mod failure_action;
mod files;
mod forbidden;
mod format;
pub(crate) mod get;
pub(crate) mod index;
mod list_store;
pub(crate) mod man;
mod needs;
mod query_plan;
pub(crate) mod record;
mod reporter;
pub(crate) mod rollout;
pub(crate) mod run;
pub(crate) mod set_wait;
mod signal_exit;
mod stats;
mod synced;
pub(crate) mod tree;
mod visit;
pub(crate) mod wait;
mod walk;
pub(crate) mod watch;

pub(crate) use reporter::Reporter;
