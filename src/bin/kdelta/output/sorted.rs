//! The output of `--sort-by`: rows or objects are kept until the list is complete.

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, JsonValue, Object};
use kdelta::query::{SortBy, SortKey, SortedItems};

use super::delimited::DelimitedRows;
use super::listing::{ItemFormat, ListedObject, Listing};
use super::table::Table;
use super::template::PrintError;
use crate::view::{Age, Cells, Layout, Line};

/// A listing in the order of arrival, or of the expression of `--sort-by`.
pub(crate) enum OrderedListing {
    /// Objects are printed as they arrive.
    Unsorted(Listing),
    /// Objects wait until all are known.
    Sorted(SortedListing),
}

/// A listing in the order of an expression. It keeps a key with each row of a table, or with each object.
pub(crate) struct SortedListing {
    by: SortBy,
    waiting: Waiting,
}

enum Waiting {
    /// The rows of one type after the other: each type's are sorted, as kubectl sorts the server's tables.
    Rows {
        table: RowWriter,
        resource: Option<Arc<ApiResource>>,
        rows: Vec<(SortKey, Box<Line>)>,
    },
    Objects {
        listing: Box<Listing>,
        objects: Vec<(SortKey, Box<Item>)>,
    },
}

impl Waiting {
    fn rows(table: RowWriter) -> Self {
        Self::Rows { table, resource: None, rows: Vec::new() }
    }
}

/// The writer of sorted rows.
enum RowWriter {
    Table(Box<Table>),
    Delimited(Box<DelimitedRows>),
}

impl RowWriter {
    fn layout(&self) -> &Layout {
        match self {
            Self::Table(table) => table.layout(),
            Self::Delimited(rows) => rows.layout(),
        }
    }

    fn keep_namespace_column(&mut self) {
        match self {
            Self::Table(table) => table.keep_namespace_column(),
            Self::Delimited(rows) => rows.keep_namespace_column(),
        }
    }

    fn listed(&mut self, resource: &Arc<ApiResource>) {
        match self {
            Self::Table(table) => table.listed(resource),
            Self::Delimited(_) => {}
        }
    }

    fn line(&mut self, line: Line, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Table(table) => table.line(line, out),
            Self::Delimited(rows) => rows.line(&line, out),
        }
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Table(table) => table.flush(out),
            Self::Delimited(_) => out.flush(),
        }
    }
}

/// An object that waits.
struct Item {
    object: Arc<Object>,
    resource: Arc<ApiResource>,
    context: Arc<str>,
    age: Age,
}

impl From<ListedObject<'_>> for Item {
    fn from(listed: ListedObject<'_>) -> Self {
        let ListedObject { object, resource, context, age } = listed;
        let (object, resource) = (Arc::clone(object), Arc::clone(resource));
        Self { object, resource, context: Arc::clone(context), age }
    }
}

impl Item {
    fn listed(&self) -> ListedObject<'_> {
        let Self { object, resource, context, age } = self;
        ListedObject { object, resource, context, age: *age }
    }
}

impl OrderedListing {
    /// Creates a listing that prints to `listing` in the order of `expression`, if there is one.
    ///
    /// # Errors
    /// The expression can't be parsed.
    pub(crate) fn new(expression: Option<&str>, listing: Listing) -> Result<Self, PrintError> {
        Ok(match expression {
            Some(expression) => Self::Sorted(SortedListing::new(expression, listing)?),
            None => Self::Unsorted(listing),
        })
    }

