//! The gaps whose ends a journal records.

use super::chunk::RawItem;
use super::reader::Journal;
use crate::lines::MarkKind;
use crate::recording::entry::Item;

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

/// Returns the beginning of the earliest gap of a journal; `i64::MAX` without one.
pub(in crate::recording) fn first_gap(journal: &Journal) -> i64 {
    let mut previous = (journal.header.first > 0).then_some(journal.header.time_before);
    let mut first = i64::MAX;
    for entry in journal.chunks.iter().flat_map(|chunk| &chunk.entries) {
        if let RawItem::Other(item) = &entry.item {
            first = first.min(gap_start(item, entry.received, previous).unwrap_or(i64::MAX));
        }
        previous = Some(entry.received);
    }
    first
}
