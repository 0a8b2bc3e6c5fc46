//! Integers with the verbs `%d %b %o %O %x %X %c %q %U`.

use super::buffer::Buffer;
use super::flags::Flags;
use super::quote::quoted;
use crate::object::is_go_printable;

/// An integer as magnitude and sign.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integer {
    pub(super) magnitude: u64,
    pub(super) is_negative: bool,
}

impl Integer {
    pub(super) fn signed(value: i64) -> Self {
        Self { magnitude: value.unsigned_abs(), is_negative: value < 0 }
    }

    pub(super) fn unsigned(value: u64) -> Self {
        Self { magnitude: value, is_negative: false }
    }

    /// Returns the bits as those of an unsigned number.
    fn bits(self) -> u64 {
        if self.is_negative { self.magnitude.wrapping_neg() } else { self.magnitude }
    }
}

impl Flags {
    /// Writes an integer, or returns false if the verb is not for integers.
    pub(super) fn integer(&self, value: Integer, verb: char, out: &mut Buffer<'_>) -> bool {
        match verb {
            'v' | 'd' => self.digits(value, 10, verb, out),
            'b' => self.digits(value, 2, verb, out),
            'o' | 'O' => self.digits(value, 8, verb, out),
            'x' | 'X' => self.digits(value, 16, verb, out),
            'c' => self.pad(character(value).encode_utf8(&mut [0; 4]).as_bytes(), out),
            'q' => {
                let text = character(value).to_string();
                self.pad(quoted(text.as_bytes(), '\'', self.plus).as_bytes(), out);
            }
            'U' => self.unicode(value, out),
            _ => return false,
        }
        true
    }

    fn digits(&self, value: Integer, base: u32, verb: char, out: &mut Buffer<'_>) {
        let has_sign = value.is_negative || self.plus || self.space;
        let mut minimum = 0;
        if let Some(precision) = self.precision {
            minimum = precision;
            if precision == 0 && value.magnitude == 0 {
                out.repeat(b' ', self.width.unwrap_or(0));
                return;
            }
        } else if let (Some(width), true, false) = (self.width, self.zero, self.minus) {
            minimum = if has_sign { width.saturating_sub(1) } else { width };
        }
        let magnitude = value.magnitude;
        let digits = match (base, verb) {
            (2, _) => format!("{magnitude:b}"),
            (8, _) => format!("{magnitude:o}"),
            (16, 'X') => format!("{magnitude:X}"),
            (16, _) => format!("{magnitude:x}"),
            _ => magnitude.to_string(),
        };
        let zeros = minimum.saturating_sub(digits.len());
        let starts_with_zero = zeros > 0 || digits.starts_with('0');
        let mut prefix = String::new();
        if value.is_negative {
            prefix.push('-');
        } else if self.plus {
            prefix.push('+');
        } else if self.space {
            prefix.push(' ');
        }
        if verb == 'O' {
            prefix.push_str("0o");
        }
        prefix.push_str(match (self.sharp, base, verb) {
            (true, 2, _) => "0b",
            (true, 8, _) if !starts_with_zero => "0",
            (true, 16, 'X') => "0X",
            (true, 16, _) => "0x",
            _ => "",
        });
        let padding = self.width.unwrap_or(0).saturating_sub(prefix.len() + zeros + digits.len());
        if !self.minus {
            out.repeat(b' ', padding);
        }
        out.text(&prefix);
        out.repeat(b'0', zeros);
        out.text(&digits);
        if self.minus {
            out.repeat(b' ', padding);
        }
    }

    fn unicode(&self, value: Integer, out: &mut Buffer<'_>) {
        let code = value.bits();
        let digits = format!("{code:X}");
        let zeros = self.precision.unwrap_or(0).max(4).saturating_sub(digits.len());
        let printed = u32::try_from(code).ok().and_then(char::from_u32).filter(|rune| is_go_printable(*rune));
        let shown = match printed {
            Some(rune) if self.sharp => format!(" '{rune}'"),
            _ => String::new(),
        };
        let length = 2 + zeros + digits.len() + shown.chars().count();
        let padding = self.width.unwrap_or(0).saturating_sub(length);
        if !self.minus {
            out.repeat(b' ', padding);
        }
        out.text("U+");
        out.repeat(b'0', zeros);
        out.text(&digits);
        out.text(&shown);
        if self.minus {
            out.repeat(b' ', padding);
        }
    }
}

/// Returns the character of a code point; U+FFFD if there is none.
fn character(value: Integer) -> char {
    u32::try_from(value.bits()).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
