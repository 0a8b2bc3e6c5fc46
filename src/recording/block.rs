//! Blocks: compressed bytes with a tag, their lengths and a checksum.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use super::bytes::{Cursor, put_number};

/// The longest payload: a block ends with the entry that makes it long enough, and an entry has one text.
pub(in crate::recording) const MAX_LEN: usize = 80 << 20;

/// The bounds of a payload by its stored length, so that a small file can't take much memory. A writer pads a payload that
/// is compressed beyond them.
const MAX_RATIO: usize = 1024;
const MAX_SHORT: usize = 64 << 10;

/// The first bytes of a frame that zstd skips, and the length of its head.
const SKIPPED_FRAME: u32 = 0x184D_2A50;
const SKIPPED_HEAD: usize = 8;

/// A payload above this length is compressed with tables of the sizes below. By default zstd would take 3 MB more for most
/// blocks, and 34 MB for an `OpenAPI` document, at the highest level that a writer uses.
const LONG: usize = 128 << 10;
const LONG_HASH_LOG: u32 = 17;
const LONG_CHAIN_LOG: u32 = 18;

/// Payloads shorter than this are stored uncompressed: compression saves nothing.
const MIN_COMPRESSED: usize = 64;

thread_local! {
    /// The working memory of zstd. Each thread has its own, because allocating it for each block costs more than
    /// the work itself; it is freed with the thread.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A decoded block.
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
    /// It is encrypted for another place, with another key, or was changed on purpose.
    #[error("it can't be decrypted: it was changed, or belongs to another place")]
    Sealed,
}

/// Appends a block.
pub(in crate::recording) fn write_block(tag: u8, payload: &[u8], level: i32, out: &mut Vec<u8>) {
    let mut compressed = compress(payload, level).filter(|bytes| bytes.len() < payload.len());
    if let Some(bytes) = compressed.as_mut().filter(|bytes| !is_plausible(payload.len(), bytes.len())) {
        pad(bytes, payload.len() / MAX_RATIO);
    }
    put_block(tag, payload.len(), compressed.as_deref().unwrap_or(payload), out);
}

/// Appends a block whose payload is not compressed.
pub(in crate::recording) fn write_uncompressed_block(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    put_block(tag, payload.len(), payload, out);
}

fn put_block(tag: u8, length: usize, stored: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.push(tag);
    put_number(out, length as u64);
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
    // A fuzzer would never find a valid checksum.
    if !cfg!(fuzzing) && hasher.finalize().to_le_bytes() != sum {
        return Err(BlockDamage::Checksum);
    }
    let raw = usize::try_from(raw).ok().filter(|raw| *raw <= MAX_LEN).ok_or(BlockDamage::Invalid)?;
    if !is_plausible(raw, stored.len()) {
        return Err(BlockDamage::Invalid);
    }
    let payload = if raw == stored.len() { Some(stored.to_vec()) } else { decompress(stored, raw) };
    let payload = payload.filter(|payload| payload.len() == raw).ok_or(BlockDamage::Invalid)?;
    Ok((Block { tag, payload }, bytes.len() - cursor.len()))
}

fn is_plausible(raw: usize, stored: usize) -> bool {
    raw <= MAX_SHORT || raw / MAX_RATIO <= stored
}

/// Appends a frame that zstd skips, so that the bytes have at least this length.
fn pad(bytes: &mut Vec<u8>, length: usize) {
    let content = length.saturating_sub(bytes.len() + SKIPPED_HEAD);
    bytes.extend_from_slice(&SKIPPED_FRAME.to_le_bytes());
    // The longest payload is padded to 80 KiB.
    bytes.extend_from_slice(&u32::try_from(content).unwrap_or_default().to_le_bytes());
    bytes.resize(bytes.len() + content, 0);
}

