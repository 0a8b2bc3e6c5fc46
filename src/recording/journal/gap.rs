//! The gaps whose ends a journal records.

use super::chunk::{RawEntry, RawItem};
use crate::lines::MarkKind;
use crate::recording::entry::Item;
use crate::recording::files::Header;

/// Returns the time at which the gap that an item ends began, in Unix milliseconds: the gap of a GAP mark, or the
/// one before a recorder started. `previous` is the time of the entry before; the first entry of a recording has
/// none.
pub(in crate::recording) fn gap_start(item: &Item, received: i64, previous: Option<i64>) -> Option<i64> {
    match item {
        Item::Started => previous,
        Item::Mark(mark) => match &mark.kind {
            MarkKind::Gap { lasted, .. } => {
                Some(received.saturating_sub(i64::try_from(lasted.as_millis()).unwrap_or(i64::MAX)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The earliest gap of a journal, found while its entries are read.
pub(in crate::recording) struct FirstGap {
    /// The time of the entry before.
    previous: Option<i64>,
    first: i64,
}

impl FirstGap {
    /// Begins with the first entry of the journal with this header.
    pub(in crate::recording) fn new(header: &Header) -> Self {
        Self { previous: (header.first > 0).then_some(header.time_before), first: i64::MAX }
    }

    pub(in crate::recording) fn add(&mut self, entry: &RawEntry) {
        if let RawItem::Other(item) = &entry.item {
            self.first = self.first.min(gap_start(item, entry.received, self.previous).unwrap_or(i64::MAX));
        }
        self.previous = Some(entry.received);
    }

    /// Returns the beginning of the gap; `i64::MAX` without one.
    pub(in crate::recording) fn time(&self) -> i64 {
        self.first
    }
}
