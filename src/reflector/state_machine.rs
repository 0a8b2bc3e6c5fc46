//! The state machine of a reflector.

use std::time::Duration;

use tokio::task::coop::consume_budget;

use super::event::ReflectorEvent;
use super::recovery::action::{Phase, RecoveryAction, is_disconnected, recovery_action};
use super::recovery::backoff::SETTLED;
use super::recovery::state::{Loss, SourceState};
use super::reflector_store::ReflectorStore;
use super::run_context::RunContext;
use super::steps::list::list;
use super::steps::live_watch::{LiveWatch, WatchEnd, follow, open};
use super::steps::version_check::{check, check_and_open};
use super::steps::watch_list::{InitialFailure, watch_list};
use crate::listwatch::{Error, ListerWatcher};
use crate::object::ResourceVersion;

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
    Watching(LiveWatch<W>),
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

/// The state machine of one run. It alone calls the steps and chooses the next one.
pub(super) struct StateMachine<L, S> {
    context: RunContext<L, S>,
}

impl<L: ListerWatcher, S: ReflectorStore> StateMachine<L, S> {
    pub(super) fn new(context: RunContext<L, S>) -> Self {
        Self { context }
    }

    /// Runs until an error ends the run, and returns it.
    pub(super) async fn drive(&mut self) -> Error {
        let mut state = self.first_state();
        loop {
            state = match self.step(state).await {
                Ok(next) => next,
                Err(error) => return error,
            };
        }
    }

    /// Runs until the store has received the initial state. A watch that delivered it is closed, and no other is opened.
    pub(super) async fn drive_until_synced(&mut self) -> Result<(), Error> {
        let mut state = self.first_state();
        while !self.context.recovery.synced {
            state = self.step(state).await?;
        }
        Ok(())
    }

    fn first_state(&mut self) -> State<L::Watch> {
        let Some(version) = self.context.options.resume_from.clone() else { return State::Begin };
        self.context.last.set(version);
        self.context.recovery.source_state = SourceState::Disconnected;
        State::Checking
    }

    async fn step(&mut self, state: State<L::Watch>) -> Result<State<L::Watch>, Error> {
        // A source and a store that never wait must not keep the runtime from noticing a stop.
        consume_budget().await;
        match state {
            State::Begin if self.context.lists_pages_first() => Ok(State::Listing),
            State::Begin if self.uses_watch_list() => Ok(State::WatchListing),
            State::Begin => Ok(State::Listing),
            State::WatchListing => match watch_list(&mut self.context).await {
                Ok(live) => {
                    self.context.recovery.watched = true;
                    Ok(State::Watching(live))
                }
                Err(failure) => self.initial_failed(failure),
            },
            State::Listing => {
                let is_first = self.context.lists_pages_first();
                let is_known = self.context.options.first_list_is_known && !self.context.recovery.synced;
                match list(&mut self.context).await {
                    Ok(()) => {
                        if is_known {
                            self.context.recovery.source_state = SourceState::Disconnected;
                        }
                        Ok(State::Opening)
                    }
                    Err(error) if is_first => self.pages_first_failed(error),
                    Err(error) => self.failed(Phase::List, error),
                }
            }
            State::Checking => match check(&self.context, &ResourceVersion::UNSET).await {
                Ok(latest) => self.checked(latest),
                Err(error) => self.failed(Phase::Check, error),
            },
            State::Opening if self.context.recovery.source_state == SourceState::Disconnected => {
                match &self.context.recovery.loss {
                    None => self.reopen().await,
                    Some(_) => Ok(State::Checking),
                }
            }
            State::Opening => {
                let live = open(&self.context).await;
                self.opened(live)
            }
            State::Watching(mut live) => {
                let end = follow(&mut self.context, &mut live).await;
                let lived = self.context.options.clock.now().saturating_duration_since(live.opened);
                self.ended(end, lived)
            }
            State::Waiting { after, then } => {
                self.context.options.clock.sleep(after).await;
                Ok(match then {
                    Next::Begin => State::Begin,
                    Next::Opening => State::Opening,
                })
            }
        }
    }

    /// Watches again after the source ended the previous watch cleanly, but early.
    async fn reopen(&mut self) -> Result<State<L::Watch>, Error> {
        let (latest, live) = check_and_open(&self.context).await;
        let next = match latest {
            Ok(latest) => self.checked(latest)?,
            Err(error) => self.failed(Phase::Check, error)?,
        };
        match (next, live) {
            (State::Opening, Some(live)) => self.opened(live),
            (next, _) => Ok(next),
        }
    }

