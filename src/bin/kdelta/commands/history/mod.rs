//! `kdelta history`: every version of named objects, from a recording or live.

mod output;
mod versions;

use std::io::Write;

pub(super) use self::output::history_output;

use self::versions::Versions;
use super::reporter::Reporter;
use super::walk::Walk;
use super::{format, watch as watch_command};
use crate::exit::ExitCode;
use crate::session::Session;
use crate::settings::{self, History, Watch};

/// Prints the recorded versions in the order of time.
pub(crate) async fn run(
    session: &Session,
    history: &History,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let mut walk = Walk::start(session, &history.selection, false, reporter).await?;
    let mut versions = Versions::default();
    while let Some(planned) = walk.next() {
        if let Err(error) = versions.read(session, &history.range, &planned.part) {
            walk.failed(planned, error).await?;
        }
    }
    if versions.is_empty() && walk.is_complete() {
        reporter.messages().notice("No versions found in the range.");
    }
    let contexts = session.has_several_contexts();
    let mut output = history_output(history, walk.parts().len(), contexts, true, stdout);
    for version in versions.in_order() {
        version.print(&mut output, &mut out).map_err(format::print_failure)?;
    }
    output.flush(&mut out)?;
    walk.end()
}

/// Prints the current versions of live objects, then every further version, until interrupted.
pub(crate) async fn watch(
    session: &Session,
    history: &History,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    watch_command::run(session, &Watch::of_history(history), reporter, stdout, out).await
}
