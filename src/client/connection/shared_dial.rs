//! Opens one connection for all requests that begin at once.
//!
//! hyper's pool learns that requests can share a connection when its TLS is done. Of many that begin before that each would
//! open its own, to be closed again but for one; and of two that are done in the same moment both stay. So the first opens
//! one while the others wait for what it turns out to be.

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

/// How long a connection that is open may take until the pool hands it out, which it does at once unless it broke, or its
/// request was given up. Short, since whoever has waited for that opens one without regard to others.
const HAND_OUT: Duration = Duration::from_millis(250);

tokio::task_local! {
    static ASKED: ();
}

/// Sends a request. What hyper's pool began to open for it counts as asked for until then; afterwards the pool goes on
/// with that in a task of its own.
pub(super) fn asking<F: Future>(request: F) -> TaskLocalFuture<(), F> {
    ASKED.scope((), request)
}

/// The layer over what opens the connections of one HTTP client. Clones belong to the same client.
#[derive(Clone)]
pub(super) struct Opening {
    /// A std lock: held to look and to note, never across an await.
    state: Arc<Mutex<State>>,
}

enum State {
    /// Whoever comes opens one.
    Open,
    /// Somebody does. A watch channel: all who wait are told the one outcome, or `None` where it was given up, and that is
    /// its end.
    Begun(watch::Receiver<Option<Outcome>>),
    /// Since then there is one for all.
    Shared(Instant),
    /// HTTP/1.1: each request has its own.
    Each,
}

#[derive(Clone, Copy)]
enum Outcome {
    Shared,
    Own,
    Failed,
}

/// What a request for a connection is to do.
enum Turn {
    Open(First),
    /// Without regard to others.
    OpenOwn,
    Follow(watch::Receiver<Option<Outcome>>),
    /// The pool is about to hand one out.
    WaitUntil(Instant),
}

/// Whoever opens one for all. Dropped, the next one may.
struct First {
    opening: Opening,
    outcome: Option<Outcome>,
    tell: watch::Sender<Option<Outcome>>,
}

impl First {
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

impl Drop for First {
    fn drop(&mut self) {
        // Before the others are told, who look at it then.
        self.opening.note(self.outcome);
        self.tell.send_replace(self.outcome);
    }
}

impl Opening {
    /// Nothing is opened yet.
    pub(super) fn of(options: &ConnectionOptions) -> Self {
        let state = if options.http1_only { State::Each } else { State::Open };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self) -> Turn {
        let mut state = self.state();
        match &*state {
            State::Begun(outcome) => Turn::Follow(outcome.clone()),
            State::Each => Turn::OpenOwn,
            State::Shared(since) if since.elapsed() < HAND_OUT => Turn::WaitUntil(*since + HAND_OUT),
            State::Open | State::Shared(_) => {
                let (tell, told) = watch::channel(None);
                *state = State::Begun(told);
                Turn::Open(First { opening: self.clone(), outcome: None, tell })
            }
        }
    }

    fn note(&self, outcome: Option<Outcome>) {
        *self.state() = match outcome {
            Some(Outcome::Shared) => State::Shared(Instant::now()),
            Some(Outcome::Own) => State::Each,
            Some(Outcome::Failed) | None => State::Open,
        };
    }

    /// Opens one by `connect`, unless the one that another has begun is for all.
    async fn open<C, F>(self, connect: F) -> Result<C, BoxError>
    where
        C: Connection + Send + 'static,
        F: Future<Output = Result<C, BoxError>> + Send + 'static,
    {
        match self.turn() {
            Turn::Open(first) => {
                // A task, so that the others learn what comes of it also while nobody polls the request that was first. It
                // ends with that.
                let mut task = JoinSet::new();
                task.spawn(first.open(connect));
                return task.join_next().await.ok_or("nothing was opened")??;
            }
            Turn::OpenOwn => {}
            Turn::Follow(mut told) => {
                // Of what failed the reason is not ours to tell, and another address may answer.
                let outcome = told.wait_for(Option::is_some).await.ok().and_then(|outcome| *outcome);
                if matches!(outcome, Some(Outcome::Shared)) {
                    time::sleep(HAND_OUT).await;
                }
            }
            Turn::WaitUntil(due) => time::sleep_until(due).await,
        }
        if ASKED.try_with(|()| ()).is_err() {
            return Err("another connection has served the request".into());
        }
        connect.await
    }
}

impl<S> Layer<S> for Opening {
    type Service = Opener<S>;

    fn layer(&self, connector: S) -> Opener<S> {
        Opener { opening: self.clone(), connector }
    }
}

/// A connector whose connections are shared where they can be.
#[derive(Clone)]
pub(super) struct Opener<S> {
    opening: Opening,
    connector: S,
}

impl<S, To> Service<To> for Opener<S>
where
    S: Service<To, Error = BoxError, Response: Connection + Send, Future: Send> + Clone + Send + 'static,
    To: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // Asked of the connector by `oneshot`, once it is to open one.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: To) -> Self::Future {
        Box::pin(self.opening.clone().open(self.connector.clone().oneshot(to)))
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

