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
    pub(crate) fn start(env: &TestEnv, flags: &[&str]) -> Self {
        let running = env.kdelta(&[&["demo"], flags].concat()).env("KDELTA_DEMO_SEED", "5").start();
        let line = running.stdout.within(PATIENCE).expect("the address");
        Self { url: line.trim_end().to_owned(), running }
    }
}
