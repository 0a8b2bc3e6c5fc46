//! The width to which the rows of a table are clipped.

/// The width that a row may have: unlimited by default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowWidth(Option<fn() -> Option<usize>>);

impl RowWidth {
    /// Rows are clipped to the columns that `current` returns before they are written; `None` is unlimited.
    pub(crate) fn of(current: fn() -> Option<usize>) -> Self {
        Self(Some(current))
    }

    /// Returns the current number of columns; `None` if they are unlimited.
    pub(super) fn columns(self) -> Option<usize> {
        self.0.and_then(|current| current())
    }
}
