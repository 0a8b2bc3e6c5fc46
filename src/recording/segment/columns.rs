//! The columns of a segment, in chunks that can be decoded independently.

use crate::recording::bytes::{Cursor, put_number, put_signed, signed};
use crate::recording::flags::Flags;
use crate::recording::tables::take_u32;
use crate::recording::type_log::{LogEntry, Place};

/// The number of entries in a chunk of columns. A history needs those of one object in each segment: with more, it would decode
/// four times as many; with fewer, the columns would take more space.
pub(super) const CHUNK: usize = 1024;

/// The number of entries in a chunk of older recordings.
pub(super) const MAX_CHUNK: usize = 4096;

/// Appends the columns of entries of one type.
pub(super) fn put_entries(entries: &[LogEntry], out: &mut Vec<u8>) {
    put_number(out, entries.len() as u64);
    let mut previous = 0;
    for entry in entries {
        put_signed(out, i64::from(entry.index) - previous);
        previous = entry.index.into();
    }
    for entry in entries {
        put_number(out, entry.flags.number());
    }
    for entry in entries {
        put_number(out, entry.author.into());
    }
    for entry in entries {
        put_number(out, entry.body.len.into());
    }
    let with_row = entries.iter().filter(|entry| entry.flags.has(Flags::NEW_ROW));
    with_row.for_each(|entry| put_number(out, entry.row.len.into()));
}

/// Takes the columns of those entries of a chunk that `wanted` selects by their position. Of the places of the payloads,
/// only the lengths are set, those of rows if `with_rows`.
pub(super) fn take_entries(
    cursor: &mut Cursor<'_>,
    wanted: std::ops::Range<usize>,
    with_rows: bool,
    entries: &mut Vec<LogEntry>,
) -> Option<()> {
    let count = cursor.take_number()?;
    // Each entry has at least four bytes.
    let count = usize::try_from(count).ok().filter(|count| *count <= cursor.len() / 4)?;
    let wanted = wanted.start.min(count)..wanted.end.min(count);
    let (before, after) = (wanted.start, count - wanted.end);
    let start = entries.len();
    let (body, row, flags) = (Place::default(), Place::default(), Flags::from_number(0)?);
    entries.resize(start + wanted.len(), LogEntry { index: 0, flags, author: 0, body, row });
    let entries = &mut entries[start..];
    // Each index is a difference to the one before it.
    let mut numbers = vec![0; wanted.end];
    cursor.take_numbers(&mut numbers)?;
    let (skipped, taken) = numbers.split_at(before);
    let mut index = skipped.iter().try_fold(0i64, |sum, step| sum.checked_add(signed(*step)))?;
    for (entry, difference) in entries.iter_mut().zip(taken) {
        index = index.checked_add(signed(*difference))?;
        entry.index = u32::try_from(index).ok()?;
    }
    cursor.skip_numbers(after)?;
    let mut rows_before = 0;
    if with_rows {
        cursor.take_numbers(&mut numbers[..before])?;
        for number in &numbers[..before] {
            rows_before += usize::from(Flags::from_number(*number)?.has(Flags::NEW_ROW));
        }
    } else {
        cursor.skip_numbers(before)?;
    }
    let numbers = &mut numbers[before..];
    take_column(cursor, entries, numbers, |entry, number| {
        entry.flags = Flags::from_number(number)?;
        Some(())
    })?;
    cursor.skip_numbers(after + before)?;
    take_column(cursor, entries, numbers, |entry, number| {
        entry.author = u32::try_from(number).ok()?;
        Some(())
    })?;
    cursor.skip_numbers(after + before)?;
    take_column(cursor, entries, numbers, |entry, number| {
        entry.body.len = u32::try_from(number).ok()?;
        Some(())
    })?;
    if with_rows {
        cursor.skip_numbers(after + rows_before)?;
        for entry in entries.iter_mut().filter(|entry| entry.flags.has(Flags::NEW_ROW)) {
            entry.row.len = take_u32(cursor)?;
        }
    }
    Some(())
}

/// Takes a column of these entries. `numbers` is the memory for as many numbers.
fn take_column(
    cursor: &mut Cursor<'_>,
    entries: &mut [LogEntry],
    numbers: &mut [u64],
    set: fn(&mut LogEntry, u64) -> Option<()>,
) -> Option<()> {
    cursor.take_numbers(numbers)?;
    entries.iter_mut().zip(numbers).try_for_each(|(entry, number)| set(entry, *number))
}