    /// Writes an object, or keeps it until [`OrderedListing::finish`].
    ///
    /// # Errors
    /// The template or the sort expression does not fit the object, or `out` failed.
    pub(crate) fn item(&mut self, item: ListedObject<'_>, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Unsorted(listing) => listing.item(item, out),
            Self::Sorted(sorted) => sorted.item(item, out),
        }
    }

    /// Returns the format of items that can be written apart and in the order of arrival.
    pub(crate) fn item_format(&self) -> Option<ItemFormat> {
        match self {
            Self::Unsorted(listing) => listing.item_format(),
            Self::Sorted(_) => None,
        }
    }

    /// Writes the text of items in the format of [`OrderedListing::item_format`].
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn items(&mut self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Unsorted(listing) => listing.items(text, out),
            Self::Sorted(_) => Err(io::Error::other("sorted items can't be written apart")),
        }
    }

    /// Records that the objects of a type were received, even if there are none.
    pub(crate) fn listed(&mut self, resource: &Arc<ApiResource>) {
        match self {
            Self::Unsorted(listing) => listing.listed(resource),
            Self::Sorted(SortedListing { waiting: Waiting::Rows { table, .. }, .. }) => {
                table.listed(resource);
            }
            Self::Sorted(_) => {}
        }
    }

    /// Writes the rest. Must not be called to print nothing: a `List` is written even if it is empty.
    ///
    /// # Errors
    /// As [`OrderedListing::item`].
    pub(crate) fn finish(self, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Unsorted(listing) => listing.finish(out),
            Self::Sorted(sorted) => sorted.finish(out),
        }
    }
}

impl SortedListing {
    /// Creates a listing that prints to `listing` in the order of `expression`.
    ///
    /// # Errors
    /// The expression can't be parsed.
    fn new(expression: &str, listing: Listing) -> Result<Self, PrintError> {
        let (items, waiting) = match listing {
            Listing::Table(table) => (SortedItems::Rows, Waiting::rows(RowWriter::Table(table))),
            Listing::Delimited(rows) => (SortedItems::Rows, Waiting::rows(RowWriter::Delimited(rows))),
            listing => {
                (SortedItems::Objects, Waiting::Objects { listing: Box::new(listing), objects: Vec::new() })
            }
        };
        Ok(Self { by: SortBy::parse(expression, items)?, waiting })
    }

    /// Adds an object. The rows of the type before it are written.
    ///
    /// # Errors
    /// The expression fails on the object, the rows can't be sorted, or `out` failed.
    fn item(&mut self, item: ListedObject<'_>, out: &mut impl Write) -> Result<(), PrintError> {
        let key = self.by.key(&JsonValue::parse(&item.object.json_or_names()))?;
        match &mut self.waiting {
            Waiting::Rows { table, resource: current, rows } => {
                let ListedObject { object, resource, context, age } = item;
                if current.as_ref().is_some_and(|current| current != resource) {
                    write_rows(&self.by, table, rows, out)?;
                }
                *current = Some(Arc::clone(resource));
                if table.layout().shows_namespace(resource) {
                    table.keep_namespace_column();
                }
                let line = table.layout().line(object, (resource, context), None, age, Cells::default());
                rows.push((key, Box::new(line)));
            }
            Waiting::Objects { objects, .. } => objects.push((key, Box::new(item.into()))),
        }
        Ok(())
    }

    /// Writes everything.
    ///
    /// # Errors
    /// As [`SortedListing::item`].
    fn finish(self, out: &mut impl Write) -> Result<(), PrintError> {
        match self.waiting {
            Waiting::Rows { mut table, mut rows, .. } => {
                write_rows(&self.by, &mut table, &mut rows, out)?;
                Ok(table.flush(out)?)
            }
            Waiting::Objects { mut listing, mut objects } => {
                // As in kubectl, a single row is printed whatever the expression.
                if objects.len() > 1 || !matches!(*listing, Listing::NameAge(_)) {
                    self.by.sort(&mut objects)?;
                }
                // An expression that fails on one object is still evaluated on the others.
                let mut failure = None;
                for (_, item) in objects {
                    match listing.item(item.listed(), out) {
                        Err(PrintError::Jq(of_object)) if of_object.is_of_object => {
                            failure.get_or_insert(of_object);
                        }
                        written => written?,
                    }
                }
                listing.finish(out)?;
                failure.map_or(Ok(()), |failure| Err(failure.into()))
            }
        }
    }
}

/// Sorts and writes the rows of one type.
fn write_rows(
    by: &SortBy,
    table: &mut RowWriter,
    rows: &mut Vec<(SortKey, Box<Line>)>,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    if rows.len() > 1 {
        by.sort(rows)?;
    }
    for (_, line) in rows.drain(..) {
        table.line(*line, out)?;
    }
    Ok(())
}
