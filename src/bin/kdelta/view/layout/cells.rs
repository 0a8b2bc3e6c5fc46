//! The cells of a table line, in one string.

/// The capacity that cleared cells keep: more than a usual line needs.
const MAX_KEPT_TEXT: usize = 4096;
const KEPT_CELLS: usize = 64;

/// The cells of a line in a single string, because a large table has many small cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    text: String,
    /// The end of each cell in the text.
    ends: Vec<usize>,
    /// The index of the name, if it may still get a prefix.
    name: Option<usize>,
}

impl Cells {
    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the cells in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| &self.text[std::mem::replace(&mut start, *end)..*end])
    }

    /// Marks a cell as a name that may still get a prefix.
    pub(crate) fn set_name(&mut self, cell: usize) {
        self.name = Some(cell);
    }

    /// Returns the index of the name, if it may still get a prefix.
    pub(crate) fn name(&self) -> Option<usize> {
        self.name
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.end();
    }

    /// Appends to a cell that [`Cells::push`] ends.
    pub(super) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Removes all cells but keeps the capacity.
    pub(in crate::view) fn cleared(mut self) -> Self {
        self.clear();
        self
    }

    /// Removes all cells but keeps the capacity of a usual line.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(MAX_KEPT_TEXT);
        self.ends.clear();
        self.ends.shrink_to(KEPT_CELLS);
        self.name = None;
    }
}

impl<S: AsRef<str>> FromIterator<S> for Cells {
    fn from_iter<I: IntoIterator<Item = S>>(cells: I) -> Self {
        let mut all = Self::default();
        cells.into_iter().for_each(|cell| all.push(cell.as_ref()));
        all
    }
}
