//! The tables of a file: resources, authors and columns, to which its entries refer by number.

use std::sync::Arc;

use super::bytes::{Cursor, put_number, put_signed, put_text};
use super::entry::Author;
use crate::object::{ApiResource, Column};

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
    pub(in crate::recording) fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        let resources = (0..cursor.take_number()?).map(|_| take_resource(cursor).map(Arc::new));
        let resources = resources.collect::<Option<_>>()?;
        let authors = (0..cursor.take_number()?).map(|_| take_author(cursor)).collect::<Option<_>>()?;
        let columns = (0..cursor.take_number()?).map(|_| take_columns(cursor)).collect::<Option<_>>()?;
        Some(Self { resources, authors, columns })
    }
}

pub(in crate::recording) fn put_resource(out: &mut Vec<u8>, resource: &ApiResource) {
    let ApiResource { group, version, resource, kind, namespaced } = resource;
    for text in [group, version, resource, kind] {
        put_text(out, text.as_bytes());
    }
    put_number(out, u64::from(*namespaced));
}

pub(in crate::recording) fn take_resource(cursor: &mut Cursor<'_>) -> Option<ApiResource> {
    Some(ApiResource {
        group: take_string(cursor)?.to_owned(),
        version: take_string(cursor)?.to_owned(),
        resource: take_string(cursor)?.to_owned(),
        kind: take_string(cursor)?.to_owned(),
        namespaced: cursor.take_number()? != 0,
    })
}

pub(in crate::recording) fn put_author(out: &mut Vec<u8>, author: &Author) {
    put_text(out, author.manager.as_bytes());
    put_text(out, author.subresource.as_bytes());
}

pub(in crate::recording) fn take_author(cursor: &mut Cursor<'_>) -> Option<Author> {
    Some(Author { manager: take_string(cursor)?.into(), subresource: take_string(cursor)?.into() })
}

pub(in crate::recording) fn put_columns(out: &mut Vec<u8>, columns: &[Column]) {
    put_number(out, columns.len() as u64);
    for Column { name, format, priority } in columns {
        put_text(out, name.as_bytes());
        put_text(out, format.as_bytes());
        put_signed(out, i64::from(*priority));
    }
}

pub(in crate::recording) fn take_columns(cursor: &mut Cursor<'_>) -> Option<Arc<[Column]>> {
    let count = cursor.take_number()?;
    let column = |_| {
        Some(Column {
            name: take_string(cursor)?.to_owned(),
            format: take_string(cursor)?.to_owned(),
            priority: i32::try_from(cursor.take_signed()?).ok()?,
        })
    };
    (0..count).map(column).collect()
}

/// Takes a text that must be UTF-8.
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
