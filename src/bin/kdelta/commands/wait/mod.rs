//! `kdelta wait`: waits until objects meet conditions.

mod kubectl;

use std::io::Write;

use super::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::Session;
use crate::settings::{OutputStream, Wait};

/// Waits, and prints each object that meets a condition.
///
/// # Errors
/// An object does not exist, can't be read, or does not meet a condition in time.
pub(crate) async fn run<W: Write>(
    session: &Session,
    wait: &Wait,
    reporter: &Reporter,
    stdout: OutputStream,
    out: W,
) -> anyhow::Result<ExitCode> {
    kubectl::run(session, wait, reporter, stdout, out).await
}
