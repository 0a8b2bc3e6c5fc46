//! The colours of lines.

use kdelta::lines::ChangeKind;

/// The escape sequences that the program itself writes; all others are escaped.
pub(crate) const COLOURS: [&str; 4] = [GREEN, YELLOW, RED, PLAIN];
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RED: &str = "\x1b[31m";

/// Ends a colour.
pub(crate) const PLAIN: &str = "\x1b[0m";

/// Returns the sequence that starts the colour of a change: green for additions, yellow for updates, red for deletions.
pub(crate) fn colour_of(kind: ChangeKind) -> Option<&'static str> {
    match kind {
        ChangeKind::Added => Some(GREEN),
        ChangeKind::Modified => Some(YELLOW),
        ChangeKind::Deleted => Some(RED),
        ChangeKind::Sync => None,
    }
}
