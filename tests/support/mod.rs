//! Test support: the real server, a client that makes changes on it, fault-injecting proxies, and the program as a
//! child process.

mod api;
mod contract;
mod demo;
mod env;
mod faults;
mod forward;
mod incident;
mod login;
mod metrics;
pub(crate) mod pod_queries;
mod process;
mod proxy;
mod recorded;
mod recording;
mod served;
mod testbed;

pub(crate) use api::{Api, Response, config_maps};
pub(crate) use contract::{Contract, schema};
pub(crate) use demo::DemoServer;
pub(crate) use env::{OnServer, TestEnv};
pub(crate) use faults::{Bookmarks, Fault, FaultProxy, FaultResponse, RequestClass};
pub(crate) use forward::{Forward, server_keys, server_tls};
pub(crate) use incident::Incident;
pub(crate) use login::{Plugin, ServiceAccount};
pub(crate) use metrics::Scraper;
pub(crate) use process::{Finished, Kdelta, Running};
pub(crate) use proxy::Proxy;
pub(crate) use recorded::{Recorded, open_recording, recorded_objects, recorded_resource};
pub(crate) use recording::{Reader, Recorder, forget_keys, synced};
pub(crate) use served::ServedRecording;
pub(crate) use testbed::{MODULE_FILE, Testbed, kubectl, module_file, tool};

use std::time::{Duration, Instant};

/// The time limit of every wait. It is long because machines are shared and slow; only a failing test waits that long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Writes a line directly to stderr, since the harness shows captured output only for failures.
pub(crate) fn print_line(line: &str) {
    let _sent = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}

/// Polls until `poll` returns a value; fails the test after [`PATIENCE`].
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        // The interval of polling; no result depends on it.
        std::thread::sleep(Duration::from_millis(20));
    }
}
