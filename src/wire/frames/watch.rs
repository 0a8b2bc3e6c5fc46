//! Splits an endless stream into frames: `{"type": …, "object": …}`, one after the other.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scan::{KEPT_CAPACITY, ValueBuffer};
use super::{Fault, Limits, PLAIN_DEPTH, cut_off};
use crate::listwatch::Error;
use crate::wire::malformed::malformed;

/// Splits a stream into its top-level JSON objects. Servers end each with a newline, which is not required.
#[derive(Debug)]
pub struct WatchSplitter {
    frame: ValueBuffer,
    offset: u64,
    line: Line,
    limits: Limits,
}

/// The state of a line that has not ended.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    /// Whether the frame before ended with a newline. If not, the next one may end without, and must not wait for
    /// one.
    is_expected: bool,
    /// Whether the line is not in the form that servers write, and is scanned byte by byte from its start.
    is_scanned: bool,
    /// The number of bytes that have been scanned.
    followed: usize,
}

/// The result of reading a line.
enum LineResult<T> {
    /// The line was decoded.
    Read(T),
    /// The line has not ended.
    Incomplete,
    /// The line is not in the form that servers write.
    NotPlain,
}

impl WatchSplitter {
    /// Returns a splitter at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { frame: ValueBuffer::new(limits), offset: 0, line: Line::default(), limits }
    }

    /// Decodes the next frame, or returns `None` when `input` is used up.
    ///
    /// Servers write one frame per line. The next line goes to `plain` without a search for the frame's end; `plain`
    /// must return `None` unless the line is one JSON value to its last byte. A line that `plain` refuses is scanned
    /// to the frame's end as by [`WatchSplitter::next`] and goes to `any`; so do a frame that follows one without a
    /// newline, and input that ends in a brace, since the frame may be complete.
    ///
    /// # Errors
    /// As [`WatchSplitter::next`], and the errors of `any`.
    pub(crate) fn read<T>(
        &mut self,
        input: &mut &[u8],
        plain: impl FnOnce(&[u8]) -> Option<T>,
        any: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        if !self.line.is_scanned {
            match self.line(input, plain) {
                LineResult::Read(event) => return Ok(Some(event)),
                LineResult::Incomplete => return Ok(None),
                LineResult::NotPlain => (self.line.is_scanned, self.line.is_expected) = (true, false),
            }
        }
        if !self.line.bytes.is_empty() {
            let mut start = &self.line.bytes[self.line.followed..];
            let frame = step(&mut self.frame, &mut self.offset, &mut start)?;
            self.line.followed = self.line.bytes.len() - start.len();
            if let Some(frame) = frame {
                return any(frame).map(Some);
            }
            self.line.clear();
        }
        let event = step(&mut self.frame, &mut self.offset, input)?.map(any).transpose()?;
        self.line.is_scanned = self.frame.is_inside();
        Ok(event)
    }

    /// Decodes the line that ends in `input`, or adds `input` to it.
    fn line<T>(&mut self, input: &mut &[u8], plain: impl FnOnce(&[u8]) -> Option<T>) -> LineResult<T> {
        let line = &mut self.line.bytes;
        if line.is_empty() {
            let given = input.len();
            let (gap, rest) = input.split_at(given - input.trim_ascii_start().len());
            *input = rest;
            self.offset += gap.len() as u64;
            self.line.is_expected |= gap.contains(&b'\n');
            if !self.line.is_expected {
                return LineResult::NotPlain;
            }
        }
        let first = line.first().or(input.first());
        let longest = self.limits.frame.saturating_sub(line.len());
        if first.is_some_and(|first| *first != b'{')
            || self.limits.depth < PLAIN_DEPTH
            || input.len() > longest
        {
            return LineResult::NotPlain;
        }
        let Some(end) = memchr::memchr(b'\n', input) else {
            if input.trim_ascii_end().ends_with(b"}") {
                return LineResult::NotPlain;
            }
            line.extend_from_slice(input);
            *input = &[];
            return LineResult::Incomplete;
        };
        let started = line.len();
        let whole = if started == 0 {
            &input[..end]
        } else {
            line.extend_from_slice(&input[..end]);
            &line[..]
        };
        let Some(event) = plain(whole) else {
            line.truncate(started);
            return LineResult::NotPlain;
        };
        self.offset += (started + end + 1) as u64;
        *input = &input[end + 1..];
        self.line.clear();
        LineResult::Read(event)
    }

    /// Returns the next frame, or `None` when `input` is used up. Removes from the front of `input` what it has read.
    ///
    /// # Errors
    /// [`Error::Decode`] when anything but an object begins, or a frame exceeds the limits; the rest of the stream is
    /// then unusable.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Error> {
        step(&mut self.frame, &mut self.offset, input)
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`Error::Transport`] when it ended inside a frame.
    pub fn finish(&self) -> Result<(), Error> {
        let unfollowed = self.line.bytes.len() - self.line.followed;
        if self.frame.is_inside() || unfollowed > 0 {
            return Err(cut_off("watch event", self.offset + unfollowed as u64));
        }
        Ok(())
    }
}

