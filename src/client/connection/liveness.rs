//! Whether a server that says nothing to a watch is still there: what HTTP/2 finds out by pings, and HTTP/1.1 has no word
//! for.
//!
//! A watch may be silent for minutes and well. One whose server was stopped, or is behind a tunnel that broke, is as silent
//! while something on the way still answers for it. So after as much silence as HTTP/2 would send a ping for, the server is
//! asked over another connection whether it lives: any answer of it is a sign of life, and none in time is as an unanswered
//! ping. Where several servers stand behind one address another one may answer: their silence alone tells of them.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{self, Instant, Sleep};
use tracing::debug;

use super::Transport;

/// How soon a question is asked again that did not get as far as the server.
const AGAIN: Duration = Duration::from_secs(1);

/// How proxies and balancers say that the server behind them did not answer.
const NOT_THE_SERVER: [StatusCode; 3] =
    [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT];

/// What is known of a server's life, for all watches that want to know.
#[derive(Default)]
pub(crate) struct Signs {
    /// An async mutex, held while one asks, so that the others wait for its answer; each asks for a limited time, and in a
    /// task, which goes on while nobody waits for it and ends with its watch.
    last: Mutex<Sign>,
}

#[derive(Clone, Copy, Default)]
enum Sign {
    /// It was never asked.
    #[default]
    None,
    /// When it answered.
    Answered(Instant),
    /// When it was given up who never answered: a gateway may keep the question to itself, so that says nothing.
    Mute(Instant),
    /// When it was asked and when it was given up that had answered before.
    Unanswered { asked: Instant, given_up: Instant },
}

/// The server was asked at that time, and did not answer.
struct InVain {
    asked: Instant,
}

impl Signs {
    /// Up to when the server counts as alive. It is not asked again so soon after an answer, nor by who has waited while
    /// somebody else did.
    async fn seek(&self, after: Duration, question: impl Future<Output = bool>) -> Result<Instant, InVain> {
        let called = Instant::now();
        let mut last = self.last.lock().await;
        match *last {
            Sign::Answered(at) | Sign::Mute(at) if at.elapsed() < after => return Ok(at),
            Sign::Unanswered { asked, given_up } if called < given_up => return Err(InVain { asked }),
            _ => {}
        }
        let asked = Instant::now();
        let answered = question.await;
        let now = Instant::now();
        debug!(answered, elapsed = ?now - asked, "asked a silent server whether it lives");
        *last = match *last {
            _ if answered => Sign::Answered(now),
            Sign::None | Sign::Mute(_) => Sign::Mute(now),
            Sign::Answered(_) | Sign::Unanswered { .. } => Sign::Unanswered { asked, given_up: now },
        };
        if matches!(*last, Sign::Unanswered { .. }) { Err(InVain { asked }) } else { Ok(now) }
    }

    /// The server has begun to answer a watch: if it was given up, then what it was asked says nothing until it answers
    /// that again.
    pub(crate) fn seen(&self) {
        // Whoever asks just now finds out.
        if let Ok(mut last) = self.last.try_lock()
            && let Sign::Unanswered { given_up, .. } = *last
        {
            *last = Sign::Mute(given_up);
        }
    }
}

/// Asks, and answers as [`Signs::seek`].
type Ask = Box<dyn Fn() -> BoxFuture<'static, Result<Instant, InVain>> + Send>;

/// Looks after one watch.
pub(crate) struct Pulse {
    /// How much silence is nothing.
    after: Duration,
    ask: Ask,
    phase: Phase,
}

enum Phase {
    /// Set when it has run out and not with every event: most of them only move what it is compared with.
    Waits(Pin<Box<Sleep>>),
    /// One task, aborted with the watch that it is for.
    Asks(JoinSet<Result<Instant, InVain>>),
}

