//! The tables of a file: resources, authors and columns, to which its entries refer by number.

use std::sync::Arc;

use super::bytes::{Cursor, put_number, put_signed, put_text};
use super::entry::Author;
use crate::object::{ApiResource, Column};

/// The memory that the definitions of a file may take, in relation to its length: those that differ little take few bytes of
/// the file. Writers seal a file long before.
const MAX_MEMORY_RATIO: usize = 256;
const MAX_LITTLE_MEMORY: usize = 32 << 20;

/// The memory of an allocation that is not its content.
const ALLOCATION: usize = 32;

/// The memory that the definitions of a file take, which is limited: a small file can't take much memory.
#[derive(Debug, Default)]
pub(in crate::recording) struct DefinitionMemory {
    used: usize,
    limit: usize,
}

impl DefinitionMemory {
    pub(in crate::recording) fn of_file(length: u64) -> Self {
        let mut memory = Self::default();
        memory.grow(length);
        memory
    }

    /// Sets the limit for a file of that length.
    pub(in crate::recording) fn grow(&mut self, file_len: u64) {
        let file_len = usize::try_from(file_len).unwrap_or(usize::MAX);
        self.limit = file_len.saturating_mul(MAX_MEMORY_RATIO).saturating_add(MAX_LITTLE_MEMORY);
    }

    /// Adds a number of values, each with that many texts, that have a length in all. Returns `None` if the file is too small for
    /// them.
    pub(in crate::recording) fn take<T>(
        &mut self,
        count: usize,
        texts: usize,
        text_len: usize,
    ) -> Option<()> {
        let fixed = size_of::<T>().checked_add(texts * ALLOCATION)?.checked_mul(count)?;
        self.used = self.used.checked_add(fixed)?.checked_add(text_len)?;
        (self.used <= self.limit).then_some(())
    }
}

/// The tables of one file.
#[derive(Debug, Clone, Default)]
pub(in crate::recording) struct Tables {
    pub(in crate::recording) resources: Vec<Arc<ApiResource>>,
    pub(in crate::recording) authors: Vec<Author>,
    pub(in crate::recording) columns: Vec<Arc<[Column]>>,
}

impl Tables {
    /// Returns the number of a resource.
    pub(in crate::recording) fn resource(&self, resource: &ApiResource) -> Option<usize> {
        self.resources.iter().position(|known| **known == *resource)
    }

    /// Returns the number of columns, and whether they are new.
    pub(in crate::recording) fn add_columns(&mut self, columns: &Arc<[Column]>) -> (usize, bool) {
        // Rows of one list or watch share their columns, so comparing the pointers nearly always suffices.
        let known = self.columns.iter().rposition(|known| Arc::ptr_eq(known, columns) || known == columns);
        if let Some(at) = known {
            return (at, false);
        }
        self.columns.push(Arc::clone(columns));
        (self.columns.len() - 1, true)
    }

    /// Appends all tables.
    pub(in crate::recording) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.resources.len() as u64);
        self.resources.iter().for_each(|resource| put_resource(out, resource));
        put_number(out, self.authors.len() as u64);
        self.authors.iter().for_each(|author| put_author(out, author));
        put_number(out, self.columns.len() as u64);
        self.columns.iter().for_each(|columns| put_columns(out, columns));
    }

    /// Takes all tables.
    pub(in crate::recording) fn take(cursor: &mut Cursor<'_>, memory: &mut DefinitionMemory) -> Option<Self> {
        let resources = (0..cursor.take_number()?).map(|_| take_resource(cursor, memory));
        let resources = resources.collect::<Option<_>>()?;
        let authors =
            (0..cursor.take_number()?).map(|_| take_author(cursor, memory)).collect::<Option<_>>()?;
        let columns =
            (0..cursor.take_number()?).map(|_| take_columns(cursor, memory)).collect::<Option<_>>()?;
        Some(Self { resources, authors, columns })
    }

    /// Appends the definitions that others have in addition.
    pub(in crate::recording) fn extend_to(&mut self, others: &Self) {
        let Self { resources, authors, columns } = others;
        self.resources.extend(resources.iter().skip(self.resources.len()).cloned());
        self.authors.extend(authors.iter().skip(self.authors.len()).cloned());
        self.columns.extend(columns.iter().skip(self.columns.len()).cloned());
    }
}

pub(in crate::recording) fn put_resource(out: &mut Vec<u8>, resource: &ApiResource) {
    let ApiResource { group, version, resource, kind, namespaced } = resource;
    for text in [group, version, resource, kind] {
        put_text(out, text.as_bytes());
    }
    put_number(out, u64::from(*namespaced));
}

pub(in crate::recording) fn take_resource(
    cursor: &mut Cursor<'_>,
    memory: &mut DefinitionMemory,
) -> Option<Arc<ApiResource>> {
    let [group, version, resource, kind] =
        [take_string(cursor)?, take_string(cursor)?, take_string(cursor)?, take_string(cursor)?];
    let namespaced = cursor.take_number()? != 0;
    // One more allocation is that of the `Arc`.
    memory.take::<ApiResource>(1, 5, group.len() + version.len() + resource.len() + kind.len())?;
    let [group, version, resource, kind] = [group, version, resource, kind].map(str::to_owned);
    Some(Arc::new(ApiResource { group, version, resource, kind, namespaced }))
}

pub(in crate::recording) fn put_author(out: &mut Vec<u8>, author: &Author) {
    put_text(out, author.manager.as_bytes());
    put_text(out, author.subresource.as_bytes());
}

pub(in crate::recording) fn take_author(
    cursor: &mut Cursor<'_>,
    memory: &mut DefinitionMemory,
) -> Option<Author> {
    let (manager, subresource) = (take_string(cursor)?, take_string(cursor)?);
    memory.take::<Author>(1, 2, manager.len() + subresource.len())?;
    Some(Author { manager: manager.into(), subresource: subresource.into() })
}

pub(in crate::recording) fn put_columns(out: &mut Vec<u8>, columns: &[Column]) {
    put_number(out, columns.len() as u64);
    for Column { name, format, priority } in columns {
        put_text(out, name.as_bytes());
        put_text(out, format.as_bytes());
        put_signed(out, i64::from(*priority));
    }
}

pub(in crate::recording) fn take_columns(
    cursor: &mut Cursor<'_>,
    memory: &mut DefinitionMemory,
) -> Option<Arc<[Column]>> {
    memory.take::<Arc<[Column]>>(1, 1, 0)?;
    let count = cursor.take_number()?;
    let column = |_| {
        let (name, format) = (take_string(cursor)?, take_string(cursor)?);
        let priority = i32::try_from(cursor.take_signed()?).ok()?;
        memory.take::<Column>(1, 2, name.len() + format.len())?;
        Some(Column { name: name.to_owned(), format: format.to_owned(), priority })
    };
    (0..count).map(column).collect()
}

/// Takes a text that must be UTF-8.
#[inline(always)]
pub(in crate::recording) fn take_string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    str::from_utf8(cursor.take_text()?).ok()
}

/// Takes a number that fits `usize`.
pub(in crate::recording) fn take_size(cursor: &mut Cursor<'_>) -> Option<usize> {
    usize::try_from(cursor.take_number()?).ok()
}

/// Takes a number that fits `u32`.
pub(in crate::recording) fn take_u32(cursor: &mut Cursor<'_>) -> Option<u32> {
    u32::try_from(cursor.take_number()?).ok()
}
