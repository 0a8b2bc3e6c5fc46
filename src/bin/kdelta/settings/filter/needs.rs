//! The content of an object that a filter reads.

/// The content of an object that a filter reads, and the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FilterNeeds {
    /// Whether it reads the cells of the server's table.
    pub(crate) cells: bool,
    pub(crate) content: ObjectContent,
}

/// Content of an object, each of which includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum ObjectContent {
    /// Nothing.
    #[default]
    Nothing,
    /// The exact name.
    Name,
    /// The metadata.
    Metadata,
    /// The whole object.
    Body,
}

impl FilterNeeds {
    /// Returns the needs of a filter that reads this content.
    pub(crate) fn content(content: ObjectContent) -> Self {
        Self { content, ..Self::default() }
    }

    /// Returns the needs of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { cells: self.cells || other.cells, content: self.content.max(other.content) }
    }
}
