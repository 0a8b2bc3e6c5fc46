//! Protocol Buffers as a Kubernetes server writes them, limited to the metadata of objects and their watch events.
//!
//! Fields are read in place: nothing is copied, unused fields (managedFields, more than half of most objects'
//! metadata) are skipped, and nesting is bounded by the few messages named here. The fields are those of
//! `k8s.io/apimachinery/pkg/apis/meta/v1`, whose numbers never change.

mod event;
mod meta;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use event::{ProtobufEvent, TypeName, bookmark, event, status_json, type_name};
pub(crate) use meta::{json, list_meta, names};

use std::borrow::Cow;

use crate::listwatch::Error;

/// The start of every message of a Kubernetes server; an envelope with the type follows.
pub(crate) const MAGIC: &[u8; 4] = b"k8s\0";

/// The media type, without parameters.
const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Returns whether this `Content-Type` is that of Protocol Buffers.
pub(crate) fn is_media_type(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(MEDIA_TYPE))
}

/// The error of bytes that are not the expected message. It shows none of them.
fn malformed(what: &str) -> Error {
    Error::Decode(format!("malformed protobuf: {what}"))
}

/// Reads a number of seven bits per byte, the last without the eighth bit. Returns `None` if it is cut off or exceeds
/// 64 bits.
#[inline(always)]
fn varint(input: &mut &[u8]) -> Option<u64> {
    // Most numbers have one byte.
    if let [byte @ ..0x80, rest @ ..] = *input {
        *input = rest;
        return Some(u64::from(*byte));
    }
    long_varint(input)
}

/// Reads a number as [`varint`] does.
fn long_varint(input: &mut &[u8]) -> Option<u64> {
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

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Number(u64),
    /// A string, bytes, or a message.
    Bytes(&'a [u8]),
    /// Four or eight bytes, which no known field has.
    Fixed(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(self) -> Result<&'a [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(malformed("a field is of another type than the API's")),
        }
    }

    /// Returns a string. Servers do not check for UTF-8 when they write one; each invalid byte becomes one
    /// replacement character, as in the JSON of the same server.
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
            // Negative numbers are written in two's complement.
            Self::Number(number) => Ok(number.cast_signed()),
            _ => Err(malformed("a field is of another type than the API's")),
        }
    }
}

/// The fields of a message in their order, each with its number.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = varint(&mut self.0)?;
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut self.0)?),
            1 => Value::Fixed(self.cut(8)?),
            2 => {
                let length = varint(&mut self.0)?;
                Value::Bytes(self.cut(usize::try_from(length).ok()?)?)
            }
            5 => Value::Fixed(self.cut(4)?),
            // Groups were deprecated before Kubernetes existed.
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

/// Returns the last bytes field with that number: of repeated fields the last one counts.
pub(crate) fn member(message: &[u8], number: u64) -> Result<Option<&[u8]>, Error> {
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
    fn invalid_utf_8_is_replaced_byte_by_byte() {
        // The first bytes of characters of two, three and four bytes, as in a text that was cut.
        for (bytes, expected) in [
            (&b"caf\xc3\xa9"[..], "caf\u{e9}"),
            (b"caf\xc3", "caf\u{fffd}"),
            (b"\xe2\x82", "\u{fffd}\u{fffd}"),
            (b"\xf0\x9f\x98!", "\u{fffd}\u{fffd}\u{fffd}!"),
            (b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(Value::Bytes(bytes).text().unwrap(), expected);
        }
    }

    #[test]
    fn media_type_is_recognized_by_name() {
        assert!(is_media_type("application/vnd.kubernetes.protobuf"));
        assert!(is_media_type("application/vnd.kubernetes.protobuf;stream=watch"));
        assert!(!is_media_type("application/json"));
    }
}
