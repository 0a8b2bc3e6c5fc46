//! A watch that restarts where it stopped.

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

/// The minimum time from one start to the next: a watch that stayed open for longer is restarted at once.
const BETWEEN_STARTS: Duration = Duration::from_secs(1);

/// A watch from a version that survives the end of individual watches (client-go: `RetryWatcher`).
///
/// It returns each event after the initial version once, in order, however often the watch restarts. Bookmarks are not
/// returned, but advance the version to continue from. It ends, with the error as its last item, when
/// - the source reports in the stream that it no longer has the events since then ([`Error::Expired`]): only a list
///   helps, for which there are informers and [`until_with_sync`](super::until_with_sync);
/// - a start is refused with [`Error::Unauthorized`], [`Error::Forbidden`] or [`Error::NotSupported`];
/// - the source has not reached the version to continue from ([`Error::TooLargeResourceVersion`]): it was restored from
///   a backup, or is another source. A Kubernetes server sends nothing on a watch from there, does not report what it
///   rolled back, and would repeat versions. Before each start the source's current version is therefore requested
///   ([`ListerWatcher::progress`]); client-go does not, and misses this case. Without permission to list there is no
///   such protection, nor if the source has passed the version again before the request;
/// - an object carries no version: continuing without one would lose events.
///
/// All other errors are retried, including a start refused because the version is too old (another server behind the
/// same address may still have it), at most once a second and without limit. Callers bound it with a timeout.
///
/// It has no task: work happens only while [`WatchStream::next`] is awaited, and dropping it ends the watch. Each event
/// is returned as soon as it is read, so that dropping the future loses no event.
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
///     // The connection breaks after each event, and the watch continues.
///     source.drop_watches();
/// }
/// # Ok(())
/// # }
/// ```
pub struct RetryWatcher<L: ListerWatcher> {
    source: Arc<L>,
    clock: Arc<dyn Clock>,
    /// The version up to which everything has been returned.
    last: ResourceVersion,
    started: Option<Instant>,
    state: State<L::Watch>,
}

/// Stored between two calls, so that dropping the future of one loses nothing.
enum State<W> {
    /// Started by the next call.
    New,
    /// Waiting for the next start.
    Waiting(Sleep),
    Starting(Pin<Box<dyn Future<Output = Result<W, StartError>> + Send>>),
    Following(W),
    Ended,
}

/// The reasons why a watch is not started.
enum StartError {
    /// The source has not reached the version to start from.
    Behind(Error),
    Refused(Error),
}

impl<L: ListerWatcher> RetryWatcher<L> {
    /// Creates a watch of the events after this version. The first [`WatchStream::next`] starts it.
    ///
    /// # Errors
    /// [`WatchToolsError::InitialVersion`]: the version is unset or "0", so that each start would begin with an
    /// arbitrary state.
    pub fn new(initial: ResourceVersion, source: L) -> Result<Self, WatchToolsError> {
        if initial.is_unset() || initial.is_any() {
            return Err(WatchToolsError::InitialVersion(initial));
        }
        let (source, clock) = (Arc::new(source), Arc::new(TokioClock));
        Ok(Self { source, clock, last: initial, started: None, state: State::New })
    }

    /// Uses this clock instead of the runtime's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the version up to which every event has been returned.
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
            source.watch(&options).await.map_err(StartError::Refused)
        }));
    }

    /// Schedules the next start, after the source's requested delay if there is one.
    fn start_later(&mut self, retry_after: Option<Duration>) {
        let open_for = self.started.map(|started| self.clock.now().saturating_duration_since(started));
        let pace = BETWEEN_STARTS.saturating_sub(open_for.unwrap_or_default());
        let requested = retry_after.unwrap_or_default();
        self.state = State::Waiting(self.clock.sleep(pace.max(requested)));
    }

    fn end(&mut self, error: Error) -> Result<WatchEvent, Error> {
        self.state = State::Ended;
        Err(error)
    }

    /// Converts an item read from the watch into one to return; `None` continues.
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
            // A source that is always ready must not starve the runtime's other tasks.
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
                        StartError::Behind(error)
                        | StartError::Refused(
                            error @ (Error::Forbidden(_) | Error::Unauthorized(_) | Error::NotSupported(_)),
                        ),
                    ) => return Some(self.end(error)),
                    Err(StartError::Refused(error)) => self.start_later(error.retry_after()),
                },
                State::Following(stream) => {
                    let read = stream.next().await;
                    if let Some(result) = self.read(read) {
                        return Some(result);
                    }
                }
                State::Ended => return None,
            }
        }
    }
}

