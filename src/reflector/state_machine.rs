//! The state machine of a reflector.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;

use super::event::ReflectorEvent;
use super::expected_type::ExpectedType;
use super::options::ReflectorOptions;
use super::recovery::action::{Phase, RecoveryAction, is_disconnected, recovery_action};
use super::recovery::backoff::{Backoffs, SETTLED};
use super::recovery::state::{LastVersion, Loss, RecoveryState, SourceState};
use super::reflector_store::ReflectorStore;
use super::steps::list::Fetched;
use super::steps::live_watch::{End, Live};
use super::steps::watch_list::InitialFailure;
use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Object, Origin, ResourceVersion};

/// The number of initial states in a row that may break off in a watch before the source is listed.
const MAX_BROKEN_INITIALS: u32 = 2;

/// The number of watches in a row that may end at once, without an event or an error, before their version is given up.
const MAX_SHORT_WATCHES: u32 = 3;

/// The number of watches in a row that may request a version that the source has not reached, if no list may show whether it
/// lags or will never reach it.
const MAX_EARLY_WATCHES: u32 = 5;

/// The states of a reflector.
pub(super) enum State<W> {
    /// Chooses how to fetch the whole state: [`State::WatchListing`] or [`State::Listing`].
    Begin,
    /// Receives the initial state in a watch. Success continues with the same watch ([`State::Watching`]). A refusal leads to
    /// [`State::Listing`], another failure to [`State::Waiting`] and [`State::Begin`], and an unavailable version to
    /// [`State::Begin`] without a version.
    WatchListing,
    /// Lists. Success leads to [`State::Opening`], a failure to [`State::Waiting`] and [`State::Begin`], and an unavailable
    /// version to [`State::Begin`] without a version.
    Listing,
    /// Requests the latest version of a source that was disconnected. Versions that did not go back lead to
    /// [`State::Opening`], others to [`State::Begin`] without a version, and a failure to [`State::Waiting`] and back here.
    Checking,
    /// Starts a watch from the last version: after [`State::Checking`] if the source was disconnected, or together with the
    /// same request if nothing has failed. Success leads to [`State::Watching`], a failure to [`State::Waiting`] and back here,
    /// or to [`State::Begin`] if the version is the cause.
    Opening,
    /// Reads a watch. Its clean end leads to [`State::Opening`], through [`State::Waiting`] if the watch was short. An error
    /// leads to the same state as in [`State::Opening`], except that a longer watch that only became silent is opened again at
    /// once.
    Watching(Live<W>),
    /// Waits for a back-off.
    Waiting {
        /// The wait.
        after: Duration,
        /// The next state: [`State::Begin`] or [`State::Opening`].
        then: Next,
    },
}

/// The state after a wait.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Begin,
    Opening,
}