    /// A connection that was opened, of which many can make use or one.
    #[derive(Debug)]
    struct Opened {
        is_shared: bool,
    }

    impl Connection for Opened {
        fn connected(&self) -> Connected {
            if self.is_shared { Connected::new().negotiated_h2() } else { Connected::new() }
        }
    }

    type Result<T = Opened> = std::result::Result<T, BoxError>;

    /// The server's end of what is being opened.
    type Begun = Arc<Mutex<Vec<oneshot::Sender<Result>>>>;

    struct Bench {
        opening: Opening,
        begun: Begun,
    }

    impl Bench {
        fn new() -> Self {
            let state = Arc::new(Mutex::new(State::Open));
            Self { opening: Opening { state }, begun: Arc::default() }
        }

        fn connect(&self) -> impl Future<Output = Result> + Send + 'static {
            let begun = Arc::clone(&self.begun);
            self.opening.clone().open(async move {
                let (done, is_done) = oneshot::channel();
                begun.lock().unwrap().push(done);
                is_done.await?
            })
        }

        /// A request that asks for a connection.
        async fn ask(&self) -> JoinHandle<Result> {
            let asked = tokio::spawn(asking(self.connect()));
            settled().await;
            asked
        }

        /// Ends the only attempt.
        async fn end(&self, with: Result) {
            let [begun] = <[_; 1]>::try_from(std::mem::take(&mut *self.begun.lock().unwrap())).unwrap();
            begun.send(with).unwrap();
            settled().await;
        }

        fn begun(&self) -> usize {
            self.begun.lock().unwrap().len()
        }
    }

    /// What a request has begun that was served otherwise.
    async fn asked_and_left<F: Future<Output = Result>>(connect: F) -> Pin<Box<F>> {
        let mut connect = Box::pin(connect);
        asking(async {
            let looked = poll_fn(|cx| Poll::Ready(connect.as_mut().poll(cx).is_pending())).await;
            assert!(looked, "it is not done at once");
        })
        .await;
        connect
    }

    /// All tasks have gone as far as they go.
    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    const SHARED: Opened = Opened { is_shared: true };
    const OWN: Opened = Opened { is_shared: false };

    #[tokio::test(start_paused = true)]
    async fn one_is_opened_for_all_and_what_the_pool_needs_no_more_ends() {
        let bench = Bench::new();
        let first = bench.ask().await;
        // As the pool goes on with what it has begun: in another task.
        let served = asked_and_left(bench.connect()).await;
        assert_eq!(bench.begun(), 1);
        bench.end(Ok(SHARED)).await;
        assert!(first.await.unwrap().unwrap().is_shared);
        // It comes before the pool has it.
        let late = asked_and_left(bench.connect()).await;
        for needless in [served, late] {
            let error = tokio::spawn(needless).await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "another connection has served the request");
        }
        assert_eq!(bench.begun(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_still_waits_when_it_should_have_been_handed_out_opens_its_own() {
        let bench = Bench::new();
        let (_first, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        bench.end(Ok(SHARED)).await;
        time::advance(HAND_OUT / 2).await;
        let _fourth = bench.ask().await;
        assert_eq!(bench.begun(), 0);
        time::advance(HAND_OUT).await;
        settled().await;
        assert_eq!(bench.begun(), 3, "each for itself, and at once");
    }

    #[tokio::test]
    async fn where_each_needs_its_own_nobody_waits_but_for_the_first() {
        let bench = Bench::new();
        let (_first, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        assert_eq!(bench.begun(), 1);
        bench.end(Ok(OWN)).await;
        assert_eq!(bench.begun(), 2);
        let _fourth = bench.ask().await;
        assert_eq!(bench.begun(), 3);
    }

    #[tokio::test]
    async fn what_fails_fails_for_each_with_its_own_reason() {
        let bench = Bench::new();
        let (first, _second, _third) = (bench.ask().await, bench.ask().await, bench.ask().await);
        bench.end(Err("refused".into())).await;
        assert_eq!(first.await.unwrap().unwrap_err().to_string(), "refused");
        assert_eq!(bench.begun(), 2);
        // One that comes later takes nobody's failure for its own.
        let _fourth = bench.ask().await;
        assert_eq!(bench.begun(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_that_nobody_polls_holds_up_nobody() {
        let bench = Bench::new();
        let _first = asked_and_left(bench.connect()).await;
        let second = bench.ask().await;
        bench.end(Ok(SHARED)).await;
        time::advance(HAND_OUT * 2).await;
        settled().await;
        bench.end(Ok(SHARED)).await;
        assert!(second.await.unwrap().unwrap().is_shared);
    }

    #[tokio::test]
    async fn what_the_first_gives_up_the_others_begin() {
        let bench = Bench::new();
        let (first, second) = (bench.ask().await, bench.ask().await);
        let needless = asked_and_left(bench.connect()).await;
        first.abort();
        settled().await;
        assert!(tokio::spawn(needless).await.unwrap().is_err());
        bench.begun.lock().unwrap().remove(0);
        bench.end(Ok(SHARED)).await;
        assert!(second.await.unwrap().unwrap().is_shared);
    }
}
