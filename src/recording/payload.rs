//! The payloads of changes: bodies, which may have the object's own version, and rows.

use std::sync::Arc;

use super::bytes::Cursor;
use super::flags::Flags;
use super::tables::{take_size, take_string};
use crate::object::{Column, Ingest, KnownValues, Object, ResourceVersion, TypeMeta};

/// Splits a body into the object's own version, if it has one, and the text or frame.
pub(in crate::recording) fn split_version(body: &[u8], flags: Flags) -> Option<(Option<&str>, &[u8])> {
    if !flags.has(Flags::OWN_VERSION) {
        return Some((None, body));
    }
    let mut cursor = Cursor::new(body);
    let own = take_string(&mut cursor)?;
    Some((Some(own), cursor.take_bytes(cursor.len())?))
}

/// Splits the payload of a row into its columns and its template.
pub(in crate::recording) fn split_row<'a, 'b>(
    payload: &'a [u8],
    columns: &'b [Arc<[Column]>],
) -> Option<(&'b Arc<[Column]>, &'a [u8])> {
    let mut cursor = Cursor::new(payload);
    let columns = columns.get(take_size(&mut cursor)?)?;
    Some((columns, cursor.take_bytes(cursor.len())?))
}

/// The names and the version of a recorded object.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct Identity<'a> {
    pub(in crate::recording) key: &'a str,
    pub(in crate::recording) namespace_len: u16,
    /// The version in the columns.
    pub(in crate::recording) version: u64,
    /// The object's own version, if it differs from that.
    pub(in crate::recording) own_version: Option<&'a str>,
}

impl<'a> Identity<'a> {
    pub(in crate::recording) fn namespace(&self) -> &'a str {
        self.key.get(..self.namespace_len.into()).unwrap_or_default()
    }

    pub(in crate::recording) fn name(&self) -> &'a str {
        match usize::from(self.namespace_len) {
            0 => self.key,
            length => self.key.get(length + 1..).unwrap_or_default(),
        }
    }

    fn resource_version(&self) -> ResourceVersion {
        match self.own_version {
            Some(text) => ResourceVersion::new(text),
            None => ResourceVersion::from(self.version),
        }
    }

    /// Returns an object without a body.
    pub(in crate::recording) fn named(&self, type_meta: &Arc<TypeMeta>) -> Object {
        Object::named(Arc::clone(type_meta), self.namespace(), self.name())
            .with_resource_version(self.resource_version())
    }

    /// Returns the object with a text. `None` if the text is not that of this object.
    pub(in crate::recording) fn object(&self, text: Vec<u8>, ingest: &Ingest) -> Option<Object> {
        self.next_object(text, &[], &mut KnownValues::default(), ingest)
    }

    /// Returns [`Identity::object`]. The known values are those of the text `before`, and become those of this one.
    pub(in crate::recording) fn next_object(
        &self,
        text: Vec<u8>,
        before: &[u8],
        values: &mut KnownValues,
        ingest: &Ingest,
    ) -> Option<Object> {
        if text.is_empty() {
            return Some(self.named(&ingest.type_meta));
        }
        let object = Object::from_body(text, before, values, ingest).ok();
        let object = object.filter(|object| **object.key() == *self.key)?;
        let version = self.resource_version();
        let is_own = *object.resource_version() == version;
        Some(if is_own { object } else { object.with_resource_version(version) })
    }
}

/// Returns the options with which a text becomes an object again without a change.
pub(in crate::recording) fn ingest(type_meta: Arc<TypeMeta>) -> Ingest {
    Ingest { keep_managed_fields: true, ..Ingest::of(type_meta) }
}
