//! Liveness checks for idle watches over HTTP/1.1, which has no pings: a probe request on another connection.
//!
//! A healthy watch may be silent for minutes. A watch whose server was stopped, or is behind a broken tunnel, is
//! equally silent while an intermediary still acknowledges its packets. After the silence at which HTTP/2 would send
//! a ping, the server is probed over another connection: any response proves that it lives, and a missing one counts
//! like an unanswered ping. If several servers share the address, another one may respond; then only the silence
//! itself shows the failure.

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

/// The pause before a probe is repeated that did not reach the server.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The status codes with which proxies and load balancers report that the server behind them did not respond.
const GATEWAY_ERRORS: [StatusCode; 3] =
    [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::GATEWAY_TIMEOUT];

/// The state of a server's liveness, shared by all watches.
#[derive(Default)]
pub(crate) struct Liveness {
    /// An async mutex, held during a probe, so that the other watches wait for its result. Each probe has a time
    /// limit and runs in a task, which continues without waiters and ends with its watch.
    last: Mutex<LastProbe>,
}

#[derive(Clone, Copy, Default)]
enum LastProbe {
    /// No probe was sent.
    #[default]
    None,
    /// The time of the last response.
    Responded(Instant),
    /// The time of the last timeout of a server that never responded to a probe: a gateway may drop probes, so it
    /// proves nothing.
    NeverResponded(Instant),
    /// The start and the timeout of a failed probe, after earlier successful ones.
    TimedOut { started: Instant, timed_out: Instant },
}

/// The server was probed at that time and did not respond.
struct Unresponsive {
    started: Instant,
}

impl Liveness {
    /// Returns the time up to which the server counts as alive. It is not probed again so soon after a response, nor
    /// by a watch that waited during another's probe.
    async fn probe(
        &self,
        after: Duration,
        request: impl Future<Output = bool>,
    ) -> Result<Instant, Unresponsive> {
        let called = Instant::now();
        let mut last = self.last.lock().await;
        match *last {
            LastProbe::Responded(at) | LastProbe::NeverResponded(at) if at.elapsed() < after => {
                return Ok(at);
            }
            LastProbe::TimedOut { started, timed_out } if called < timed_out => {
                return Err(Unresponsive { started });
            }
            _ => {}
        }
        let started = Instant::now();
        let has_responded = request.await;
        let now = Instant::now();
        debug!(has_responded, elapsed = ?now - started, "probed a silent server");
        *last = match *last {
            _ if has_responded => LastProbe::Responded(now),
            LastProbe::None | LastProbe::NeverResponded(_) => LastProbe::NeverResponded(now),
            LastProbe::Responded(_) | LastProbe::TimedOut { .. } => {
                LastProbe::TimedOut { started, timed_out: now }
            }
        };
        if matches!(*last, LastProbe::TimedOut { .. }) { Err(Unresponsive { started }) } else { Ok(now) }
    }

    /// Records that the server has started to respond to a watch. If its last probe failed, probes prove nothing
    /// until one succeeds again.
    pub(crate) fn watch_responded(&self) {
        // A running probe will record its own result.
        if let Ok(mut last) = self.last.try_lock()
            && let LastProbe::TimedOut { timed_out, .. } = *last
        {
            *last = LastProbe::NeverResponded(timed_out);
        }
    }
}

/// Sends a probe like [`Liveness::probe`].
type Probe = Box<dyn Fn() -> BoxFuture<'static, Result<Instant, Unresponsive>> + Send>;

/// The liveness check of one watch.
pub(crate) struct LivenessCheck {
    /// The silence before the first probe.
    after: Duration,
    probe: Probe,
    phase: Phase,
}

enum Phase {
    /// Not reset with every event, only when it has elapsed: an event merely moves the time that it is compared with.
    Idle(Pin<Box<Sleep>>),
    /// One task, aborted with its watch.
    Probing(JoinSet<Result<Instant, Unresponsive>>),
}

