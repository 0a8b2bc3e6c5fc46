//! What the tests stand on: the real server, a client that changes things on it, proxies that break what passes
//! through them, and the program as a child process.

mod api;
mod contract;
mod demo;
mod env;
mod faults;
mod forward;
mod login;
mod process;
mod proxy;
mod testbed;

pub(crate) use api::{Answer, Api, config_maps};
pub(crate) use contract::{Contract, schema};
pub(crate) use demo::DemoServer;
pub(crate) use env::{OnServer, TestEnv};
pub(crate) use faults::{Answer as FaultAnswer, Bookmarks, FaultProxy, Strike, Which};
pub(crate) use forward::{Forward, server_keys, server_tls};
pub(crate) use login::{Plugin, ServiceAccount};
pub(crate) use process::{Finished, Kdelta, Running};
pub(crate) use proxy::Proxy;
pub(crate) use testbed::{MODULE_FILE, Testbed, module_file, tool};

use std::time::{Duration, Instant};

/// How long a test waits for what must happen. Long, because machines are shared and slow; nothing waits it out but a
/// test that fails.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Tells what a test left out, straight to stderr: what goes through the test harness is shown for failures only.
pub(crate) fn tell(line: &str) {
    let _told = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}

/// Asks again until there is an answer, and fails the test when there is none in time.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
