//! Reports of servers that do not respond.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{self, Instant};

use super::Notice;
use super::notice::NoticeListener;

/// The longest silence that is not reported.
const SHORT: Duration = Duration::from_secs(2);

/// Reports the waits for the responses of one server.
pub(crate) struct Silence {
    /// `host:port`.
    server: Arc<str>,
    listener: Option<NoticeListener>,
    /// Held by the request whose wait is reported, until it ends: one line at a time is enough for the requests that wait
    /// for the same server. A semaphore of one permit, because the next waiting request takes over; it is never closed.
    reporter: Semaphore,
}

/// Limits of the wait for one response, for reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WaitLimits {
    /// The limit of the whole response, from the request on.
    pub(crate) response: Option<Duration>,
    /// The limit of the wait for its head, and for each part of its body.
    pub(crate) silence: Option<Duration>,
}

/// Reports each long pause in the middle of one response.
pub(crate) struct SilentBody {
    silence: Arc<Silence>,
    path: String,
    requested_at: Instant,
    limits: WaitLimits,
}

impl Silence {
    pub(crate) fn new(server: Arc<str>, listener: Option<NoticeListener>) -> Self {
        Self { server, listener, reporter: Semaphore::new(1) }
    }

    /// Awaits the head of the response to a request for `path`.
    pub(crate) async fn before_head<T>(
        &self,
        path: &str,
        limits: WaitLimits,
        head: impl Future<Output = T>,
    ) -> T {
        let limit = limits.of_wait(Duration::ZERO);
        if self.listener.is_none() || limit.is_some_and(|limit| limit <= SHORT) {
            return head.await;
        }
        let mut head = pin!(head);
        let began = Instant::now();
        if let Some(head) = in_short_time(head.as_mut()).await {
            return head;
        }
        let mut reporter = self.reporter.try_acquire().ok();
        if reporter.is_none() {
            reporter = tokio::select! {
                biased;
                head = head.as_mut() => return head,
                permit = self.reporter.acquire() => permit.ok(),
            };
            // The end of the reported wait is often the end of this one.
            if let Some(head) = in_short_time(head.as_mut()).await {
                return head;
            }
        }
        let _held_until_the_head = reporter;
        self.report(path, began.elapsed(), limit);
        head.await
    }

    /// Returns the reporter for the body of a response, if there is a listener.
    pub(crate) fn of_body(
        self: &Arc<Self>,
        path: &str,
        requested_at: Instant,
        limits: WaitLimits,
    ) -> Option<SilentBody> {
        let silence = self.listener.is_some().then(|| Arc::clone(self))?;
        Some(SilentBody { silence, path: path.to_owned(), requested_at, limits })
    }

    fn report(&self, path: &str, silent: Duration, limit: Option<Duration>) {
        if let Some(listener) = &self.listener {
            listener(Notice::Silent { server: &self.server, path, silent, limit });
        }
    }
}

impl WaitLimits {
    /// Returns the limit of a wait that begins this long after the request.
    fn of_wait(self, after: Duration) -> Option<Duration> {
        let left = self.response.map(|limit| limit.saturating_sub(after));
        [left, self.silence].into_iter().flatten().min()
    }
}

impl SilentBody {
    /// Returns the next part of the body. Dropping the future loses nothing.
    pub(crate) async fn before_part<T>(&self, part: impl Future<Output = T>) -> T {
        let mut part = pin!(part);
        let began = Instant::now();
        if let Some(part) = in_short_time(part.as_mut()).await {
            return part;
        }
        let limit = self.limits.of_wait(began.saturating_duration_since(self.requested_at));
        self.silence.report(&self.path, began.elapsed(), limit);
        part.await
    }
}

/// Returns the output of a future that is ready in a short time. The timer is created only if the future has to wait.
async fn in_short_time<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = async { time::sleep(SHORT).await } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn silence() -> (Arc<Silence>, Arc<Mutex<Vec<String>>>) {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&reports);
        let listener: NoticeListener =
            Arc::new(move |notice| kept.lock().unwrap().push(format!("{notice:?}")));
        (Arc::new(Silence::new("s:1".into(), Some(listener))), reports)
    }

    async fn after(seconds: u64) {
        time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Returns the report of a wait for this path.
    fn report(path: &str, silent: u64, limit: &str) -> String {
        format!(r#"Silent {{ server: "s:1", path: "{path}", silent: {silent}s, limit: {limit} }}"#)
    }

    #[tokio::test(start_paused = true)]
    async fn every_long_wait_for_a_response_is_reported() {
        let (silence, reports) = silence();
        let none = WaitLimits::default();
        silence.before_head("/a", none, after(1)).await;
        assert!(reports.lock().unwrap().is_empty());
        let limits =
            WaitLimits { response: Some(Duration::from_mins(1)), silence: Some(Duration::from_secs(10)) };
        let given_up = time::timeout(Duration::from_secs(10), silence.before_head("/b", limits, after(60)));
        assert!(given_up.await.is_err());
        silence.before_head("/c", none, after(3)).await;
        silence.before_head("/d", none, after(3)).await;
        let expected = [report("/b", 2, "Some(10s)"), report("/c", 2, "None"), report("/d", 2, "None")];
        assert_eq!(*reports.lock().unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_several_simultaneous_waits_is_reported_at_a_time() {
        let (silence, reports) = silence();
        let wait = async |begin, path, seconds| {
            after(begin).await;
            silence.before_head(path, WaitLimits::default(), after(seconds)).await;
        };
        tokio::join!(wait(0, "/a", 10), wait(1, "/b", 10), wait(2, "/c", 30));
        assert_eq!(*reports.lock().unwrap(), [report("/a", 2, "None"), report("/c", 11, "None")]);
    }

    #[tokio::test(start_paused = true)]
    async fn wait_limited_to_a_short_time_is_not_reported() {
        let (silence, reports) = silence();
        let limits = WaitLimits { response: Some(SHORT), silence: None };
        silence.before_head("/a", limits, after(3)).await;
        assert!(reports.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn every_long_pause_in_a_response_is_reported() {
        let (silence, reports) = silence();
        let limits = WaitLimits { response: Some(Duration::from_secs(32)), silence: None };
        let body = silence.of_body("/a", Instant::now(), limits).unwrap();
        for seconds in [1, 3, 3] {
            body.before_part(after(seconds)).await;
        }
        let expected = [report("/a", 2, "Some(31s)"), report("/a", 2, "Some(28s)")];
        assert_eq!(*reports.lock().unwrap(), expected);
        let limits = WaitLimits { silence: Some(Duration::from_secs(20)), ..limits };
        let body = silence.of_body("/b", Instant::now(), limits).unwrap();
        body.before_part(after(3)).await;
        assert_eq!(reports.lock().unwrap()[2], report("/b", 2, "Some(20s)"));
    }
}
