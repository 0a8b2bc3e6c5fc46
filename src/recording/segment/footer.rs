//! The footer of a sealed segment: the table of its blocks.

use std::ops::Range;

use crate::recording::bytes::{Cursor, put_number};
use crate::recording::files::{FileError, RandomAccess};
use crate::recording::tables::{DefinitionMemory, Tables, take_size, take_u32};

/// The tags of the blocks.
pub(super) const COMPRESSED_TIMELINE: u8 = 2;
pub(in crate::recording) const ITEMS: u8 = 3;
pub(in crate::recording) const DOCUMENT: u8 = 4;
pub(in crate::recording) const NAMES: u8 = 5;
pub(in crate::recording) const FILTERS: u8 = 6;
pub(super) const COLUMNS: u8 = 7;
pub(in crate::recording) const BODIES: u8 = 8;
pub(in crate::recording) const ROWS: u8 = 9;
pub(super) const FOOTER: u8 = 10;
pub(in crate::recording) const KEYFRAME_FOOTER: u8 = 11;
pub(super) const TIMELINE: u8 = 12;

/// The tags of blocks of times and versions: that of this version, and that of older recordings.
pub(super) const TIMELINES: [u8; 2] = [TIMELINE, COMPRESSED_TIMELINE];

/// The position of a block in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::recording) struct BlockRef {
    pub(in crate::recording) offset: u64,
    pub(in crate::recording) length: u64,
    /// The number of the block's first entry or name, among those of its type or of the segment.
    pub(in crate::recording) first: u32,
}

impl BlockRef {
    /// Returns the position after the block.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// The blocks of one type.
#[derive(Debug, Default)]
pub(in crate::recording) struct TypeFooter {
    /// The number of the resource in the tables.
    pub(in crate::recording) resource: usize,
    pub(in crate::recording) objects: u32,
    pub(in crate::recording) entries: u32,
    pub(in crate::recording) names: Vec<BlockRef>,
    pub(in crate::recording) filters: Vec<BlockRef>,
    pub(in crate::recording) columns: Vec<BlockRef>,
    pub(in crate::recording) bodies: Vec<BlockRef>,
    pub(in crate::recording) rows: Vec<BlockRef>,
}

/// The table of the blocks of a segment, in the order of the file.
#[derive(Debug, Default)]
pub(in crate::recording) struct Footer {
    pub(in crate::recording) tables: Tables,
    pub(in crate::recording) timeline: Vec<BlockRef>,
    pub(in crate::recording) items: Vec<BlockRef>,
    pub(in crate::recording) documents: Vec<BlockRef>,
    pub(in crate::recording) types: Vec<TypeFooter>,
}

impl Footer {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.tables.put(out);
        for blocks in [&self.timeline, &self.items, &self.documents] {
            put_blocks(out, blocks);
        }
        put_number(out, self.types.len() as u64);
        for of_type in &self.types {
            put_number(out, of_type.resource as u64);
            put_number(out, of_type.objects.into());
            put_number(out, of_type.entries.into());
            for blocks in of_type.blocks() {
                put_blocks(out, blocks);
            }
        }
    }

    /// Takes the footer of a file whose blocks are in this range, one after the other.
    pub(in crate::recording) fn take(cursor: &mut Cursor<'_>, range: Range<u64>) -> Option<Self> {
        let Range { start: mut at, end } = range;
        let mut memory = DefinitionMemory::of_file(end);
        let mut footer = Self { tables: Tables::take(cursor, &mut memory)?, ..Self::default() };
        for blocks in [&mut footer.timeline, &mut footer.items, &mut footer.documents] {
            *blocks = take_blocks(cursor, &mut at, end)?;
        }
        for _ in 0..cursor.take_number()? {
            memory.take::<TypeFooter>(1, 0, 0)?;
            let resource = take_size(cursor).filter(|at| *at < footer.tables.resources.len())?;
            let (objects, entries) = (take_u32(cursor)?, take_u32(cursor)?);
            let mut of_type = TypeFooter { resource, objects, entries, ..TypeFooter::default() };
            let TypeFooter { names, filters, columns, bodies, rows, .. } = &mut of_type;
            for blocks in [names, filters, columns, bodies, rows] {
                *blocks = take_blocks(cursor, &mut at, end)?;
            }
            footer.types.push(of_type);
        }
        (at == end).then_some(footer)
    }

