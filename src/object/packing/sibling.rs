//! A text as what it has in common with a sibling's, and what is its own.
//!
//! Siblings are made from one template. They differ in names, times, addresses and hashes: in values that mostly have
//! the same length and shape. So a frame walks along the base. It says how far both agree; then what stands in place of
//! as many bytes of the base, of which only the digits are written where nothing else differs, two in a byte; and where
//! something came or went, the bytes as they are and where the base goes on. That makes frames a quarter smaller than
//! zstd's with the base as its dictionary, in a third of the time, and the base needs a table of some kilobytes at hand in
//! place of a compressor's. Texts that are not made from one template are zstd's.
//!
//! A frame: the length of the text, then in turn a count of bytes as in the base and a piece, until the text is
//! complete. Numbers are little-endian, seven bits in a byte. A piece begins with `count << 2 | form`:
//! - [`DIGITS`]: `count` bytes of the base, whose hexadecimal digits are the frame's next half-bytes;
//! - [`PLAIN`]: `count` bytes in place of as many of the base;
//! - [`MOVED`]: how far the base goes on from here (the sign in the lowest bit), then `count` bytes.

use super::blocks::{different, in_common, nearby};
use super::digits;

/// The forms of a piece.
const DIGITS: usize = 0;
const PLAIN: usize = 1;
const MOVED: usize = 2;

/// The text of a sibling, ready to be written against.
pub(super) struct Sibling {
    text: Vec<u8>,
    /// For the hash of eight bytes that begin with a quote, one more than where they stand first; 0 for none. What a large
    /// text has beyond its first 64 KB is found only in order.
    places: Box<[u16]>,
}

impl Sibling {
    /// Makes a text ready.
    pub(super) fn of(text: Vec<u8>) -> Self {
        // Less than half of them are in use: every tenth byte or so is a quote, and many names occur more than once.
        let slots = (text.len() / 4).next_power_of_two().clamp(1 << 8, 1 << 15);
        let mut sibling = Self { text, places: vec![0; slots].into() };
        for quote in memchr::memchr_iter(b'"', &sibling.text) {
            let (Some(word), Ok(place)) = (word(&sibling.text, quote), u16::try_from(quote + 1)) else {
                break;
            };
            let slot = slot(&sibling.places, word);
            if sibling.places[slot] == 0 {
                sibling.places[slot] = place;
            }
        }
        sibling
    }

    /// The text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Appends the frame of a text; `false` when it would take more than this many bytes.
    pub(super) fn write(&self, text: &[u8], most: usize, frame: &mut Vec<u8>) -> bool {
        let most = frame.len() + most;
        number(text.len(), frame);
        let (mut at, mut base) = (0, 0);
        loop {
            let same = in_common(&text[at..], &self.text[base..]);
            number(same, frame);
            (at, base) = (at + same, base + same);
            if at == text.len() {
                return frame.len() <= most;
            }
            let piece = if let Some(count) = different(&text[at..], &self.text[base..]) {
                replace(&text[at..], &self.text[base..], count, frame);
                base += count;
                count
            } else {
                let Some((count, goes_on)) = self.resume(text, at, base, most.saturating_sub(frame.len()))
                else {
                    return false;
                };
                number(count << 2 | MOVED, frame);
                number(signed(base, goes_on), frame);
                append(&text[at..], count, frame);
                base = goes_on;
                count
            };
            at += piece;
            if frame.len() > most {
                return false;
            }
        }
    }

