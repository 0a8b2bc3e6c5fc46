//! Texts found in a stream that comes in chunks.

use memchr::memmem;

/// Looks for one text, which may lie across the border of two chunks.
pub(crate) struct Finder {
    text: memmem::Finder<'static>,
    /// The end of what came before, one byte shorter than the text.
    tail: Vec<u8>,
}

impl Finder {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text: memmem::Finder::new(text), tail: Vec::new() }
    }

    /// Whether the text ends within this chunk.
    pub(crate) fn sees(&mut self, chunk: &[u8]) -> bool {
        let length = self.text.needle().len();
        let border = chunk.len().min(length - 1);
        self.tail.extend_from_slice(&chunk[..border]);
        let seen = self.text.find(&self.tail).is_some() || self.text.find(chunk).is_some();
        self.tail.extend_from_slice(&chunk[border..][(chunk.len() - border).saturating_sub(length)..]);
        let surplus = self.tail.len().saturating_sub(length - 1);
        self.tail.drain(..surplus);
        seen
    }
}

/// Takes the values of the annotation that says when a write was sent out of a stream of JSON, indented or not.
pub(crate) struct SentTimes {
    finder: memmem::Finder<'static>,
    /// What is not yet decided: a name or value that the chunk cut.
    rest: Vec<u8>,
}

const NAME: &str = "\"testbed/sent\":";
/// A name, a space and a value are never longer.
const LONGEST: usize = NAME.len() + 64;

impl SentTimes {
    pub(crate) fn new() -> Self {
        Self { finder: memmem::Finder::new(NAME), rest: Vec::new() }
    }

    /// The values that end within this chunk.
    pub(crate) fn in_chunk(&mut self, chunk: &[u8], mut each: impl FnMut(&str)) {
        self.rest.extend_from_slice(chunk);
        let mut done = 0;
        while let Some(at) = self.finder.find(&self.rest[done..]) {
            let value = &self.rest[done + at + NAME.len()..];
            let text = value.trim_ascii_start().strip_prefix(b"\"");
            let Some(text) = text.and_then(|text| memchr::memchr(b'"', text).map(|end| &text[..end])) else {
                if value.len() < LONGEST {
                    done += at;
                    break;
                }
                done += at + NAME.len();
                continue;
            };
            each(std::str::from_utf8(text).unwrap_or_default());
            done += at + NAME.len();
        }
        let kept = self.rest.len().saturating_sub(LONGEST).max(done);
        self.rest.drain(..kept);
    }
}
