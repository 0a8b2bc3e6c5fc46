//! The state machine: what the reflector is doing, and what comes next.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;

use super::backoff::{Backoffs, SETTLED};
use super::event::ReflectorEvent;
use super::expected_type::ExpectedType;
use super::initial::InitialFailure;
use super::list::Fetched;
use super::live::{End, Live};
use super::memory::{LastVersion, Loss, Memory, Sight};
use super::options::ReflectorOptions;
use super::sink::ReflectorStore;
use super::verdict::{Phase, Verdict, out_of_sight, verdict};
use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Object, Origin, ResourceVersion};

/// How many initial states in a row may break off on their way through a watch until one is listed.
const BROKEN_INITIALS: u32 = 2;

/// How many watches in a row may end at once until the version they start from is given up: a source that says
/// neither what is wrong nor anything else.
const SHORT_WATCHES: u32 = 3;

/// How many watches in a row may ask for a version that the source does not know yet, where no list can tell whether it
/// lags or will never get there.
const EARLY_WATCHES: u32 = 5;

/// What the reflector is doing.
pub(super) enum State<W> {
    /// The whole state is wanted. Chooses the way to it: [`State::WatchListing`] or [`State::Listing`].
    Begin,
    /// Receives the initial state through a watch. Success goes on following that same watch ([`State::Watching`]);
    /// a refusal leads to [`State::Listing`], trouble to [`State::Waiting`] and back to [`State::Begin`], a version
    /// that can't be had straight to [`State::Begin`] without one.
    WatchListing,
    /// Lists. Success leads to [`State::Opening`], trouble to [`State::Waiting`] and [`State::Begin`], a version that
    /// can't be had straight to [`State::Begin`] without one.
    Listing,
    /// Asks how far the source has come, which was out of sight. One that stands where it stood, or further on, leads to
    /// [`State::Opening`]; one whose versions went back to [`State::Begin`] without one; trouble to [`State::Waiting`] and
    /// back here.
    Checking,
    /// Starts a watch at the last version. Where the source was out of sight that comes after [`State::Checking`], or, if
    /// it is in no trouble, beside the same question. Success leads to [`State::Watching`]; trouble to [`State::Waiting`]
    /// and back here, or to [`State::Begin`] where the version is the trouble.
    Opening,
    /// Follows a watch. Its clean end leads to [`State::Opening`], through [`State::Waiting`] where the watch was short;
    /// an error leads where that of [`State::Opening`] does, except that a longer watch which only went silent is opened
    /// again at once.
    Watching(Live<W>),
    /// Sits a back-off out.
    Waiting {
        /// How long.
        after: Duration,
        /// What then: [`State::Begin`] or [`State::Opening`].
        then: Next,
    },
}

/// What is tried again after a wait.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Begin,
    Opening,
}

/// A running reflector: what it carries from state to state.
pub(super) struct Machine<L, S> {
    pub(super) source: L,
    pub(super) store: Arc<S>,
    pub(super) options: ReflectorOptions,
    pub(super) backoffs: Backoffs,
    pub(super) memory: Memory,
    pub(super) expected: ExpectedType,
    last: LastVersion,
}

impl<L: ListerWatcher, S: ReflectorStore> Machine<L, S> {
    pub(super) fn new(source: L, store: Arc<S>, options: ReflectorOptions, last: LastVersion) -> Self {
        let backoffs = Backoffs::new(options.backoff, &options.jitter);
        let expected = ExpectedType::new(source.expected_type());
        Self { source, store, options, backoffs, memory: Memory::default(), expected, last }
    }

    /// Steps for ever, or until an error that ends the run.
    pub(super) async fn drive(&mut self) -> Error {
        let mut state = match self.options.resume_from.clone() {
            Some(version) => {
                self.last.set(version);
                self.memory.source = Sight::Lost;
                State::Checking
            }
            None => State::Begin,
        };
        loop {
            // A source and a store that never make us wait must not keep the runtime from noticing a stop.
            consume_budget().await;
            state = match self.step(state).await {
                Ok(next) => next,
                Err(error) => return error,
            };
        }
    }