impl LivenessCheck {
    /// Returns a check that sends this request after that silence, with that timeout.
    pub(crate) fn new(
        http: Transport,
        request: http::Request<Bytes>,
        liveness: Arc<Liveness>,
        after: Duration,
        timeout: Duration,
    ) -> Self {
        let probe = move || responds(http.clone(), request.clone(), timeout);
        Self::with_probe(liveness, after, probe)
    }

    fn with_probe<F>(
        liveness: Arc<Liveness>,
        after: Duration,
        request: impl Fn() -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let probe = move || -> BoxFuture<'static, Result<Instant, Unresponsive>> {
            let (liveness, request) = (Arc::clone(&liveness), request());
            Box::pin(async move { liveness.probe(after, request).await })
        };
        Self { after, probe: Box::new(probe), phase: Phase::Idle(Box::pin(time::sleep(after))) }
    }

    /// Completes once the server, last heard at that time, is unresponsive; never while it is alive. Dropping the
    /// future loses nothing.
    async fn unresponsive(&mut self, heard: Instant) {
        loop {
            match &mut self.phase {
                Phase::Idle(sleep) => {
                    sleep.as_mut().await;
                    let due = heard + self.after;
                    if Instant::now() < due {
                        sleep.as_mut().reset(due);
                    } else {
                        let mut task = JoinSet::new();
                        task.spawn((self.probe)());
                        self.phase = Phase::Probing(task);
                    }
                }
                Phase::Probing(task) => {
                    let result = task.join_next().await.and_then(Result::ok);
                    let last = match &result {
                        Some(Ok(result)) => heard.max(*result),
                        Some(Err(_)) | None => heard,
                    };
                    self.phase = Phase::Idle(Box::pin(time::sleep_until(last + self.after)));
                    if result.is_some_and(|result| result.is_err_and(|in_vain| heard < in_vain.started)) {
                        return;
                    }
                }
            }
        }
    }
}

/// Returns the output of `work`, or `None` if the server, last heard at that time, becomes unresponsive first.
/// Without a check the work alone decides.
pub(crate) async fn unless_unresponsive<T>(
    liveness_check: &mut Option<LivenessCheck>,
    heard: Instant,
    work: impl Future<Output = T>,
) -> Option<T> {
    let Some(liveness_check) = liveness_check else { return Some(work.await) };
    tokio::select! {
        biased;
        outcome = work => Some(outcome),
        () = liveness_check.unresponsive(heard) => None,
    }
}

