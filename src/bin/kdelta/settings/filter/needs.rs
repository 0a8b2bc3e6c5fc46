//! The parts of an object that a filter reads.

/// The parts of an object that a filter reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FilterNeeds {
    /// Whether it reads the cells of the server's table.
    pub(crate) cells: bool,
    pub(crate) part: ObjectPart,
}

/// A part of an object, each of which includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum ObjectPart {
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
    /// Returns the needs of a filter that reads this part.
    pub(crate) fn part(part: ObjectPart) -> Self {
        Self { part, ..Self::default() }
    }

    /// Returns the needs of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { cells: self.cells || other.cells, part: self.part.max(other.part) }
    }
}
