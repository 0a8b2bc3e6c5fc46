//! Seals the bytes of encrypted recordings.

use std::fmt;
use std::io;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::digest::{SHA256, digest};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::recording::block::BlockDamage;

/// The length of a data key in bytes.
pub(super) const KEY_LEN: usize = 32;

/// The head of a sealed block: the length of the sealed bytes, and the checksum of that and of them.
const HEAD: usize = 8;

/// The data key of a recording. It has no `Debug`, and its memory is erased when it is dropped.
pub(super) struct DataKey(pub(super) Zeroizing<[u8; KEY_LEN]>);

/// Identifies an encrypted recording: the first half of the SHA-256 hash of its key file. It is not confidential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recording) struct RecordingId([u8; Self::LEN]);

impl RecordingId {
    pub(in crate::recording) const LEN: usize = 16;

    pub(in crate::recording) fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the id of the recording with this key file.
    pub(in crate::recording) fn of_key_file(bytes: &[u8]) -> Self {
        let mut id = [0; Self::LEN];
        id.copy_from_slice(&digest(&SHA256, bytes).as_ref()[..Self::LEN]);
        Self(id)
    }

    pub(in crate::recording) fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Display for RecordingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The cipher of a recording: ChaCha20-Poly1305 with its data key.
pub(in crate::recording) struct Cipher {
    id: RecordingId,
    key: LessSafeKey,
    random: SystemRandom,
}

impl Cipher {
    pub(super) fn new(id: RecordingId, key: &DataKey) -> io::Result<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*key.0).map_err(failed)?;
        Ok(Self { id, key: LessSafeKey::new(key), random: SystemRandom::new() })
    }

    pub(in crate::recording) fn id(&self) -> RecordingId {
        self.id
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The cipher of one file. What it seals can be opened only at the same offset of the file with the same kind and number
/// in the same recording.
#[derive(Debug, Clone)]
pub(in crate::recording) struct FileCipher {
    cipher: Arc<Cipher>,
    /// The letter of the file's kind, and the number of its first entry.
    kind: u8,
    first: u64,
}

impl FileCipher {
    pub(in crate::recording) fn new(cipher: &Arc<Cipher>, kind: u8, first: u64) -> Self {
        Self { cipher: Arc::clone(cipher), kind, first }
    }

    pub(in crate::recording) fn id(&self) -> RecordingId {
        self.cipher.id
    }

    /// Appends sealed bytes: a random nonce, the encrypted bytes and the tag. `head` is not sealed, but must be the same
    /// when they are opened.
    pub(in crate::recording) fn seal(
        &self,
        offset: u64,
        head: &[u8],
        plain: &[u8],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        // Not derived from the offset: the next writer replaces what a killed one has written there.
        let mut nonce = [0; NONCE_LEN];
        self.cipher.random.fill(&mut nonce).map_err(failed)?;
        out.reserve(plain.len() + self.overhead());
        out.extend_from_slice(&nonce);
        let start = out.len();
        out.extend_from_slice(plain);
        let (nonce, aad) = (Nonce::assume_unique_for_key(nonce), Aad::from(self.place(offset, head)));
        let tag = self.cipher.key.seal_in_place_separate_tag(nonce, aad, &mut out[start..]);
        out.extend_from_slice(tag.map_err(failed)?.as_ref());
        Ok(())
    }

    /// Opens sealed bytes. Returns `None` if they were changed, or sealed for another place or with another key.
    pub(in crate::recording) fn open(&self, offset: u64, head: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut bytes = sealed.to_vec();
        let (nonce, aad) = (Nonce::assume_unique_for_key(*nonce), Aad::from(self.place(offset, head)));
        let length = self.cipher.key.open_in_place(nonce, aad, &mut bytes).ok()?.len();
        bytes.truncate(length);
        Some(bytes)
    }

    /// Appends a sealed block.
    pub(in crate::recording) fn seal_block(
        &self,
        offset: u64,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let start = out.len();
        let length = u32::try_from(block.len() + self.overhead()).map_err(io::Error::other)?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        self.seal(offset, &[], block, out)?;
        let sum = checksum(&length.to_le_bytes(), &out[start + HEAD..]);
        out[start + 4..start + HEAD].copy_from_slice(&sum);
        Ok(())
    }

    /// Opens the sealed block at the front of bytes, and returns its length.
    pub(in crate::recording) fn open_block(
        &self,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(Vec<u8>, usize), BlockDamage> {
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or(BlockDamage::Incomplete)?;
        let (sum, rest) = rest.split_first_chunk::<4>().ok_or(BlockDamage::Incomplete)?;
        let sealed_len = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| BlockDamage::Invalid)?;
        let sealed = rest.get(..sealed_len).ok_or(BlockDamage::Incomplete)?;
        if checksum(length, sealed) != *sum {
            return Err(BlockDamage::Checksum);
        }
        Ok((self.open(offset, &[], sealed).ok_or(BlockDamage::Sealed)?, HEAD + sealed_len))
    }

    /// Returns the number of bytes by which sealed bytes are longer.
    pub(in crate::recording) fn overhead(&self) -> usize {
        NONCE_LEN + self.cipher.key.algorithm().tag_len()
    }

    /// Returns the additional data of sealed bytes: all that they must not be moved to.
    fn place(&self, offset: u64, head: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 5] =
            [self.cipher.id.as_bytes(), &[self.kind], &self.first.to_le_bytes(), &offset.to_le_bytes(), head];
        parts.concat()
    }
}

