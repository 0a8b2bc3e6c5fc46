//! A watch that is started again where it was.

use std::cmp::Ordering;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::coop::consume_budget;

use super::WatchToolsError;
use crate::clock::{Clock, Sleep, TokioClock};
use crate::listwatch::{Error, ListerWatcher, Status, WatchEvent, WatchOptions, WatchStream};
use crate::object::{Object, ResourceVersion};

/// From one start to the next at least: a watch that stood for longer is started again at once.
const BETWEEN_STARTS: Duration = Duration::from_secs(1);

/// A watch from a version on that survives what ends a watch (client-go: `RetryWatcher`).
///
/// Each event that happened after the initial version is handed out once, in order, however often the watch has to be
/// started again; bookmarks are not handed out, but it goes on from them. It ends, with that error as the last it has
/// to say, when
/// - the source tells in the stream that it has forgotten what happened since ([`Error::Expired`]): only a list helps,
///   and whoever wants one uses an informer or [`until_with_sync`](super::until_with_sync);
/// - a start is refused with [`Error::Unauthorized`], [`Error::Forbidden`] or [`Error::NotSupported`];
/// - the source has not come to the version to go on from ([`Error::TooLargeResourceVersion`]): it was restored from a
///   backup, or it is another one. A Kubernetes server answers a watch from there with silence, tells nothing of what
///   it took back, and would tell a second time what happens again. Before each start it is asked how far it has come
///   ([`ListerWatcher::progress`]); client-go does not ask, and loses that. Who may not list is not protected from it, nor
///   is anybody from a source that has passed the version again before it is asked;
/// - an object carries no version: to go on without one would lose events.
///
/// Anything else is tried again, also a start that is refused because the version is too old (another server behind
/// the same address may know more), as often as once a second, for ever: bound it with a timeout around it.
///
/// It has no task: what happens, happens while [`WatchStream::next`] is awaited, and dropping it ends the watch. An
/// event is handed out the moment it is read, so that nothing is lost with an event nobody took.
///
/// ```
/// # use kdelta::{listwatch::WatchStream, testing::{FakeSource, pod}, watchtools::RetryWatcher};
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let source = FakeSource::new();
/// let mut watch = RetryWatcher::new(source.version(), source.clone())?;
/// for name in ["a", "b"] {
///     source.add(pod(name));
///     watch.next().await.ok_or("the watch ended")??;
///     // The connection is lost after each event, and nobody notices.
///     source.drop_watches();
/// }
/// # Ok(())
/// # }
/// ```
pub struct RetryWatcher<L: ListerWatcher> {
    source: Arc<L>,
    clock: Arc<dyn Clock>,
    /// Everything up to here has been handed out.
    last: ResourceVersion,
    started: Option<Instant>,
    state: State<L::Watch>,
}

/// Kept between two calls, so that dropping the future of one loses nothing.
enum State<W> {
    /// To be started by whoever asks next.
    New,
    /// Until it is time to start.
    Waiting(Sleep),
    Starting(Pin<Box<dyn Future<Output = Result<W, NotStarted>> + Send>>),
    Following(W),
    Ended,
}

/// Why there is no watch.
enum NotStarted {
    /// The source has not come to where it is to begin.
    Behind(Error),
    Refused(Error),
}

impl<L: ListerWatcher> RetryWatcher<L> {
    /// A watch of what happens after this version. It is started by the first [`WatchStream::next`].
    ///
    /// # Errors
    /// [`WatchToolsError::InitialVersion`]: the version is unset or "0", so that each start would begin with whatever
    /// there is.
    pub fn new(initial: ResourceVersion, source: L) -> Result<Self, WatchToolsError> {
        if initial.is_unset() || initial.is_any() {
            return Err(WatchToolsError::InitialVersion(initial));
        }
        let (source, clock) = (Arc::new(source), Arc::new(TokioClock));
        Ok(Self { source, clock, last: initial, started: None, state: State::New })
    }

