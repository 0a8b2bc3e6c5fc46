//! A source that selects for itself: it may read for long and hand on nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListerWatcher, WatchEvent, WatchStream};
use kdelta::testing::{FakeList, FakeWatch, pod};

/// A source of which so many objects that nobody asked for come before the next one that somebody did.
#[derive(Clone)]
struct Sieve {
    source: FakeSource,
    /// How long each of them takes.
    each: Duration,
    left: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
    /// Whether nothing comes after them.
    stalls: bool,
}

struct Sifted<S> {
    stream: S,
    sieve: Sieve,
}

impl<S> Sifted<S> {
    async fn sift(&self) {
        while self.sieve.left.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(self.sieve.each).await;
            self.sieve.left.fetch_sub(1, Ordering::Relaxed);
            self.sieve.read.fetch_add(1, Ordering::Relaxed);
        }
        if self.sieve.stalls {
            std::future::pending::<()>().await;
        }
    }
}

impl ListStream for Sifted<FakeList> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        self.sift().await;
        self.stream.next().await
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

impl WatchStream for Sifted<FakeWatch> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        self.sift().await;
        self.stream.next().await
    }
}

impl ListerWatcher for Sieve {
    type List = Sifted<FakeList>;
    type Watch = Sifted<FakeWatch>;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        Ok(Sifted { stream: self.source.list(options).await?, sieve: self.clone() })
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        Ok(Sifted { stream: self.source.watch(options).await?, sieve: self.clone() })
    }

    fn objects_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl Sieve {
    fn new(seconds: u64, count: u64) -> Self {
        let source = FakeSource::new();
        source.add(pod("a"));
        let left = Arc::new(AtomicU64::new(count));
        Self { source, each: Duration::from_secs(seconds), left, read: Arc::default(), stalls: false }
    }

    fn run(&self, watch_list: bool) -> Lines {
        let events = Lines::default();
        let lines = events.clone();
        let observer: Option<kdelta::reflector::Observer> =
            Some(Arc::new(move |event| lines.push(line(event))));
        let options = ReflectorOptions { watch_list, observer, ..plain() };
        let reflector = Reflector::new(self.clone(), Arc::new(Notebook::default()), options);
        tokio::spawn(reflector.run(CancellationToken::new()));
        events
    }
}

#[tokio::test(start_paused = true)]
async fn an_initial_state_of_which_little_is_handed_on_comes_through_the_watch() {
    let sieve = Sieve::new(4, 30);
    let events = sieve.run(true);
    pass(125).await;
    assert_eq!(events.all(), ["list of 1 at 2 by watch"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_which_little_is_handed_on_is_not_silent() {
    let sieve = Sieve::new(40, 10);
    let events = sieve.run(false);
    pass(405).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_which_nothing_is_handed_on_is_not_silent() {
    let sieve = Sieve::new(40, 0);
    let events = sieve.run(false);
    until(|| sieve.source.open_watches() == 1).await;
    sieve.source.bookmark();
    pass(1).await;
    sieve.left.store(7, Ordering::Relaxed);
    sieve.source.bookmark();
    pass(280).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_reads_no_more_is_silent_within_twice_the_limit() {
    for (watch_list, limit, silent) in [
        (false, 90, "List lost: the list was silent for 90s"),
        (
            true,
            10,
            "no watch-list any more: no bookmark ended the initial state within 10s of its last object",
        ),
    ] {
        let sieve = Sieve { stalls: true, ..Sieve::new(limit - 1, 4) };
        let events = sieve.run(watch_list);
        pass(4 * (limit - 1)).await;
        assert_eq!(events.all(), [""; 0]);
        pass(2 * limit).await;
        assert_eq!(events.all().first().map(String::as_str), Some(silent));
    }
}
