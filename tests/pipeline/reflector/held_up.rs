//! A source that is held up by something else than what it lists: a log-in may take longer than any server.

use super::*;
use kdelta::listwatch::ListerWatcher;
use kdelta::testing::{FakeList, FakeWatch, pod};
use tokio::time::Instant;

/// A source whose first answer is held up for so long, and then takes so long.
struct Held {
    source: FakeSource,
    waits: Duration,
    answers_after: Duration,
    begun: Mutex<Option<Instant>>,
}

impl Held {
    fn new(held_up: u64, answers_after: u64) -> Self {
        let source = FakeSource::new();
        source.add(pod("a"));
        let [waits, answers_after] = [held_up, answers_after].map(Duration::from_secs);
        Self { source, waits, answers_after, begun: Mutex::default() }
    }

    async fn wait(&self) {
        let begun = *self.begun.lock().expect("a time").get_or_insert_with(Instant::now);
        tokio::time::sleep_until(begun + self.waits + self.answers_after).await;
    }
}

impl ListerWatcher for Held {
    type List = FakeList;
    type Watch = FakeWatch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        self.wait().await;
        self.source.list(options).await
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.wait().await;
        self.source.watch(options).await
    }

    fn held_up(&self) -> Duration {
        let begun = *self.begun.lock().expect("a time");
        begun.map(|begun| begun.elapsed().min(self.waits)).unwrap_or_default()
    }
}

async fn list(held: Held) -> Result<ResourceVersion, Error> {
    Reflector::new(held, Arc::new(Notebook::default()), plain()).list_once().await
}

#[tokio::test(start_paused = true)]
async fn a_list_that_waits_for_a_log_in_is_not_silent() {
    for (held_up, answers_after) in [(0, 89), (500, 0), (500, 89), (80, 80)] {
        assert_eq!(list(Held::new(held_up, answers_after)).await.expect("a list"), "2".into(), "{held_up}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_after_the_log_in_is_not_waited_for_longer() {
    for held_up in [0, 500] {
        let began = Instant::now();
        let error = list(Held::new(held_up, 10_000)).await.expect_err("it is silent");
        assert_eq!(error.to_string(), "the list was silent for 90s");
        assert_eq!(began.elapsed().as_secs(), held_up + 90);
    }
}
