//! A document in the memory of a writer, compressed: the `OpenAPI` documents of a server take megabytes, and are seldom needed.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// A level at which documents take a tenth of their length.
const LEVEL: i32 = 3;

/// The body of a document.
#[derive(Debug, Clone)]
pub(in crate::recording) enum Document {
    /// The compressed body, and its length.
    Compressed(Arc<[u8]>, usize),
    /// A body that is short or could not be compressed.
    Plain(Arc<[u8]>),
}

impl Document {
    pub(in crate::recording) fn new(body: &[u8]) -> Self {
        match zstd::bulk::compress(body, LEVEL) {
            Ok(compressed) if compressed.len() < body.len() => {
                Self::Compressed(compressed.into(), body.len())
            }
            _ => Self::Plain(body.into()),
        }
    }

    /// Returns the body.
    ///
    /// # Errors
    /// zstd has no memory.
    pub(in crate::recording) fn body(&self) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Compressed(compressed, len) => zstd::bulk::decompress(compressed, *len).map(Cow::Owned),
            Self::Plain(body) => Ok(Cow::Borrowed(body)),
        }
    }

    /// Returns whether this is its body.
    pub(in crate::recording) fn has_body(&self, body: &[u8]) -> bool {
        let len = match self {
            Self::Compressed(_, len) => *len,
            Self::Plain(body) => body.len(),
        };
        len == body.len() && self.body().is_ok_and(|own| own == body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_body() {
        for body in ["", "x", &"{\"paths\":{}}".repeat(10_000)] {
            let document = Document::new(body.as_bytes());
            assert_eq!(&*document.body().expect("a body"), body.as_bytes());
            assert!(document.has_body(body.as_bytes()) && !document.has_body(b"y"));
            let is_short =
                matches!(&document, Document::Compressed(bytes, _) if bytes.len() < body.len() / 10);
            assert_eq!(is_short, body.len() > 100);
        }
    }
}