    /// The same on another time than that of the runtime.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The version up to which every event has been handed out.
    #[must_use]
    pub fn last_resource_version(&self) -> &ResourceVersion {
        &self.last
    }

    fn start(&mut self) {
        self.started = Some(self.clock.now());
        let source = Arc::clone(&self.source);
        let options = WatchOptions {
            resource_version: self.last.clone(),
            allow_bookmarks: true,
            ..WatchOptions::default()
        };
        self.state = State::Starting(Box::pin(async move {
            check(&*source, &options.resource_version).await?;
            source.watch(&options).await.map_err(NotStarted::Refused)
        }));
    }

    /// The source may say how long to wait.
    fn start_later(&mut self, retry_after: Option<Duration>) {
        let stood = self.started.map(|started| self.clock.now().saturating_duration_since(started));
        let pace = BETWEEN_STARTS.saturating_sub(stood.unwrap_or_default());
        let asked = retry_after.unwrap_or_default();
        self.state = State::Waiting(self.clock.sleep(pace.max(asked)));
    }

    fn end(&mut self, error: Error) -> Result<WatchEvent, Error> {
        self.state = State::Ended;
        Err(error)
    }

    /// What to hand out for something read from the watch; nothing means to go on.
    fn read(&mut self, read: Option<Result<WatchEvent, Error>>) -> Option<Result<WatchEvent, Error>> {
        let event = match read {
            Some(Ok(event)) => event,
            Some(Err(error @ Error::Expired(_))) => return Some(self.end(error)),
            Some(Err(error)) => {
                self.start_later(error.retry_after());
                return None;
            }
            None => {
                self.start_later(None);
                return None;
            }
        };
        let version = version_of(&event);
        if version.is_unset() {
            return Some(self.end(without_version()));
        }
        self.last = version.clone();
        if matches!(event, WatchEvent::Bookmark { .. }) { None } else { Some(Ok(event)) }
    }
}

impl<L: ListerWatcher> WatchStream for RetryWatcher<L> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            // A source that never makes us wait must not keep the runtime from its other tasks.
            consume_budget().await;
            match &mut self.state {
                State::New => self.start(),
                State::Waiting(sleep) => {
                    sleep.await;
                    self.start();
                }
                State::Starting(start) => match start.await {
                    Ok(stream) => self.state = State::Following(stream),
                    Err(
                        NotStarted::Behind(error)
                        | NotStarted::Refused(
                            error @ (Error::Forbidden(_) | Error::Unauthorized(_) | Error::NotSupported(_)),
                        ),
                    ) => return Some(self.end(error)),
                    Err(NotStarted::Refused(error)) => self.start_later(error.retry_after()),
                },
                State::Following(stream) => {
                    let read = stream.next().await;
                    if let Some(told) = self.read(read) {
                        return Some(told);
                    }
                }
                State::Ended => return None,
            }
        }
    }
}