impl Pulse {
    /// Asks by this request, after so much silence and for so long.
    pub(crate) fn new(
        http: Transport,
        question: http::Request<Bytes>,
        signs: Arc<Signs>,
        after: Duration,
        timeout: Duration,
    ) -> Self {
        let asked = move || answers(http.clone(), question.clone(), timeout);
        Self::asking(signs, after, asked)
    }

    fn asking<F>(signs: Arc<Signs>, after: Duration, question: impl Fn() -> F + Send + 'static) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let ask = move || -> BoxFuture<'static, Result<Instant, InVain>> {
            let (signs, question) = (Arc::clone(&signs), question());
            Box::pin(async move { signs.seek(after, question).await })
        };
        Self { after, ask: Box::new(ask), phase: Phase::Waits(Box::pin(time::sleep(after))) }
    }

    /// Ends once the server, from which the last came at that time, gives no sign of life; never while it does. Dropping
    /// the future loses nothing.
    async fn stops(&mut self, heard: Instant) {
        loop {
            match &mut self.phase {
                Phase::Waits(sleep) => {
                    sleep.as_mut().await;
                    let due = heard + self.after;
                    if Instant::now() < due {
                        sleep.as_mut().reset(due);
                    } else {
                        let mut task = JoinSet::new();
                        task.spawn((self.ask)());
                        self.phase = Phase::Asks(task);
                    }
                }
                Phase::Asks(task) => {
                    let sign = task.join_next().await.and_then(Result::ok);
                    let last = match &sign {
                        Some(Ok(sign)) => heard.max(*sign),
                        Some(Err(_)) | None => heard,
                    };
                    self.phase = Phase::Waits(Box::pin(time::sleep_until(last + self.after)));
                    if sign.is_some_and(|sign| sign.is_err_and(|in_vain| heard < in_vain.asked)) {
                        return;
                    }
                }
            }
        }
    }
}

/// What comes of the work, for which a server is waited for that was last heard of at that time; nothing if it gives no sign
/// of life before. Where nobody looks after it, the work alone decides.
pub(crate) async fn unless_it_stops<T>(
    pulse: &mut Option<Pulse>,
    heard: Instant,
    work: impl Future<Output = T>,
) -> Option<T> {
    let Some(pulse) = pulse else { return Some(work.await) };
    tokio::select! {
        biased;
        outcome = work => Some(outcome),
        () = pulse.stops(heard) => None,
    }
}

