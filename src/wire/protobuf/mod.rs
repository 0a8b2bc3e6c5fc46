//! Protocol Buffers as a Kubernetes server writes them, as far as the metadata of objects and its watch take.
//!
//! Fields are read where they stand: nothing is copied, what nobody asks for (managedFields, more than half of most
//! objects' metadata) is stepped over unread, and nothing is nested deeper than the few messages named here. The fields
//! are those of `k8s.io/apimachinery/pkg/apis/meta/v1`, whose numbers never change.

mod event;
mod meta;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use event::{ProtobufEvent, TypeName, bookmark, event, status_json, type_name};
pub(crate) use meta::{json, list_meta, names};

use std::borrow::Cow;

use crate::listwatch::Error;

/// What a message of a Kubernetes server begins with; an envelope follows that says what is inside.
pub(crate) const MAGIC: &[u8; 4] = b"k8s\0";

/// The media type, without parameters.
const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Whether an answer of this `Content-Type` is written so.
pub(crate) fn is_media_type(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(MEDIA_TYPE))
}

/// Bytes that are no message, or not the one that was expected. What they are instead is never said.
fn malformed(what: &str) -> Error {
    Error::Decode(format!("malformed protobuf: {what}"))
}

/// A number of seven bits in each byte, the last without the eighth. Answers nothing where it is cut off or beyond 64
/// bits.
fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = input.split_first()?;
        *input = rest;
        let bits = u64::from(first & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'a> {
    Number(u64),
    /// A text, bytes, or a message.
    Bytes(&'a [u8]),
    /// Four or eight bytes, which no field named here has.
    Fixed,
}

impl<'a> Value<'a> {
    fn bytes(self) -> Result<&'a [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(malformed("a field is of another type than the API's")),
        }
    }

    /// A text. A server does not look whether it is UTF-8 when one is written; where it is not, each byte that does not
    /// belong becomes one sign that says so, as in the JSON of the same server.
    fn text(self) -> Result<Cow<'a, str>, Error> {
        let bytes = self.bytes()?;
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
        }
        Ok(Cow::Owned(text))
    }

    fn number(self) -> Result<i64, Error> {
        match self {
            // Two's complement: that is how a negative number is written.
            Self::Number(number) => Ok(number.cast_signed()),
            _ => Err(malformed("a field is of another type than the API's")),
        }
    }
}

/// The fields of a message in the order they stand there.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = varint(&mut self.0)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => self.cut(8).map(|_| Value::Fixed)?,
            2 => {
                let length = varint(&mut self.0)?;
                Value::Bytes(self.cut(usize::try_from(length).ok()?)?)
            }
            5 => self.cut(4).map(|_| Value::Fixed)?,
            // Groups were given up before Kubernetes was.
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    fn cut(&mut self, length: usize) -> Option<&'a [u8]> {
        let (cut, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(cut)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or_else(|| malformed("a field is cut off")))
    }
}

/// The last field of that number that holds bytes: what a message counts as where it is there more than once.
fn member(message: &[u8], number: u64) -> Result<Option<&[u8]>, Error> {
    let mut found = None;
    for field in Fields(message) {
        match field? {
            (at, value) if at == number => found = Some(value.bytes()?),
            _ => {}
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::testing::written;
    use super::*;

    #[test]
    fn numbers_have_at_most_64_bits() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let bytes = written(value);
            assert_eq!(varint(&mut &bytes[..]), Some(value));
            assert_eq!(varint(&mut &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(varint(&mut &[&[0xff; 9][..], &[2]].concat()[..]), None);
        assert_eq!(varint(&mut &[0x80; 11][..]), None);
    }

    #[test]
    fn what_is_not_utf_8_in_a_text_is_replaced_byte_by_byte() {
        // The beginnings of characters of two, three and four bytes, as where a text was cut.
        for (bytes, wanted) in [
            (&b"caf\xc3\xa9"[..], "caf\u{e9}"),
            (b"caf\xc3", "caf\u{fffd}"),
            (b"\xe2\x82", "\u{fffd}\u{fffd}"),
            (b"\xf0\x9f\x98!", "\u{fffd}\u{fffd}\u{fffd}!"),
            (b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(Value::Bytes(bytes).text().unwrap(), wanted);
        }
    }

    #[test]
    fn the_media_type_is_told_by_its_name() {
        assert!(is_media_type("application/vnd.kubernetes.protobuf"));
        assert!(is_media_type("application/vnd.kubernetes.protobuf;stream=watch"));
        assert!(!is_media_type("application/json"));
    }
}
