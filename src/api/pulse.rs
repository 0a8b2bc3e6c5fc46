//! Whether a server that says nothing to a watch is still there: what HTTP/2 finds out by pings, and HTTP/1.1 has no word
//! for.
//!
//! A watch may be silent for minutes and well. One whose server was stopped, or is behind a tunnel that broke, is as silent
//! while something on the way still answers for it. So after as much silence as HTTP/2 would ask a ping for, the server is
//! asked over another connection whether it lives: any answer is a sign of life, and none in time is as an unanswered ping.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::{self, Instant, Sleep};

use super::transport::Transport;

/// When a server was last heard to live, for all watches that ask. An async mutex: held while one asks, so that the others
/// wait for its answer and ask no more.
pub(super) type LastSign = Arc<Mutex<Option<Instant>>>;

/// Asks; answers when the server was last heard to live, or nothing if it is not.
type Ask = Box<dyn Fn() -> BoxFuture<'static, Option<Instant>> + Send>;

/// Looks after one watch.
pub(super) struct Pulse {
    /// How much silence is nothing.
    after: Duration,
    ask: Ask,
    phase: Phase,
}

enum Phase {
    /// Set when it has run out and not with every event: most of them only move what it is compared with.
    Waits(Pin<Box<Sleep>>),
    Asks(BoxFuture<'static, Option<Instant>>),
}

impl Pulse {
    /// Asks by this request, after so much silence and for so long.
    pub(super) fn new(
        http: Transport,
        question: http::Request<Bytes>,
        sign: LastSign,
        after: Duration,
        timeout: Duration,
    ) -> Self {
        Self::asking(
            after,
            Box::new(move || {
                let (http, question, sign) = (http.clone(), question.clone(), Arc::clone(&sign));
                Box::pin(async move { ask(&http, question, &sign, after, timeout).await })
            }),
        )
    }

    fn asking(after: Duration, ask: Ask) -> Self {
        Self { after, ask, phase: Phase::Waits(Box::pin(time::sleep(after))) }
    }

    /// Ends once the server, from which the last came at that time, gives no sign of life; never while it does. Dropping
    /// the future loses nothing.
    pub(super) async fn stops(&mut self, heard: Instant) {
        loop {
            match &mut self.phase {
                Phase::Waits(sleep) => {
                    sleep.as_mut().await;
                    let due = heard + self.after;
                    if Instant::now() < due {
                        sleep.as_mut().reset(due);
                    } else {
                        self.phase = Phase::Asks((self.ask)());
                    }
                }
                Phase::Asks(answer) => {
                    let sign = answer.await;
                    let last = sign.map_or(heard, |sign| sign.max(heard));
                    self.phase = Phase::Waits(Box::pin(time::sleep_until(last + self.after)));
                    if sign.is_none() && heard.elapsed() >= self.after {
                        return;
                    }
                }
            }
        }
    }
}

async fn ask(
    http: &Transport,
    question: http::Request<Bytes>,
    sign: &Mutex<Option<Instant>>,
    after: Duration,
    timeout: Duration,
) -> Option<Instant> {
    let mut last = sign.lock().await;
    if let Some(last) = last.filter(|last| last.elapsed() < after) {
        return Some(last);
    }
    // Who refuses a connection, or ends it, has something there that would have ended the watch as well.
    let answered = time::timeout(timeout, http.send(question, None)).await.is_ok();
    *last = answered.then(Instant::now);
    *last
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const AFTER: Duration = Duration::from_secs(30);
    const TIMEOUT: Duration = Duration::from_secs(15);

    /// One that asks a server which lives for so long, and how often it asked.
    fn pulse(lives: Duration) -> (Pulse, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let (counter, dies) = (Arc::clone(&asked), Instant::now() + lives);
        let ask = move || -> BoxFuture<'static, Option<Instant>> {
            counter.fetch_add(1, Ordering::Relaxed);
            Box::pin(async move {
                let lives = Instant::now() < dies;
                if !lives {
                    time::sleep(TIMEOUT).await;
                }
                lives.then(Instant::now)
            })
        };
        (Pulse::asking(AFTER, Box::new(ask)), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_is_there_however_silent_its_watch_is() {
        let began = Instant::now();
        let (mut pulse, asked) = pulse(Duration::from_secs(100));
        pulse.stops(began).await;
        assert_eq!((began.elapsed().as_secs(), asked.load(Ordering::Relaxed)), (135, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_heard_is_asked_for_nothing() {
        let (mut pulse, asked) = pulse(Duration::ZERO);
        for _event in 0..100 {
            assert!(time::timeout(AFTER / 2, pulse.stops(Instant::now())).await.is_err());
        }
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_comes_while_the_server_is_asked_is_a_sign_of_life() {
        let began = Instant::now();
        let (mut pulse, _) = pulse(Duration::ZERO);
        assert!(time::timeout(AFTER + TIMEOUT / 2, pulse.stops(began)).await.is_err());
        let event = Instant::now();
        pulse.stops(event).await;
        assert_eq!(event.elapsed(), AFTER + TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_outlives_who_waits_for_it() {
        let began = Instant::now();
        let (mut pulse, asked) = pulse(Duration::ZERO);
        while time::timeout(Duration::from_secs(1), pulse.stops(began)).await.is_err() {}
        assert_eq!((began.elapsed().as_secs(), asked.load(Ordering::Relaxed)), (45, 1));
    }
}