impl Line {
    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_CAPACITY);
        self.followed = 0;
    }
}

/// Scans a frame to its end, or to that of `input`.
fn step<'s, 'i: 's>(
    frame: &'s mut ValueBuffer,
    offset: &mut u64,
    input: &mut &'i [u8],
) -> Result<Option<&'s [u8]>, Error> {
    let given = input.len();
    if !frame.is_inside() {
        *input = input.trim_ascii_start();
        if input.first().is_some_and(|first| *first != b'{') {
            let offset = *offset + (given - input.len()) as u64;
            return Err(Fault::Expected("a watch event, which begins with {").at("watch stream", offset));
        }
    }
    let start = *offset;
    let taken = frame.take(input);
    *offset += (given - input.len()) as u64;
    taken.map_err(|fault| fault.at("watch stream", start))
}

/// One frame with its object unparsed.
#[derive(Debug, Clone)]
pub(crate) struct WatchFrame<'a> {
    /// The type of the event on the wire, such as `ADDED`.
    pub(crate) event_type: Cow<'a, str>,
    /// The JSON of the object.
    pub(crate) object: &'a [u8],
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow)]
    event_type: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

impl<'a> WatchFrame<'a> {
    /// Cuts the object from a frame in the form that servers write, without parsing. The object is the right one if,
    /// and only if, it then parses as one JSON value.
    pub(crate) fn quick(frame: &'a [u8]) -> Option<Self> {
        let rest = frame.strip_prefix(br#"{"type":""#)?;
        let (name, rest) = rest.split_at_checked(memchr::memchr(b'"', rest)?)?;
        let object = rest.strip_prefix(br#"","object":"#)?.strip_suffix(b"}")?;
        Some(Self { event_type: Cow::Borrowed(std::str::from_utf8(name).ok()?), object })
    }

    /// Parses a frame. Its object is valid JSON.
    ///
    /// # Errors
    /// [`Error::Decode`] when the frame is not JSON, or a member is missing.
    pub(crate) fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        let wire: Wire<'a> =
            serde_json::from_slice(frame).map_err(|error| malformed("watch event", &error))?;
        Ok(Self { event_type: wire.event_type, object: wire.object.get().as_bytes() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::frames::testing::{cut, document, text};

    fn frames(body: &[u8], cuts: &[usize]) -> Result<Vec<Vec<u8>>, Error> {
        let mut splitter = WatchSplitter::new(Limits::default());
        let mut frames = Vec::new();
        for mut chunk in cut(body, cuts) {
            while let Some(frame) = splitter.next(&mut chunk)? {
                frames.push(frame.to_vec());
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        splitter.finish()?;
        Ok(frames)
    }

    proptest! {
        #[test]
        fn frames_do_not_depend_on_cuts(
            objects in prop::collection::vec(document(), 0..6),
            pretty: bool,
            gap in "[ \\n\\r\\t]{0,2}",
            cuts in prop::collection::vec(0usize..4000, 0..20),
        ) {
            let expected: Vec<_> = objects.iter().map(|object| serde_json::json!({"type": "ADDED", "object": object})).collect();
            let body: String = expected.iter().map(|frame| text(frame, pretty) + &gap).collect();
            let found = frames(body.as_bytes(), &cuts).expect("frames");
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&objects) {
                let frame = WatchFrame::parse(found).expect("a frame");
                prop_assert_eq!(frame.event_type, "ADDED");
                let object: serde_json::Value = serde_json::from_slice(frame.object).expect("an object");
                prop_assert_eq!(&object, expected);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>, braces in "[{}\\[\\]\",:\\\\a1 ]{0,60}", cuts in prop::collection::vec(0usize..100, 0..9)) {
            for body in [&body[..], braces.as_bytes()] {
                for frame in frames(body, &cuts).unwrap_or_default() {
                    let _ = WatchFrame::parse(&frame);
                }
            }
        }
    }

    /// Reads a stream line by line. A line counts as plain when it is JSON without an `x`.
    fn read(body: &[u8], cuts: &[usize], limits: Limits) -> (Vec<Vec<u8>>, bool) {
        let mut splitter = WatchSplitter::new(limits);
        let mut read = Vec::new();
        let is_plain = |line: &[u8]| {
            !line.contains(&b'x') && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
        };
        for mut chunk in cut(body, cuts) {
            loop {
                let plain = |line: &[u8]| is_plain(line).then(|| line.to_vec());
                match splitter.read(&mut chunk, plain, |frame| Ok(frame.to_vec())) {
                    Ok(Some(frame)) => read.push(frame),
                    Ok(None) => break,
                    Err(_) => return (read, false),
                }
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        (read, splitter.finish().is_ok())
    }

    proptest! {
        #[test]
        fn plain_lines_equal_frames(
            objects in prop::collection::vec((document(), any::<bool>(), "[ \\n\\r\\t]{0,2}"), 0..6),
            lost in prop::option::of(any::<prop::sample::Index>()),
            cuts in prop::collection::vec(0usize..2000, 0..20),
        ) {
            let frame = |(object, pretty, gap): &(_, bool, String)| {
                text(&serde_json::json!({"type": "ADDED", "object": object}), *pretty) + gap
            };
            let mut body: String = objects.iter().map(frame).collect();
            if let Some(lost) = lost.filter(|_| !body.is_empty()) {
                let at = lost.index(body.len());
                let at = (0..=at).rev().find(|at| body.is_char_boundary(*at)).unwrap_or_default();
                body.remove(at);
            }
            let limits = Limits { frame: 600, ..Limits::default() };
            let mut splitter = WatchSplitter::new(limits);
            let (mut expected, mut rest, mut sound) = (Vec::new(), body.as_bytes(), true);
            loop {
                match splitter.next(&mut rest) {
                    Ok(Some(frame)) => expected.push(frame.to_vec()),
                    Ok(None) => break,
                    Err(_) => { sound = false; break }
                }
            }
            sound &= splitter.finish().is_ok();
            let (found, is_sound) = read(body.as_bytes(), &cuts, limits);
            prop_assert_eq!(is_sound, sound, "{}", body);
            // Frames before a fault in the same line may be returned or not: the stream is unusable from there on.
            let found: Vec<_> = found.iter().map(|frame| frame.trim_ascii()).collect();
            let expected: Vec<_> = expected.iter().map(|frame| frame.trim_ascii()).collect();
            prop_assert!(if sound { found == expected } else { expected.starts_with(&found) }, "{}", body);
        }
    }

    #[test]
    fn complete_frame_is_read_with_or_without_newline() {
        for (chunks, expected) in [
            (&["{\"a\":1}"][..], &[1][..]),
            (&["{\"a\":1}\n", "{\"a\"", ":2}"], &[1, 0, 1]),
            (&["{\"a\":1}{\"a\"", ":2}"], &[1, 1]),
            (&["{\"a\":", "1}\n{\"a\":2}\n{\"b\"", ":3}\n"], &[0, 2, 1]),
            (&["{\n\"a\":", "1\n}{\"x\":2}"], &[0, 2]),
        ] {
            let mut splitter = WatchSplitter::new(Limits::default());
            for (chunk, expected) in chunks.iter().zip(expected) {
                let mut rest = chunk.as_bytes();
                let mut count = 0;
                let plain = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).ok().map(drop);
                while splitter.read(&mut rest, plain, |_| Ok(())).expect("frames").is_some() {
                    count += 1;
                }
                assert_eq!(count, *expected, "{chunks:?}");
            }
            splitter.finish().expect("whole frames");
        }
    }

    #[test]
    fn endless_line_is_refused_at_the_limit() {
        let mut splitter = WatchSplitter::new(Limits { frame: 100, depth: 512 });
        let mut chunks = std::iter::once(b"\n{\"a\":\"".as_slice())
            .chain(std::iter::repeat_n(b"aaaaaaaaaaaaaaaa".as_slice(), 20));
        let refused =
            chunks.find_map(|mut chunk| splitter.read(&mut chunk, |_| None::<()>, |_| Ok(())).err());
        assert!(matches!(refused, Some(Error::Decode(_))), "{refused:?}");
        assert!(splitter.line.bytes.len() <= 100);
    }

    #[test]
    fn stream_may_end_only_between_frames() {
        assert_eq!(frames(b"{}\n{} \n", &[]).expect("frames").len(), 2);
        let error = frames(b"{}\n{\"type\":", &[]).expect_err("cut off");
        assert!(
            matches!(&error, Error::Transport(failure) if failure.message.contains("after 11 bytes")),
            "{error}"
        );
    }

    #[test]
    fn missing_quote_or_bracket_is_noticed_at_the_next_frame() {
        let next = r#"{"type":"ADDED","object":{"a":[]}}"#;
        for broken in [
            r#"{"type":"ADDED_,"object":{"a":[]}}"#,
            r#"{"type":"ADDED","object":{"a":[]}"#,
            r#"{"type":"ADDED","object":{{"a":[]}}"#,
            r#"{"type":"ADDED","object":{"a":[[]}}"#,
        ] {
            for cut in 0..broken.len() + 4 {
                let body = format!("{broken}\n{next}\n");
                let error = frames(body.as_bytes(), &[cut]).expect_err(broken);
                assert!(matches!(error, Error::Decode(_)), "{broken} cut at {cut}: {error}");
            }
        }
    }

    #[test]
    fn garbage_is_reported_by_position_and_never_shown() {
        for (body, place) in [("{}{} secret", "byte 5"), ("<html>", "byte 0"), ("{}\n\"secret\"", "byte 3")] {
            let error = frames(body.as_bytes(), &[1, 2]).expect_err(body).to_string();
            assert!(error.contains(place) && !error.contains("secret") && !error.contains("html"), "{error}");
        }
    }

    #[test]
    fn frame_beyond_the_limits_ends_the_stream() {
        let limits = Limits { frame: 20, depth: 3 };
        for body in [r#"{"a":"0123456789abcdef"}"#, r#"{"a":[[[1]]]}"#, r#"{"a":"0123456789abcdef0123"#] {
            for size in [1, 7, 100] {
                let mut splitter = WatchSplitter::new(limits);
                let error =
                    body.as_bytes().chunks(size).find_map(|mut chunk| splitter.next(&mut chunk).err());
                assert!(matches!(error, Some(Error::Decode(_))), "{body} {size}: {error:?}");
            }
        }
    }

    #[test]
    fn missing_member_is_an_error() {
        for frame in [r#"{"type":"ADDED"}"#, r#"{"object":{}}"#, "{}", r#"{"type":7}"#] {
            assert!(matches!(WatchFrame::parse(frame.as_bytes()), Err(Error::Decode(_))), "{frame}");
        }
    }
}
