//! Texts of a kubeconfig that count as absent when they are empty.

use std::path::Path;

/// Returns the text unless it is absent or empty.
pub(super) fn non_empty(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// Returns a path as a kubeconfig holds it; an empty path counts as absent.
pub(super) fn path_text(path: &Path) -> Option<String> {
    non_empty(Some(&path.to_string_lossy().into_owned()))
}
