//! An endless stream → frames: `{"type": …, "object": …}`, one after the other.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::scan::Gatherer;
use super::{Fault, Limits, cut_off};
use crate::api::decode::malformed;
use crate::listwatch::Error;

/// Takes the top-level JSON objects out of a stream. Servers end each with a newline; none is needed.
#[derive(Debug)]
pub struct WatchSplitter {
    frame: Gatherer,
    offset: u64,
}

impl WatchSplitter {
    /// A splitter at the start of a stream.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { frame: Gatherer::new(limits), offset: 0 }
    }

    /// The next frame, or `None` when `input` is used up. Takes from the front of `input` what it has read.
    ///
    /// # Errors
    /// [`Error::Decode`] when something else than an object begins, or a frame is beyond the limits; the rest of the
    /// stream is then worthless.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Error> {
        let given = input.len();
        if !self.frame.is_inside() {
            *input = input.trim_ascii_start();
            if input.first().is_some_and(|first| *first != b'{') {
                let offset = self.offset + (given - input.len()) as u64;
                return Err(Fault::Expected("a watch event, which begins with {").at("watch stream", offset));
            }
        }
        let start = self.offset;
        let taken = self.frame.take(input);
        self.offset += (given - input.len()) as u64;
        taken.map_err(|fault| fault.at("watch stream", start))
    }

    /// The stream ended.
    ///
    /// # Errors
    /// [`Error::Transport`] when it ended inside a frame.
    pub fn finish(&self) -> Result<(), Error> {
        if self.frame.is_inside() { Err(cut_off("watch event", self.offset)) } else { Ok(()) }
    }
}

/// What a frame says of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameType {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

/// One frame, read as far as to its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchFrame<'a> {
    /// What happened.
    pub(crate) frame_type: FrameType,
    /// The JSON of what it happened to.
    pub(crate) object: &'a [u8],
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(rename = "type", borrow)]
    frame_type: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

impl FrameType {
    /// By the name that it has on the wire.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"ADDED" => Self::Added,
            b"MODIFIED" => Self::Modified,
            b"DELETED" => Self::Deleted,
            b"BOOKMARK" => Self::Bookmark,
            b"ERROR" => Self::Error,
            _ => return None,
        })
    }
}

impl<'a> WatchFrame<'a> {
    /// Cuts a frame that begins as servers write it, unread. The object is the right one if, and only if, it then
    /// reads as one JSON value.
    pub(crate) fn quick(frame: &'a [u8]) -> Option<Self> {
        let rest = frame.strip_prefix(br#"{"type":""#)?;
        let (name, rest) = rest.split_at_checked(memchr::memchr(b'"', rest)?)?;
        let object = rest.strip_prefix(br#"","object":"#)?.strip_suffix(b"}")?;
        Some(Self { frame_type: FrameType::named(name)?, object })
    }

    /// Reads a frame. Its object is valid JSON then, whatever it means.
    ///
    /// # Errors
    /// [`Error::Decode`] when it is not JSON, a member is missing, or the type is unknown: skipping that one could
    /// lose data.
    pub(crate) fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        let wire: Wire<'a> =
            serde_json::from_slice(frame).map_err(|error| malformed("watch event", &error))?;
        let frame_type = FrameType::named(wire.frame_type.as_bytes());
        let unknown = || Error::Decode("malformed watch event: its type is none of the API's".into());
        let frame_type = frame_type.ok_or_else(unknown)?;
        Ok(Self { frame_type, object: wire.object.get().as_bytes() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::api::frames::testing::{cut, document, text};

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
        fn frames_are_the_same_wherever_the_stream_is_cut(
            objects in prop::collection::vec(document(), 0..6),
            pretty: bool,
            gap in "[ \\n\\r\\t]{0,2}",
            cuts in prop::collection::vec(0usize..4000, 0..20),
        ) {
            let wanted: Vec<_> = objects.iter().map(|object| serde_json::json!({"type": "ADDED", "object": object})).collect();
            let body: String = wanted.iter().map(|frame| text(frame, pretty) + &gap).collect();
            let found = frames(body.as_bytes(), &cuts).expect("frames");
            prop_assert_eq!(found.len(), wanted.len());
            for (found, wanted) in found.iter().zip(&objects) {
                let frame = WatchFrame::parse(found).expect("a frame");
                prop_assert_eq!(frame.frame_type, FrameType::Added);
                let object: serde_json::Value = serde_json::from_slice(frame.object).expect("an object");
                prop_assert_eq!(&object, wanted);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(body: Vec<u8>, braces in "[{}\\[\\]\",:\\\\a1 ]{0,60}", cuts in prop::collection::vec(0usize..100, 0..9)) {
            for body in [&body[..], braces.as_bytes()] {
                for frame in frames(body, &cuts).unwrap_or_default() {
                    let _ = WatchFrame::parse(&frame);
                }
            }
        }
    }

    #[test]
    fn a_stream_may_end_between_frames_and_nowhere_else() {
        assert_eq!(frames(b"{}\n{} \n", &[]).expect("frames").len(), 2);
        let error = frames(b"{}\n{\"type\":", &[]).expect_err("cut off");
        assert!(matches!(&error, Error::Transport(text) if text.contains("after 11 bytes")), "{error}");
    }

    #[test]
    fn a_quote_or_a_bracket_that_got_lost_is_noticed_with_the_next_frame() {
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
    fn garbage_is_named_by_its_place_and_never_shown() {
        for (body, place) in [("{}{} secret", "byte 5"), ("<html>", "byte 0"), ("{}\n\"secret\"", "byte 3")] {
            let error = frames(body.as_bytes(), &[1, 2]).expect_err(body).to_string();
            assert!(error.contains(place) && !error.contains("secret") && !error.contains("html"), "{error}");
        }
    }

    #[test]
    fn a_frame_beyond_the_limits_ends_the_stream() {
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
    fn an_unknown_type_and_a_missing_member_are_refused() {
        for frame in [
            r#"{"type":"RENAMED","object":{}}"#,
            r#"{"type":"ADDED"}"#,
            r#"{"object":{}}"#,
            "{}",
            r#"{"type":7}"#,
        ] {
            assert!(matches!(WatchFrame::parse(frame.as_bytes()), Err(Error::Decode(_))), "{frame}");
        }
    }
}
