//! What is told, and how it ends, when nothing was found.

use super::format;
use super::watched::Watched;
use crate::exit::ExitCode;
use crate::session::{PlannedPart, Session};

/// Says that there is nothing, in kubectl's words. On a terminal it is looked up whether the namespace is there at all,
/// and one like it is named.
pub(super) async fn tell(session: &Session, watched: &Watched, parts: &[PlannedPart]) {
    let messages = watched.messages();
    messages.notice(&format::nothing_found(parts));
    if messages.has_reader()
        && let Some((missing, near)) = session.similar_namespaces(parts).await
    {
        let near = near.join(" or ");
        messages.hint(&format!("there is no namespace {missing:?}; did you mean {near}?"));
    }
}

/// The exit code of an answer of so many objects that would else end with this one.
pub(super) fn code(found: usize, fail_if_empty: bool, end: ExitCode) -> ExitCode {
    if found == 0 && fail_if_empty && end == ExitCode::Ok { ExitCode::Empty } else { end }
}