/// Returns whether the server responds within that time.
async fn responds(http: Transport, request: http::Request<Bytes>, timeout: Duration) -> bool {
    let response = time::timeout(timeout, async {
        loop {
            match http.send(request.clone(), None).await {
                Ok(response) if !GATEWAY_ERRORS.contains(&response.head.status) => return response,
                // A probe that did not reach the server may do so the next time.
                _ => time::sleep(RETRY_PAUSE).await,
            }
        }
    });
    let Ok(mut response) = response.await else { return false };
    // The body is read to its end, so that the connection is reused for the next probe.
    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
    let _long = time::timeout(timeout, rest).await;
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const AFTER: Duration = Duration::from_secs(30);
    const TIMEOUT: Duration = Duration::from_secs(15);

    /// A server that lives for a limited time, and the number of its probes.
    #[derive(Clone)]
    struct Server {
        dies: Instant,
        liveness: Arc<Liveness>,
        started: Arc<AtomicUsize>,
    }

    impl Server {
        fn living(time: Duration) -> Self {
            let last = Mutex::new(LastProbe::Responded(Instant::now()));
            let liveness = Arc::new(Liveness { last });
            Self { dies: Instant::now() + time, liveness, started: Arc::default() }
        }

        fn liveness_check(&self) -> LivenessCheck {
            let server = self.clone();
            LivenessCheck::with_probe(Arc::clone(&self.liveness), AFTER, move || {
                let server = server.clone();
                async move {
                    server.started.fetch_add(1, Ordering::Relaxed);
                    let lives = Instant::now() < server.dies;
                    if !lives {
                        time::sleep(TIMEOUT).await;
                    }
                    lives
                }
            })
        }

        fn probes(&self) -> usize {
            self.started.load(Ordering::Relaxed)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn responsive_server_is_alive_however_silent_its_watch() {
        let began = Instant::now();
        let server = Server::living(Duration::from_secs(100));
        server.liveness_check().unresponsive(began).await;
        assert_eq!((began.elapsed().as_secs(), server.probes()), (135, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_never_answered_a_probe_is_not_judged_by_probes() {
        let began = Instant::now();
        let server = Server { liveness: Arc::default(), ..Server::living(Duration::ZERO) };
        let (mut one, mut other) = (server.liveness_check(), server.liveness_check());
        let stopped = async { tokio::join!(one.unresponsive(began), other.unresponsive(began)) };
        assert!(time::timeout(Duration::from_hours(1), stopped).await.is_err());
        assert_eq!(server.probes(), 80);
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_sends_events_is_not_probed() {
        let server = Server::living(Duration::ZERO);
        let mut liveness_check = server.liveness_check();
        for _event in 0..100 {
            assert!(time::timeout(AFTER / 2, liveness_check.unresponsive(Instant::now())).await.is_err());
        }
        assert_eq!(server.probes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn event_during_a_probe_proves_liveness() {
        let began = Instant::now();
        let mut liveness_check = Server::living(Duration::ZERO).liveness_check();
        assert!(time::timeout(AFTER + TIMEOUT / 2, liveness_check.unresponsive(began)).await.is_err());
        let event = Instant::now();
        liveness_check.unresponsive(event).await;
        assert_eq!(event.elapsed(), AFTER + TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn probe_continues_without_waiters() {
        let began = Instant::now();
        let server = Server::living(Duration::ZERO);
        let mut liveness_check = server.liveness_check();
        while time::timeout(Duration::from_secs(1), liveness_check.unresponsive(began)).await.is_err() {}
        assert_eq!((began.elapsed().as_secs(), server.probes()), (45, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn watches_share_probes_and_their_timeouts() {
        let began = Instant::now();
        let server = Server::living(Duration::from_secs(40));
        let pulses = [server.liveness_check(), server.liveness_check(), server.liveness_check()];
        let stopped = pulses.map(|mut liveness_check| async move {
            liveness_check.unresponsive(began).await;
            began.elapsed().as_secs()
        });
        // Responded at 30 s, probed again at 60 s, timed out at 75 s.
        assert_eq!(futures_util::future::join_all(stopped).await, [75, 75, 75]);
        assert_eq!(server.probes(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn watch_that_did_not_wait_probes_again() {
        let began = Instant::now();
        let server = Server::living(Duration::ZERO);
        let (mut one, mut other) = (server.liveness_check(), server.liveness_check());
        one.unresponsive(began).await;
        assert_eq!((began.elapsed(), server.probes()), (AFTER + TIMEOUT, 1));
        other.unresponsive(began).await;
        assert_eq!((began.elapsed(), server.probes()), (AFTER + 2 * TIMEOUT, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_serves_watches_but_not_probes_is_not_judged_by_probes() {
        let server = Server::living(Duration::ZERO);
        server.liveness_check().unresponsive(Instant::now()).await;
        server.liveness.watch_responded();
        let mut again = server.liveness_check();
        let stopped = again.unresponsive(Instant::now());
        assert!(time::timeout(Duration::from_hours(1), stopped).await.is_err());
    }

    #[tokio::test]
    async fn gateway_errors_are_not_signs_of_life() {
        use crate::client::test_server::{TestServer, json};
        use crate::kubeconfig::ConnectionOptions;
        for code in [200, 401, 403, 404, 429, 500, 502, 503, 504] {
            let server = TestServer::start(move |_| json(code, "{}")).await;
            let http = Transport::new(
                &ConnectionOptions::default(),
                crate::client::connection::tls::unused().unwrap(),
                true,
                crate::client::request_log::RequestLog::default(),
            );
            let request = http::Request::get(format!("{}/livez", server.url)).body(Bytes::new()).unwrap();
            let lives = code < 502;
            let report_after = if lives { Duration::from_mins(1) } else { RETRY_PAUSE / 10 };
            assert_eq!(responds(http, request, report_after).await, lives, "{code}");
        }
    }
}
