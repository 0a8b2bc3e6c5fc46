//! A fault-injecting proxy in front of a real server. It terminates TLS and speaks HTTP/1.1 and HTTP/2: a script
//! serves the tests of one fault; the chaos test injects faults at random moments.
//!
//! Where connections only need to be cut, [`super::Proxy`] does so without looking at the data.

mod body;
mod connection;
mod forward;
mod own_response;
mod script;

pub(crate) use own_response::FaultResponse;
pub(crate) use script::{Bookmarks, Fault, RequestClass};

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

/// A proxy in front of one server. All its tasks end on drop.
#[derive(Debug)]
pub(crate) struct FaultProxy {
    port: u16,
    /// The authority of its certificate.
    authority: String,
    shared: Arc<Shared>,
    /// Its own threads, so that a test may block: one accepts and forwards, the others wait.
    runtime: Option<Runtime>,
    accepting: Option<JoinHandle<()>>,
}

impl FaultProxy {
    /// Starts a transparent proxy on a free port that authenticates as the server's administrator.
    pub(crate) fn before(testbed: &Testbed) -> Self {
        let _first = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (known, unknown) = (Identity::new(), Identity::new());
        let authority = known.authority.clone();
        let shared = Arc::new(Shared::new(testbed, known, unknown));
        let mut proxy = Self { port, authority, shared, runtime: Some(runtime), accepting: None };
        proxy.listen(listener);
        proxy
    }

    /// Writes a kubeconfig of the proxy.
    pub(crate) fn kubeconfig(&self, env: &TestEnv, namespace: &str) -> PathBuf {
        self.kubeconfig_of(env, namespace, "one")
    }

    /// The same for one of several clients, which the proxy distinguishes by their tokens.
    pub(crate) fn kubeconfig_of(&self, env: &TestEnv, namespace: &str, client: &str) -> PathBuf {
        let token = self.write_token(env, client, "the first");
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

    /// Writes a client's token file.
    pub(crate) fn write_token(&self, env: &TestEnv, client: &str, token: &str) -> PathBuf {
        env.file(&format!("proxy-{}-{client}.token", self.port), &format!("{token} of {client}"))
    }

    /// `https://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Ends all connections and refuses new ones.
    pub(crate) fn refuse(&mut self) {
        if let (Some(accepting), Some(runtime)) = (self.accepting.take(), &self.runtime) {
            accepting.abort();
            let _ended = runtime.block_on(accepting);
        }
        self.inject(Fault::Cut);
    }

    /// Accepts connections again.
    pub(crate) fn accept(&mut self) {
        if self.accepting.is_none() {
            // Another test's connection may hold the port.
            let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).ok();
            self.listen(eventually("the same port is free again", bind));
        }
    }

    fn listen(&mut self, listener: TcpListener) {
        listener.set_nonblocking(true).expect("a socket");
        let runtime = self.runtime.as_ref().expect("it is there until the drop");
        self.accepting = Some(runtime.spawn(serve_all(listener, Arc::clone(&self.shared))));
    }

    /// Applies a fault to all open connections and watches.
    pub(crate) fn inject(&self, fault: Fault) {
        // There may be no subscriber.
        let _subscribers = self.shared.faults.send(fault);
    }

    /// Responds to this many matching requests with the response.
    pub(crate) fn respond(&self, class: RequestClass, response: FaultResponse, times: usize) {
        self.shared.script().responses.push((class, response, times));
    }

    /// Responds to the first matching request of each client with the response.
    pub(crate) fn respond_to_each(&self, class: RequestClass, response: FaultResponse) {
        self.shared.script().first_responses.push((class, response, HashSet::new()));
    }

    /// Clears all scripted responses.
    pub(crate) fn forward_all(&self) {
        let mut script = self.shared.script();
        script.responses.clear();
        script.first_responses.clear();
    }

    /// Breaks off every list after this many bytes.
    pub(crate) fn break_lists(&self, bytes: usize) {
        self.shared.script().max_list_bytes = Some(bytes);
    }

    /// Accepts only this token of each client and responds to others with 401; at first it accepts all.
    pub(crate) fn require_token(&self, token: &str) {
        self.shared.script().token = Some(token.to_owned());
    }

    /// Sets which bookmarks are forwarded.
    pub(crate) fn bookmarks(&self, bookmarks: Bookmarks) {
        self.shared.script().bookmarks = bookmarks;
    }

    /// Removes the request for initial events from watches, like an intermediary that forwards only known parameters.
    pub(crate) fn drop_initial_events(&self, drop: bool) {
        self.shared.script().drop_initial_events = drop;
    }

    /// Allows protobuf watches. Their bookmarks are always forwarded, and their frames never replaced.
    pub(crate) fn allow_protobuf(&self) {
        self.shared.script().allows_protobuf = true;
    }

    /// Returns the number of protobuf watches so far.
    pub(crate) fn protobuf_watches(&self) -> usize {
        self.shared.protobuf_watches.load(Ordering::SeqCst)
    }

    /// Forwards data in pieces of this size, each after this delay.
    pub(crate) fn pieces(&self, size: usize, delay: Duration) {
        let mut script = self.shared.script();
        (script.piece_size, script.delay) = (Some(size), delay);
    }

    /// Sets whether new connections get a certificate of an unknown authority.
    pub(crate) fn use_unknown_certificate(&self, unknown: bool) {
        self.shared.script().uses_unknown_certificate = unknown;
    }

    /// Returns the number of open watches: the server has responded, and they have not ended.
    pub(crate) fn open_watches(&self) -> usize {
        self.shared.watches.load(Ordering::SeqCst)
    }

    /// Returns the number of writes to the sockets of clients.
    pub(crate) fn writes(&self) -> u64 {
        self.shared.writes.load(Ordering::SeqCst)
    }

    /// Returns the requests since the last call, each as `PATH?QUERY`, in order.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        self.take_requests_and_forms().into_iter().map(|(target, _)| target).collect()
    }

    /// The same, with the Accept header of each request.
    pub(crate) fn take_requests_and_forms(&self) -> Vec<(String, String)> {
        std::mem::take(&mut self.shared.script().requests)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.inject(Fault::Cut);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
