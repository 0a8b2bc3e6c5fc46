//! The program on a real kube-apiserver, compared with client-go and kubectl.

mod cel;
mod chaos;
mod conditions;
mod cuts;
mod deltas;
mod demo;
mod discovery_cache;
mod discovery_parity;
mod explain;
mod filters;
mod gap;
mod groups;
mod informer;
mod kubectl;
mod live_tree;
mod login;
mod metrics;
mod one_shot;
mod permissions;
mod queries;
mod record;
mod recording;
mod recovery;
mod related_tree;
mod replay;
mod representations;
mod restored_server;
mod run;
mod set_wait;
mod wait;
mod watches;

use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locked by a test that makes a server do hundreds of changes per second: a small machine can't serve several such
/// tests at once. It protects no data and only limits their number to one.
fn busy() -> MutexGuard<'static, ()> {
    static BUSY: Mutex<()> = Mutex::new(());
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns kubectl of the server's version with this kubeconfig.
fn kubectl(kubeconfig: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::support::kubectl());
    command.arg("--kubeconfig").arg(kubeconfig).args(arguments);
    command
}
