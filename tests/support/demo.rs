//! `kdelta demo` as a server for a test.

use super::{PATIENCE, Running, TestEnv};

/// A running demo. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct DemoServer {
    /// The program.
    pub(crate) running: Running,
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

impl DemoServer {
    /// Starts one with these flags; it answers when this does.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv, flags: &[&str]) -> Self {
        Self::try_start(env, flags).expect("the address")
    }

    /// The same where it may end at once, as it does when its port is taken: then there is none.
    pub(crate) fn try_start(env: &TestEnv, flags: &[&str]) -> Option<Self> {
        let running = env.kdelta(&[&["demo"], flags].concat()).env("KDELTA_DEMO_SEED", "5").start();
        let line = running.stdout.within(PATIENCE)?;
        Some(Self { url: line.trim_end().to_owned(), running })
    }
}
