//! The whole state of a source, received as a list or in a watch, and its transfer to the store.

use std::sync::Arc;
use std::time::Instant;

use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Object, Origin, ResourceVersion};
use crate::reflector::event::ReflectorEvent;
use crate::reflector::recovery::action::Phase;
use crate::reflector::recovery::state::{Loss, SourceState};
use crate::reflector::reflector_store::{MissedEvents, ReflectorStore};
use crate::reflector::run_context::RunContext;

/// A received whole state.
#[derive(Default)]
pub(in crate::reflector) struct WholeState {
    /// The objects that the store did not take as they arrived, in that order.
    pub(in crate::reflector) items: Vec<Arc<Object>>,
    /// The number of objects that the store took as they arrived.
    pub(in crate::reflector) taken: usize,
    /// The version of the state. For a list, it is that of its first page.
    pub(in crate::reflector) version: ResourceVersion,
    /// Whether there was more than one page.
    pub(in crate::reflector) paginated: bool,
}

impl WholeState {
    /// Completes the list in a store, without recording it in a [`RunContext`].
    ///
    /// # Errors
    /// [`Error::NotStored`]: the store refused an object, and has none of the list.
    pub(in crate::reflector) fn store(
        self,
        store: &impl ReflectorStore,
        origin: Origin,
        missed: Option<MissedEvents>,
    ) -> Result<ResourceVersion, Error> {
        let stored = store.replace(self.items, &self.version, origin, missed);
        stored.map_err(|error| {
            Error::NotStored(format!("the store refused the list at {}: {error}", self.version))
        })?;
        Ok(self.version)
    }
}

/// Completes a whole state in the store, reports it, and records the recovery from the last failure.
///
/// # Errors
/// As [`WholeState::store`]; the state is fetched again.
pub(in crate::reflector) fn complete<L: ListerWatcher, S: ReflectorStore>(
    context: &mut RunContext<L, S>,
    phase: Phase,
    state: WholeState,
    requested_at: Instant,
) -> Result<(), Error> {
    let origin = context.state_origin();
    let loss = context.recovery.loss.as_ref();
    let since = loss.map_or(requested_at, |loss| loss.since);
    let lasted = context.options.clock.now() - since;
    let items = state.items.len() + state.taken;
    let mut missed = None;
    if context.recovery.synced {
        let after = context.last.get();
        if context.is_behind(&state.version) && !loss.is_some_and(|loss| loss.went_back) {
            let (from, to) = (after.clone(), state.version.clone());
            context.options.report(&ReflectorEvent::WentBack { from, to });
            // Reported once, even if the store refuses the list.
            context.recovery.loss = Some(Loss { since, relisting: true, went_back: true });
        }
        missed = Some(MissedEvents { after, lasted });
    }
    let version = state.store(&*context.store, origin, missed)?;
    context.last.set(version.clone());
    let recovery = &mut context.recovery;
    recovery.last_deleted.clear();
    recovery.loss = None;
    recovery.synced = true;
    recovery.source_state = SourceState::Confirmed;
    recovery.version_unavailable = false;
    recovery.broken_initials = 0;
    recovery.short_watches = 0;
    context.options.report(&ReflectorEvent::Listed { phase, origin, version, items, lasted });
    Ok(())
}
