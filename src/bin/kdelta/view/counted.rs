//! Numbers with their nouns.

/// Returns a number with its noun: `1 relist`, `2 relists`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