/// Whether the server answers within that time.
async fn answers(http: Transport, question: http::Request<Bytes>, timeout: Duration) -> bool {
    let answer = time::timeout(timeout, async {
        loop {
            match http.send(question.clone(), None).await {
                Ok(answer) if !NOT_THE_SERVER.contains(&answer.head.status) => return answer,
                // What could not reach it may the next time.
                _ => time::sleep(AGAIN).await,
            }
        }
    });
    let Ok(mut answer) = answer.await else { return false };
    // To its end, so that the connection serves the next question.
    let rest = async { while let Ok(Some(_)) = answer.chunk().await {} };
    let _long = time::timeout(timeout, rest).await;
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const AFTER: Duration = Duration::from_secs(30);
    const TIMEOUT: Duration = Duration::from_secs(15);

    /// A server that lives for so long and may have answered before, and how often it was asked.
    #[derive(Clone)]
    struct Server {
        dies: Instant,
        signs: Arc<Signs>,
        asked: Arc<AtomicUsize>,
    }

    impl Server {
        fn living(time: Duration) -> Self {
            let last = Mutex::new(Sign::Answered(Instant::now()));
            let signs = Arc::new(Signs { last });
            Self { dies: Instant::now() + time, signs, asked: Arc::default() }
        }

        fn pulse(&self) -> Pulse {
            let server = self.clone();
            Pulse::asking(Arc::clone(&self.signs), AFTER, move || {
                let server = server.clone();
                async move {
                    server.asked.fetch_add(1, Ordering::Relaxed);
                    let lives = Instant::now() < server.dies;
                    if !lives {
                        time::sleep(TIMEOUT).await;
                    }
                    lives
                }
            })
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_is_there_however_silent_its_watch_is() {
        let began = Instant::now();
        let server = Server::living(Duration::from_secs(100));
        server.pulse().stops(began).await;
        assert_eq!((began.elapsed().as_secs(), server.asked()), (135, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answered_that_question_is_not_judged_by_it() {
        let began = Instant::now();
        let server = Server { signs: Arc::default(), ..Server::living(Duration::ZERO) };
        let (mut one, mut other) = (server.pulse(), server.pulse());
        let stopped = async { tokio::join!(one.stops(began), other.stops(began)) };
        assert!(time::timeout(Duration::from_hours(1), stopped).await.is_err());
        assert_eq!(server.asked(), 80);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_heard_is_asked_for_nothing() {
        let server = Server::living(Duration::ZERO);
        let mut pulse = server.pulse();
        for _event in 0..100 {
            assert!(time::timeout(AFTER / 2, pulse.stops(Instant::now())).await.is_err());
        }
        assert_eq!(server.asked(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_comes_while_the_server_is_asked_is_a_sign_of_life() {
        let began = Instant::now();
        let mut pulse = Server::living(Duration::ZERO).pulse();
        assert!(time::timeout(AFTER + TIMEOUT / 2, pulse.stops(began)).await.is_err());
        let event = Instant::now();
        pulse.stops(event).await;
        assert_eq!(event.elapsed(), AFTER + TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_outlives_who_waits_for_it() {
        let began = Instant::now();
        let server = Server::living(Duration::ZERO);
        let mut pulse = server.pulse();
        while time::timeout(Duration::from_secs(1), pulse.stops(began)).await.is_err() {}
        assert_eq!((began.elapsed().as_secs(), server.asked()), (45, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn one_question_is_for_all_watches_and_one_that_nobody_answers_too() {
        let began = Instant::now();
        let server = Server::living(Duration::from_secs(40));
        let pulses = [server.pulse(), server.pulse(), server.pulse()];
        let stopped = pulses.map(|mut pulse| async move {
            pulse.stops(began).await;
            began.elapsed().as_secs()
        });
        // Answered at 30 s, asked again at 60 s, given up at 75 s.
        assert_eq!(futures_util::future::join_all(stopped).await, [75, 75, 75]);
        assert_eq!(server.asked(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_did_not_wait_for_an_answer_asks_for_another() {
        let began = Instant::now();
        let server = Server::living(Duration::ZERO);
        let (mut one, mut other) = (server.pulse(), server.pulse());
        one.stops(began).await;
        assert_eq!((began.elapsed(), server.asked()), (AFTER + TIMEOUT, 1));
        other.stops(began).await;
        assert_eq!((began.elapsed(), server.asked()), (AFTER + 2 * TIMEOUT, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_watches_and_not_that_question_is_no_longer_judged_by_it() {
        let server = Server::living(Duration::ZERO);
        server.pulse().stops(Instant::now()).await;
        server.signs.seen();
        let mut again = server.pulse();
        let stopped = again.stops(Instant::now());
        assert!(time::timeout(Duration::from_hours(1), stopped).await.is_err());
    }

    #[tokio::test]
    async fn who_only_stands_before_a_server_is_not_taken_for_it() {
        use crate::client::test_server::{TestServer, json};
        use crate::kubeconfig::ConnectionOptions;
        for code in [200, 401, 403, 404, 429, 500, 502, 503, 504] {
            let server = TestServer::start(move |_| json(code, "{}")).await;
            let http = Transport::new(
                &ConnectionOptions::default(),
                crate::client::connection::tls::unused().unwrap(),
                true,
            );
            let question = http::Request::get(format!("{}/livez", server.url)).body(Bytes::new()).unwrap();
            let lives = code < 502;
            let patience = if lives { Duration::from_mins(1) } else { AGAIN / 10 };
            assert_eq!(answers(http, question, patience).await, lives, "{code}");
        }
    }
}
