//! A whole state of the source, on its way into the store.

use std::sync::Arc;
use std::time::Instant;

use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Object, Origin, ResourceVersion};
use crate::reflector::event::ReflectorEvent;
use crate::reflector::recovery::action::Phase;
use crate::reflector::recovery::state::{Loss, SourceState};
use crate::reflector::reflector_store::ReflectorStore;
use crate::reflector::run_context::RunContext;

/// A received whole state.
#[derive(Default)]
pub(in crate::reflector) struct WholeState {
    /// The objects that the store returned, in the order of their arrival.
    pub(in crate::reflector) items: Vec<Arc<Object>>,
    /// The number of objects that the store took as they arrived.
    pub(in crate::reflector) taken: usize,
    /// The version of the state. For a list, it is that of its first page.
    pub(in crate::reflector) version: ResourceVersion,
    /// Whether there was more than one page.
    pub(in crate::reflector) paginated: bool,
}

impl WholeState {
    /// Completes the list in a store, without a record in the state of a run.
    ///
    /// # Errors
    /// [`Error::NotStored`]: the store refused an object, and has none of the list.
    pub(in crate::reflector) fn store(
        self,
        store: &impl ReflectorStore,
        origin: Origin,
    ) -> Result<ResourceVersion, Error> {
        let stored = store.replace(self.items, &self.version, origin);
        stored.map_err(|error| {
            Error::NotStored(format!("the store refused the list at {}: {error}", self.version))
        })?;
        Ok(self.version)
    }
}

/// Begins a list in a store; the list may belong to another history than the stored state.
pub(in crate::reflector) fn begin_list(store: &impl ReflectorStore, origin: Origin, may_be_unrelated: bool) {
    store.list_begin(origin);
    if may_be_unrelated {
        store.list_may_be_unrelated();
    }
}

/// Completes a whole state in the store, and records in the state of the run that nothing is missing.
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
    if context.recovery.synced {
        let (from, to) = (context.last.get(), state.version.clone());
        if context.is_behind(&to) && !loss.is_some_and(|loss| loss.went_back) {
            context.options.report(&ReflectorEvent::WentBack { from: from.clone(), to: to.clone() });
            // Reported once, even if the store refuses the list.
            context.recovery.loss = Some(Loss { since, relisting: true, went_back: true });
        }
        context.store.gap(&from, &to, lasted);
    }
    let version = state.store(&*context.store, origin)?;
    context.last.set(version.clone());
    let recovery = &mut context.recovery;
    recovery.loss = None;
    recovery.synced = true;
    recovery.source_state = SourceState::Confirmed;
    recovery.version_unavailable = false;
    recovery.broken_initials = 0;
    recovery.short_watches = 0;
    context.options.report(&ReflectorEvent::Listed { phase, origin, version, items, lasted });
    Ok(())
}
