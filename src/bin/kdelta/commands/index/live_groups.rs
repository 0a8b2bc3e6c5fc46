//! The output of `kdelta index -w`.

use std::sync::Arc;

use anyhow::Context;

use super::format;
use super::member_reader::MemberReader;
use crate::commands::reporter::Reporter;
use crate::exit::Usage;
use crate::output::{CountFormat, LiveCounts, ReadMember, WatchOutput, terminal_size};
use crate::session::Session;
use crate::settings::{Index, OutputStream};

/// Returns the output that keeps the groups up to date: a table on a terminal, otherwise lines.
///
/// # Errors
/// A path can't be parsed.
pub(in crate::commands) fn live_groups(
    session: &Session,
    index: &Index,
    reporter: &Reporter,
    stdout: OutputStream,
) -> anyhow::Result<WatchOutput> {
    let reader = Arc::new(MemberReader::new(index, session.expression_errors()).context(Usage)?);
    let positions = reader.positions().to_vec();
    let read: ReadMember = {
        let reporter = reporter.clone();
        Box::new(move |scope, resource, object| {
            let member = reader.read(scope, resource, object);
            for warning in reader.first_warnings() {
                reporter.messages().warning(&warning);
            }
            member
        })
    };
    let mut options = format::options(index, stdout);
    let is_screen = stdout.is_terminal && matches!(options.format, CountFormat::Table { .. });
    if let CountFormat::Table { meaning, .. } = &mut options.format {
        // Lines are clipped to the terminal by their characters.
        *meaning = None;
    }
    let counts = LiveCounts::rows(format::columns(session, index), options, read, positions);
    Ok(WatchOutput::counts(if is_screen {
        counts.on_screen(reporter.messages().live_region(), terminal_size)
    } else {
        counts
    }))
}