    /// Returns the next state for the source's latest version. If it is older than the last received version, the source has
    /// another history, and its events do not continue the stored state. Versions that can't be compared, as those of a source
    /// without versions, count as not older.
    fn checked(&mut self, latest: ResourceVersion) -> Result<State<L::Watch>, Error> {
        let recovery = &mut self.context.recovery;
        // Nothing failed, and a known state may lack the content of its objects, so that equal versions must suffice.
        let is_known =
            self.context.options.first_list_is_known && !recovery.watched && recovery.loss.is_none();
        recovery.source_state = if is_known { SourceState::Confirmed } else { SourceState::Reconnected };
        if !self.context.is_behind(&latest) {
            return Ok(State::Opening);
        }
        self.context.recovery.source_state = SourceState::Reconnected;
        let from = self.context.last.get();
        if self.context.options.resume_from.is_some() {
            return Err(Error::too_large(&from, &latest));
        }
        let since = self.context.options.clock.now();
        let loss =
            self.context.recovery.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        (loss.relisting, loss.went_back) = (true, true);
        self.context.recovery.version_unavailable = true;
        self.context.options.report(&ReflectorEvent::WentBack { from, to: latest });
        Ok(self.relist(None))
    }

    fn opened(&mut self, live: Result<LiveWatch<L::Watch>, Error>) -> Result<State<L::Watch>, Error> {
        match live {
            Ok(live) => {
                // A reflector that lists nothing has synced once its watch is established.
                self.context.recovery.synced = true;
                self.context.recovery.watched = true;
                Ok(State::Watching(live))
            }
            Err(error) => self.failed(Phase::Open, error),
        }
    }

    /// Handles the end of a watch. The next request waits if the watch was short, however it ended.
    fn ended(&mut self, end: WatchEnd, lived: Duration) -> Result<State<L::Watch>, Error> {
        self.context.backoffs.watch_ended(lived);
        let is_settled = lived >= SETTLED;
        if is_settled {
            self.context.recovery.early_watches = 0;
        }
        match end {
            WatchEnd::Clean { early } => {
                self.context.recovery.short_watches = 0;
                if early {
                    self.context.recovery.source_state = SourceState::Disconnected;
                }
                Ok(if is_settled { State::Opening } else { self.rewatch_later(None) })
            }
            WatchEnd::WithoutEvent => self.ended_without_event(),
            WatchEnd::Broken { error } => self.watch_broke(error, is_settled),
        }
    }

    /// Records that the source may have been replaced. A list shows its latest version, but not that its versions still belong
    /// to the same history.
    fn update_source_state(&mut self, phase: Phase, error: &Error) {
        let source_state = match phase {
            Phase::Open | Phase::Watch if is_disconnected(error) => SourceState::Disconnected,
            _ if is_disconnected(error) || matches!(error, Error::TooLargeResourceVersion(_)) => {
                SourceState::Reconnected
            }
            _ => return,
        };
        self.context.recovery.source_state = self.context.recovery.source_state.max(source_state);
    }

    fn uses_watch_list(&self) -> bool {
        self.context.options.watch_list
            && !self.context.recovery.traits.no_watch_list
            && self.context.source.supports_watch_list()
            && self.context.recovery.broken_initials < MAX_BROKEN_INITIALS
    }

    /// Handles a failure of the list that precedes all other ways to the first state. The state is requested in another way,
    /// unless the source is unreachable, rejects the credentials or names a time when to try again. A broken connection had reached the
    /// source.
    fn pages_first_failed(&mut self, error: Error) -> Result<State<L::Watch>, Error> {
        if error.retry_after().is_some() || matches!(error, Error::Unauthorized(_)) {
            return self.failed(Phase::List, error);
        }
        self.context.recovery.no_pages_first = true;
        let is_reachable = error.status().is_some() || matches!(error, Error::Transport(_));
        if !is_reachable && self.ends_run(Phase::List, &error) {
            return Err(error);
        }
        self.context.options.report(&ReflectorEvent::PagesFellBack { error });
        Ok(State::Begin)
    }