    async fn step(&mut self, state: State<L::Watch>) -> Result<State<L::Watch>, Error> {
        match state {
            State::Begin if self.asks_pages_first() => Ok(State::Listing),
            State::Begin if self.asks_watch_list() => Ok(State::WatchListing),
            State::Begin => Ok(State::Listing),
            State::WatchListing => match self.watch_list().await {
                Ok(live) => {
                    self.memory.watched = true;
                    Ok(State::Watching(live))
                }
                Err(failure) => self.initial_failed(failure),
            },
            State::Listing => {
                let is_first = self.asks_pages_first();
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
            State::Opening if self.memory.source == Sight::Lost => match &self.memory.loss {
                None => self.reopen().await,
                Some(_) => Ok(State::Checking),
            },
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
                // Where nothing was to be listed, all that was wanted is there once a watch stands.
                self.memory.synced = true;
                self.memory.watched = true;
                Ok(State::Watching(live))
            }
            Err(error) => self.failed(Phase::Open, error),
        }
    }

    /// Handles the end of a watch by how long it lived: what follows a short one is paced, however it ended.
    fn ended(&mut self, end: End, lived: Duration) -> Result<State<L::Watch>, Error> {
        self.backoffs.watch_ended(lived);
        let is_settled = lived >= SETTLED;
        if is_settled {
            self.memory.early_watches = 0;
        }
        match end {
            End::Clean { early } => {
                self.memory.short_watches = 0;
                if early {
                    self.memory.source = Sight::Lost;
                }
                Ok(if is_settled { State::Opening } else { self.rewatch_later(None) })
            }
            End::Wordless => self.ended_wordless(),
            End::Broken { error } => self.broke(error, is_settled),
        }
    }

    /// A watch must not go on from a source that was out of sight. A list shows where it stands, but not that its versions
    /// are what they were; nor are they where the last one has not come.
    fn lose_sight(&mut self, phase: Phase, error: &Error) {
        let sight = match phase {
            Phase::Open | Phase::Watch if out_of_sight(error) => Sight::Lost,
            _ if out_of_sight(error) || matches!(error, Error::TooLargeResourceVersion(_)) => Sight::Regained,
            _ => return,
        };
        self.memory.source = self.memory.source.max(sight);
    }

    fn asks_watch_list(&self) -> bool {
        self.options.watch_list
            && !self.memory.learned.no_watch_list
            && self.source.supports_watch_list()
            && self.memory.broken_initials < BROKEN_INITIALS
    }

    fn initial_failed(&mut self, failure: InitialFailure) -> Result<State<L::Watch>, Error> {
        match failure {
            InitialFailure::NotStarted(error) | InitialFailure::NotStored(error) => {
                self.failed(Phase::WatchList, error)
            }
            InitialFailure::NoBookmark(error) => Ok(self.fall_back(error, true)),
            InitialFailure::Ended(error) => Ok(self.fall_back(error, false)),
            InitialFailure::Broken(error) => {
                self.memory.broken_initials += 1;
                if self.memory.broken_initials == BROKEN_INITIALS {
                    return Ok(self.fall_back(error, false));
                }
                self.failed(Phase::WatchList, error)
            }
        }
    }

    /// The next watch may do better, but not for ever: the version it starts from may be what the source chokes on.
    fn ended_wordless(&mut self) -> Result<State<L::Watch>, Error> {
        self.memory.short_watches += 1;
        let verdict = match self.memory.short_watches {
            SHORT_WATCHES.. => Verdict::RelistLater,
            _ => Verdict::RewatchLater,
        };
        let error = Error::Transport("the watch ended at once, without an event".into());
        self.follow_verdict(Phase::Watch, error, verdict)
    }

    fn broke(&mut self, error: Error, is_settled: bool) -> Result<State<L::Watch>, Error> {
        self.lose_sight(Phase::Watch, &error);
        let verdict = match verdict(Phase::Watch, &error) {
            Verdict::Rewatch if !is_settled => Verdict::RewatchLater,
            verdict => verdict,
        };
        self.follow_verdict(Phase::Watch, error, verdict)
    }

