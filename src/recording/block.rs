//! Blocks: compressed bytes with a tag, their lengths and a checksum.

use super::bytes::{Cursor, put_number};

/// The longest payload.
const MAX_LEN: u64 = 1 << 30;

/// A block that was read.
#[derive(Debug)]
pub(in crate::recording) struct Block {
    /// The kind of the payload.
    pub(in crate::recording) tag: u8,
    /// The payload, decompressed.
    pub(in crate::recording) payload: Vec<u8>,
}

/// The reasons why a block can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::recording) enum BlockDamage {
    /// The bytes end before the block.
    #[error("it is incomplete")]
    Incomplete,
    /// The checksum differs.
    #[error("its checksum differs")]
    Checksum,
    /// The payload can't be decompressed, or a length is invalid.
    #[error("its content is invalid")]
    Invalid,
}

/// Appends a block.
pub(in crate::recording) fn write_block(tag: u8, payload: &[u8], level: i32, out: &mut Vec<u8>) {
    let compressed = zstd::bulk::compress(payload, level).ok().filter(|bytes| bytes.len() < payload.len());
    let stored = compressed.as_deref().unwrap_or(payload);
    let start = out.len();
    out.push(tag);
    put_number(out, payload.len() as u64);
    put_number(out, stored.len() as u64);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&out[start..]);
    hasher.update(stored);
    out.extend_from_slice(&hasher.finalize().to_le_bytes());
    out.extend_from_slice(stored);
}

/// Reads the block at the front of bytes, and returns its length.
pub(in crate::recording) fn read_block(bytes: &[u8]) -> Result<(Block, usize), BlockDamage> {
    let mut cursor = Cursor::new(bytes);
    let tag = cursor.take_bytes(1).ok_or(BlockDamage::Incomplete)?[0];
    let raw = cursor.take_number().ok_or(BlockDamage::Incomplete)?;
    let stored_len = cursor.take_number().ok_or(BlockDamage::Incomplete)?;
    let before_sum = cursor.clone();
    let sum = cursor.take_bytes(4).ok_or(BlockDamage::Incomplete)?;
    let stored_len = usize::try_from(stored_len).map_err(|_| BlockDamage::Invalid)?;
    let stored = cursor.take_bytes(stored_len).ok_or(BlockDamage::Incomplete)?;
    let head = &bytes[..bytes.len() - before_sum.len()];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(stored);
    if hasher.finalize().to_le_bytes() != sum {
        return Err(BlockDamage::Checksum);
    }
    let raw = usize::try_from(raw).ok().filter(|_| raw <= MAX_LEN).ok_or(BlockDamage::Invalid)?;
    let payload = if raw == stored.len() {
        stored.to_vec()
    } else {
        zstd::bulk::decompress(stored, raw).map_err(|_| BlockDamage::Invalid)?
    };
    if payload.len() != raw {
        return Err(BlockDamage::Invalid);
    }
    Ok((Block { tag, payload }, bytes.len() - cursor.len()))
}
