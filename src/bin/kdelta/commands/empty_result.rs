//! The message and exit code of an empty result.

use super::format;
use super::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::{PlannedPart, Session};

/// Reports an empty result with kubectl's text. On a terminal, adds a hint if a namespace does not exist and a similar
/// one does.
pub(super) async fn report(session: &Session, reporter: &Reporter, parts: &[PlannedPart]) {
    let messages = reporter.messages();
    messages.notice(&format::nothing_found(parts));
    if messages.has_reader()
        && let Some((missing, similar)) = session.similar_namespaces(parts).await
    {
        let similar = similar.join(" or ");
        messages.hint(&format!("there is no namespace {missing:?}; did you mean {similar}?"));
    }
}

/// Returns the exit code of a command that found so many objects and would otherwise end with `end`.
pub(super) fn exit_code(found: usize, fail_if_empty: bool, end: ExitCode) -> ExitCode {
    if found == 0 && fail_if_empty && end == ExitCode::Ok { ExitCode::Empty } else { end }
}
