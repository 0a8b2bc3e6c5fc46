//! Search for texts in a chunked stream.

use memchr::memmem;

/// Searches for one text, which may span two chunks.
pub(crate) struct Finder {
    text: memmem::Finder<'static>,
    /// The end of the previous chunks, one byte shorter than the text.
    tail: Vec<u8>,
}

impl Finder {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text: memmem::Finder::new(text), tail: Vec::new() }
    }

    /// Returns whether the text ends within this chunk.
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

/// Extracts the short string values of one field from a stream of JSON, indented or not.
pub(crate) struct Values {
    name: memmem::Finder<'static>,
    /// An undecided end: a name or value that the chunk cut.
    rest: Vec<u8>,
}

/// The maximum length of a name, a space and a value.
const LONGEST: usize = 96;

impl Values {
    /// Returns an extractor for this name, including its quotes and its colon.
    pub(crate) fn of(name: &'static str) -> Self {
        Self { name: memmem::Finder::new(name), rest: Vec::new() }
    }

    /// Calls `each` with the values that end within this chunk.
    pub(crate) fn in_chunk(&mut self, chunk: &[u8], mut each: impl FnMut(&str)) {
        self.rest.extend_from_slice(chunk);
        let mut done = 0;
        while let Some(at) = self.name.find(&self.rest[done..]) {
            let after = at + self.name.needle().len();
            let value = &self.rest[done + after..];
            let text = value.trim_ascii_start().strip_prefix(b"\"");
            let Some(text) = text.and_then(|text| memchr::memchr(b'"', text).map(|end| &text[..end])) else {
                if value.len() < LONGEST {
                    done += at;
                    break;
                }
                done += after;
                continue;
            };
            each(std::str::from_utf8(text).unwrap_or_default());
            done += after;
        }
        let kept = self.rest.len().saturating_sub(LONGEST).max(done);
        self.rest.drain(..kept);
    }
}