/// Returns the error of a failure in the library, which has no reasons: the system has no random numbers, or bytes are too
/// long.
pub(super) fn failed(_: Unspecified) -> io::Error {
    io::Error::other("encryption failed")
}

fn checksum(length: &[u8], sealed: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(length);
    hasher.update(sealed);
    hasher.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher(id: &[u8], key: u8) -> Arc<Cipher> {
        let key = DataKey(Zeroizing::new([key; KEY_LEN]));
        Arc::new(Cipher::new(RecordingId::of_key_file(id), &key).expect("a cipher"))
    }

    #[test]
    fn sealed_bytes_are_opened_only_at_their_place() {
        let one = cipher(b"one", 1);
        let file = FileCipher::new(&one, b's', 7);
        let mut sealed = Vec::new();
        file.seal(40, b"head", b"text", &mut sealed).expect("sealed");
        assert_eq!(file.open(40, b"head", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(file.open(41, b"head", &sealed), None);
        assert_eq!(file.open(40, b"", &sealed), None);
        let others = [
            FileCipher::new(&one, b'k', 7),
            FileCipher::new(&one, b's', 8),
            FileCipher::new(&cipher(b"two", 1), b's', 7),
            FileCipher::new(&cipher(b"one", 2), b's', 7),
        ];
        assert!(others.iter().all(|other| other.open(40, b"head", &sealed).is_none()));
        for length in 0..sealed.len() {
            assert_eq!(file.open(40, b"head", &sealed[..length]), None, "{length}");
        }
    }

    #[test]
    fn equal_bytes_are_sealed_differently() {
        let file = FileCipher::new(&cipher(b"one", 1), b'j', 0);
        let sealed = || {
            let mut sealed = Vec::new();
            file.seal(0, &[], b"text", &mut sealed).expect("sealed");
            sealed
        };
        assert_ne!(sealed(), sealed());
    }

    #[test]
    fn damage_of_sealed_blocks_is_found_without_the_key() {
        let file = FileCipher::new(&cipher(b"one", 1), b's', 0);
        let mut bytes = Vec::new();
        file.seal_block(16, b"a block", &mut bytes).expect("sealed");
        let length = bytes.len();
        let other = FileCipher::new(&cipher(b"two", 2), b's', 0);
        assert_eq!(other.open_block(16, &bytes), Err(BlockDamage::Sealed));
        bytes.extend_from_slice(b"more");
        assert_eq!(file.open_block(16, &bytes), Ok((b"a block".to_vec(), length)));
        for at in 0..length {
            bytes[at] ^= 1;
            let damage = other.open_block(16, &bytes).expect_err("damaged");
            assert!(matches!(damage, BlockDamage::Checksum | BlockDamage::Incomplete), "{at}");
            bytes[at] ^= 1;
        }
    }

    #[test]
    fn keys_are_not_printed() {
        let printed = format!("{:?}", FileCipher::new(&cipher(b"one", 0xAB), b's', 0));
        assert!(!printed.contains("171") && !printed.to_lowercase().contains("abab"), "{printed}");
    }
}