/// A running reflector: its parts, and what it keeps from state to state.
pub(super) struct Machine<L, S> {
    pub(super) source: L,
    pub(super) store: Arc<S>,
    pub(super) options: ReflectorOptions,
    pub(super) backoffs: Backoffs,
    pub(super) recovery: RecoveryState,
    pub(super) expected: ExpectedType,
    last: LastVersion,
}

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    pub(super) fn new(source: L, store: Arc<S>, options: ReflectorOptions, last: LastVersion) -> Self {
        let backoffs = Backoffs::new(options.backoff, &options.jitter);
        let expected = ExpectedType::new(source.expected_type());
        Self { source, store, options, backoffs, recovery: RecoveryState::default(), expected, last }
    }

    /// Runs until an error ends the run, and returns it.
    pub(super) async fn drive(&mut self) -> Error {
        let mut state = match self.options.resume_from.clone() {
            Some(version) => {
                self.last.set(version);
                self.recovery.source_state = SourceState::Disconnected;
                State::Checking
            }
            None => State::Begin,
        };
        loop {
            // A source and a store that never wait must not keep the runtime from noticing a stop.
            consume_budget().await;
            state = match self.step(state).await {
                Ok(next) => next,
                Err(error) => return error,
            };
        }
    }

    async fn step(&mut self, state: State<L::Watch>) -> Result<State<L::Watch>, Error> {
        match state {
            State::Begin if self.lists_pages_first() => Ok(State::Listing),
            State::Begin if self.uses_watch_list() => Ok(State::WatchListing),
            State::Begin => Ok(State::Listing),
            State::WatchListing => match self.watch_list().await {
                Ok(live) => {
                    self.recovery.watched = true;
                    Ok(State::Watching(live))
                }
                Err(failure) => self.initial_failed(failure),
            },
            State::Listing => {
                let is_first = self.lists_pages_first();
                match self.list().await {
                    Ok(()) => Ok(State::Opening),
                    Err(error) if is_first => self.pages_first_failed(error),
                    Err(error) => self.failed(Phase::List, error),
                }
            }
            State::Checking => match self.check(&ResourceVersion::UNSET).await {
                Ok(latest) => self.checked(latest),
                Err(error) => self.failed(Phase::Check, error),
            },
            State::Opening if self.recovery.source_state == SourceState::Disconnected => {
                match &self.recovery.loss {
                    None => self.reopen().await,
                    Some(_) => Ok(State::Checking),
                }
            }
            State::Opening => {
                let live = self.open().await;
                self.opened(live)
            }
            State::Watching(mut live) => {
                let end = self.follow(&mut live).await;
                let lived = self.options.clock.now().saturating_duration_since(live.opened);
                self.ended(end, lived)
            }
            State::Waiting { after, then } => {
                self.options.clock.sleep(after).await;
                Ok(match then {
                    Next::Begin => State::Begin,
                    Next::Opening => State::Opening,
                })
            }
        }
    }

    pub(super) fn opened(&mut self, live: Result<Live<L::Watch>, Error>) -> Result<State<L::Watch>, Error> {
        match live {
            Ok(live) => {
                // A reflector that lists nothing has synced once its watch is established.
                self.recovery.synced = true;
                self.recovery.watched = true;
                Ok(State::Watching(live))
            }
            Err(error) => self.failed(Phase::Open, error),
        }
    }

    /// Handles the end of a watch. The next request waits if the watch was short, however it ended.
    fn ended(&mut self, end: End, lived: Duration) -> Result<State<L::Watch>, Error> {
        self.backoffs.watch_ended(lived);
        let is_settled = lived >= SETTLED;
        if is_settled {
            self.recovery.early_watches = 0;
        }
        match end {
            End::Clean { early } => {
                self.recovery.short_watches = 0;
                if early {
                    self.recovery.source_state = SourceState::Disconnected;
                }
                Ok(if is_settled { State::Opening } else { self.rewatch_later(None) })
            }
            End::WithoutEvent => self.ended_without_event(),
            End::Broken { error } => self.watch_broke(error, is_settled),
        }
    }

    /// Records that the source may have been replaced. A list shows its latest version, but not that its versions still belong
    /// to the same history.
    fn update_source_state(&mut self, phase: Phase, error: &Error) {
        let sight = match phase {
            Phase::Open | Phase::Watch if is_disconnected(error) => SourceState::Disconnected,
            _ if is_disconnected(error) || matches!(error, Error::TooLargeResourceVersion(_)) => {
                SourceState::Reconnected
            }
            _ => return,
        };
        self.recovery.source_state = self.recovery.source_state.max(sight);
    }

    fn uses_watch_list(&self) -> bool {
        self.options.watch_list
            && !self.recovery.traits.no_watch_list
            && self.source.supports_watch_list()
            && self.recovery.broken_initials < MAX_BROKEN_INITIALS
    }

    fn initial_failed(&mut self, failure: InitialFailure) -> Result<State<L::Watch>, Error> {
        match failure {
            InitialFailure::NotStarted(error) | InitialFailure::NotStored(error) => {
                self.failed(Phase::WatchList, error)
            }
            InitialFailure::NoBookmark(error) => Ok(self.fall_back(error, true)),
            InitialFailure::Ended(error) => Ok(self.fall_back(error, false)),
            InitialFailure::Broken(error) => {
                self.recovery.broken_initials += 1;
                if self.recovery.broken_initials == MAX_BROKEN_INITIALS {
                    return Ok(self.fall_back(error, false));
                }
                self.failed(Phase::WatchList, error)
            }
        }
    }

    /// Tries the watch again, but only a few times: the source may be unable to serve the version.
    fn ended_without_event(&mut self) -> Result<State<L::Watch>, Error> {
        self.recovery.short_watches += 1;
        let action = match self.recovery.short_watches {
            MAX_SHORT_WATCHES.. => RecoveryAction::RelistLater,
            _ => RecoveryAction::RewatchLater,
        };
        let error = Error::Transport("the watch ended at once, without an event".into());
        self.recover_by(Phase::Watch, error, action)
    }

    fn watch_broke(&mut self, error: Error, is_settled: bool) -> Result<State<L::Watch>, Error> {
        self.update_source_state(Phase::Watch, &error);
        let action = match recovery_action(Phase::Watch, &error) {
            RecoveryAction::Rewatch if !is_settled => RecoveryAction::RewatchLater,
            action => action,
        };
        self.recover_by(Phase::Watch, error, action)
    }

    pub(super) fn failed(&mut self, phase: Phase, error: Error) -> Result<State<L::Watch>, Error> {
        self.update_source_state(phase, &error);
        let action = recovery_action(phase, &error);
        self.recover_by(phase, error, action)
    }

    fn recover_by(
        &mut self,
        phase: Phase,
        error: Error,
        action: RecoveryAction,
    ) -> Result<State<L::Watch>, Error> {
        let action =
            if self.options.resume_from.is_some() { self.without_list(&error, action) } else { action };
        match action {
            RecoveryAction::FallBack => return Ok(self.fall_back(error, false)),
            RecoveryAction::FallBackPermanently => return Ok(self.fall_back(error, true)),
            RecoveryAction::RelistAtAnyVersion if !self.version_to_request(phase).is_unset() => {
                self.recovery.version_unavailable = true;
                return Ok(State::Begin);
            }
            RecoveryAction::WatchAnyway => {
                self.recovery.source_state = SourceState::Reconnected;
                return Ok(State::Opening);
            }
            RecoveryAction::GiveUp => return Err(error),
            _ if self.ends_run(phase, &error) => return Err(error),
            _ => {}
        }
        if action == RecoveryAction::Relist {
            // The second time in a row: the listed version was too old from the beginning, and another list at it may
            // return the same.
            self.recovery.version_unavailable |= self.recovery.expired_watches > 0;
            self.recovery.expired_watches += 1;
        }
        let retry_after = error.retry_after();
        let since = self.options.clock.now();
        self.recovery.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        self.options.report(&ReflectorEvent::Lost { phase, error });
        Ok(match action {
            RecoveryAction::Rewatch => State::Opening,
            RecoveryAction::RewatchLater => self.rewatch_later(retry_after),
            _ => self.relist(retry_after),
        })
    }

    fn without_list(&mut self, error: &Error, action: RecoveryAction) -> RecoveryAction {
        if action != RecoveryAction::WatchAnyway && matches!(error, Error::TooLargeResourceVersion(_)) {
            self.recovery.early_watches += 1;
            if self.recovery.early_watches >= MAX_EARLY_WATCHES {
                return RecoveryAction::GiveUp;
            }
        }
        action.without_list(error)
    }

    /// Returns true if the source has sent a later version than this one.
    pub(super) fn is_behind(&self, version: &ResourceVersion) -> bool {
        version.compare(&self.last.get()) == Ok(Ordering::Less)
    }

    /// Returns true if this error ends a run that has not synced or never watched.
    pub(super) fn ends_run(&self, phase: Phase, error: &Error) -> bool {
        let asked = match phase {
            _ if !self.recovery.synced => &self.options.give_up,
            Phase::Open if !self.recovery.watched => &self.options.give_up_watch,
            _ => &None,
        };
        asked.as_ref().is_some_and(|give_up| give_up(error))
    }

    fn rewatch_later(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let after = self.backoffs.rewatch.next(retry_after);
        self.wait(after, Next::Opening)
    }

    /// Returns the state that fetches the whole state, after the wait that is due.
    pub(super) fn relist(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let next = match self.backoffs.before_list(retry_after) {
            Some(after) => self.wait(after, Next::Begin),
            None => State::Begin,
        };
        self.report_relisting();
        next
    }

    fn wait(&self, after: Duration, then: Next) -> State<L::Watch> {
        self.options.report(&ReflectorEvent::Retrying { after });
        State::Waiting { after, then }
    }

    fn fall_back(&mut self, error: Error, for_good: bool) -> State<L::Watch> {
        // Another reflector of the same source may have disabled it meanwhile.
        let is_news = self.source.supports_watch_list();
        if for_good {
            self.recovery.traits.no_watch_list = true;
            self.source.disable_watch_list();
        }
        if is_news {
            self.options.report(&ReflectorEvent::WatchListFellBack { error, for_good });
        }
        State::Listing
    }

    fn report_relisting(&mut self) {
        if let Some(loss) = self.recovery.loss.as_mut().filter(|loss| self.recovery.synced && !loss.relisting)
        {
            loss.relisting = true;
            self.options.report(&ReflectorEvent::Relisting { from: self.last.get() });
        }
    }

    /// Returns the version for a request of the whole state.
    pub(super) fn version_to_request(&self, phase: Phase) -> ResourceVersion {
        let first = &self.options.first_version;
        match self.last.get() {
            _ if self.recovery.version_unavailable => ResourceVersion::UNSET,
            last if !last.is_unset() => last,
            _ if phase == Phase::WatchList && first.is_any() => ResourceVersion::UNSET,
            _ => first.clone(),
        }
    }

    /// Returns the origin of the objects of the next whole state.
    pub(super) fn state_origin(&self) -> Origin {
        if self.recovery.synced { Origin::Relist } else { Origin::List }
    }

    /// Returns true if the next whole state may belong to another history than the stored one.
    pub(super) fn may_be_unrelated(&self) -> bool {
        self.recovery.synced && self.recovery.source_state != SourceState::Confirmed
    }

    /// Returns the version received last.
    pub(super) fn last_version(&self) -> ResourceVersion {
        self.last.get()
    }

    /// Records a received version. Objects without a version, as in some representations, leave the last version as it is,
    /// because a watch needs a version to continue from.
    pub(super) fn received(&mut self, version: &ResourceVersion) {
        if !version.is_unset() {
            self.last.set(version.clone());
        }
    }

    /// Stores the whole state.
    ///
    /// # Errors
    /// [`Error::NotStored`]: the store has none of it, and the state is fetched again.
    pub(super) fn complete(
        &mut self,
        phase: Phase,
        fetched: Fetched,
        requested_at: Instant,
    ) -> Result<(), Error> {
        let Fetched { items, taken, version, .. } = fetched;
        let origin = self.state_origin();
        let loss = self.recovery.loss.as_ref();
        let lasted = self.options.clock.now() - loss.map_or(requested_at, |loss| loss.since);
        let count = items.len() + taken;
        if self.recovery.synced {
            if self.is_behind(&version) && !loss.is_some_and(|loss| loss.went_back) {
                self.options.report(&ReflectorEvent::WentBack { from: self.last.get(), to: version.clone() });
                // Reported once, even if the store refuses the list.
                let since = loss.map_or(requested_at, |loss| loss.since);
                self.recovery.loss = Some(Loss { since, relisting: true, went_back: true });
            }
            self.store.gap(&self.last.get(), &version, lasted);
        }
        store_list(&*self.store, items, &version, origin)?;
        self.recovery.loss = None;
        self.last.set(version.clone());
        self.recovery.synced = true;
        self.recovery.source_state = SourceState::Confirmed;
        self.recovery.version_unavailable = false;
        self.recovery.broken_initials = 0;
        self.recovery.short_watches = 0;
        self.options.report(&ReflectorEvent::Listed { phase, origin, version, items: count, lasted });
        Ok(())
    }

    /// Reports an error of the store.
    pub(super) fn report_refusal(&self, result: Result<(), S::Error>) {
        if let Err(error) = result {
            self.options.report(&ReflectorEvent::StoreRefused { error: Arc::new(error) });
        }
    }
}

/// Passes the whole list to a store. A refused object makes the whole list refused.
pub(super) fn store_list<S: ReflectorStore>(
    store: &S,
    items: Vec<Arc<Object>>,
    version: &ResourceVersion,
    origin: Origin,
) -> Result<(), Error> {
    let stored = store.replace(items, version, origin);
    stored.map_err(|error| Error::NotStored(format!("the store refused the list at {version}: {error}")))
}

/// Begins a list in a store; the list may belong to another history than the stored state.
pub(super) fn begin_list(store: &impl ReflectorStore, origin: Origin, may_be_unrelated: bool) {
    store.list_begin(origin);
    if may_be_unrelated {
        store.list_may_be_unrelated();
    }
}
