//! The deltas that options select: by their fields, by expressions on the change, and by results that it must change.

use kdelta::diff::Scope;
use kdelta::lines::{Change, ChangeKind};

use super::changed_results::{ChangedResults, differs};
use crate::output::PrintError;
use crate::session::ChangeFilter;

/// Options that select which deltas are printed.
pub(in crate::commands) struct DeltaSelection {
    /// The fields whose changes count.
    pub(in crate::commands) scope: Scope,
    /// The results that an update must change.
    pub(in crate::commands) changed_by: ChangedResults,
    /// The expressions on changes, all of which must be true.
    pub(in crate::commands) filter: ChangeFilter,
    /// Whether lines may carry a version to resume from: not with coalescing, which changes the order, nor with `--by`,
    /// which needs the earlier state.
    pub(in crate::commands) resumable: bool,
}

impl DeltaSelection {
    /// Whether the change affects selected fields. Additions and deletions always do, and so do updates without an old
    /// state.
    ///
    /// # Errors
    /// An expression fails on a state of the object or reaches a limit.
    pub(super) fn is_in_scope(&self, change: &Change) -> Result<bool, PrintError> {
        let Some(old) = &change.old else { return Ok(true) };
        if !self.scope.is_all() && !differs(&self.scope, old, &change.object) {
            return Ok(false);
        }
        self.changed_by.includes(change)
    }

    /// Whether the expressions on changes are true. An object that a resync repeats did not change.
    pub(super) fn passes(&self, change: &Change) -> bool {
        let (filter, object) = (&self.filter, &*change.object);
        filter.is_empty()
            || match change.kind {
                ChangeKind::Added | ChangeKind::Modified => {
                    filter.passes(change.old.as_deref(), Some(object))
                }
                ChangeKind::Deleted => filter.passes(Some(object), None),
                ChangeKind::Sync => filter.passes(Some(object), Some(object)),
            }
    }
}
