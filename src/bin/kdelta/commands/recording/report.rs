//! The reports of new recordings, and of those that can't be read.

use std::path::Path;

use super::selected::Selected;
use crate::exit::Report;
use crate::output::Messages;
use crate::view::human_size;

/// Reports a new recording.
pub(super) fn report(dir: &Path, selected: &Selected<'_>, messages: &Messages) -> anyhow::Result<()> {
    // A part without any entry has no files.
    if !dir.exists() {
        return Ok(());
    }
    let recording = selected.open(dir)?;
    let usage = recording.usage()?;
    let range = match (usage.first, usage.last) {
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    messages.notice(&format!(
        "{}{}{range}, {} in {}",
        prefix(recording.context()),
        counted_entries(usage.entries),
        human_size(usage.bytes),
        dir.display()
    ));
    Ok(())
}

/// Reports a context that can't be read, so that the others follow.
pub(super) fn report_unreadable(context: &str, error: &anyhow::Error, messages: &Messages) {
    let report = Report::of(error, "");
    messages.error(&report.prefixed(&prefix(context)), report.hint.as_deref());
}

/// Returns the beginning of a message about a context. A recording of a server without a context has an empty name.
pub(super) fn prefix(context: &str) -> String {
    if context.is_empty() { String::new() } else { format!("{context}: ") }
}

/// Returns a number of entries as text.
pub(super) fn counted_entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}
