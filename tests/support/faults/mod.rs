//! A proxy before a real server that ends TLS, speaks HTTP/1.1 and HTTP/2, and does to both whatever goes wrong on the
//! way: a script for a test of one fault, strikes at any moment for a chaos of them.
//!
//! Where connections only have to be cut, [`super::Proxy`] does it without looking inside.

mod answer;
mod body;
mod connection;
mod forward;
mod script;

pub(crate) use answer::FaultResponse;
pub(crate) use script::{Bookmarks, Strike, Which};

use std::collections::HashSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::{TestEnv, Testbed, eventually};
use connection::{Identity, serve_all};
use script::Shared;

/// Stands before one server. Everything it does ends when it is dropped.
#[derive(Debug)]
pub(crate) struct FaultProxy {
    port: u16,
    /// What signed the certificate that it shows.
    authority: String,
    shared: Arc<Shared>,
    /// Its own threads, so that a test may block: one accepts and carries, the rest is waiting.
    runtime: Option<Runtime>,
    accepting: Option<JoinHandle<()>>,
}

impl FaultProxy {
    /// A proxy on a free port that lets everything through, as the administrator of that server.
    pub(crate) fn before(testbed: &Testbed) -> Self {
        let _first = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (own, stranger) = (Identity::new(), Identity::new());
        let authority = own.authority.clone();
        let shared = Arc::new(Shared::new(testbed, own, stranger));
        let mut proxy = Self { port, authority, shared, runtime: Some(runtime), accepting: None };
        proxy.listen(listener);
        proxy
    }

    /// A kubeconfig that leads through it.
    pub(crate) fn kubeconfig(&self, env: &TestEnv, namespace: &str) -> PathBuf {
        self.kubeconfig_of(env, namespace, "one")
    }

    /// The same for one of several clients, which it knows by their tokens.
    pub(crate) fn kubeconfig_of(&self, env: &TestEnv, namespace: &str, client: &str) -> PathBuf {
        let token = self.give_token(env, client, "the first");
        let authority = env.file(&format!("proxy-{}.crt", self.port), &self.authority);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": self.url(), "certificate-authority": authority,
            }}],
            "users": [{"name": "test", "user": {"tokenFile": token}}],
            "contexts": [{"name": "test", "context": {
                "cluster": "test", "user": "test", "namespace": namespace,
            }}],
        });
        env.file(&format!("proxy-{}-{client}.kubeconfig", self.port), &config.to_string())
    }

    /// Gives a client that token of its own.
    pub(crate) fn give_token(&self, env: &TestEnv, client: &str, token: &str) -> PathBuf {
        env.file(&format!("proxy-{}-{client}.token", self.port), &format!("{token} of {client}"))
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Breaks every connection and refuses new ones.
    pub(crate) fn refuse(&mut self) {
        if let (Some(accepting), Some(runtime)) = (self.accepting.take(), &self.runtime) {
            accepting.abort();
            let _ended = runtime.block_on(accepting);
        }
        self.strike(Strike::Cut);
    }

    /// Accepts again.
    pub(crate) fn accept(&mut self) {
        if self.accepting.is_none() {
            // A connection that some other test makes may have been given the port meanwhile.
            let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).ok();
            self.listen(eventually("the same port is free again", bind));
        }
    }

    fn listen(&mut self, listener: TcpListener) {
        listener.set_nonblocking(true).expect("a socket");
        let runtime = self.runtime.as_ref().expect("it is there until the drop");
        self.accepting = Some(runtime.spawn(serve_all(listener, Arc::clone(&self.shared))));
    }

    /// Strikes everything that is open now.
    pub(crate) fn strike(&self, strike: Strike) {
        // Nobody may be there to be struck.
        let _struck = self.shared.strikes.send(strike);
    }

    /// Answers so many of these requests by itself.
    pub(crate) fn answer(&self, which: Which, answer: FaultResponse, times: usize) {
        self.shared.script().answers.push((which, answer, times));
    }

    /// Answers the first of these requests of each client by itself.
    pub(crate) fn answer_each(&self, which: Which, answer: FaultResponse) {
        self.shared.script().first_answers.push((which, answer, HashSet::new()));
    }

    /// Forgets what it was to answer by itself.
    pub(crate) fn forward_all(&self) {
        let mut script = self.shared.script();
        script.answers.clear();
        script.first_answers.clear();
    }

    /// Has every list break off after so many bytes.
    pub(crate) fn break_lists(&self, bytes: usize) {
        self.shared.script().longest_list = Some(bytes);
    }

    /// Takes only this token of each client, and answers 401 to any other; at first it takes all.
    pub(crate) fn take_token(&self, token: &str) {
        self.shared.script().token = Some(token.to_owned());
    }

    /// Which bookmarks get through.
    pub(crate) fn bookmarks(&self, bookmarks: Bookmarks) {
        self.shared.script().bookmarks = bookmarks;
    }

    /// Whether it hides from the server that the initial state was asked for through the watch, as one does that
    /// passes on only what it knows.
    pub(crate) fn swallow_initial_events(&self, swallow: bool) {
        self.shared.script().swallow_initial_events = swallow;
    }

    /// Lets watches come in Protocol Buffers. Of their frames no bookmark is kept back, and none is replaced.
    pub(crate) fn pack_watches(&self) {
        self.shared.script().packed = true;
    }

    /// How many watches have come in Protocol Buffers.
    pub(crate) fn packed_watches(&self) -> usize {
        self.shared.packed_watches.load(Ordering::SeqCst)
    }

    /// Hands on in pieces of so many bytes, and each of them so late.
    pub(crate) fn pieces(&self, size: usize, delay: Duration) {
        let mut script = self.shared.script();
        (script.piece, script.delay) = (Some(size), delay);
    }

    /// Whether new connections are shown a certificate that nobody knows.
    pub(crate) fn be_a_stranger(&self, stranger: bool) {
        self.shared.script().stranger = stranger;
    }

    /// How many watches stand: the server has begun to answer, and nothing has ended them.
    pub(crate) fn open_watches(&self) -> usize {
        self.shared.watches.load(Ordering::SeqCst)
    }

    /// What was asked since the last time: each request as `PATH?QUERY`, in order.
    pub(crate) fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.script().asked)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.strike(Strike::Cut);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
