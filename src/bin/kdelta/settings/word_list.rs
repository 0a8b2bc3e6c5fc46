//! Lists of words that a flag gives, such as label columns.

/// Returns the words that are not empty.
pub(super) fn words(texts: &[String]) -> Vec<String> {
    texts.iter().filter(|text| !text.is_empty()).cloned().collect()
}