    pub(super) fn failed(&mut self, phase: Phase, error: Error) -> Result<State<L::Watch>, Error> {
        self.lose_sight(phase, &error);
        let verdict = verdict(phase, &error);
        self.follow_verdict(phase, error, verdict)
    }

    fn follow_verdict(
        &mut self,
        phase: Phase,
        error: Error,
        verdict: Verdict,
    ) -> Result<State<L::Watch>, Error> {
        let verdict =
            if self.options.resume_from.is_some() { self.without_list(&error, verdict) } else { verdict };
        match verdict {
            Verdict::FallBack => return Ok(self.fall_back(error, false)),
            Verdict::FallBackForGood => return Ok(self.fall_back(error, true)),
            Verdict::RelistUnset if !self.version_to_ask(phase).is_unset() => {
                self.memory.version_unavailable = true;
                return Ok(State::Begin);
            }
            Verdict::Pass => {
                self.memory.source = Sight::Regained;
                return Ok(State::Opening);
            }
            Verdict::GiveUp => return Err(error),
            _ if self.gives_up(phase, &error) => return Err(error),
            _ => {}
        }
        if verdict == Verdict::Relist {
            // Twice, and nothing between: what was listed was too old from the beginning, and a list that is to be
            // no older may bring the same again.
            self.memory.version_unavailable |= self.memory.expired_watches > 0;
            self.memory.expired_watches += 1;
        }
        let retry_after = error.retry_after();
        let since = self.options.clock.now();
        self.memory.loss.get_or_insert(Loss { since, relisting: false, went_back: false });
        self.options.tell(&ReflectorEvent::Lost { phase, error });
        Ok(match verdict {
            Verdict::Rewatch => State::Opening,
            Verdict::RewatchLater => self.rewatch_later(retry_after),
            _ => self.relist(retry_after),
        })
    }

    fn without_list(&mut self, error: &Error, verdict: Verdict) -> Verdict {
        if verdict != Verdict::Pass && matches!(error, Error::TooLargeResourceVersion(_)) {
            self.memory.early_watches += 1;
            if self.memory.early_watches >= EARLY_WATCHES {
                return Verdict::GiveUp;
            }
        }
        verdict.without_list(error)
    }

    /// Whether the source has been further than this version.
    pub(super) fn is_behind(&self, version: &ResourceVersion) -> bool {
        version.compare(&self.last.get()) == Ok(Ordering::Less)
    }

    /// Whether this error ends a run that has not synced yet, or has never watched.
    pub(super) fn gives_up(&self, phase: Phase, error: &Error) -> bool {
        let asked = match phase {
            _ if !self.memory.synced => &self.options.give_up,
            Phase::Open if !self.memory.watched => &self.options.give_up_watch,
            _ => &None,
        };
        asked.as_ref().is_some_and(|give_up| give_up(error))
    }

    fn rewatch_later(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let after = self.backoffs.rewatch.next(retry_after);
        self.wait(after, Next::Opening)
    }

    /// Leads to the whole state, through the wait that is due before it.
    pub(super) fn relist(&mut self, retry_after: Option<Duration>) -> State<L::Watch> {
        let next = match self.backoffs.before_list(retry_after) {
            Some(after) => self.wait(after, Next::Begin),
            None => State::Begin,
        };
        self.tell_relisting();
        next
    }

    fn wait(&self, after: Duration, then: Next) -> State<L::Watch> {
        self.options.tell(&ReflectorEvent::Retrying { after });
        State::Waiting { after, then }
    }

    fn fall_back(&mut self, error: Error, for_good: bool) -> State<L::Watch> {
        // Who shares the source may have found out, and have told it, while this one waited.
        let is_news = self.source.supports_watch_list();
        if for_good {
            self.memory.learned.no_watch_list = true;
            self.source.disable_watch_list();
        }
        if is_news {
            self.options.tell(&ReflectorEvent::WatchListFellBack { error, for_good });
        }
        State::Listing
    }

