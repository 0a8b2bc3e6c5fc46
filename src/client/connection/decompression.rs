//! What a server has packed by gzip (RFC 1952), unpacked as it arrives.
//!
//! Ours, where clients of HTTP bring the same: they hand on 4 KB at a time, each in room of its own, so that nearly every
//! object of a list is cut and has to be put together again.

use bytes::{Buf, Bytes, BytesMut};
use flate2::{Decompress, FlushDecompress, Status};

/// How much is unpacked at once: several objects, in what a core keeps near it.
const ROOM: usize = 128 * 1024;
/// Less room than this is not filled: the rest of it is given up.
const LEAST: usize = 16 * 1024;
/// The largest window there is.
const WINDOW_BITS: u8 = 15;

/// What came is not what a server packed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damaged {
    #[error("what it says to have packed by gzip can't be unpacked")]
    Wrong(#[from] flate2::DecompressError),
    #[error("the answer ended in the middle of what is packed by gzip")]
    CutOff,
}

/// Unpacks one body. It never holds more than [`ROOM`] of it beside what it was given, however much that becomes.
#[derive(Default)]
pub(super) struct Gunzip {
    /// Checks length and sum of a member at its end. Mostly there is one, and none is made for what does not come.
    member: Option<Decompress>,
    place: Place,
    packed: Bytes,
    /// Taken back from what was handed out before, once nobody holds that.
    room: BytesMut,
}

#[derive(Default, PartialEq, Eq)]
enum Place {
    /// Between two members, or where none has begun.
    #[default]
    Between,
    Inside,
    /// Inside, and the last room was too small for what there is.
    Full,
}

impl Gunzip {
    /// Takes the next bytes of the body, when [`Gunzip::next`] has answered `None`.
    pub(super) fn give(&mut self, packed: Bytes) {
        debug_assert!(self.packed.is_empty(), "something was given before");
        self.packed = packed;
    }

    /// What can be unpacked of what was given; `None` when that is used up.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Damaged> {
        while self.place == Place::Full || !self.packed.is_empty() {
            if self.room.len() < LEAST {
                self.room.clear();
                self.room.resize(ROOM, 0);
            }
            let member = self.member.get_or_insert_with(|| Decompress::new_gzip(WINDOW_BITS));
            let before = (member.total_in(), member.total_out());
            let status = member.decompress(&self.packed, &mut self.room, FlushDecompress::None)?;
            // No more than there was, and than there was room for.
            let [read, written] = [member.total_in() - before.0, member.total_out() - before.1]
                .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            self.packed.advance(read);
            if self.packed.is_empty() {
                // Who gave it can use its room again.
                self.packed = Bytes::new();
            }
            self.place = match status {
                Status::StreamEnd => {
                    self.member = None;
                    Place::Between
                }
                _ if written == self.room.len() => Place::Full,
                _ => Place::Inside,
            };
            if written > 0 {
                return Ok(Some(self.room.split_to(written).freeze()));
            }
        }
        Ok(None)
    }

    /// The body ended. An empty one is no packed one, whatever was said of it.
    pub(super) fn finish(&self) -> Result<(), Damaged> {
        if self.place == Place::Between { Ok(()) } else { Err(Damaged::CutOff) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    /// What is unpacked of a body that arrives in these pieces.
    fn unpacked<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, Damaged> {
        let mut gunzip = Gunzip::default();
        let mut text = Vec::new();
        for piece in pieces {
            gunzip.give(Bytes::copy_from_slice(piece));
            while let Some(part) = gunzip.next()? {
                assert!(!part.is_empty() && part.len() <= ROOM);
                text.extend_from_slice(&part);
            }
        }
        gunzip.finish().map(|()| text)
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked_wherever_it_is_cut(
            members in prop::collection::vec((any::<Vec<u8>>(), 1..3000usize), 1..4),
            size in 1..5000usize,
        ) {
            let texts: Vec<_> = members.iter().map(|(bytes, times)| bytes.repeat(*times)).collect();
            let body: Vec<_> = texts.iter().flat_map(|text| packed(text)).collect();
            prop_assert_eq!(unpacked(body.chunks(size)).unwrap(), texts.concat());
        }

        #[test]
        fn what_was_changed_on_the_way_is_never_taken_for_the_text(
            text in prop::collection::vec(any::<u8>(), 1..500),
            at: prop::sample::Index,
            bit in 0..8u32,
        ) {
            let mut body = packed(&text);
            // Of the head, time, flags and system say nothing of the text.
            let at = 10 + at.index(body.len() - 10);
            body[at] ^= 1 << bit;
            prop_assert!(unpacked([&body[..]]).map_or(true, |unpacked| unpacked == text));
        }

        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>, size in 1..50usize) {
            let _ = unpacked(body.chunks(size));
            let _ = unpacked([&packed(b"")[..10], &body]);
        }
    }

    #[test]
    fn what_has_come_is_handed_out_before_more_comes() {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        let mut gunzip = Gunzip::default();
        // As much as fills the room to its last byte, and more: what is left does not wait for the next bytes.
        for size in [1, ROOM - 1, ROOM, ROOM + 1, 10 * ROOM] {
            out.write_all(&vec![b'x'; size]).unwrap();
            out.flush().unwrap();
            gunzip.give(std::mem::take(out.get_mut()).into());
            let mut told = 0;
            while let Some(part) = gunzip.next().unwrap() {
                told += part.len();
            }
            assert_eq!(told, size);
        }
    }

    #[test]
    fn a_body_that_is_cut_off_is_told_from_one_that_ended() {
        let body = packed(&b"text".repeat(40_000));
        for end in 1..body.len() {
            assert!(matches!(unpacked([&body[..end]]), Err(Damaged::CutOff)), "{end}");
        }
        assert_eq!(unpacked([]).unwrap(), b"");
        assert!(matches!(unpacked([&body[..], b"more"]), Err(Damaged::Wrong(_) | Damaged::CutOff)));
    }

    #[test]
    fn the_same_room_serves_for_all_when_nobody_holds_what_was_handed_out() {
        let mut gunzip = Gunzip::default();
        gunzip.give(packed(&vec![b'x'; 20 * ROOM]).into());
        let mut places = std::collections::HashSet::new();
        while let Some(part) = gunzip.next().unwrap() {
            places.insert(part.as_ptr());
        }
        assert!(places.len() < 3, "{}", places.len());
    }
}
