//! Excerpts of texts that a credential plugin or an issuer sent.

/// Cuts the text of a plugin or an issuer to a length that shows the problem.
pub(super) fn cut(words: &str) -> String {
    words.trim().chars().take(2000).collect()
}
