//! The trait of the lines that wait for calls.

/// A line that waits for its call.
pub(in crate::commands::run) trait Line: Sized {
    /// Returns the approximate size in bytes.
    fn weight(&self) -> usize;

    /// Returns the line that stands for this one and a later one of the same object; `None` if each must be run.
    fn merged_with(&self, later: &Self) -> Option<Self>;
}
