//! `kdelta history`: every version of named objects, from a recording or live.

mod output;
mod versions;

use std::io::Write;

pub(super) use self::output::history_output;

use self::versions::{Failure, Version};
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
    let parts = walk.parts().len();
    let contexts = session.has_several_contexts();
    let mut output = history_output(history, parts, contexts, stdout);
    let mut count = 0;
    // Those of several objects are sorted before they are printed.
    let mut collected: Vec<Version> = Vec::new();
    while let Some(planned) = walk.next() {
        let read = versions::read(session, &history.range, &planned.part, &mut |version| {
            count += 1;
            if parts == 1 {
                return version.print(&mut output, &mut out);
            }
            let is_repeated = version.is_gap() && collected.iter().any(|known| known.is_same_gap(&version));
            if !is_repeated {
                collected.push(version);
            }
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(Failure::Read(error)) => walk.failed(planned, error).await?,
            Err(Failure::Print(error)) => return Err(format::print_failure(error)),
        }
    }
    if count == 0 && walk.is_complete() {
        reporter.messages().notice("No versions found in the range.");
    }
    versions::sort(&mut collected);
    for version in collected {
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