fn compress(payload: &[u8], level: i32) -> Option<Vec<u8>> {
    if payload.len() < MIN_COMPRESSED {
        return None;
    }
    COMPRESSOR.with_borrow_mut(|compressor| {
        if compressor.is_none() {
            *compressor = Compressor::new(level).ok();
        }
        let compressor = compressor.as_mut()?;
        compressor.set_compression_level(level).ok()?;
        // 0 is the default of zstd for the level and the length.
        let logs = if payload.len() > LONG { [LONG_HASH_LOG, LONG_CHAIN_LOG] } else { [0, 0] };
        compressor.set_parameter(CParameter::HashLog(logs[0])).ok()?;
        compressor.set_parameter(CParameter::ChainLog(logs[1])).ok()?;
        compressor.compress(payload).ok()
    })
}

/// Frees the working memory with which the thread compresses, until it compresses again.
pub(in crate::recording) fn free_compressor() {
    COMPRESSOR.set(None);
}

/// Decompresses a payload. Returns `None` if it does not have this length.
fn decompress(stored: &[u8], length: usize) -> Option<Vec<u8>> {
    // The frame of zstd states the same length, so that a wrong one reserves no memory.
    let content = zstd::zstd_safe::get_frame_content_size(stored).ok().flatten()?;
    if content != length as u64 {
        return None;
    }
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = Decompressor::new().ok();
        }
        decompressor.as_mut()?.decompress(stored, length).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_read_back() {
        for length in [0, 1, 63, 64, 1000, 100_000] {
            let payload: Vec<u8> = (0..length).map(|at: u32| at.to_le_bytes()[0] / 3).collect();
            let mut bytes = Vec::new();
            write_block(7, &payload, 9, &mut bytes);
            bytes.extend_from_slice(b"more");
            let (block, consumed) = read_block(&bytes).expect("a block");
            assert_eq!((block.tag, consumed), (7, bytes.len() - 4));
            assert_eq!(block.payload, payload);
        }
    }

    #[test]
    fn long_payloads_are_compressed_in_little_memory() {
        let payload: Vec<u8> = (0..900_000u32).flat_map(|at| (at / 7).to_le_bytes()).collect();
        let mut bytes = Vec::new();
        write_block(7, &payload, 17, &mut bytes);
        let memory = COMPRESSOR
            .with_borrow_mut(|compressor| compressor.as_mut().map(|one| one.context_mut().sizeof()));
        assert!(memory.is_some_and(|bytes| bytes < 8 << 20), "{memory:?}");
        assert!(bytes.len() < payload.len() / 4, "{}", bytes.len());
        assert!(read_block(&bytes).expect("a block").0.payload == payload);
    }

    #[test]
    fn payloads_of_one_byte_repeated_are_stored_within_the_bounds() {
        for length in [MAX_SHORT, MAX_SHORT + 1, 3 << 20] {
            let payload = vec![0; length];
            let mut bytes = Vec::new();
            write_block(7, &payload, 9, &mut bytes);
            assert!(bytes.len() < length / MAX_RATIO + 100, "{length}: {}", bytes.len());
            assert!(read_block(&bytes).expect("a block").0.payload == payload);
        }
    }

    #[test]
    fn a_short_block_with_a_long_payload_is_refused() {
        let payload = vec![0; 60 << 20];
        let compressed = zstd::bulk::compress(&payload, 3).expect("compressed");
        let bytes = stored_as(payload.len() as u64, &compressed);
        assert_eq!(read_block(&bytes).map(drop), Err(BlockDamage::Invalid));
    }

    /// Returns a block with that stated length.
    fn stored_as(length: u64, compressed: &[u8]) -> Vec<u8> {
        let mut bytes = vec![7];
        put_number(&mut bytes, length);
        put_number(&mut bytes, compressed.len() as u64);
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes);
        sum.update(compressed);
        bytes.extend_from_slice(&sum.finalize().to_le_bytes());
        bytes.extend_from_slice(compressed);
        bytes
    }

    #[test]
    fn a_false_length_reserves_nothing() {
        let compressed = zstd::bulk::compress(&[7; 5000], 3).expect("compressed");
        for length in [5001, 79 << 20, 81 << 20, u64::MAX >> 1] {
            let bytes = stored_as(length, &compressed);
            assert_eq!(read_block(&bytes).map(drop), Err(BlockDamage::Invalid), "{length}");
        }
    }
}