/// Finds out whether the source has come to this version. Where it does not say, the watch is started all the same: if
/// it can't be had for the same reason, it says so itself. What passes is waited for.
async fn check<L: ListerWatcher>(source: &L, version: &ResourceVersion) -> Result<(), NotStarted> {
    // Of the most recent state: it may have been out of sight, or never been in it.
    match source.progress(&ResourceVersion::UNSET).await {
        Ok(latest) if latest.compare(version) == Ok(Ordering::Less) => {
            Err(NotStarted::Behind(Error::too_large(version, &latest)))
        }
        Err(
            error @ (Error::Refused(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::TooManyRequests { .. }
            | Error::Unavailable { .. }),
        ) => Err(NotStarted::Refused(error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn version_of(event: &WatchEvent) -> &ResourceVersion {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
            Object::resource_version(object)
        }
        WatchEvent::Bookmark { resource_version, .. } => resource_version,
    }
}

fn without_version() -> Error {
    let message = "an event without a resourceVersion: to go on after it could lose events".to_owned();
    Error::Internal(Status { reason: "InternalError".to_owned(), message, json: String::new() })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use super::*;
    use crate::listwatch::{ListOptions, ListWatch, PageStream};
    use crate::object::{Ingest, TypeMeta};
    use crate::testing::FakeClock;
    use crate::testing::{FakeSource, pod};

    /// What a server does with one watch.
    #[derive(Clone)]
    enum Act {
        /// Refuses it.
        Refuse(Error),
        /// Sends these, of the versions after the one asked for, then closes it.
        Send(Vec<Result<u32, Error>>),
        /// Sends these and says no more.
        SendAndStand(Vec<Result<u32, Error>>),
    }

    struct Replay {
        events: VecDeque<Result<WatchEvent, Error>>,
        stands: bool,
    }

    impl WatchStream for Replay {
        async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
            match self.events.pop_front() {
                None if self.stands => std::future::pending().await,
                next => next,
            }
        }
    }

    fn object(version: u32) -> Arc<Object> {
        let json = format!(r#"{{"metadata":{{"name":"a","resourceVersion":"{version}"}}}}"#);
        let json = json.replace(r#""resourceVersion":"0""#, r#""generation":1"#);
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    /// What a watch from `initial` on hands out until a minute has passed, and how often it was started. The server
    /// acts as told for one watch after the other, and the last act is for all that follow.
    async fn watched(initial: &str, acts: Vec<Act>) -> (usize, Vec<String>) {
        let starts = Arc::new(Mutex::new(Vec::new()));
        let list = |_: ListOptions| async { Ok::<PageStream, Error>(PageStream::default()) };
        let watch = {
            let starts = Arc::clone(&starts);
            move |options: WatchOptions| {
                assert!(options.allow_bookmarks && options.timeout.is_none());
                let act = {
                    let mut starts = starts.lock().expect("no panic");
                    starts.push(TokioClock.now());
                    acts[(starts.len() - 1).min(acts.len() - 1)].clone()
                };
                async move {
                    let (events, stands) = match act {
                        Act::Refuse(error) => return Err(error),
                        Act::Send(events) => (events, false),
                        Act::SendAndStand(events) => (events, true),
                    };
                    let from: u32 = options.resource_version.to_string().parse().expect("a number");
                    let events = events.into_iter().filter(|event| {
                        event.as_ref().map_or(true, |version| *version == 0 || *version > from)
                    });
                    let events = events.map(|event| event.map(|version| WatchEvent::Added(object(version))));
                    Ok(Replay { events: events.collect(), stands })
                }
            }
        };
        let mut watcher = RetryWatcher::new(initial.into(), ListWatch::new(list, watch)).expect("a version");
        let mut told = Vec::new();
        let reading = async {
            while let Some(next) = watcher.next().await {
                told.push(match next {
                    Ok(event) => version_of(&event).to_string(),
                    Err(error) => {
                        format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
                    }
                });
            }
            told.push("end".into());
        };
        let _passed = tokio::time::timeout(Duration::from_mins(1), reading).await;
        let starts = starts.lock().expect("no panic");
        for pair in starts.windows(2) {
            assert!(pair[1] - pair[0] >= BETWEEN_STARTS);
        }
        (starts.len(), told)
    }

    fn status() -> Status {
        Status::default()
    }

    // J4
    #[test]
    fn a_version_that_names_no_state_is_refused() {
        for version in ["", "0"] {
            let list = |_: ListOptions| async { Ok::<PageStream, Error>(PageStream::default()) };
            let watch = |_| async { Err::<Replay, _>(Error::Refused(String::new())) };
            let refused = RetryWatcher::new(version.into(), ListWatch::new(list, watch));
            let error = refused.err().expect("refused").to_string();
            assert_eq!(
                error,
                format!("initial RV {version:?} is not supported due to issues with underlying WATCH")
            );
        }
    }

    // J5
    #[tokio::test(start_paused = true)]
    async fn a_watch_comes_back_from_what_is_no_end() {
        use Act::{Refuse, Send, SendAndStand};
        let all = |versions: &[u32]| versions.iter().map(|version| Ok(*version)).collect::<Vec<_>>();
        let stands = |versions: &[u32]| SendAndStand(all(versions));
        // A server that closes each watch after so many events, and lets one that has nothing to say stand.
        let closing = |initial: u32, log: &[u32], after: usize| {
            let mut left: Vec<u32> = log.iter().copied().filter(|version| *version > initial).collect();
            let mut acts = Vec::new();
            while left.len() >= after {
                acts.push(Send(all(&left[..after])));
                left.drain(..after);
            }
            acts.push(stands(&left));
            acts
        };
        let broken = |error: Error| vec![Send(vec![Ok(6), Err(error)]), stands(&[6, 7])];
        let refused = |error: Error| vec![Refuse(error), stands(&[2])];
        let cases = [
            ("1", refused(Error::Transport("test error".into())), 2, vec!["2"]),
            ("1", refused(Error::Expired(status())), 2, vec!["2"]),
            ("1", vec![Send(vec![]), stands(&[2])], 2, vec!["2"]),
            ("1", vec![stands(&[1, 2])], 1, vec!["2"]),
            ("3", vec![stands(&[2])], 1, vec![]),
            (
                "5",
                vec![Send(vec![Ok(5), Ok(6), Err(Error::Expired(status())), Ok(7)])],
                1,
                vec!["6", "Expired", "end"],
            ),
            ("5", vec![Refuse(Error::Forbidden(status()))], 1, vec!["Forbidden", "end"]),
            ("5", vec![Refuse(Error::Unauthorized(status()))], 1, vec!["Unauthorized", "end"]),
            ("5", broken(Error::Timeout("slow".into())), 2, vec!["6", "7"]),
            ("5", broken(Error::Internal(status())), 2, vec!["6", "7"]),
            ("5", broken(Error::Invalid(status())), 2, vec!["6", "7"]),
            ("5", broken(Error::Decode("no Status".into())), 2, vec!["6", "7"]),
            ("5", closing(5, &[6], 1), 2, vec!["6"]),
            ("4", closing(4, &[5, 6], 1), 3, vec!["5", "6"]),
            ("4", closing(4, &[5, 7], 1), 3, vec!["5", "7"]),
            ("2", closing(2, &[5, 6, 7, 11], 1), 5, vec!["5", "6", "7", "11"]),
            ("2", closing(2, &[1, 2, 5, 6, 7, 11], 1), 5, vec!["5", "6", "7", "11"]),
            ("1", closing(1, &[1, 2, 5, 6, 7, 11], 2), 3, vec!["2", "5", "6", "7", "11"]),
        ];
        for (number, (initial, acts, starts, told)) in cases.into_iter().enumerate() {
            let (started, found) = watched(initial, acts).await;
            let told: Vec<_> = told.into_iter().map(str::to_owned).collect();
            assert_eq!((started, found), (starts, told), "case {number}");
        }
    }

    // J6
    #[tokio::test(start_paused = true)]
    async fn dropped_with_events_unread_it_leaves_nothing_behind() {
        let source = FakeSource::new();
        let mut watcher = RetryWatcher::new(source.version(), source.clone()).expect("a version");
        for name in ["a", "b", "c"] {
            source.add(pod(name));
        }
        assert!(matches!(watcher.next().await, Some(Ok(WatchEvent::Added(object))) if object.name() == "a"));
        assert_eq!((watcher.last_resource_version(), source.open_watches()), (&"2".into(), 1));
        drop(watcher);
        assert_eq!(source.open_watches(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_went_back_ends_the_watch_before_it_repeats_or_leaves_out_anything() {
        let broken = Error::Transport("the connection was lost".into());
        for is_restarted in [true, false] {
            let source = FakeSource::new();
            for name in ["a", "b", "c"] {
                source.add(pod(name));
            }
            let mut watcher = RetryWatcher::new("2".into(), source.clone()).expect("a version");
            for name in ["b", "c"] {
                let told = watcher.next().await;
                assert!(matches!(told, Some(Ok(WatchEvent::Added(object))) if object.name() == name));
            }
            if is_restarted {
                // `c` is taken back, and something else happens in its place.
                source.restore(3, &broken);
            } else {
                source.break_watches(&broken);
                source.fail_list(Error::Forbidden(status()));
            }
            let later = async {
                tokio::time::sleep(Duration::from_secs(2)).await;
                source.add(pod("d"));
            };
            let (told, ()) = tokio::join!(watcher.next(), later);
            match told {
                Some(Err(error @ Error::TooLargeResourceVersion(_))) if is_restarted => {
                    assert_eq!(error.to_string(), "Too large resource version: 4, current: 3");
                    assert!(watcher.next().await.is_none());
                }
                Some(Ok(WatchEvent::Added(object))) if !is_restarted => assert_eq!(object.name(), "d"),
                other => panic!("{is_restarted} {other:?}"),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_version_that_the_source_has_not_come_to_is_not_waited_for() {
        let source = FakeSource::new();
        source.add(pod("a"));
        let mut watcher = RetryWatcher::new("7".into(), source).expect("a version");
        let told = watcher.next().await;
        assert!(matches!(told, Some(Err(Error::TooLargeResourceVersion(_)))), "{told:?}");
        assert!(watcher.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_without_a_version_ends_the_watch() {
        let (starts, told) = watched("1", vec![Act::Send(vec![Ok(2), Ok(0), Ok(3)])]).await;
        assert_eq!((starts, told), (1, ["2", "Internal", "end"].map(str::to_owned).to_vec()));
    }

    /// How long a watch waits, on a clock of its own, before it is started a second time.
    async fn wait_before_second_start(prepare: impl FnOnce(&FakeSource)) -> Duration {
        let source = FakeSource::new();
        prepare(&source);
        source.add(pod("a"));
        let clock = FakeClock::new();
        let watcher = RetryWatcher::new("1".into(), source).expect("a version");
        let mut watcher = watcher.with_clock(Arc::new(clock.clone()));
        let (told, waited) = tokio::join!(watcher.next(), clock.advance_to_next());
        assert!(matches!(told, Some(Ok(WatchEvent::Added(_)))));
        waited
    }

    #[tokio::test]
    async fn a_watch_that_fails_is_started_again_after_a_second_or_when_the_source_says() {
        let asks_for = |seconds| {
            let retry_after = Some(Duration::from_secs(seconds));
            move |source: &FakeSource| {
                source.fail_watch(Error::TooManyRequests { status: status(), retry_after });
            }
        };
        assert_eq!(wait_before_second_start(FakeSource::end_watch_at_once).await, BETWEEN_STARTS);
        assert_eq!(wait_before_second_start(asks_for(20)).await, Duration::from_secs(20));
        assert_eq!(wait_before_second_start(asks_for(0)).await, BETWEEN_STARTS);
        assert_eq!(wait_before_second_start(asks_for(100_000)).await, Duration::from_mins(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_goes_on_when_nobody_awaits_it() {
        let list = |_: ListOptions| async { Ok::<PageStream, Error>(PageStream::default()) };
        let watch = |_| async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            Ok::<_, Error>(Replay { events: [Ok(WatchEvent::Added(object(2)))].into(), stands: true })
        };
        let mut watcher = RetryWatcher::new("1".into(), ListWatch::new(list, watch)).expect("a version");
        for _ in 0..2 {
            tokio::time::timeout(Duration::from_secs(1), watcher.next()).await.expect_err("too early");
        }
        let told = tokio::time::timeout(Duration::from_secs(2), watcher.next()).await.expect("in time");
        assert!(matches!(told, Some(Ok(WatchEvent::Added(_)))));
    }
}
