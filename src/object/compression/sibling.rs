//! Delta encoding of a text against a sibling's.
//!
//! Siblings are made from one template. They differ in names, times, addresses and hashes: in values that mostly have
//! the same length and shape. A frame therefore walks along the base. It records how many bytes agree, and then the
//! bytes that replace the same number of bytes of the base; where only digits differ, it records just the digits, two
//! per byte. After an insertion or removal it records the new bytes and the position in the base at which to continue.
//! Such frames are a quarter smaller than zstd's with the base as dictionary, take a third of the time, and need a
//! table of a few kilobytes per base instead of a compressor's. Texts that don't come from one template are left to
//! zstd.
//!
//! A frame consists of the length of the text, then alternately a count of bytes equal to the base and a piece, until
//! the text is complete. Numbers are little-endian, seven bits per byte. A piece begins with `count << 2 | form`:
//! - [`DIGITS`]: `count` bytes of the base, whose hexadecimal digits are the frame's next nibbles;
//! - [`PLAIN`]: `count` bytes that replace as many of the base;
//! - [`MOVED`]: the offset at which the base continues (sign in the lowest bit), then `count` bytes.

use super::blocks::{common_prefix_len, differing_len, find_nearby};
use super::digits;

/// The forms of a piece.
const DIGITS: usize = 0;
const PLAIN: usize = 1;
const MOVED: usize = 2;

/// A base prepared for encoding siblings against it.
pub(super) struct SiblingBase {
    text: Vec<u8>,
    /// For the hash of eight bytes that begin with a quote, one more than their first position; 0 for none. Positions
    /// beyond the first 64 KB of a text are not recorded; they are found only in order.
    positions: Box<[u16]>,
}

impl SiblingBase {
    /// Indexes a text.
    pub(super) fn of(text: Vec<u8>) -> Self {
        // Less than half of the slots are used: about every tenth byte is a quote, and many names repeat.
        let slots = (text.len() / 4).next_power_of_two().clamp(1 << 8, 1 << 15);
        let mut sibling = Self { text, positions: vec![0; slots].into() };
        for quote in memchr::memchr_iter(b'"', &sibling.text) {
            let (Some(word), Ok(position)) = (word(&sibling.text, quote), u16::try_from(quote + 1)) else {
                break;
            };
            let slot = slot(&sibling.positions, word);
            if sibling.positions[slot] == 0 {
                sibling.positions[slot] = position;
            }
        }
        sibling
    }

    /// Returns the text of the base.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Appends the frame of a text. Returns `false` if it would exceed `max_len` bytes.
    pub(super) fn write(&self, text: &[u8], max_len: usize, frame: &mut Vec<u8>) -> bool {
        let max_len = frame.len() + max_len;
        number(text.len(), frame);
        let (mut at, mut base) = (0, 0);
        loop {
            let same = common_prefix_len(&text[at..], &self.text[base..]);
            number(same, frame);
            (at, base) = (at + same, base + same);
            if at == text.len() {
                return frame.len() <= max_len;
            }
            let piece = if let Some(count) = differing_len(&text[at..], &self.text[base..]) {
                replace(&text[at..], &self.text[base..], count, frame);
                base += count;
                count
            } else {
                let Some((count, resume_at)) =
                    self.resume(text, at, base, max_len.saturating_sub(frame.len()))
                else {
                    return false;
                };
                number(count << 2 | MOVED, frame);
                number(signed(base, resume_at), frame);
                append(&text[at..], count, frame);
                base = resume_at;
                count
            };
            at += piece;
            if frame.len() > max_len {
                return false;
            }
        }
    }

    /// Returns the memory that this base occupies, in bytes.
    pub(super) fn size(&self) -> usize {
        self.text.len() + size_of_val(&*self.positions)
    }

    /// Returns how many bytes of the text have no counterpart, and the position at which the base continues after them,
    /// or `None` if those bytes exceed `room`.
    fn resume(&self, text: &[u8], at: usize, base: usize, room: usize) -> Option<(usize, usize)> {
        let rest = &text[at..];
        let within = rest.iter().take(room.saturating_add(1)).enumerate();
        for (count, byte) in within.filter(|(_, byte)| matches!(byte, b'"' | b',' | b'}' | b']')) {
            let Some(word) = word(text, at + count) else { break };
            if let Some(near) = find_nearby(&self.text[base..], word.to_le_bytes()) {
                return Some((count, base + near));
            }
            if *byte == b'"'
                && let Some(position) = self.position(word)
            {
                return Some((count, position));
            }
        }
        (rest.len() <= room).then_some((rest.len(), base))
    }

