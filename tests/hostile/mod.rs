//! Hostile servers and hostile inputs against the program: every scenario must end in time, within its memory, without a
//! panic.
//!
//! A [`Scenario`] is one call of the program with its [limits](scenario::Limits), and the check of its [`Outcome`](scenario::Outcome). A server of a scenario is
//! a [`HostileServer`]: a loopback HTTP/1.1 server whose closure returns a [`Reply`] for every request. The closure usually
//! falls back to [`HostileServer::honest`], so that only the part under test misbehaves:
//!
//! ```ignore
//! let server = HostileServer::start(|request| match request.path() {
//!     "/api/v1/namespaces/default/pods" => Reply::html(200),
//!     _ => HostileServer::honest(request),
//! });
//! run_all(vec![
//!     Scenario::new("html: get", &["get", "pods"])
//!         .on(&server)
//!         .check(|outcome| assert_eq!(outcome.code, Some(1), "{outcome}")),
//! ]);
//! ```
//!
//! [`run_all`] runs the scenarios of one table side by side, because most of them wait, and reports every one that failed. It
//! kills a child that exceeds its time or its memory, and fails a child that panicked or was ended by a signal. Give a
//! scenario that needs files, variables or standard input a [`TestEnv`](crate::support::TestEnv) of its own and change its
//! command with [`Scenario::env`] and [`Scenario::stdin`].
//!
//! All tables together may add three minutes to the time of the whole suite. Prefer a server that asks for short waits
//! (`Retry-After: 1`) and `--request-timeout` to waiting for long limits, and cover those with tests on the paused clock.

mod echo;
mod inputs;
mod names;
mod scenario;
mod server;
mod tls_front;
mod tree;
mod types;
mod waits;
mod writer;

pub(crate) use scenario::{Scenario, run_all};
pub(crate) use server::{HostileServer, Reply};
