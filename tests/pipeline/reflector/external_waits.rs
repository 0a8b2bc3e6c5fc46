//! A source delayed by external waits: a login may take longer than any server.

use super::*;
use kdelta::listwatch::ListerWatcher;
use kdelta::testing::{FakeList, FakeWatch, pod};
use tokio::time::Instant;

/// A source that delays one response at a time by an external wait and then by its own response time.
#[derive(Clone)]
struct DelayedSource {
    source: FakeSource,
    waits: Duration,
    answers_after: Duration,
    log_in: Arc<Mutex<LogIn>>,
}

struct LogIn {
    /// The kind of request that needs a login.
    due: Option<RequestKind>,
    started: Option<Instant>,
    /// The total external wait before.
    before: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    List,
    Watch,
}

impl DelayedSource {
    fn new(external_wait: u64, answers_after: u64) -> Self {
        let source = FakeSource::new();
        source.add(pod("a"));
        let [waits, answers_after] = [external_wait, answers_after].map(Duration::from_secs);
        let log_in = LogIn { due: Some(RequestKind::List), started: None, before: Duration::ZERO };
        Self { source, waits, answers_after, log_in: Arc::new(Mutex::new(log_in)) }
    }

    fn log_in(&self) -> MutexGuard<'_, LogIn> {
        self.log_in.lock().expect("no panic")
    }

    /// Makes the next request of this kind, and no other, wait.
    fn hold(&self, due: RequestKind) {
        self.log_in().due = Some(due);
    }

    async fn wait(&self, kind: RequestKind) {
        if self.log_in().due != Some(kind) {
            return;
        }
        {
            let mut log_in = self.log_in();
            (log_in.due, log_in.started) = (None, Some(Instant::now()));
        }
        tokio::time::sleep(self.waits).await;
        {
            let mut log_in = self.log_in();
            log_in.started = None;
            log_in.before += self.waits;
        }
        tokio::time::sleep(self.answers_after).await;
    }

    /// Starts a reflector on the source, and returns its events and its task.
    fn run(&self, options: ReflectorOptions) -> (Lines, JoinHandle<Result<(), Error>>) {
        let events = Lines::default();
        let lines = events.clone();
        let observer: Option<kdelta::reflector::Observer> =
            Some(Arc::new(move |event| lines.push(line(event))));
        let options = options.observer(observer);
        let reflector = Reflector::new(self.clone(), Arc::new(RecordingStore::default()), options);
        (events, tokio::spawn(reflector.run(CancellationToken::new())))
    }

    async fn is_watched(&self) {
        until(|| self.source.open_watches() == 1).await;
    }
}

impl ListerWatcher for DelayedSource {
    type List = FakeList;
    type Watch = FakeWatch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        self.wait(RequestKind::List).await;
        self.source.list(options).await
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.wait(RequestKind::Watch).await;
        self.source.watch(options).await
    }

    fn external_wait(&self) -> Duration {
        let log_in = self.log_in();
        log_in.before + log_in.started.map(|started| started.elapsed().min(self.waits)).unwrap_or_default()
    }
}

async fn list(held: DelayedSource) -> Result<ResourceVersion, Error> {
    Reflector::new(held, Arc::new(RecordingStore::default()), plain()).list_once().await
}

#[tokio::test(start_paused = true)]
async fn login_time_does_not_count_as_list_silence() {
    for (external_wait, answers_after) in [(0, 89), (500, 0), (500, 89), (80, 80)] {
        assert_eq!(
            list(DelayedSource::new(external_wait, answers_after)).await.expect("a list"),
            "2".into(),
            "{external_wait}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn silence_limit_applies_after_a_login() {
    for external_wait in [0, 500] {
        let began = Instant::now();
        let error = list(DelayedSource::new(external_wait, 10_000)).await.expect_err("it is silent");
        assert_eq!(error.to_string(), "the list was silent for 90s");
        assert_eq!(began.elapsed().as_secs(), external_wait + 90);
    }
}

#[tokio::test(start_paused = true)]
async fn version_check_may_wait_for_a_login() {
    // As the very first request, and after an outage.
    let resumed = plain().resume_from(Some("2".into())).give_up(Some(Arc::new(|_| true)));
    let held = DelayedSource::new(500, 80);
    let (events, running) = held.run(resumed);
    held.is_watched().await;
    for _ in 0..2 {
        advance(2).await;
        held.hold(RequestKind::List);
        held.source.break_watches(&cut());
        advance(1).await;
        held.is_watched().await;
    }
    advance(2).await;
    let lost: Vec<String> = events.all().into_iter().filter(|line| line.contains("lost")).collect();
    assert_eq!(lost, ["Watch lost: cut"; 2]);
    assert!(!running.is_finished());
}

#[tokio::test(start_paused = true)]
async fn watch_timeout_starts_after_the_login() {
    // Longer than the watch's timeout.
    let held = DelayedSource::new(500, 0);
    held.hold(RequestKind::Watch);
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    advance(250).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"], "it is quiet, and not silent");
}

#[tokio::test(start_paused = true)]
async fn version_check_result_does_not_wait_for_the_watch() {
    let held = DelayedSource::new(0, 300);
    held.log_in().due = None;
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    held.source.add(pod("b"));
    advance(2).await;
    held.hold(RequestKind::Watch);
    held.source.drop_watches();
    held.source.restore(2, &cut());
    advance(5).await;
    assert!(events.all().contains(&"went back from 3 to 2".to_owned()), "{:?}", events.all());
}

#[tokio::test(start_paused = true)]
async fn watch_that_ends_before_it_is_read_is_not_an_early_end() {
    let held = DelayedSource::new(0, 5);
    held.log_in().due = None;
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    for _ in 0..4 {
        // Long enough that the next watch is requested at once.
        advance(31).await;
        held.hold(RequestKind::List);
        held.source.drop_watches();
        // It starts before the version check completes, and has ended by then.
        held.is_watched().await;
        advance(2).await;
        held.source.drop_watches();
        advance(4).await;
        held.is_watched().await;
    }
    assert_eq!(events.all()[1..], ["retrying in 0.8s"; 4], "the second of each two was short, and not lost");
}
