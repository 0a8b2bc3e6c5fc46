//! Dials one connection for all requests that start at the same time.
//!
//! hyper's pool knows that requests can share a connection only after its TLS handshake. Of many requests before that
//! each would dial, and all connections but one be closed again; two that complete at the same moment would both
//! stay. Here the first request dials while the others wait for the protocol of its connection.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::Connection;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::task::futures::TaskLocalFuture;
use tokio::time::{self, Instant};
use tower::{BoxError, Layer, Service, ServiceExt};

use crate::kubeconfig::ConnectionOptions;

/// The time limit for the pool to hand out an open connection, which it does at once unless the connection broke or
/// its request was dropped. Short, since a waiter then dials on its own.
const HANDOUT_TIMEOUT: Duration = Duration::from_millis(250);

tokio::task_local! {
    static REQUESTED: ();
}

/// Sends a request. A dial that hyper's pool starts for it counts as requested until the request ends; afterwards the
/// pool continues the dial in a task of its own.
pub(super) fn as_request<F: Future>(request: F) -> TaskLocalFuture<(), F> {
    REQUESTED.scope((), request)
}

/// The layer over the connector of one HTTP client. Clones belong to the same client.
#[derive(Clone)]
pub(super) struct SharedDial {
    /// A std lock: held to read and update the state, never across an await.
    state: Arc<Mutex<State>>,
}

enum State {
    /// The next request dials.
    Idle,
    /// A request is dialing. A watch channel: all waiters receive its one outcome, or `None` when the dial was
    /// dropped, which closes the channel.
    Dialing(watch::Receiver<Option<Outcome>>),
    /// A shared connection exists since that time.
    Shared(Instant),
    /// HTTP/1.1: each request dials its own.
    PerRequest,
}

#[derive(Clone, Copy)]
enum Outcome {
    Shared,
    Own,
    Failed,
}

/// The action for a request that needs a connection.
enum Decision {
    Lead(Leader),
    /// Dial without regard to other requests.
    DialOwn,
    Follow(watch::Receiver<Option<Outcome>>),
    /// The pool is about to hand a connection out.
    WaitUntil(Instant),
}

/// The request that dials for all. When it is dropped, the next one dials.
struct Leader {
    shared_dial: SharedDial,
    outcome: Option<Outcome>,
    sender: watch::Sender<Option<Outcome>>,
}

impl Leader {
    async fn open<C: Connection>(
        mut self,
        connect: impl Future<Output = Result<C, BoxError>>,
    ) -> Result<C, BoxError> {
        let opened = connect.await;
        self.outcome = Some(match &opened {
            Ok(connection) if connection.connected().is_negotiated_h2() => Outcome::Shared,
            Ok(_) => Outcome::Own,
            Err(_) => Outcome::Failed,
        });
        opened
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // Set before the waiters are notified, which read it then.
        self.shared_dial.set(self.outcome);
        self.sender.send_replace(self.outcome);
    }
}

impl SharedDial {
    /// Returns a layer without connections.
    pub(super) fn of(options: &ConnectionOptions) -> Self {
        let state = if options.http1_only { State::PerRequest } else { State::Idle };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self) -> Decision {
        let mut state = self.state();
        match &*state {
            State::Dialing(outcome) => Decision::Follow(outcome.clone()),
            State::PerRequest => Decision::DialOwn,
            State::Shared(since) if since.elapsed() < HANDOUT_TIMEOUT => {
                Decision::WaitUntil(*since + HANDOUT_TIMEOUT)
            }
            State::Idle | State::Shared(_) => {
                let (sender, outcomes) = watch::channel(None);
                *state = State::Dialing(outcomes);
                Decision::Lead(Leader { shared_dial: self.clone(), outcome: None, sender })
            }
        }
    }

    fn set(&self, outcome: Option<Outcome>) {
        *self.state() = match outcome {
            Some(Outcome::Shared) => State::Shared(Instant::now()),
            Some(Outcome::Own) => State::PerRequest,
            Some(Outcome::Failed) | None => State::Idle,
        };
    }

    /// Dials with `connect`, unless a dial of another request yields a shared connection.
    async fn open<C, F>(self, connect: F) -> Result<C, BoxError>
    where
        C: Connection + Send + 'static,
        F: Future<Output = Result<C, BoxError>> + Send + 'static,
    {
        match self.decide() {
            Decision::Lead(leader) => {
                // A task, so that the waiters receive the outcome even while the first request is not polled. It ends
                // with that request.
                let mut task = JoinSet::new();
                task.spawn(leader.open(connect));
                return task.join_next().await.ok_or("nothing was opened")??;
            }
            Decision::DialOwn => {}
            Decision::Follow(mut outcomes) => {
                // A failure's reason is the first request's own; another address may respond.
                let outcome = outcomes.wait_for(Option::is_some).await.ok().and_then(|outcome| *outcome);
                if matches!(outcome, Some(Outcome::Shared)) {
                    time::sleep(HANDOUT_TIMEOUT).await;
                }
            }
            Decision::WaitUntil(due) => time::sleep_until(due).await,
        }
        if REQUESTED.try_with(|()| ()).is_err() {
            return Err("another connection has served the request".into());
        }
        connect.await
    }
}

impl<S> Layer<S> for SharedDial {
    type Service = SharedDialConnector<S>;

    fn layer(&self, connector: S) -> SharedDialConnector<S> {
        SharedDialConnector { shared_dial: self.clone(), connector }
    }
}

/// A connector that shares its connections if the protocol allows it.
#[derive(Clone)]
pub(super) struct SharedDialConnector<S> {
    shared_dial: SharedDial,
    connector: S,
}