/// Checks whether the source has reached this version. If the check itself is refused, the watch is started anyway: it
/// reports the same reason if that applies to it. Transient errors are retried later.
async fn check<L: ListerWatcher>(source: &L, version: &ResourceVersion) -> Result<(), StartError> {
    // The most recent state is requested: the version may not have been seen lately, or not from this source.
    match source.progress(&ResourceVersion::UNSET).await {
        Ok(latest) if latest.compare(version) == Ok(Ordering::Less) => {
            Err(StartError::Behind(Error::too_large(version, &latest)))
        }
        Err(
            error @ (Error::Refused(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::TooManyRequests { .. }
            | Error::Unavailable { .. }),
        ) => Err(StartError::Refused(error)),
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
    let message = "an event has no resourceVersion: continuing without one could lose events".to_owned();
    let reason = "InternalError".to_owned();
    Error::Internal(Status { reason, message, ..Status::default() })
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

    /// The server's behaviour on one watch.
    #[derive(Clone)]
    enum Act {
        /// Refuses it.
        Refuse(Error),
        /// Sends events of these versions, as far as they are later than the requested one, then closes the watch.
        Send(Vec<Result<u32, Error>>),
        /// Sends these and then nothing more.
        SendAndStayOpen(Vec<Result<u32, Error>>),
    }

    struct Replay {
        events: VecDeque<Result<WatchEvent, Error>>,
        stays_open: bool,
    }

    impl WatchStream for Replay {
        async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
            match self.events.pop_front() {
                None if self.stays_open => std::future::pending().await,
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

    /// Returns what a watch from `initial` returns within a minute of silence, and how often it was started. The server
    /// takes one act per watch and repeats the last.
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
                    let (events, stays_open) = match act {
                        Act::Refuse(error) => return Err(error),
                        Act::Send(events) => (events, false),
                        Act::SendAndStayOpen(events) => (events, true),
                    };
                    let from: u32 = options.resource_version.to_string().parse().expect("a number");
                    let events = events.into_iter().filter(|event| {
                        event.as_ref().map_or(true, |version| *version == 0 || *version > from)
                    });
                    let events = events.map(|event| event.map(|version| WatchEvent::Added(object(version))));
                    Ok(Replay { events: events.collect(), stays_open })
                }
            }
        };
        let mut watcher = RetryWatcher::new(initial.into(), ListWatch::new(list, watch)).expect("a version");
        let mut result = Vec::new();
        let reading = async {
            while let Some(next) = watcher.next().await {
                result.push(match next {
                    Ok(event) => version_of(&event).to_string(),
                    Err(error) => {
                        format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
                    }
                });
            }
            result.push("end".into());
        };
        let _passed = tokio::time::timeout(Duration::from_mins(1), reading).await;
        let starts = starts.lock().expect("no panic");
        for pair in starts.windows(2) {
            assert!(pair[1] - pair[0] >= BETWEEN_STARTS);
        }
        (starts.len(), result)
    }

    fn status() -> Status {
        Status::default()
    }

    // J4
    #[test]
    fn a_version_without_a_state_is_rejected() {
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
    async fn the_watch_restarts_after_recoverable_ends() {
        use Act::{Refuse, Send, SendAndStayOpen};
        let all = |versions: &[u32]| versions.iter().map(|version| Ok(*version)).collect::<Vec<_>>();
        let stays_open = |versions: &[u32]| SendAndStayOpen(all(versions));
        // A server that closes each watch after some events and leaves one without events open.
        let closing = |initial: u32, log: &[u32], after: usize| {
            let mut left: Vec<u32> = log.iter().copied().filter(|version| *version > initial).collect();
            let mut acts = Vec::new();
            while left.len() >= after {
                acts.push(Send(all(&left[..after])));
                left.drain(..after);
            }
            acts.push(stays_open(&left));
            acts
        };
        let broken = |error: Error| vec![Send(vec![Ok(6), Err(error)]), stays_open(&[6, 7])];
        let refused = |error: Error| vec![Refuse(error), stays_open(&[2])];
        let cases = [
            ("1", refused(Error::Transport("test error".into())), 2, vec!["2"]),
            ("1", refused(Error::Expired(status())), 2, vec!["2"]),
            ("1", vec![Send(vec![]), stays_open(&[2])], 2, vec!["2"]),
            ("1", vec![stays_open(&[1, 2])], 1, vec!["2"]),
            ("3", vec![stays_open(&[2])], 1, vec![]),
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
        for (number, (initial, acts, starts, result)) in cases.into_iter().enumerate() {
            let (started, found) = watched(initial, acts).await;
            let result: Vec<_> = result.into_iter().map(str::to_owned).collect();
            assert_eq!((started, found), (starts, result), "case {number}");
        }
    }

    // J6
    #[tokio::test(start_paused = true)]
    async fn dropping_unread_events_frees_the_watch() {
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
    async fn a_rolled_back_source_ends_the_watch_without_repeats_or_gaps() {
        let broken = Error::Transport("the connection was lost".into());
        for is_restarted in [true, false] {
            let source = FakeSource::new();
            for name in ["a", "b", "c"] {
                source.add(pod(name));
            }
            let mut watcher = RetryWatcher::new("2".into(), source.clone()).expect("a version");
            for name in ["b", "c"] {
                let result = watcher.next().await;
                assert!(matches!(result, Some(Ok(WatchEvent::Added(object))) if object.name() == name));
            }
            if is_restarted {
                // `c` is rolled back, and another change takes its place.
                source.restore(3, &broken);
            } else {
                source.break_watches(&broken);
                source.fail_list(Error::Forbidden(status()));
            }
            let later = async {
                tokio::time::sleep(Duration::from_secs(2)).await;
                source.add(pod("d"));
            };
            let (result, ()) = tokio::join!(watcher.next(), later);
            match result {
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
    async fn a_future_version_ends_the_watch() {
        let source = FakeSource::new();
        source.add(pod("a"));
        let mut watcher = RetryWatcher::new("7".into(), source).expect("a version");
        let result = watcher.next().await;
        assert!(matches!(result, Some(Err(Error::TooLargeResourceVersion(_)))), "{result:?}");
        assert!(watcher.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_without_a_version_ends_the_watch() {
        let (starts, result) = watched("1", vec![Act::Send(vec![Ok(2), Ok(0), Ok(3)])]).await;
        assert_eq!((starts, result), (1, ["2", "Internal", "end"].map(str::to_owned).to_vec()));
    }

    /// Returns how long a watch waits on its own clock before its second start.
    async fn wait_before_second_start(prepare: impl FnOnce(&FakeSource)) -> Duration {
        let source = FakeSource::new();
        prepare(&source);
        source.add(pod("a"));
        let clock = FakeClock::new();
        let watcher = RetryWatcher::new("1".into(), source).expect("a version");
        let mut watcher = watcher.with_clock(Arc::new(clock.clone()));
        let (result, waited) = tokio::join!(watcher.next(), clock.advance_to_next());
        assert!(matches!(result, Some(Ok(WatchEvent::Added(_)))));
        waited
    }

    #[tokio::test]
    async fn a_failed_watch_restarts_after_a_second_or_the_requested_delay() {
        let requesting_delay = |seconds| {
            let retry_after = Some(Duration::from_secs(seconds));
            move |source: &FakeSource| {
                source.fail_watch(Error::TooManyRequests { status: status(), retry_after });
            }
        };
        assert_eq!(wait_before_second_start(FakeSource::end_watch_at_once).await, BETWEEN_STARTS);
        assert_eq!(wait_before_second_start(requesting_delay(20)).await, Duration::from_secs(20));
        assert_eq!(wait_before_second_start(requesting_delay(0)).await, BETWEEN_STARTS);
        assert_eq!(wait_before_second_start(requesting_delay(100_000)).await, Duration::from_mins(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_survives_a_dropped_next_future() {
        let list = |_: ListOptions| async { Ok::<PageStream, Error>(PageStream::default()) };
        let watch = |_| async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            Ok::<_, Error>(Replay { events: [Ok(WatchEvent::Added(object(2)))].into(), stays_open: true })
        };
        let mut watcher = RetryWatcher::new("1".into(), ListWatch::new(list, watch)).expect("a version");
        for _ in 0..2 {
            tokio::time::timeout(Duration::from_secs(1), watcher.next()).await.expect_err("too early");
        }
        let result = tokio::time::timeout(Duration::from_secs(2), watcher.next()).await.expect("in time");
        assert!(matches!(result, Some(Ok(WatchEvent::Added(_)))));
    }
}
