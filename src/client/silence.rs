//! Reports of servers that do not respond.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time;

use super::Notice;
use super::notice::Listener;

/// The longest silence that is not reported.
const SHORT: Duration = Duration::from_secs(2);

/// Reports the silence of one server, once until it responds again.
pub(crate) struct Silence {
    /// `host:port`.
    server: Arc<str>,
    listener: Option<Listener>,
    /// Relaxed: a second report does no harm.
    is_reported: AtomicBool,
}

/// Reports the silence in the middle of one response, once.
pub(crate) struct SilentBody {
    silence: Arc<Silence>,
    path: String,
    limit: Option<Duration>,
    is_reported: bool,
}

impl Silence {
    pub(crate) fn new(server: Arc<str>, listener: Option<Listener>) -> Self {
        Self { server, listener, is_reported: AtomicBool::new(false) }
    }

    /// Awaits the head of the response to a request for `path`, which may take up to `limit`.
    pub(crate) async fn before_head<T>(
        &self,
        path: &str,
        limit: Option<Duration>,
        head: impl Future<Output = T>,
    ) -> T {
        if self.listener.is_none() {
            return head.await;
        }
        let mut head = pin!(head);
        if let Some(head) = in_short_time(head.as_mut()).await {
            self.is_reported.store(false, Ordering::Relaxed);
            return head;
        }
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            self.report(path, limit);
        }
        let head = head.await;
        self.is_reported.store(false, Ordering::Relaxed);
        head
    }

    /// Returns the reporter for the body of a response, if there is a listener.
    pub(crate) fn of_body(self: &Arc<Self>, path: &str, limit: Option<Duration>) -> Option<SilentBody> {
        let silence = self.listener.is_some().then(|| Arc::clone(self))?;
        Some(SilentBody { silence, path: path.to_owned(), limit, is_reported: false })
    }

    fn report(&self, path: &str, limit: Option<Duration>) {
        if let Some(listener) = &self.listener {
            listener(Notice::Silent { server: &self.server, path, silent: SHORT, limit });
        }
    }
}

impl SilentBody {
    /// Returns the next part of the body. Dropping the future loses nothing.
    pub(crate) async fn before_part<T>(&mut self, part: impl Future<Output = T>) -> T {
        if self.is_reported {
            return part.await;
        }
        let mut part = pin!(part);
        if let Some(part) = in_short_time(part.as_mut()).await {
            return part;
        }
        self.is_reported = true;
        self.silence.report(&self.path, self.limit);
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
        let listener: Listener = Arc::new(move |notice| kept.lock().unwrap().push(format!("{notice:?}")));
        (Arc::new(Silence::new("s:1".into(), Some(listener))), reports)
    }

    async fn after(seconds: u64) {
        time::sleep(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn silence_before_a_response_is_reported_once_until_the_server_responds() {
        let (silence, reports) = silence();
        silence.before_head("/a", None, after(1)).await;
        assert!(reports.lock().unwrap().is_empty());
        let limit = Some(Duration::from_secs(32));
        let later = async {
            after(1).await;
            silence.before_head("/c", None, after(5)).await;
        };
        tokio::join!(silence.before_head("/b", limit, after(4)), later);
        let report = r#"Silent { server: "s:1", path: "/b", silent: 2s, limit: Some(32s) }"#;
        assert_eq!(*reports.lock().unwrap(), [report]);
        silence.before_head("/d", None, after(3)).await;
        assert_eq!(reports.lock().unwrap().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_in_a_response_is_reported_once() {
        let (silence, reports) = silence();
        let mut body = silence.of_body("/a", None).unwrap();
        for seconds in [1, 3, 3] {
            body.before_part(after(seconds)).await;
        }
        assert_eq!(reports.lock().unwrap().len(), 1);
    }
}
