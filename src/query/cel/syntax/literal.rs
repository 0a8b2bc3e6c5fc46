//! The values of literals.

use super::Literal;
use crate::query::cel::error::Problem;

/// Returns the end of a string's content, before its closing quote.
pub(super) fn end(inside: &str, quote: &str, is_raw: bool) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(quote.as_bytes()) {
            return Some(at);
        }
        match bytes[at] {
            b'\\' if !is_raw => at += 2,
            b'\n' | b'\r' if quote.len() == 1 => return None,
            _ => at += 1,
        }
    }
    None
}

/// Returns the integer; `is_negative` if a minus precedes it.
pub(super) fn int(text: &str, is_negative: bool, at: usize) -> Result<Literal, Problem> {
    let (digits, radix) = digits(text);
    let number = i128::from_str_radix(digits, radix).map(|number| if is_negative { -number } else { number });
    let number = number.ok().and_then(|number| i64::try_from(number).ok());
    number.map(Literal::Int).ok_or_else(|| Problem::new(at, "the integer is out of range"))
}

pub(super) fn uint(text: &str, at: usize) -> Result<Literal, Problem> {
    let (digits, radix) = digits(text);
    let number = u64::from_str_radix(digits, radix).map(Literal::Uint);
    number.map_err(|_| Problem::new(at, "the integer is out of range"))
}

pub(super) fn double(text: &str, is_negative: bool, at: usize) -> Result<Literal, Problem> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| Problem::new(at, "the number is out of range"))?;
    Ok(Literal::Double(if is_negative { -number } else { number }))
}

fn digits(text: &str) -> (&str, u32) {
    text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16))
}

pub(super) fn text(content: &str, is_raw: bool, at: usize) -> Result<Literal, Problem> {
    if is_raw || !content.contains('\\') {
        return Ok(Literal::Text(content.to_owned()));
    }
    let mut text = String::new();
    unescape(content, at, false, |piece| match piece {
        Piece::Char(char) => text.push(char),
        Piece::Byte(byte) => text.push(char::from(byte)),
    })?;
    Ok(Literal::Text(text))
}

pub(super) fn bytes(content: &str, is_raw: bool, at: usize) -> Result<Literal, Problem> {
    if is_raw {
        return Ok(Literal::Bytes(content.as_bytes().to_vec()));
    }
    let mut bytes = Vec::new();
    unescape(content, at, true, |piece| match piece {
        Piece::Char(char) => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        Piece::Byte(byte) => bytes.push(byte),
    })?;
    Ok(Literal::Bytes(bytes))
}

enum Piece {
    Char(char),
    /// The byte of an octal or hexadecimal escape.
    Byte(u8),
}

fn unescape(content: &str, at: usize, is_bytes: bool, mut push: impl FnMut(Piece)) -> Result<(), Problem> {
    let mut rest = content;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        if char != '\\' {
            push(Piece::Char(char));
            continue;
        }
        let (piece, length) =
            escape(rest, is_bytes).ok_or_else(|| Problem::new(at, "invalid escape in the string"))?;
        push(piece);
        rest = &rest[length..];
    }
    Ok(())
}

/// Returns the meaning of an escape behind its backslash, and its length.
fn escape(rest: &str, is_bytes: bool) -> Option<(Piece, usize)> {
    let char = match *rest.as_bytes().first()? {
        b'a' => '\x07',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\x0b',
        quoted @ (b'\\' | b'?' | b'"' | b'\'' | b'`') => char::from(quoted),
        b'x' | b'X' => return Some((Piece::Byte(u8::try_from(code(rest, 1, 2, 16)?).ok()?), 3)),
        b'0'..=b'3' => return Some((Piece::Byte(u8::try_from(code(rest, 0, 3, 8)?).ok()?), 3)),
        b'u' if !is_bytes => return Some((Piece::Char(char::from_u32(code(rest, 1, 4, 16)?)?), 5)),
        b'U' if !is_bytes => return Some((Piece::Char(char::from_u32(code(rest, 1, 8, 16)?)?), 9)),
        _ => return None,
    };
    Some((Piece::Char(char), 1))
}

/// Returns the number of `count` digits.
fn code(rest: &str, from: usize, count: usize, radix: u32) -> Option<u32> {
    let digits = rest.get(from..from + count)?;
    digits.chars().all(|digit| digit.is_digit(radix)).then(|| u32::from_str_radix(digits, radix).ok())?
}
