//! `kdelta serve` as a server for tests.

use std::path::PathBuf;

use super::{PATIENCE, Running, TestEnv};

/// A running server of recordings, killed on drop.
#[derive(Debug)]
pub(crate) struct ServedRecording {
    pub(crate) running: Running,
    /// The printed path.
    pub(crate) kubeconfig: PathBuf,
}

impl ServedRecording {
    /// Starts a server with these arguments and waits until it serves.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv, arguments: &[&str]) -> Self {
        let running = env.kdelta(&[&["serve"], arguments].concat()).env("TZ", "UTC").start();
        let line = running.stdout.within(PATIENCE);
        let line = line.unwrap_or_else(|| panic!("no kubeconfig: {}", running.stderr.drain()));
        Self { kubeconfig: line.trim_end().into(), running }
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        self.kubeconfig.to_str().expect("UTF-8")
    }
}
