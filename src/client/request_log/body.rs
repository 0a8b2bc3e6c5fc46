//! The log of a body: its beginning or the whole, and each event of a watch as it arrives.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tracing::{Level, enabled, trace};

use super::targets::{BODY, RESPONSE};
use crate::client::redaction::Redaction;
use crate::wire::protobuf;

/// The part of a body that is shown with the head of its response, in bytes.
const BEGINNING: usize = 1024;
/// The part of a body, or of one event, that is shown at most, in bytes; of a binary one less, since its dump is longer.
const WHOLE: usize = 1 << 20;
const WHOLE_BINARY: usize = 1 << 16;

/// The log of one response's body. At most one event of a watch waits for its end.
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
pub(crate) struct BodyLog {
    title: String,
    redaction: Redaction,
    is_binary: bool,
    /// Whether the body is a sequence of events, which are logged one by one.
    is_watch: bool,
    /// Whether more than the beginning is shown.
    is_whole: bool,
    /// The size up to which bytes are kept: of the body, or of the present event.
    limit: usize,
    kept: Vec<u8>,
    /// The size of the body, or of the present event.
    size: u64,
    is_ended: bool,
}

impl BodyLog {
    pub(super) fn new(title: String, headers: &HeaderMap, redaction: Redaction, is_watch: bool) -> Self {
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_binary = media_type.is_some_and(protobuf::is_media_type);
        let is_whole = enabled!(target: BODY, Level::TRACE);
        let limit = match (is_whole, is_binary) {
            (false, _) => BEGINNING,
            (true, false) => WHOLE,
            (true, true) => WHOLE_BINARY,
        };
        let (kept, size, is_ended) = (Vec::new(), 0, false);
        Self { title, redaction, is_binary, is_watch, is_whole, limit, kept, size, is_ended }
    }

    /// Adds the next bytes.
    pub(crate) fn chunk(&mut self, chunk: &Bytes) {
        if !self.is_watch {
            self.keep(chunk);
            return;
        }
        // The frames of a binary watch have no separator.
        if self.is_binary {
            self.keep(chunk);
            self.event();
            return;
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            self.keep(piece);
            if piece.ends_with(b"\n") {
                self.event();
            }
        }
    }

    /// Logs the rest, after the last chunk.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        if !self.is_watch {
            self.log("body", true);
        } else if self.size > 0 {
            self.event();
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.size += bytes.len() as u64;
    }

    /// Logs the event that has ended. Without `is_whole`, the first events share the size of a beginning.
    fn event(&mut self) {
        if self.limit == 0 {
            return;
        }
        self.log("event", true);
        if !self.is_whole {
            self.limit = self.limit.saturating_sub(self.kept.len());
            if self.limit == 0 {
                trace!(target: RESPONSE, "{} further events are not shown", self.title);
            }
        }
        (self.kept, self.size) = (Vec::new(), 0);
    }

    fn log(&self, noun: &str, is_complete: bool) {
        let (title, size) = (&self.title, self.size);
        let is_cut = size > self.kept.len() as u64;
        let part = if is_cut { format!("the first {} of ", self.kept.len()) } else { String::new() };
        let text = self.text(is_cut || !is_complete);
        if self.is_whole {
            trace!(target: BODY, "{title} {noun}, {part}{size} bytes:\n{text}");
        } else {
            trace!(target: RESPONSE, "{title} {noun}, {part}{size} bytes:\n{text}");
        }
    }

    /// Returns the kept bytes as text without credentials.
    fn text(&self, is_cut: bool) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        // The cut may split a character.
        let text = if is_cut { text.trim_end_matches(char::REPLACEMENT_CHARACTER) } else { &text };
        let masked = self.redaction.apply(text);
        if self.is_binary {
            // The columns of a dump would hide a credential from the mask.
            return if masked == text { dump(&self.kept) } else { "(it repeats a credential)".to_owned() };
        }
        let end = if is_cut { masked.len() - self.redaction.cut_credential(&masked) } else { masked.len() };
        masked[..end].to_owned()
    }
}

/// A body that is not read to its end.
impl Drop for BodyLog {
    fn drop(&mut self) {
        if !self.is_ended && self.size > 0 {
            self.log(if self.is_watch { "event" } else { "body, not read to its end" }, false);
        }
    }
}

/// Returns bytes in hexadecimal and as text, 16 on each line.
fn dump(bytes: &[u8]) -> String {
    let line = |(number, bytes): (usize, &[u8])| {
        let numbers: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes
            .iter()
            .map(|byte| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' })
            .collect();
        format!("{:08x}  {:<47}  |{text}|", number * 16, numbers.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_body_is_dumped() {
        assert_eq!(
            dump(b"k8s\0\n\x0b\n\x02v1\x12\x05Table"),
            "00000000  6b 38 73 00 0a 0b 0a 02 76 31 12 05 54 61 62 6c  |k8s.....v1..Tabl|\n\
             00000010  65                                               |e|"
        );
    }
}