    /// Returns the first position of these eight bytes, which begin with a quote.
    fn position(&self, needle: u64) -> Option<usize> {
        let position = usize::from(self.positions[slot(&self.positions, needle)]).checked_sub(1)?;
        (word(&self.text, position) == Some(needle)).then_some(position)
    }
}

/// Appends the piece that replaces the base's first `count` bytes.
fn replace(text: &[u8], base: &[u8], count: usize, frame: &mut Vec<u8>) {
    let start = frame.len();
    number(count << 2 | DIGITS, frame);
    if !digits::write(text, base, count, frame) {
        frame.truncate(start);
        number(count << 2 | PLAIN, frame);
        append(text, count, frame);
    }
}

/// Decodes a frame that was encoded against this base.
pub(super) fn read(frame: &[u8], base: &[u8]) -> Option<Vec<u8>> {
    let mut rest = frame;
    let length = take_number(&mut rest)?;
    let mut text = Vec::new();
    text.try_reserve_exact(length).ok()?;
    let mut at = 0;
    loop {
        let same = take_number(&mut rest)?;
        text.extend_from_slice(base.get(at..)?.get(..same)?);
        at += same;
        if text.len() >= length {
            break;
        }
        let piece = take_number(&mut rest)?;
        let count = piece >> 2;
        match piece & 3 {
            DIGITS => {
                digits::fill(base.get(at..)?.get(..count)?, &mut rest, &mut text)?;
                at += count;
            }
            PLAIN => {
                text.extend_from_slice(rest.split_off(..count)?);
                at += count;
            }
            MOVED => {
                at = moved(at, take_number(&mut rest)?)?;
                text.extend_from_slice(rest.split_off(..count)?);
            }
            _ => return None,
        }
    }
    (text.len() == length && rest.is_empty()).then_some(text)
}

/// Returns the length of a frame's text.
pub(super) fn length(mut frame: &[u8]) -> Option<usize> {
    take_number(&mut frame)
}

/// Returns the eight bytes at a position.
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn slot(positions: &[u16], word: u64) -> usize {
    // The upper bits of a product depend on all bits of the word.
    let [.., low, high] = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    usize::from(u16::from_le_bytes([low, high])) & (positions.len() - 1)
}

/// Appends the first `count` bytes of a text. A few are copied as 16: the branch on their exact number would be
/// unpredictable.
fn append(text: &[u8], count: usize, frame: &mut Vec<u8>) {
    match text.first_chunk::<16>() {
        Some(chunk) if count <= chunk.len() => {
            frame.extend_from_slice(chunk);
            frame.truncate(frame.len() - chunk.len() + count);
        }
        _ => frame.extend_from_slice(&text[..count]),
    }
}

