//! The messages and the exit code of an empty result.

mod text;

pub(super) use text::{no_names_found, nothing_at_the_moment, nothing_matches, unmatched_names};

use super::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::{PlannedPart, Session};
use crate::settings::Selection;

/// Reports an empty result with kubectl's text. On a terminal, adds a hint if a namespace does not exist and a similar
/// one does.
pub(super) async fn report(
    session: &Session,
    selection: &Selection,
    reporter: &Reporter,
    parts: &[PlannedPart],
) {
    let no_namespace = || text::no_namespace_matches(&selection.namespaces).filter(|_| parts.is_empty());
    let text = match text::unmatched_names(session, parts) {
        Some(patterns) => text::nothing_matches(parts, &patterns),
        None => no_namespace().unwrap_or_else(|| text::nothing_found(parts)),
    };
    report_text(session, reporter, parts, &text).await;
}

/// Reports an empty result with this text and with the hint of [`report`].
pub(super) async fn report_text(session: &Session, reporter: &Reporter, parts: &[PlannedPart], text: &str) {
    let messages = reporter.messages();
    messages.notice(text);
    if messages.has_reader()
        && let Some((missing, similar)) = session.similar_namespaces(parts).await
    {
        let similar = similar.join(" or ");
        messages.hint(&format!("there is no namespace {missing:?}; did you mean {similar}?"));
    }
}

/// Reports the patterns of names without a match, of a result that is not empty otherwise.
pub(super) fn report_unmatched(session: &Session, reporter: &Reporter, parts: &[PlannedPart]) {
    if let Some(patterns) = text::unmatched_names(session, parts) {
        reporter.messages().notice(&text::nothing_matches(parts, &patterns));
    }
}

/// Reports the objects for which an expression has no result, once.
pub(super) fn report_expression_errors(session: &Session, reporter: &Reporter) {
    for report in session.expression_errors().take() {
        reporter.messages().notice(&report);
    }
}

/// Returns the exit code of a command that found so many objects and would otherwise end with `end`.
pub(super) fn exit_code(found: usize, fail_if_empty: bool, end: ExitCode) -> ExitCode {
    if found == 0 && fail_if_empty && end == ExitCode::Ok { ExitCode::Empty } else { end }
}
