//! The scenarios: what happens on the server, and how `kubectl wait` and `kdelta wait` end.

mod absent;
mod ends;
mod expressions;
mod sets;

use super::stage::Stage;

/// A sequence of changes on the server, and the way in which both programs end.
pub(super) struct Scenario {
    /// The complaint of cli-conventions, and an issue about it.
    pub(super) complaint: &'static str,
    /// The changes, in words.
    pub(super) text: &'static str,
    /// The arguments of `kubectl wait`; empty if it can't express the wait. `{ns}` and `{other}` are the namespaces.
    pub(super) kubectl: &'static str,
    /// The arguments of `kdelta wait`.
    pub(super) kdelta: &'static str,
    /// Prepares the server before the program starts.
    pub(super) before: fn(&Stage),
    /// Changes the server while the program waits.
    pub(super) during: fn(&Stage),
    /// The ends of both.
    pub(super) kubectl_ends: Kubectl,
    pub(super) kdelta_ends: Kdelta,
}

/// The end of `kubectl wait`, which has one exit code for all failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kubectl {
    /// It can't express the wait.
    Inexpressible,
    /// With 0.
    Met,
    /// With 1 and its message about the time.
    TimedOut,
    /// With 1 and another message, which contains this.
    Error(&'static str),
}

/// The end of `kdelta wait`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kdelta {
    /// With 0.
    Met,
    /// With 5, and a reason that contains this.
    TimedOut(&'static str),
    /// With 6, and a reason that contains this.
    Failed(&'static str),
}

impl Kubectl {
    /// Returns the cell of the table.
    pub(super) fn cell(self) -> String {
        match self {
            Self::Inexpressible => "can't express it".to_owned(),
            Self::Met => "0".to_owned(),
            Self::TimedOut => "1, after the time-out".to_owned(),
            Self::Error(text) => format!("1: {text}"),
        }
    }
}

impl Kdelta {
    /// Returns the cell of the table.
    pub(super) fn cell(self) -> String {
        match self {
            Self::Met => "0".to_owned(),
            Self::TimedOut(reason) => format!("5: {reason}"),
            Self::Failed(reason) => format!("6: {reason}"),
        }
    }
}

/// Returns all scenarios.
pub(super) fn all() -> Vec<Scenario> {
    let groups = [expressions::scenarios(), absent::scenarios(), sets::scenarios(), ends::scenarios()];
    groups.into_iter().flatten().collect()
}

/// Leaves the server as it is.
fn nothing(_: &Stage) {}
