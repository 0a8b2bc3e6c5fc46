//! `kdelta demo` as a server for tests.

use super::{PATIENCE, Running, TestEnv};

/// A running demo, killed on drop.
#[derive(Debug)]
pub(crate) struct DemoServer {
    pub(crate) running: Running,
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

impl DemoServer {
    /// Starts a demo with these flags and waits until it serves.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv, flags: &[&str]) -> Self {
        Self::try_start(env, flags).expect("the address")
    }

    /// Starts a demo, or returns `None` if it exits at once, as it does when its port is in use.
    pub(crate) fn try_start(env: &TestEnv, flags: &[&str]) -> Option<Self> {
        let running = env.kdelta(&[&["demo"], flags].concat()).env("KDELTA_DEMO_SEED", "5").start();
        let line = running.stdout.within(PATIENCE)?;
        Some(Self { url: line.trim_end().to_owned(), running })
    }
}
