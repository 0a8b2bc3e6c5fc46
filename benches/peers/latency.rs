//! How late the changes arrive at one reader.

use std::collections::HashSet;
use std::io::Read;
use std::process::ChildStdout;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::scan::{Finder, SentTimes};

/// What a reader has seen of its contender.
#[derive(Default)]
pub(crate) struct Seen {
    /// Its first state was complete.
    pub(crate) synced: bool,
    /// When the last byte came.
    pub(crate) last: Option<Instant>,
    /// One for each change sent since [`Follower::count_from`].
    pub(crate) delays: Vec<Duration>,
    /// The changes already counted: a delete repeats the annotation of the last write.
    counted: HashSet<Timestamp>,
    from: Option<Timestamp>,
}

/// A thread that reads a contender's stdout. It ends with that stream.
pub(crate) struct Follower {
    // A mutex taken once for each chunk: the bench looks at it a few times a second.
    seen: Arc<Mutex<Seen>>,
    thread: JoinHandle<()>,
}

impl Follower {
    pub(crate) fn of(out: ChildStdout, synced: Option<&'static str>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        let thread = thread::spawn(move || follow(out, synced.map(Finder::new), &shared));
        Self { seen, thread }
    }

    /// Counts changes that are sent from now on.
    pub(crate) fn count_from(&self, now: Timestamp) {
        self.look(|seen| seen.from = Some(now));
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().expect("no reader panics"))
    }

    /// The delays, after the stream has ended, the shortest first.
    pub(crate) fn delays(self) -> Vec<Duration> {
        let Self { seen, thread } = self;
        thread.join().expect("no reader panics");
        let mut delays = std::mem::take(&mut seen.lock().expect("no reader panics").delays);
        delays.sort();
        delays
    }
}

fn follow(mut out: ChildStdout, mut synced: Option<Finder>, shared: &Mutex<Seen>) {
    let mut times = SentTimes::new();
    let mut chunk = vec![0; 64 << 10];
    while let Ok(length @ 1..) = out.read(&mut chunk) {
        let (now, at) = (Timestamp::now(), Instant::now());
        let mut seen = shared.lock().expect("the bench does not panic with it");
        seen.last = Some(at);
        if synced.as_mut().is_some_and(|finder| finder.sees(&chunk[..length])) {
            seen.synced = true;
        }
        times.in_chunk(&chunk[..length], |text| seen.note(text, now));
    }
}

impl Seen {
    fn note(&mut self, sent: &str, now: Timestamp) {
        let Some(from) = self.from else { return };
        let Ok(sent) = sent.parse::<Timestamp>() else { return };
        if sent >= from && self.counted.insert(sent) {
            self.delays.push(Duration::try_from(now.duration_since(sent)).unwrap_or_default());
        }
    }
}