    fn initial_failed(&mut self, failure: InitialFailure) -> Result<State<L::Watch>, Error> {
        match failure {
            InitialFailure::NotStarted(error) | InitialFailure::NotStored(error) => {
                self.failed(Phase::WatchList, error)
            }
            InitialFailure::NoBookmark(error) => Ok(self.fall_back(error, true)),
            InitialFailure::Ended(error) => Ok(self.fall_back(error, false)),
            InitialFailure::Broken(error) => {
                self.context.recovery.broken_initials += 1;
                if self.context.recovery.broken_initials == MAX_BROKEN_INITIALS {
                    return Ok(self.fall_back(error, false));
                }
                self.failed(Phase::WatchList, error)
            }
        }
    }

    /// Tries the watch again, but only a few times: the source may be unable to serve the version.
    fn ended_without_event(&mut self) -> Result<State<L::Watch>, Error> {
        self.context.recovery.short_watches += 1;
        let action = match self.context.recovery.short_watches {
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

    fn failed(&mut self, phase: Phase, error: Error) -> Result<State<L::Watch>, Error> {
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
        let action = if self.context.options.resume_from.is_some() {
            self.without_list(&error, action)
        } else {
            action
        };
        match action {
            RecoveryAction::FallBack => return Ok(self.fall_back(error, false)),
            RecoveryAction::FallBackPermanently => return Ok(self.fall_back(error, true)),
            RecoveryAction::RelistAtAnyVersion if !self.context.version_to_request(phase).is_unset() => {
                self.context.recovery.version_unavailable = true;
                return Ok(State::Begin);
            }
            RecoveryAction::WatchAnyway => {
                self.context.recovery.source_state = SourceState::Reconnected;
                return Ok(State::Opening);
            }
            RecoveryAction::GiveUp => return Err(error),
            _ if self.ends_run(phase, &error) => return Err(error),
            _ => {}
        }
        if action == RecoveryAction::Relist {
            // The second time in a row: the listed version was too old from the beginning, and another list at it may
            // return the same.
            self.context.recovery.version_unavailable |= self.context.recovery.expired_watches > 0;
            self.context.recovery.expired_watches += 1;
        }
        let retry_after = error.retry_after();
        let since = self.context.options.clock.now();
        self.context.recovery.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        self.context.options.report(&ReflectorEvent::Lost { phase, error });
        Ok(match action {
            RecoveryAction::Rewatch => State::Opening,
            RecoveryAction::RewatchLater => self.rewatch_later(retry_after),
            _ => self.relist(retry_after),
        })
    }

    fn without_list(&mut self, error: &Error, action: RecoveryAction) -> RecoveryAction {
        if action != RecoveryAction::WatchAnyway && matches!(error, Error::TooLargeResourceVersion(_)) {
            self.context.recovery.early_watches += 1;
            if self.context.recovery.early_watches >= MAX_EARLY_WATCHES {
                return RecoveryAction::GiveUp;
            }
        }
        action.without_list(error)
    }

    /// Returns true if this error ends a run that has not synced or never watched.
    fn ends_run(&self, phase: Phase, error: &Error) -> bool {
        let give_up = match phase {
            _ if !self.context.recovery.synced => &self.context.options.give_up,
            Phase::Open if !self.context.recovery.watched => &self.context.options.give_up_watch,
            _ => &None,
        };
        give_up.as_ref().is_some_and(|ends_run| ends_run(error))
    }

    fn rewatch_later(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let after = self.context.backoffs.rewatch.next(retry_after);
        self.wait(after, Next::Opening)
    }

    /// Returns the state that fetches the whole state, after the wait that is due.
    fn relist(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let next = match self.context.backoffs.before_list(retry_after) {
            Some(after) => self.wait(after, Next::Begin),
            None => State::Begin,
        };
        self.report_relisting();
        next
    }

    fn wait(&self, after: Duration, then: Next) -> State<L::Watch> {
        self.context.options.report(&ReflectorEvent::Retrying { after });
        State::Waiting { after, then }
    }

    fn fall_back(&mut self, error: Error, for_good: bool) -> State<L::Watch> {
        // Another reflector of the same source may have disabled it meanwhile.
        let is_news = self.context.source.supports_watch_list();
        if for_good {
            self.context.recovery.traits.no_watch_list = true;
            self.context.source.disable_watch_list();
        }
        if is_news {
            self.context.options.report(&ReflectorEvent::WatchListFellBack { error, for_good });
        }
        State::Listing
    }

    fn report_relisting(&mut self) {
        if let Some(loss) =
            self.context.recovery.loss.as_mut().filter(|loss| self.context.recovery.synced && !loss.relisting)
        {
            loss.relisting = true;
            self.context.options.report(&ReflectorEvent::Relisting { from: self.context.last.get() });
        }
    }
}
