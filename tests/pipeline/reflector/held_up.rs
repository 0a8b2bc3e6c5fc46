//! A source that is held up by something else than what it lists: a log-in may take longer than any server.

use super::*;
use kdelta::listwatch::ListerWatcher;
use kdelta::testing::{FakeList, FakeWatch, pod};
use tokio::time::Instant;

/// A source of which one answer at a time is held up for so long, and then takes so long.
#[derive(Clone)]
struct Held {
    source: FakeSource,
    waits: Duration,
    answers_after: Duration,
    log_in: Arc<Mutex<LogIn>>,
}

struct LogIn {
    /// Which request is to wait for one.
    due: Option<Asks>,
    begun: Option<Instant>,
    /// What has been waited for those before.
    before: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    List,
    Watch,
}

impl Held {
    fn new(external_wait: u64, answers_after: u64) -> Self {
        let source = FakeSource::new();
        source.add(pod("a"));
        let [waits, answers_after] = [external_wait, answers_after].map(Duration::from_secs);
        let log_in = LogIn { due: Some(Asks::List), begun: None, before: Duration::ZERO };
        Self { source, waits, answers_after, log_in: Arc::new(Mutex::new(log_in)) }
    }

    fn log_in(&self) -> MutexGuard<'_, LogIn> {
        self.log_in.lock().expect("no panic")
    }

    /// From now on the next request of that kind waits, and no other.
    fn hold(&self, due: Asks) {
        self.log_in().due = Some(due);
    }

    async fn wait(&self, asks: Asks) {
        if self.log_in().due != Some(asks) {
            return;
        }
        {
            let mut log_in = self.log_in();
            (log_in.due, log_in.begun) = (None, Some(Instant::now()));
        }
        tokio::time::sleep(self.waits).await;
        {
            let mut log_in = self.log_in();
            log_in.begun = None;
            log_in.before += self.waits;
        }
        tokio::time::sleep(self.answers_after).await;
    }

    /// What a reflector tells of it, which is started on it.
    fn run(&self, options: ReflectorOptions) -> (Lines, JoinHandle<Result<(), Error>>) {
        let events = Lines::default();
        let lines = events.clone();
        let observer: Option<kdelta::reflector::Observer> =
            Some(Arc::new(move |event| lines.push(line(event))));
        let options = ReflectorOptions { observer, ..options };
        let reflector = Reflector::new(self.clone(), Arc::new(Notebook::default()), options);
        (events, tokio::spawn(reflector.run(CancellationToken::new())))
    }

    async fn is_watched(&self) {
        until(|| self.source.open_watches() == 1).await;
    }
}

impl ListerWatcher for Held {
    type List = FakeList;
    type Watch = FakeWatch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        self.wait(Asks::List).await;
        self.source.list(options).await
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.wait(Asks::Watch).await;
        self.source.watch(options).await
    }

    fn external_wait(&self) -> Duration {
        let log_in = self.log_in();
        log_in.before + log_in.begun.map(|begun| begun.elapsed().min(self.waits)).unwrap_or_default()
    }
}

async fn list(held: Held) -> Result<ResourceVersion, Error> {
    Reflector::new(held, Arc::new(Notebook::default()), plain()).list_once().await
}

#[tokio::test(start_paused = true)]
async fn a_list_that_waits_for_a_log_in_is_not_silent() {
    for (external_wait, answers_after) in [(0, 89), (500, 0), (500, 89), (80, 80)] {
        assert_eq!(
            list(Held::new(external_wait, answers_after)).await.expect("a list"),
            "2".into(),
            "{external_wait}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_after_the_log_in_is_not_waited_for_longer() {
    for external_wait in [0, 500] {
        let began = Instant::now();
        let error = list(Held::new(external_wait, 10_000)).await.expect_err("it is silent");
        assert_eq!(error.to_string(), "the list was silent for 90s");
        assert_eq!(began.elapsed().as_secs(), external_wait + 90);
    }
}

#[tokio::test(start_paused = true)]
async fn where_a_source_stands_may_take_a_log_in_to_say() {
    // As the first request of all, and after an outage.
    let resumed =
        ReflectorOptions { resume_from: Some("2".into()), give_up: Some(Arc::new(|_| true)), ..plain() };
    let held = Held::new(500, 80);
    let (events, running) = held.run(resumed);
    held.is_watched().await;
    for _ in 0..2 {
        pass(2).await;
        held.hold(Asks::List);
        held.source.break_watches(&cut());
        pass(1).await;
        held.is_watched().await;
    }
    pass(2).await;
    let lost: Vec<String> = events.all().into_iter().filter(|line| line.contains("lost")).collect();
    assert_eq!(lost, ["Watch lost: cut"; 2]);
    assert!(!running.is_finished());
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_watch_begins_after_the_log_in() {
    // Longer than the watch is to last.
    let held = Held::new(500, 0);
    held.hold(Asks::Watch);
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    pass(250).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"], "it is quiet, and not silent");
}

#[tokio::test(start_paused = true)]
async fn what_is_known_of_a_source_waits_for_no_watch_of_it() {
    let held = Held::new(0, 300);
    held.log_in().due = None;
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    held.source.add(pod("b"));
    pass(2).await;
    held.hold(Asks::Watch);
    held.source.drop_watches();
    held.source.restore(2, &cut());
    pass(5).await;
    assert!(events.all().contains(&"went back from 3 to 2".to_owned()), "{:?}", events.all());
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ended_before_it_was_read_did_not_end_at_once() {
    let held = Held::new(0, 5);
    held.log_in().due = None;
    let (events, _running) = held.run(plain());
    held.is_watched().await;
    for _ in 0..4 {
        // Long enough that the next watch is asked for at once.
        pass(31).await;
        held.hold(Asks::List);
        held.source.drop_watches();
        // It stands before it is known how far the source has come, and is gone by then.
        held.is_watched().await;
        pass(2).await;
        held.source.drop_watches();
        pass(4).await;
        held.is_watched().await;
    }
    assert_eq!(events.all()[1..], ["retrying in 0.8s"; 4], "the second of each two was short, and not lost");
}