fn number(mut number: usize, frame: &mut Vec<u8>) {
    while number >= 0x80 {
        frame.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    frame.push(number.to_le_bytes()[0]);
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS - 7).step_by(7) {
        let byte = *rest.split_off_first()?;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Encodes the distance between two positions: doubled, plus one if it is negative.
fn signed(from: usize, to: usize) -> usize {
    to.abs_diff(from) << 1 | usize::from(to < from)
}

fn moved(from: usize, way: usize) -> Option<usize> {
    if way & 1 == 0 { from.checked_add(way >> 1) } else { from.checked_sub(way >> 1) }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn frame(text: &[u8], base: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        assert!(SiblingBase::of(base.to_vec()).write(text, usize::MAX / 2, &mut frame));
        assert_eq!(length(&frame), Some(text.len()));
        assert_eq!(read(&frame, base).as_deref(), Some(text));
        frame
    }

    #[test]
    fn digits_take_half_a_byte_where_nothing_else_differs() {
        let pod = |uid: &str, time: &str, restarts: &str| {
            format!(
                r#"{{"kind":"Pod","metadata":{{"uid":"{uid}","labels":{{"app":"web"}}}},"status":{{"startTime":"{time}","restartCount":{restarts},"phase":"Running"}}}}"#
            )
        };
        let base = pod("0d53ef95-7b01-4df0-adb1-029137998c3c", "2026-11-20T17:12:35Z", "0");
        let text = pod("4a21283a-8f61-4489-8ca7-70a90eae3963", "2026-11-21T08:12:35Z", "0");
        let frame = frame(text.as_bytes(), base.as_bytes());
        // The UID takes 16 bytes; the time, from the last digit of its day to its hours, takes one and a half.
        assert!(frame.len() <= 16 + 2 + 11, "{}: {frame:?}", frame.len());
    }

    #[test]
    fn insertions_and_removals_are_resynchronized() {
        let base = br#"{"a":"one","labels":{"app":"web","tier":"front"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#;
        for (text, max_len) in [
            (&br#"{"a":"one","labels":{"app":"web"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#[..], 20),
            (br#"{"a":"one","labels":{"app":"web","release":"r5","tier":"front"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#, 30),
            (br#"{"a":"one","labels":{"app":"web","tier":"front"},"nodeName":"node-17","phase":"Running","zone":"eu-1"}"#, 20),
            (br#"{"nodeName":"n1","phase":"Running","zone":"eu-1"}"#, 14),
        ] {
            let length = frame(text, base).len();
            assert!(length <= max_len, "{length} bytes for {}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_dissimilar_text_is_rejected() {
        let base = SiblingBase::of(vec![b'x'; 1000]);
        let text: Vec<u8> = (0..1000).map(|_| fastrand::alphanumeric() as u8).collect();
        let quotes = vec![b'"'; 1000];
        for text in [text, quotes] {
            let mut frame = Vec::new();
            assert!(!base.write(&text, 250, &mut frame));
            assert!(frame.len() < 250);
        }
    }

    #[test]
    fn every_length_bound_is_respected() {
        let base = SiblingBase::of(br#"{"a":"one","b":"two","c":"three"}"#.to_vec());
        let text = br#"{"a":"one","x":["new"],"b":"two","y":["newer"],"c":"three"}"#;
        for max_len in 0..60 {
            let mut frame = vec![7; 10];
            if base.write(text, max_len, &mut frame) {
                assert!(frame.len() - 10 <= max_len);
                assert_eq!(read(&frame[10..], &base.text).as_deref(), Some(&text[..]));
            }
        }
    }

    /// Texts of few distinct words, so that they have much in common, and a second text derived by cutting, pasting and
    /// replacing digits.
    fn texts() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let word = prop_oneof![
            Just("\"name\":\"".to_owned()),
            Just("\",\"uid\":\"0d53ef95-7b01-4df0-adb1-029137998c3c\",".to_owned()),
            Just("{\"lastTransitionTime\":\"2026-11-20T17:12:35Z\"},".to_owned()),
            "[a-z0-9\"{},:é]{0,12}",
        ];
        let text = vec(word, 0..40).prop_map(|words| words.concat().into_bytes());
        (text, vec((any::<prop::sample::Index>(), 0..4usize, "[a-z0-9\"]{0,30}"), 0..10)).prop_map(
            |(base, edits)| {
                let mut text = base.clone();
                for (at, cut, own) in edits {
                    let at = at.index(text.len() + 1);
                    let end = text.len().min(at + cut * own.len());
                    text.splice(at..end, own.into_bytes());
                }
                (text, base)
            },
        )
    }

    proptest! {
        #[test]
        fn a_frame_reads_as_the_text((text, base) in texts()) {
            frame(&text, &base);
        }

        #[test]
        fn any_two_texts_have_a_frame(text in vec(any::<u8>(), 0..300), base in vec(any::<u8>(), 0..300)) {
            frame(&text, &base);
        }

        #[test]
        fn a_corrupt_frame_is_rejected_or_decodes_to_another_text(
            (text, base) in texts(),
            at in any::<prop::sample::Index>(),
            byte: u8,
        ) {
            let mut broken = frame(&text, &base);
            let at = at.index(broken.len());
            broken[at] = byte;
            let _other = read(&broken, &base);
            let _cut = read(&broken[..at], &base);
        }
    }
}