    fn tell_relisting(&mut self) {
        if let Some(loss) = self.memory.loss.as_mut().filter(|loss| self.memory.synced && !loss.relisting) {
            loss.relisting = true;
            self.options.tell(&ReflectorEvent::Relisting { from: self.last.get() });
        }
    }

    /// The version that a request for the whole state carries.
    pub(super) fn version_to_ask(&self, phase: Phase) -> ResourceVersion {
        let first = &self.options.first_version;
        match self.last.get() {
            _ if self.memory.version_unavailable => ResourceVersion::UNSET,
            last if !last.is_unset() => last,
            _ if phase == Phase::WatchList && first.is_any() => ResourceVersion::UNSET,
            _ => first.clone(),
        }
    }

    /// What brings the objects of the next whole state.
    pub(super) fn state_origin(&self) -> Origin {
        if self.memory.synced { Origin::Relist } else { Origin::List }
    }

    /// Whether the next whole state may be of another history than the last.
    pub(super) fn is_doubtful(&self) -> bool {
        self.memory.synced && self.memory.source != Sight::Kept
    }

    /// The version received last.
    pub(super) fn last_version(&self) -> ResourceVersion {
        self.last.get()
    }

    /// Something with this version was received. What carries none, as objects of some representations do, leaves
    /// the last version: a watch must not go on from nowhere.
    pub(super) fn received(&mut self, version: &ResourceVersion) {
        if !version.is_unset() {
            self.last.set(version.clone());
        }
    }

    /// The whole state is here: into the store with it.
    ///
    /// # Errors
    /// [`Error::NotStored`]: then the store has none of it, so that the state is still wanted.
    pub(super) fn complete(
        &mut self,
        phase: Phase,
        fetched: Fetched,
        asked_at: Instant,
    ) -> Result<(), Error> {
        let Fetched { items, taken, version, .. } = fetched;
        let origin = self.state_origin();
        let loss = self.memory.loss.as_ref();
        let lasted = self.options.clock.now() - loss.map_or(asked_at, |loss| loss.since);
        let count = items.len() + taken;
        if self.memory.synced {
            if self.is_behind(&version) && !loss.is_some_and(|loss| loss.went_back) {
                self.options.tell(&ReflectorEvent::WentBack { from: self.last.get(), to: version.clone() });
                // Once, also where the store refuses the list.
                let since = loss.map_or(asked_at, |loss| loss.since);
                self.memory.loss = Some(Loss { since, relisting: true, went_back: true });
            }
            self.store.gap(&self.last.get(), &version, lasted);
        }
        store_list(&*self.store, items, &version, origin)?;
        self.memory.loss = None;
        self.last.set(version.clone());
        self.memory.synced = true;
        self.memory.source = Sight::Kept;
        self.memory.version_unavailable = false;
        self.memory.broken_initials = 0;
        self.memory.short_watches = 0;
        self.options.tell(&ReflectorEvent::Listed { phase, origin, version, items: count, lasted });
        Ok(())
    }

    /// Tells of what the store did not take.
    pub(super) fn report(&self, result: Result<(), S::Error>) {
        if let Err(error) = result {
            self.options.tell(&ReflectorEvent::StoreRefused { error: Arc::new(error) });
        }
    }
}

/// Hands a store the whole list; one object that it refuses is the whole list refused.
pub(super) fn store_list<S: ReflectorStore>(
    store: &S,
    items: Vec<Arc<Object>>,
    version: &ResourceVersion,
    origin: Origin,
) -> Result<(), Error> {
    let stored = store.replace(items, version, origin);
    stored.map_err(|error| Error::NotStored(format!("the store refused the list at {version}: {error}")))
}

/// Tells a store that a list begins, which may be of another history than the state it has.
pub(super) fn begin_list(store: &impl ReflectorStore, origin: Origin, is_doubtful: bool) {
    store.list_begin(origin);
    if is_doubtful {
        store.list_in_doubt();
    }
}