    /// The bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.text.len() + size_of_val(&*self.places)
    }

    /// How many bytes of the text stand by themselves, and where the base goes on behind them. Nothing where that would be
    /// more than there is room for.
    fn resume(&self, text: &[u8], at: usize, base: usize, room: usize) -> Option<(usize, usize)> {
        let rest = &text[at..];
        let within = rest.iter().take(room.saturating_add(1)).enumerate();
        for (count, byte) in within.filter(|(_, byte)| matches!(byte, b'"' | b',' | b'}' | b']')) {
            let Some(word) = word(text, at + count) else { break };
            if let Some(near) = nearby(&self.text[base..], word.to_le_bytes()) {
                return Some((count, base + near));
            }
            if *byte == b'"'
                && let Some(place) = self.place(word)
            {
                return Some((count, place));
            }
        }
        (rest.len() <= room).then_some((rest.len(), base))
    }

    /// Where these bytes, of which the first is a quote, stand first.
    fn place(&self, wanted: u64) -> Option<usize> {
        let place = usize::from(self.places[slot(&self.places, wanted)]).checked_sub(1)?;
        (word(&self.text, place) == Some(wanted)).then_some(place)
    }
}

/// What stands in place of the base's first bytes.
fn replace(text: &[u8], base: &[u8], count: usize, frame: &mut Vec<u8>) {
    let start = frame.len();
    number(count << 2 | DIGITS, frame);
    if !digits::write(text, base, count, frame) {
        frame.truncate(start);
        number(count << 2 | PLAIN, frame);
        append(text, count, frame);
    }
}

/// The text of a frame that was written against this base.
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

/// How long the text of a frame is.
pub(super) fn length(mut frame: &[u8]) -> Option<usize> {
    take_number(&mut frame)
}

/// Eight bytes from here on.
fn word(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn slot(places: &[u16], word: u64) -> usize {
    // The upper bits of a product depend on all bits of the word.
    let [.., low, high] = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    usize::from(u16::from_le_bytes([low, high])) & (places.len() - 1)
}

/// Appends the first bytes of a text. Few are copied as 16: how many are needed can't be foretold.
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

/// The way from one place to another: twice its length, and one more for the way back.
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
        assert!(Sibling::of(base.to_vec()).write(text, usize::MAX / 2, &mut frame));
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
        // The uid is 16 bytes, the time from the last digit of its day to that of its hours three halves.
        assert!(frame.len() <= 16 + 2 + 11, "{}: {frame:?}", frame.len());
    }

    #[test]
    fn what_came_and_went_is_found_again() {
        let base = br#"{"a":"one","labels":{"app":"web","tier":"front"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#;
        for (text, most) in [
            (&br#"{"a":"one","labels":{"app":"web"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#[..], 20),
            (br#"{"a":"one","labels":{"app":"web","release":"r5","tier":"front"},"nodeName":"n1","phase":"Running","zone":"eu-1"}"#, 30),
            (br#"{"a":"one","labels":{"app":"web","tier":"front"},"nodeName":"node-17","phase":"Running","zone":"eu-1"}"#, 20),
            (br#"{"nodeName":"n1","phase":"Running","zone":"eu-1"}"#, 14),
        ] {
            let length = frame(text, base).len();
            assert!(length <= most, "{length} bytes for {}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_text_that_is_unlike_is_given_up() {
        let base = Sibling::of(vec![b'x'; 1000]);
        let text: Vec<u8> = (0..1000).map(|_| fastrand::alphanumeric() as u8).collect();
        let quotes = vec![b'"'; 1000];
        for text in [text, quotes] {
            let mut frame = Vec::new();
            assert!(!base.write(&text, 250, &mut frame));
            assert!(frame.len() < 250);
        }
    }

    #[test]
    fn no_bound_is_too_small_to_be_heeded() {
        let base = Sibling::of(br#"{"a":"one","b":"two","c":"three"}"#.to_vec());
        let text = br#"{"a":"one","x":["new"],"b":"two","y":["newer"],"c":"three"}"#;
        for most in 0..60 {
            let mut frame = vec![7; 10];
            if base.write(text, most, &mut frame) {
                assert!(frame.len() - 10 <= most);
                assert_eq!(read(&frame[10..], &base.text).as_deref(), Some(&text[..]));
            }
        }
    }

    /// Texts of few words, so that much is alike, and a text that is made from one by cutting, pasting and other digits.
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
        fn a_broken_frame_is_refused_or_gives_another_text(
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