    /// Reads every block, for its checksum, and returns the damaged ones.
    pub(in crate::recording) fn damaged_blocks(&self, access: &RandomAccess) -> Vec<FileError> {
        let read = |(tags, block): (&[u8], &BlockRef)| access.block_of_any(tags, block.offset, block.length);
        self.all_blocks().filter_map(|block| read(block).err()).collect()
    }

    /// Returns all blocks with the tags that they may have.
    fn all_blocks(&self) -> impl Iterator<Item = (&'static [u8], &BlockRef)> {
        let own: [(&[u8], _); _] =
            [(&TIMELINES, &self.timeline), (&[ITEMS], &self.items), (&[DOCUMENT], &self.documents)];
        let tags: [&[u8]; _] = [&[NAMES], &[FILTERS], &[COLUMNS], &[BODIES], &[ROWS]];
        let of_types = self.types.iter().flat_map(move |of_type| tags.into_iter().zip(of_type.blocks()));
        own.into_iter().chain(of_types).flat_map(|(tag, blocks)| blocks.iter().map(move |block| (tag, block)))
    }
}

impl TypeFooter {
    /// Returns all blocks of the type.
    pub(in crate::recording) fn all_blocks(&self) -> impl Iterator<Item = &BlockRef> {
        self.blocks().into_iter().flatten()
    }

    fn blocks(&self) -> [&Vec<BlockRef>; 5] {
        [&self.names, &self.filters, &self.columns, &self.bodies, &self.rows]
    }
}

/// Appends the lengths and first numbers of consecutive blocks.
fn put_blocks(out: &mut Vec<u8>, blocks: &[BlockRef]) {
    put_number(out, blocks.len() as u64);
    let mut first = 0;
    for block in blocks {
        put_number(out, block.length);
        put_number(out, (block.first - first).into());
        first = block.first;
    }
}

/// Takes consecutive blocks that begin at a position, none of which is empty, so that a file of a few bytes has few.
fn take_blocks(cursor: &mut Cursor<'_>, at: &mut u64, end: u64) -> Option<Vec<BlockRef>> {
    let mut first = 0u32;
    let mut block = |cursor: &mut Cursor<'_>| {
        let (offset, length) = (*at, cursor.take_number()?);
        *at = offset.checked_add(length).filter(|next| offset < *next && *next <= end)?;
        first = first.checked_add(take_u32(cursor)?)?;
        Some(BlockRef { offset, length, first })
    };
    (0..cursor.take_number()?).map(|_| block(cursor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a footer of these numbers, of a file whose blocks have that length.
    fn take(numbers: &[u64], zeros: usize, length: u64) -> Option<Footer> {
        let mut bytes = Vec::new();
        for number in numbers {
            put_number(&mut bytes, *number);
        }
        bytes.resize(bytes.len() + zeros, 0);
        Footer::take(&mut Cursor::new(&bytes), 100..100 + length)
    }

    #[test]
    fn footer_of_a_small_file_takes_little_memory() {
        let empty = [0, 0, 0, 0, 0, 0, 0];
        assert!(take(&empty, 0, 0).is_some());
        let count = 3_000_000;
        // Resources, authors, columns, one set of columns, and blocks without a length.
        for (numbers, length) in [
            (&[count][..], 5),
            (&[0, count], 2),
            (&[0, 0, count], 1),
            (&[0, 0, 1, count], 3),
            (&[0, 0, 0, count], 2),
        ] {
            let zeros = usize::try_from(count).expect("a length") * length + empty.len();
            assert!(take(numbers, zeros, 0).is_none(), "{numbers:?}");
        }
        // Blocks of ten bytes, which the file has, or which it is too short for.
        let blocks = [0, 0, 0, 2, 10, 0, 10, 0, 0, 0, 0];
        assert_eq!(take(&blocks, 0, 20).expect("a footer").timeline.len(), 2);
        assert!(take(&blocks, 0, 19).is_none() && take(&blocks, 0, 21).is_none());
        // Types without objects, of one resource.
        let types = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count];
        let zeros = usize::try_from(count).expect("a length") * 8;
        assert!(take(&types, zeros, 0).is_none());
    }
}