impl<S, To> Service<To> for SharedDialConnector<S>
where
    S: Service<To, Error = BoxError, Response: Connection + Send, Future: Send> + Clone + Send + 'static,
    To: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // `oneshot` polls the inner connector when it dials.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: To) -> Self::Future {
        Box::pin(self.shared_dial.clone().open(self.connector.clone().oneshot(to)))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;

    use hyper_util::client::legacy::connect::Connected;
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    use super::*;

    /// An open connection, and whether requests can share it.
    #[derive(Debug)]
    struct TestConnection {
        is_shared: bool,
    }

    impl Connection for TestConnection {
        fn connected(&self) -> Connected {
            if self.is_shared { Connected::new().negotiated_h2() } else { Connected::new() }
        }
    }

    type Result<T = TestConnection> = std::result::Result<T, BoxError>;

    /// The server's ends of the dials under way.
    type Dials = Arc<Mutex<Vec<oneshot::Sender<Result>>>>;

    struct Bench {
        shared_dial: SharedDial,
        dials: Dials,
    }

    impl Bench {
        fn new() -> Self {
            let state = Arc::new(Mutex::new(State::Idle));
            Self { shared_dial: SharedDial { state }, dials: Arc::default() }
        }

        fn connect(&self) -> impl Future<Output = Result> + Send + 'static {
            let dials = Arc::clone(&self.dials);
            self.shared_dial.clone().open(async move {
                let (done, is_done) = oneshot::channel();
                dials.lock().unwrap().push(done);
                is_done.await?
            })
        }

        /// Starts a request for a connection.
        async fn ask(&self) -> JoinHandle<Result> {
            let request = tokio::spawn(as_request(self.connect()));
            settled().await;
            request
        }

        /// Ends the only dial.
        async fn end(&self, with: Result) {
            let [dials] = <[_; 1]>::try_from(std::mem::take(&mut *self.dials.lock().unwrap())).unwrap();
            dials.send(with).unwrap();
            settled().await;
        }

        fn dials(&self) -> usize {
            self.dials.lock().unwrap().len()
        }
    }

    /// A dial whose request was served otherwise.
    async fn asked_and_left<F: Future<Output = Result>>(connect: F) -> Pin<Box<F>> {
        let mut connect = Box::pin(connect);
        as_request(async {
            let looked = poll_fn(|cx| Poll::Ready(connect.as_mut().poll(cx).is_pending())).await;
            assert!(looked, "it is not done at once");
        })
        .await;
        connect
    }

    /// Waits until all tasks are idle.
    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    const SHARED: TestConnection = TestConnection { is_shared: true };
    const OWN: TestConnection = TestConnection { is_shared: false };

    #[tokio::test(start_paused = true)]
    async fn one_dial_serves_all_and_unneeded_dials_end() {
        let bench = Bench::new();
        let leader = bench.ask().await;
        // The pool continues the dial in another task.
        let served = asked_and_left(bench.connect()).await;
        assert_eq!(bench.dials(), 1);
        bench.end(Ok(SHARED)).await;
        assert!(leader.await.unwrap().unwrap().is_shared);
        // This request comes before the pool has the connection.
        let late = asked_and_left(bench.connect()).await;
        for needless in [served, late] {
            let error = tokio::spawn(needless).await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "another connection has served the request");
        }
        assert_eq!(bench.dials(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn waiter_dials_after_the_handout_timeout() {
        let bench = Bench::new();
        let (_first, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        bench.end(Ok(SHARED)).await;
        time::advance(HANDOUT_TIMEOUT / 2).await;
        let _fourth = bench.ask().await;
        assert_eq!(bench.dials(), 0);
        time::advance(HANDOUT_TIMEOUT).await;
        settled().await;
        assert_eq!(bench.dials(), 3, "each for itself, and at once");
    }

    #[tokio::test]
    async fn http_1_requests_wait_only_for_the_first_dial() {
        let bench = Bench::new();
        let (_first, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        assert_eq!(bench.dials(), 1);
        bench.end(Ok(OWN)).await;
        assert_eq!(bench.dials(), 2);
        let _fourth = bench.ask().await;
        assert_eq!(bench.dials(), 3);
    }

    #[tokio::test]
    async fn each_request_fails_with_its_own_reason() {
        let bench = Bench::new();
        let (leader, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        bench.end(Err("refused".into())).await;
        assert_eq!(leader.await.unwrap().unwrap_err().to_string(), "refused");
        assert_eq!(bench.dials(), 2);
        // A later request does not fail with another's failure.
        let _fourth = bench.ask().await;
        assert_eq!(bench.dials(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn unpolled_first_request_does_not_block_others() {
        let bench = Bench::new();
        let _first = asked_and_left(bench.connect()).await;
        let second = bench.ask().await;
        bench.end(Ok(SHARED)).await;
        time::advance(HANDOUT_TIMEOUT * 2).await;
        settled().await;
        bench.end(Ok(SHARED)).await;
        assert!(second.await.unwrap().unwrap().is_shared);
    }

    #[tokio::test]
    async fn dropped_first_dial_is_taken_over() {
        let bench = Bench::new();
        let (leader, second) = (bench.ask().await, bench.ask().await);
        let needless = asked_and_left(bench.connect()).await;
        leader.abort();
        settled().await;
        assert!(tokio::spawn(needless).await.unwrap().is_err());
        bench.dials.lock().unwrap().remove(0);
        bench.end(Ok(SHARED)).await;
        assert!(second.await.unwrap().unwrap().is_shared);
    }
}
