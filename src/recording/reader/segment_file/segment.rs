//! One open segment: a sealed file, or a journal.

use std::sync::Arc;

use super::journal_view::JournalView;
use crate::object::ApiResource;
use crate::recording::entry::Item;
use crate::recording::files::{FileError, Header};
use crate::recording::journal::RawItem;
use crate::recording::segment::{Footer, Sealed};
use crate::recording::tables::Tables;
use crate::recording::type_log::{Payload, Timeline, Times, TypeLog};

/// A segment that is open.
#[derive(Debug)]
pub(in crate::recording::reader) enum Segment {
    Sealed(Sealed),
    Journal(Box<JournalView>),
}

/// The bytes of a block of payloads.
pub(in crate::recording::reader) enum PayloadBytes<'a> {
    Read(Vec<u8>),
    Journal(&'a [u8]),
}

impl std::ops::Deref for PayloadBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Journal(bytes) => bytes,
        }
    }
}

impl Segment {
    pub(in crate::recording::reader) fn header(&self) -> &Header {
        match self {
            Self::Sealed(sealed) => sealed.header(),
            Self::Journal(view) => &view.header,
        }
    }

    pub(in crate::recording::reader) fn tables(&self) -> &Tables {
        match self {
            Self::Sealed(sealed) => &sealed.footer().tables,
            Self::Journal(view) => &view.journal.tables,
        }
    }

    /// Returns the footer of a sealed file.
    pub(in crate::recording::reader) fn sealed_footer(&self) -> Option<&Footer> {
        match self {
            Self::Sealed(sealed) => Some(sealed.footer()),
            Self::Journal(_) => None,
        }
    }

    /// Returns whether whole texts are differences from the previous one in their block.
    pub(in crate::recording::reader) fn has_chained_whole_texts(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }

    pub(in crate::recording::reader) fn timeline(&self) -> Result<Arc<Timeline>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.timeline(),
            Self::Journal(view) => Ok(Arc::clone(&view.timeline)),
        }
    }

    /// Returns the times and versions of these entries, and possibly of others.
    pub(in crate::recording::reader) fn times_of(
        &self,
        entries: impl Iterator<Item = u32>,
    ) -> Result<Times, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.times_of(entries),
            Self::Journal(view) => Ok(Times::All(Arc::clone(&view.timeline))),
        }
    }

    /// Returns the number of entries that were received up to a time, in Unix milliseconds.
    pub(in crate::recording::reader) fn entries_until(&self, time: i64) -> Result<u64, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.entries_until(time),
            Self::Journal(view) => {
                Ok(view.timeline.received.partition_point(|received| *received <= time) as u64)
            }
        }
    }

    /// Returns whether an entry is a document.
    pub(in crate::recording::reader) fn has_documents(&self) -> bool {
        match self {
            Self::Sealed(sealed) => !sealed.footer().documents.is_empty(),
            Self::Journal(view) => {
                let mut entries = view.journal.chunks.iter().flat_map(|chunk| &chunk.entries);
                entries.any(|entry| matches!(&entry.item, RawItem::Other(item) if matches!(**item, Item::Document { .. })))
            }
        }
    }

    /// Returns the changes of one type.
    pub(in crate::recording::reader) fn log(
        &self,
        resource: &ApiResource,
    ) -> Result<Option<TypeLog>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.log(resource),
            Self::Journal(view) => Ok(view.log(resource)),
        }
    }

    /// Returns the changes of an object, and possibly those of other objects of its type. `None` if the object has no
    /// changes. Without rows, the places of rows may be wrong.
    pub(in crate::recording::reader) fn log_of(
        &self,
        resource: &ApiResource,
        key: &str,
        with_rows: bool,
    ) -> Result<Option<TypeLog>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.log_of(resource, key, with_rows),
            Self::Journal(view) => Ok(view.log_of(resource, key)),
        }
    }

    pub(in crate::recording::reader) fn payload(
        &self,
        resource: &ApiResource,
        payload: Payload,
        block: u32,
    ) -> Result<PayloadBytes<'_>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.payload(resource, payload, block).map(PayloadBytes::Read),
            Self::Journal(view) => view.texts(block).map(PayloadBytes::Journal),
        }
    }

    /// Returns the error of a payload that can't be decoded.
    pub(in crate::recording::reader) fn invalid(
        &self,
        resource: &ApiResource,
        payload: Payload,
        block: u32,
        what: &str,
    ) -> FileError {
        match self {
            Self::Sealed(sealed) => sealed.invalid(sealed.payload_offset(resource, payload, block), what),
            Self::Journal(view) => FileError::Damaged(view.journal.path.clone(), 0, what.to_owned()),
        }
    }

    /// Returns the items that are not changes, with their numbers in the segment.
    pub(in crate::recording::reader) fn items(
        &self,
        context: &Arc<str>,
        with_documents: bool,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        match self {
            Self::Sealed(sealed) => sealed.items(context, with_documents),
            Self::Journal(view) => {
                let entries = view.journal.chunks.iter().flat_map(|chunk| &chunk.entries);
                let items = (0u32..).zip(entries).filter_map(|(index, entry)| match &entry.item {
                    RawItem::Other(item) => Some((index, (**item).clone())),
                    RawItem::Change(_) => None,
                });
                Ok(items.collect())
            }
        }
    }

    /// Returns the marks, the bookmarks and the starts of recorders, with their numbers in the segment and without their times.
    pub(in crate::recording::reader) fn marks(
        &self,
        context: &Arc<str>,
    ) -> Result<Vec<(u32, Item)>, FileError> {
        let mut items = match self {
            Self::Sealed(sealed) => sealed.items_without_times(context)?,
            Self::Journal(_) => self.items(context, false)?,
        };
        items.retain(|(_, item)| matches!(item, Item::Mark(_) | Item::Bookmark { .. } | Item::Started));
        Ok(items)
    }
}
