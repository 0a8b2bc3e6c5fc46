//! JSON text as Go's encoder writes it.

use super::JsonValue;
use wide::u8x16;

use super::float::format_json_float;
use crate::object::json::zero_if_special;

impl JsonValue<'_> {
    /// Appends the value as `json.Marshal` writes it: without white space, with sorted keys and Go's escapes.
    pub fn write_compact(&self, out: &mut Vec<u8>) {
        match self {
            Self::Array(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    out.extend(if at == 0 { &b""[..] } else { b"," });
                    item.write_compact(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (at, (key, member)) in members.iter().enumerate() {
                    out.extend(if at == 0 { &b""[..] } else { b"," });
                    string(key, out);
                    out.push(b':');
                    member.write_compact(out);
                }
                out.push(b'}');
            }
            scalar => scalar.write_scalar(out),
        }
    }

    /// Appends the value as kubectl prints JSON: indented by four spaces, starting in a line that is indented `depth`
    /// times, with sorted keys and Go's escapes.
    pub fn write_indented(&self, depth: usize, out: &mut Vec<u8>) {
        match self {
            Self::Array(items) if items.is_empty() => out.extend(b"[]"),
            Self::Object(members) if members.is_empty() => out.extend(b"{}"),
            Self::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    out.push(if at == 0 { b'[' } else { b',' });
                    new_line(depth + 1, out);
                    item.write_indented(depth + 1, out);
                }
                new_line(depth, out);
                out.push(b']');
            }
            Self::Object(members) => {
                for (at, (key, member)) in members.iter().enumerate() {
                    out.push(if at == 0 { b'{' } else { b',' });
                    new_line(depth + 1, out);
                    string(key, out);
                    out.extend(b": ");
                    member.write_indented(depth + 1, out);
                }
                new_line(depth, out);
                out.push(b'}');
            }
            scalar => scalar.write_scalar(out),
        }
    }

    /// Appends a value that is no array or object.
    fn write_scalar(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null | Self::Array(_) | Self::Object(_) => out.extend(b"null"),
            Self::Bool(true) => out.extend(b"true"),
            Self::Bool(false) => out.extend(b"false"),
            Self::Int(number) => out.extend(number.to_string().bytes()),
            Self::Float(number) => out.extend(format_json_float(*number).bytes()),
            Self::Text(text) => string(text, out),
            Self::Raw(json) => out.extend_from_slice(json),
        }
    }
}

/// The nesting for which a line break is copied as a whole.
const USUAL_NESTING: usize = 16;

/// Appends a line break and the blanks of the next line.
fn new_line(depth: usize, out: &mut Vec<u8>) {
    const LINE_BREAK: [u8; 1 + 4 * USUAL_NESTING] = {
        let mut text = [b' '; 1 + 4 * USUAL_NESTING];
        text[0] = b'\n';
        text
    };
    out.extend_from_slice(&LINE_BREAK[..=4 * depth.min(USUAL_NESTING)]);
    out.extend(std::iter::repeat_n(b' ', 4 * depth.saturating_sub(USUAL_NESTING)));
}

/// The bytes that may need an escape. Beyond ASCII, only the first byte of U+2028 and U+2029.
const MAY_BE_ESCAPED: [bool; 256] = {
    let mut bytes = [false; 256];
    let mut at = 0;
    while at <= 0x1f {
        bytes[at] = true;
        at += 1;
    }
    // " & < > \ and that byte.
    let others = [0x22, 0x26, 0x3c, 0x3e, 0x5c, 0xe2];
    at = 0;
    while at < others.len() {
        bytes[others[at]] = true;
        at += 1;
    }
    bytes
};

/// Returns the position of the first byte that may need an escape. Most strings are short: 16 bytes at once find their
/// ends without a branch for each byte.
#[inline]
fn first_escaped(text: &[u8]) -> Option<usize> {
    let (chunks, rest) = text.as_chunks::<16>();
    for (number, chunk) in chunks.iter().enumerate() {
        let found = zero_if_escaped(u8x16::new(*chunk)).simd_eq(u8x16::splat(0)).to_bitmask();
        if found != 0 {
            return Some(16 * number + found.trailing_zeros() as usize);
        }
    }
    let at = rest.iter().position(|byte| MAY_BE_ESCAPED[usize::from(*byte)])?;
    Some(text.len() - rest.len() + at)
}

/// Maps the bytes that may need an escape to zero, and no others.
#[inline(always)]
pub(super) fn zero_if_escaped(bytes: u8x16) -> u8x16 {
    // The angle brackets differ in one bit.
    let brackets = (bytes | u8x16::splat(b'<' ^ b'>')) ^ u8x16::splat(b'>');
    let others = (bytes ^ u8x16::splat(b'&')).min(bytes ^ u8x16::splat(0xe2));
    zero_if_special(bytes).min(brackets).min(others)
}

/// Writes a string as Go's encoder does: characters that are special in HTML or JavaScript are escaped too.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    // The end of the text written so far.
    let mut start = 0;
    let mut at = 0;
    out.push(b'"');
    while let Some(step) = first_escaped(&bytes[at..]) {
        at += step;
        let length = match bytes[at..] {
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
            [0xe2, ..] => {
                at += 1;
                continue;
            }
            _ => 1,
        };
        out.extend_from_slice(&bytes[start..at]);
        match bytes[at] {
            special @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', special]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0xe2 => out.extend_from_slice(if bytes[at + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" }),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
        at += length;
        start = at;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaped_bytes_are_found_at_each_position(
            plain in prop::collection::vec(prop_oneof![0x20u8..0x80, any::<u8>()], 0..70),
            byte: u8,
            at in 0..70usize,
        ) {
            let mut text = plain;
            text.insert(at.min(text.len()), byte);
            let expected = text.iter().position(|byte| MAY_BE_ESCAPED[usize::from(*byte)]);
            prop_assert_eq!(first_escaped(&text), expected);
        }
    }

    #[test]
    fn compact_json_matches_go() {
        let mut out = Vec::new();
        JsonValue::parse(br#"{ "b" : [1, 2.50, {}], "a" : "<&>", "c": [] }"#).write_compact(&mut out);
        assert_eq!(
            String::from_utf8(out).expect("text"),
            r#"{"a":"\u003c\u0026\u003e","b":[1,2.5,{}],"c":[]}"#
        );
    }
}
