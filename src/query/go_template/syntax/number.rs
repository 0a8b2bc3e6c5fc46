//! Go's number literals: integers of each base, floating-point numbers, also hexadecimal, and complex numbers.

use super::literal::unquote_char;
use crate::query::go_template::format::quote;

/// The value of a number where no type is expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::query::go_template) enum Number {
    /// Go's `int`.
    Int(i64),
    Float(f64),
    Complex(f64, f64),
    /// An integer above int64, an error when it is evaluated.
    Overflow,
}

/// Parses a character constant.
pub(super) fn character(text: &str) -> Result<Number, String> {
    unquote_char(text).map(|value| Number::Int(value.into()))
}

/// Parses `1+2i`.
pub(super) fn complex(text: &str) -> Result<Number, String> {
    let invalid = || "syntax error scanning complex number".to_owned();
    let body = text.strip_suffix('i').ok_or_else(invalid)?;
    let bytes = body.as_bytes();
    let is_hex = |at: usize| bytes[..at].contains(&b'x') || bytes[..at].contains(&b'X');
    let is_exponent = |at: usize| match bytes[at - 1] {
        b'p' | b'P' => true,
        b'e' | b'E' => !is_hex(at),
        _ => false,
    };
    let is_sign = |at: &usize| matches!(bytes[*at], b'+' | b'-') && !is_exponent(*at);
    let split = (1..bytes.len()).rev().find(is_sign).ok_or_else(invalid)?;
    let real = float(&body[..split]).ok_or_else(invalid)?;
    let imaginary = float(&body[split..]).ok_or_else(invalid)?;
    Ok(Number::Complex(real, imaginary))
}

/// Parses any other number.
pub(super) fn number(text: &str) -> Result<Number, String> {
    if let Some(imaginary) = text.strip_suffix('i').and_then(float) {
        return Ok(Number::Complex(0.0, imaginary));
    }
    let has_float_mark = text.contains(['.', 'e', 'E', 'p', 'P']);
    let is_hex_integer =
        text.len() > 2 && (text.starts_with("0x") || text.starts_with("0X")) && !text.contains(['p', 'P']);
    let is_float = has_float_mark && !is_hex_integer;
    #[expect(clippy::cast_precision_loss, reason = "Go converts the integer so")]
    match integer(text) {
        Some(Integer::Int(value)) if is_float => Ok(Number::Float(value as f64)),
        Some(Integer::Int(value)) => Ok(Number::Int(value)),
        Some(Integer::Unsigned(value)) if is_float => Ok(Number::Float(value as f64)),
        Some(Integer::Unsigned(_)) => Ok(Number::Overflow),
        None => match float(text) {
            Some(_) if !has_float_mark => Err(format!("integer overflow: {}", quote(text.as_bytes()))),
            Some(value) => Ok(Number::Float(value)),
            None => Err(format!("illegal number syntax: {}", quote(text.as_bytes()))),
        },
    }
}

enum Integer {
    Int(i64),
    /// Above int64.
    Unsigned(u64),
}

fn integer(text: &str) -> Option<Integer> {
    let (is_negative, is_signed, body) = sign(text);
    let (base, digits) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    if !has_valid_underscores(body) {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    let value = u64::from_str_radix(&digits, base).ok()?;
    if is_negative {
        return 0_i64.checked_sub_unsigned(value).map(Integer::Int);
    }
    match i64::try_from(value) {
        Ok(value) => Some(Integer::Int(value)),
        Err(_) if is_signed => None,
        Err(_) => Some(Integer::Unsigned(value)),
    }
}

fn sign(text: &str) -> (bool, bool, &str) {
    match text.as_bytes() {
        [b'-', ..] => (true, true, &text[1..]),
        [b'+', ..] => (false, true, &text[1..]),
        _ => (false, false, text),
    }
}

/// Checks that each underscore stands between digits, or between the prefix of a base and a digit.
fn has_valid_underscores(body: &str) -> bool {
    let bytes = body.as_bytes();
    let has_prefix = matches!(bytes, [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..]);
    let is_hex = matches!(bytes, [b'0', b'x' | b'X', ..]);
    let is_digit = |byte: u8| byte.is_ascii_digit() || is_hex && byte.is_ascii_hexdigit();
    let is_separated = |at: usize| {
        let is_after_digit = at > 0 && (is_digit(bytes[at - 1]) || at == 2 && has_prefix);
        is_after_digit && bytes.get(at + 1).is_some_and(|next| is_digit(*next))
    };
    (0..bytes.len()).all(|at| bytes[at] != b'_' || is_separated(at))
}

fn float(text: &str) -> Option<f64> {
    let (is_negative, _, body) = sign(text);
    if !has_valid_underscores(body) {
        return None;
    }
    let digits = body.replace('_', "");
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => hex_float(hex)?,
        None if digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
            digits.parse().ok()?
        }
        None => return None,
    };
    // Go reports a number out of range as an error.
    if value.is_infinite() {
        return None;
    }
    Some(if is_negative { -value } else { value })
}

/// Parses `1.8p3`; the exponent is required.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let mut exponent: i32 = exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000).try_into().ok()?;
    let (mut value, mut is_fraction, mut has_digits) = (0_u64, false, false);
    for next in mantissa.chars() {
        if next == '.' {
            if is_fraction {
                return None;
            }
            is_fraction = true;
            continue;
        }
        let digit = next.to_digit(16)?;
        has_digits = true;
        if value >> 60 == 0 {
            value = value << 4 | u64::from(digit);
            exponent = exponent.saturating_sub(if is_fraction { 4 } else { 0 });
        } else {
            // The digits beyond 64 bits only decide the rounding.
            value |= u64::from(digit != 0);
            exponent = exponent.saturating_add(if is_fraction { 0 } else { 4 });
        }
    }
    has_digits.then(|| scaled(value, exponent))
}

/// Returns `value` times two to the power of `exponent`.
#[expect(clippy::cast_precision_loss, reason = "the conversion rounds to the nearest even number")]
fn scaled(value: u64, exponent: i32) -> f64 {
    let mut number = value as f64;
    let mut exponent = exponent.clamp(-2_400, 2_400);
    while exponent != 0 {
        let step = exponent.clamp(-1_000, 1_000);
        number *= 2_f64.powi(step);
        exponent -= step;
    }
    number
}
