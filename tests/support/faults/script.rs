//! The script of a proxy, which its tasks consult, and strikes.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;

use super::connection::Identity;
use super::own_response::FaultResponse;
use crate::support::Testbed;

/// The number of strikes that a task may lag behind; it ends long before.
const STRIKES: usize = 256;

/// An immediate fault of all open connections or watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
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
pub(crate) enum Which {
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
    pub(super) responses: Vec<(Which, FaultResponse, usize)>,
    /// Responses given once to each client, with the tokens of clients that got them.
    pub(super) first_responses: Vec<(Which, FaultResponse, HashSet<String>)>,
    pub(super) bookmarks: Bookmarks,
    pub(super) swallow_initial_events: bool,
    /// True if watches may use protobuf. Their frames are only cut, ended and stalled.
    pub(super) protobuf: bool,
    /// Lists break off after this many bytes.
    pub(super) longest_list: Option<usize>,
    pub(super) token: Option<String>,
    pub(super) piece: Option<usize>,
    pub(super) delay: Duration,
    pub(super) stranger: bool,
    pub(super) requests: Vec<String>,
}

/// The state shared by all tasks of a proxy.
pub(super) struct Shared {
    /// A std mutex, locked for a lookup and never across an `.await`.
    script: Mutex<Script>,
    /// A broadcast: each connection and each watch receives every strike. Bounded; it closes with the proxy.
    pub(super) strikes: broadcast::Sender<Strike>,
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
    pub(super) own: Identity,
    pub(super) stranger: Identity,
}

impl Shared {
    pub(super) fn new(testbed: &Testbed, own: Identity, stranger: Identity) -> Self {
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
            swallow_initial_events: false,
            protobuf: false,
            longest_list: None,
            token: None,
            piece: None,
            delay: Duration::ZERO,
            stranger: false,
            requests: Vec::new(),
        };
        Self {
            script: Mutex::new(script),
            strikes: broadcast::channel(STRIKES).0,
            watches: AtomicUsize::new(0),
            writes: AtomicU64::new(0),
            protobuf_watches: AtomicUsize::new(0),
            upstream,
            server: testbed.server().to_owned(),
            admin: testbed.token("admin").to_owned(),
            own,
            stranger,
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

impl Which {
    /// Returns whether a request with this query matches.
    pub(super) fn fits(self, query: &str) -> bool {
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
