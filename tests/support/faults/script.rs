//! What is to go wrong: what the tasks of a proxy look up, and what they are struck with.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast;

use super::answer::FaultResponse;
use super::connection::Identity;
use crate::support::Testbed;

/// Strikes that a task may be behind; it would have ended long before.
const STRIKES: usize = 256;

/// What happens at once to everything that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    /// Every connection ends, without a word.
    Cut,
    /// Every connection is reset.
    Reset,
    /// Every connection is told that it is the last of its requests: GOAWAY, or `Connection: close`.
    GoAway,
    /// Nothing of the open connections is read or written any more; they stay.
    Freeze,
    /// Nothing more of the open watches is handed on, although their connections live.
    Stall,
    /// Every watch ends as at its timeout.
    End,
    /// Every watch ends, as if properly, in the middle of its next frame.
    Truncate,
    /// Every watch breaks in the middle of its next frame.
    Break,
    /// Every watch ends, as if properly, after so many bytes of its next frame; counted on from its beginning again
    /// where it is shorter.
    TruncateAt(usize),
    /// It breaks there.
    BreakAt(usize),
    /// The next frame of every watch is one that can't be read.
    Corrupt,
    /// What a watch brings next is no frame at all.
    Garbage,
    /// Every watch ends with an `ERROR` frame of this code.
    Error(u16),
}

/// Which requests are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Lists and watches.
    All,
    /// Lists, their first pages and the others.
    Lists,
    /// Pages of a list after the first.
    LaterPages,
    /// Watches that are asked for the initial state.
    WatchLists,
    /// Watches that go on from a version.
    Rewatches,
}

/// Which bookmarks get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bookmarks {
    All,
    /// All but the one that ends an initial state.
    NoEnd,
    None,
}

/// What a proxy does with what comes.
#[derive(Debug)]
pub(super) struct Script {
    /// What is answered here, and how many times more. The first that fits counts.
    pub(super) answers: Vec<(Which, FaultResponse, usize)>,
    /// What is answered here to each client once, and to the tokens of which it was.
    pub(super) first_answers: Vec<(Which, FaultResponse, HashSet<String>)>,
    pub(super) bookmarks: Bookmarks,
    pub(super) swallow_initial_events: bool,
    /// Whether watches may come in Protocol Buffers. Of those, frames are cut, ended and stalled, and no more.
    pub(super) packed: bool,
    /// After so many bytes a list breaks off.
    pub(super) longest_list: Option<usize>,
    pub(super) token: Option<String>,
    pub(super) piece: Option<usize>,
    pub(super) delay: Duration,
    pub(super) stranger: bool,
    pub(super) asked: Vec<String>,
}

/// What all tasks of a proxy share.
pub(super) struct Shared {
    /// A std mutex: it is held for a look, never across an `.await`.
    script: Mutex<Script>,
    /// A broadcast: each connection and each watch hears every strike. Bounded; it closes with the proxy.
    pub(super) strikes: broadcast::Sender<Strike>,
    /// How many watches stand.
    pub(super) watches: AtomicUsize,
    /// How many have come in Protocol Buffers so far.
    pub(super) packed_watches: AtomicUsize,
    pub(super) upstream: reqwest::Client,
    pub(super) server: String,
    /// Who it is to the server, whoever asks.
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
            // One connection for each watch: none of them holds up another.
            .http1_only()
            .build()
            .expect("a client");
        let script = Script {
            answers: Vec::new(),
            first_answers: Vec::new(),
            bookmarks: Bookmarks::All,
            swallow_initial_events: false,
            packed: false,
            longest_list: None,
            token: None,
            piece: None,
            delay: Duration::ZERO,
            stranger: false,
            asked: Vec::new(),
        };
        Self {
            script: Mutex::new(script),
            strikes: broadcast::channel(STRIKES).0,
            watches: AtomicUsize::new(0),
            packed_watches: AtomicUsize::new(0),
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
    /// Whether a request with this query is one of them.
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
