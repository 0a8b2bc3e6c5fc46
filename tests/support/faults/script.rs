//! The state that the tasks of a fault proxy share: scripted responses, and the faults to inject.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;

use super::connection::Identity;
use super::own_response::FaultResponse;
use crate::support::Testbed;

/// The capacity of the channel of faults. A task that lags behind by so many has ended long before.
const FAULT_CAPACITY: usize = 256;

/// An immediate fault of all open connections or watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every connection ends without a notice.
    Cut,
    /// Every connection is reset.
    Reset,
    /// Every connection gets a notice that it serves no further requests: GOAWAY, or `Connection: close`.
    GoAway,
    /// Open connections transfer no more data but stay open.
    Freeze,
    /// Open watches forward no more data while their connections live.
    Stall,
    /// Every watch ends as at its timeout.
    End,
    /// Every watch ends cleanly in the middle of its next frame.
    Truncate,
    /// Every watch breaks in the middle of its next frame.
    Break,
    /// Every watch ends cleanly after this many bytes of its next frame, modulo the frame's length.
    TruncateAt(usize),
    /// Every watch breaks at the same position.
    BreakAt(usize),
    /// The next frame of every watch is unreadable.
    Corrupt,
    /// The next data of every watch is not a frame.
    Garbage,
    /// Every watch ends with an `ERROR` frame of this code.
    Error(u16),
}

/// A class of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestClass {
    /// Lists and watches.
    All,
    /// Lists, first and later pages.
    Lists,
    /// Pages of a list after the first.
    LaterPages,
    /// Watches that request initial events.
    WatchLists,
    /// Watches that resume from a version.
    Rewatches,
}

/// The forwarded bookmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bookmarks {
    All,
    /// All except the one that ends an initial list.
    NoEnd,
    None,
}

/// The scripted behaviour of a proxy.
#[derive(Debug)]
pub(super) struct Script {
    /// Scripted responses, and how many times each is still used. The first match counts.
    pub(super) responses: Vec<(RequestClass, FaultResponse, usize)>,
    /// Responses given once to each client, with the tokens of clients that got them.
    pub(super) first_responses: Vec<(RequestClass, FaultResponse, HashSet<String>)>,
    /// The bookmarks that are forwarded.
    pub(super) bookmarks: Bookmarks,
    /// Whether requests for initial events lose that option on the way to the server.
    pub(super) drop_initial_events: bool,
    /// Whether watches may use protobuf. Their frames are only cut, ended and stalled.
    pub(super) allows_protobuf: bool,
    /// The number of bytes after which lists break off.
    pub(super) max_list_bytes: Option<usize>,
    /// The start of the only accepted token; `None` accepts all.
    pub(super) token: Option<String>,
    /// The size of the pieces in which a watch is forwarded.
    pub(super) piece_size: Option<usize>,
    /// The delay before each piece.
    pub(super) delay: Duration,
    /// Whether new connections get a certificate of an unknown authority.
    pub(super) uses_unknown_certificate: bool,
    /// The requests since the test last took them: targets with their Accept headers.
    pub(super) requests: Vec<(String, String)>,
}

/// The state shared by all tasks of a proxy.
pub(super) struct Shared {
    /// A std mutex, locked for a lookup and never across an `.await`.
    script: Mutex<Script>,
    /// A broadcast: each connection and each watch receives every fault. Bounded; it closes with the proxy.
    pub(super) faults: broadcast::Sender<Fault>,
    /// The number of open watches.
    pub(super) watches: AtomicUsize,
    /// The number of writes to the sockets of clients.
    pub(super) writes: AtomicU64,
    /// The number of protobuf watches so far.
    pub(super) protobuf_watches: AtomicUsize,
    pub(super) upstream: reqwest::Client,
    pub(super) server: String,
    /// The administrator's credentials, which the proxy uses for all requests.
    pub(super) admin: String,
    /// The certificate whose authority is in the kubeconfigs of the proxy.
    pub(super) known_identity: Identity,
    pub(super) unknown_identity: Identity,
}

impl Shared {
    pub(super) fn new(testbed: &Testbed, known_identity: Identity, unknown_identity: Identity) -> Self {
        let ca = std::fs::read(testbed.ca_file()).expect("the CA of the testbed");
        let upstream = reqwest::Client::builder()
            .tls_certs_only([reqwest::Certificate::from_pem(&ca).expect("a certificate")])
            .no_proxy()
            .no_gzip()
            // One connection per watch: none blocks another.
            .http1_only()
            .build()
            .expect("a client");
        let script = Script {
            responses: Vec::new(),
            first_responses: Vec::new(),
            bookmarks: Bookmarks::All,
            drop_initial_events: false,
            allows_protobuf: false,
            max_list_bytes: None,
            token: None,
            piece_size: None,
            delay: Duration::ZERO,
            uses_unknown_certificate: false,
            requests: Vec::new(),
        };
        Self {
            script: Mutex::new(script),
            faults: broadcast::channel(FAULT_CAPACITY).0,
            watches: AtomicUsize::new(0),
            writes: AtomicU64::new(0),
            protobuf_watches: AtomicUsize::new(0),
            upstream,
            server: testbed.server().to_owned(),
            admin: testbed.token("admin").to_owned(),
            known_identity,
            unknown_identity,
        }
    }

    pub(super) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("server", &self.server).finish_non_exhaustive()
    }
}

impl RequestClass {
    /// Returns whether a request with this query matches.
    pub(super) fn matches(self, query: &str) -> bool {
        let has = |name: &str| query.split('&').any(|pair| pair.starts_with(name));
        let (watch, initial, page) = (has("watch="), has("sendInitialEvents="), has("continue="));
        match self {
            Self::All => true,
            Self::Lists => !watch,
            Self::LaterPages => page,
            Self::WatchLists => watch && initial,
            Self::Rewatches => watch && !initial,
        }
    }
}
