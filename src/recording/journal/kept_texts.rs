//! The texts of a journal that are kept by a reader that does not need all.

use super::chunk::{DecodedChunk, RawItem, Span};
use crate::object::ApiResource;
use crate::recording::tables::Tables;

/// An object of a journal whose texts a reader keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recording) struct WantedObject {
    pub(in crate::recording) resource: ApiResource,
    /// `namespace/name`.
    pub(in crate::recording) key: Box<str>,
}

/// The texts of one object, or none.
#[derive(Debug)]
pub(in crate::recording) struct KeptTexts {
    object: Option<WantedObject>,
    pub(in crate::recording) bytes: Vec<u8>,
    /// The numbers of the object in the journal, ascending: writers that continue one give it another. They are searched for each
    /// change, and a damaged journal may define one object again and again.
    numbers: Vec<u32>,
    changes: Vec<KeptChange>,
}

/// The places of the texts of one change of the object.
#[derive(Debug, Clone, Copy)]
struct KeptChange {
    /// The number of the entry in the journal.
    entry: u32,
    row: Span,
    body: Span,
}

impl KeptTexts {
    pub(super) fn new(object: Option<WantedObject>) -> Self {
        Self { object, bytes: Vec::new(), numbers: Vec::new(), changes: Vec::new() }
    }

    /// Adds the texts of the next chunk. `entries` and `objects` are the numbers of those before it, and `tables` are those of
    /// the journal up to its end.
    pub(super) fn add(
        &mut self,
        chunk: &DecodedChunk,
        text: &[u8],
        (entries, objects): (u64, u32),
        tables: &Tables,
    ) {
        let Some(WantedObject { resource, key }) = &self.object else { return };
        for (number, object) in (objects..).zip(&chunk.objects) {
            if *object.key == **key && *tables.resources[object.resource as usize] == *resource {
                self.numbers.push(number);
            }
        }
        // The number of entries in a journal is bounded far below.
        let first = u32::try_from(entries).unwrap_or(u32::MAX);
        for (entry, change) in (first..).zip(&chunk.entries) {
            if let RawItem::Change(change) = &change.item
                && self.numbers.binary_search(&change.object).is_ok()
            {
                let [row, body] = [change.row, change.body].map(|span| self.copy(text, span));
                self.changes.push(KeptChange { entry, row, body });
            }
        }
    }

    fn copy(&mut self, text: &[u8], Span { at, len }: Span) -> Span {
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(&text[at as usize..][..len as usize]);
        Span { at: start, len }
    }

    /// Returns whether the texts are those of an object.
    pub(in crate::recording) fn is_of(&self, resource: &ApiResource, key: &str) -> bool {
        self.object.as_ref().is_some_and(|object| object.resource == *resource && *object.key == *key)
    }

    /// Returns the places of the row and of the body of an entry in the bytes, if it is a change of the object.
    pub(in crate::recording) fn places(&self, entry: u32) -> Option<(Span, Span)> {
        let at = self.changes.binary_search_by_key(&entry, |change| change.entry).ok()?;
        Some((self.changes[at].row, self.changes[at].body))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::recording::flags::Flags;
    use crate::recording::journal::chunk::{JournalObject, RawChange, RawEntry};

    /// Each writer that continues a journal gives an object another number.
    #[test]
    fn texts_of_all_numbers_of_an_object_are_kept() {
        const NUMBERS: u32 = 1000;
        let [group, version, plural, kind] = ["", "v1", "pods", "Pod"].map(str::to_owned);
        let pods = ApiResource { group, version, resource: plural, kind, namespaced: true };
        let tables = Tables { resources: vec![Arc::new(pods.clone())], ..Tables::default() };
        let object = JournalObject { resource: 0, workload: 0, namespace_len: 1, key: "a/x".into() };
        let flags = Flags::from_number(1 << 6).expect("a whole text");
        let change = |object: u32| RawEntry {
            received: 0,
            version: 1,
            item: RawItem::Change(RawChange {
                object,
                flags,
                author: 0,
                row: Span::default(),
                body: Span::default(),
            }),
        };
        let chunk = DecodedChunk {
            bytes: Vec::new(),
            // The second half is of other objects.
            entries: (0..2 * NUMBERS).map(change).collect(),
            objects: vec![object; NUMBERS as usize],
        };
        let mut kept = KeptTexts::new(Some(WantedObject { resource: pods, key: "a/x".into() }));
        kept.add(&chunk, &[], (0, 0), &tables);
        assert_eq!(kept.changes.len(), NUMBERS as usize);
        assert!(kept.places(NUMBERS - 1).is_some() && kept.places(NUMBERS).is_none());
    }
}
