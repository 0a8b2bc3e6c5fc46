//! The trait of the lines that wait for calls.

/// A line that waits for its call.
pub(in crate::commands::run) trait Line: Sized {
    /// Returns the approximate size in bytes.
    fn weight(&self) -> usize;

    /// Merges this line with a later one of the same object; `None` if both must be run.
    fn merged_with(&self, later: &Self) -> Option<Self>;
}
