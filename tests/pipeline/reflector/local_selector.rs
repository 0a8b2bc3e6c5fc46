//! A source with a local selector: it may read for long without delivering an object.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListerWatcher, WatchEvent, WatchStream};
use kdelta::testing::{FakeList, FakeWatch, pod};

/// A source that reads this many unselected objects before the next selected one.
#[derive(Clone)]
struct FilteringSource {
    source: FakeSource,
    /// The time to read one object.
    each: Duration,
    left: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
    /// True if no objects follow them.
    stalls: bool,
}

struct Filtered<S> {
    stream: S,
    sieve: FilteringSource,
}

impl<S> Filtered<S> {
    async fn filter(&self) {
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

impl ListStream for Filtered<FakeList> {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        self.filter().await;
        self.stream.next().await
    }

    fn meta(&self) -> &ListMeta {
        self.stream.meta()
    }
}

impl WatchStream for Filtered<FakeWatch> {
    async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        self.filter().await;
        self.stream.next().await
    }
}

impl ListerWatcher for FilteringSource {
    type List = Filtered<FakeList>;
    type Watch = Filtered<FakeWatch>;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        Ok(Filtered { stream: self.source.list(options).await?, sieve: self.clone() })
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        Ok(Filtered { stream: self.source.watch(options).await?, sieve: self.clone() })
    }

    fn objects_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl FilteringSource {
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
        let options = plain().watch_list(watch_list).observer(observer);
        let reflector = Reflector::new(self.clone(), Arc::new(RecordingStore::default()), options);
        tokio::spawn(reflector.run(CancellationToken::new()));
        events
    }
}

#[tokio::test(start_paused = true)]
async fn filtered_objects_extend_the_initial_events_deadline() {
    let sieve = FilteringSource::new(4, 30);
    let events = sieve.run(true);
    advance(125).await;
    assert_eq!(events.all(), ["list of 1 at 2 by watch"]);
}

#[tokio::test(start_paused = true)]
async fn filtered_list_is_not_silent() {
    let sieve = FilteringSource::new(40, 10);
    let events = sieve.run(false);
    advance(405).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"]);
}

#[tokio::test(start_paused = true)]
async fn filtered_watch_is_not_silent() {
    let sieve = FilteringSource::new(40, 0);
    let events = sieve.run(false);
    until(|| sieve.source.open_watches() == 1).await;
    sieve.source.bookmark();
    advance(1).await;
    sieve.left.store(7, Ordering::Relaxed);
    sieve.source.bookmark();
    advance(280).await;
    assert_eq!(events.all(), ["list of 1 at 2 by list"]);
}

#[tokio::test(start_paused = true)]
async fn stalled_filtered_source_is_detected_within_twice_the_limit() {
    for (watch_list, limit, silent) in [
        (false, 90, "List lost: the list was silent for 90s"),
        (
            true,
            10,
            "no watch-list any more: no bookmark ended the initial state within 10s of its last object",
        ),
    ] {
        let sieve = FilteringSource { stalls: true, ..FilteringSource::new(limit - 1, 4) };
        let events = sieve.run(watch_list);
        advance(4 * (limit - 1)).await;
        assert_eq!(events.all(), [""; 0]);
        advance(2 * limit).await;
        assert_eq!(events.all().first().map(String::as_str), Some(silent));
    }
}
