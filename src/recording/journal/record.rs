//! Encodes and decodes the entries that are not changes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;

use crate::lines::{Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::ResourceVersion;
use crate::recording::bytes::{Cursor, put_number, put_text};
use crate::recording::entry::Item;
use crate::recording::tables::{Tables, take_size, take_string};

const SYNCED: u64 = 0;
const GAP: u64 = 1;
const ERROR: u64 = 2;
const BOOKMARK: u64 = 3;
const DOCUMENT: u64 = 4;
const STARTED: u64 = 5;

/// Appends an item that is not a change. Its resource is in the tables.
pub(in crate::recording) fn put_item(item: &Item, tables: &Tables, out: &mut Vec<u8>) {
    let resource_of = |resource| tables.resource(resource).unwrap_or_default() as u64;
    match item {
        Item::Mark(mark) => {
            let kind = match mark.kind {
                MarkKind::Synced { .. } => SYNCED,
                MarkKind::Gap { .. } => GAP,
                MarkKind::Error(_) => ERROR,
            };
            put_number(out, kind);
            put_number(out, resource_of(&mark.resource));
            put_text(out, mark.namespace.as_bytes());
            put_optional(out, mark.name.as_deref());
            match &mark.kind {
                MarkKind::Synced { version } => put_version(out, version),
                MarkKind::Gap { from, to, lasted } => {
                    put_version(out, from);
                    put_version(out, to);
                    put_number(out, u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX));
                }
                MarkKind::Error(status) => put_status(out, status),
            }
        }
        Item::Bookmark { resource, namespace, version } => {
            put_number(out, BOOKMARK);
            put_number(out, resource_of(resource));
            put_text(out, namespace.as_bytes());
            put_version(out, version);
        }
        Item::Document { path, body } => {
            put_number(out, DOCUMENT);
            put_text(out, path.as_bytes());
            put_text(out, body);
        }
        Item::Started | Item::Change { .. } => put_number(out, STARTED),
    }
}

/// Takes an item that is not a change.
pub(in crate::recording) fn take_item(
    cursor: &mut Cursor<'_>,
    tables: &Tables,
    context: &Arc<str>,
    received: Timestamp,
) -> Option<Item> {
    let kind = cursor.take_number()?;
    match kind {
        STARTED => return Some(Item::Started),
        DOCUMENT => {
            let path = take_string(cursor)?.into();
            return Some(Item::Document { path, body: Bytes::copy_from_slice(cursor.take_text()?) });
        }
        _ => {}
    }
    let resource = Arc::clone(tables.resources.get(take_size(cursor)?)?);
    let namespace = take_string(cursor)?.into();
    if kind == BOOKMARK {
        return Some(Item::Bookmark { resource, namespace, version: take_version(cursor)? });
    }
    let mut name = None;
    take_optional(cursor, &mut name)?;
    let kind = match kind {
        SYNCED => MarkKind::Synced { version: take_version(cursor)? },
        GAP => MarkKind::Gap {
            from: take_version(cursor)?,
            to: take_version(cursor)?,
            lasted: Duration::from_millis(cursor.take_number()?),
        },
        ERROR => MarkKind::Error(take_status(cursor)?),
        _ => return None,
    };
    Some(Item::Mark(Mark { kind, resource, context: Arc::clone(context), namespace, name, received }))
}

/// Returns the version that an item reports, if it is a number.
pub(super) fn item_version(item: &Item) -> Option<u64> {
    let version = match item {
        Item::Mark(Mark { kind: MarkKind::Synced { version }, .. }) | Item::Bookmark { version, .. } => {
            version
        }
        Item::Mark(Mark { kind: MarkKind::Gap { to, .. }, .. }) => to,
        _ => return None,
    };
    version.number()
}

pub(in crate::recording) fn put_version(out: &mut Vec<u8>, version: &ResourceVersion) {
    put_text(out, version.to_string().as_bytes());
}

pub(in crate::recording) fn take_version(cursor: &mut Cursor<'_>) -> Option<ResourceVersion> {
    take_string(cursor).map(ResourceVersion::new)
}

/// Appends a text that may be absent.
pub(in crate::recording) fn put_optional(out: &mut Vec<u8>, text: Option<&str>) {
    put_number(out, u64::from(text.is_some()));
    if let Some(text) = text {
        put_text(out, text.as_bytes());
    }
}

/// Takes a text that may be absent.
pub(in crate::recording) fn take_optional<T: for<'a> From<&'a str>>(
    cursor: &mut Cursor<'_>,
    taken: &mut Option<T>,
) -> Option<()> {
    if cursor.take_number()? != 0 {
        *taken = Some(take_string(cursor)?.into());
    }
    Some(())
}

fn put_status(out: &mut Vec<u8>, status: &Status) {
    let Status { code, reason, message, name, json } = status;
    put_number(out, code.map_or(0, |code| u64::from(code) + 1));
    for text in [reason, message, json] {
        put_text(out, text.as_bytes());
    }
    put_optional(out, name.as_deref());
}

fn take_status(cursor: &mut Cursor<'_>) -> Option<Status> {
    let code = match cursor.take_number()? {
        0 => None,
        code => Some(u16::try_from(code - 1).ok()?),
    };
    let (reason, message, json) = (take_string(cursor)?, take_string(cursor)?, take_string(cursor)?);
    let mut name = None;
    take_optional(cursor, &mut name)?;
    Some(Status { code, reason: reason.to_owned(), message: message.to_owned(), name, json: json.to_owned() })
}
