//! `Sprintf`: text with verbs, their flags, width, precision and argument numbers.

use super::buffer::Buffer;
use super::flags::{Flags, runes};
use super::printer::print_with;
use crate::query::go_template::value::{Data, Value};

/// Go's limit of widths, precisions and argument numbers.
const MAX_NUMBER: usize = 1_000_000;

/// Writes values in a format.
pub(in crate::query::go_template) fn print_formatted(
    format: &[u8],
    values: &[Value<'_>],
    out: &mut Buffer<'_>,
) {
    let mut verbs = Verbs { format, at: 0, values, next: 0, is_reordered: false, is_good: true };
    while !out.is_full() {
        let rest = &format[verbs.at..];
        let length = rest.iter().position(|byte| *byte == b'%').unwrap_or(rest.len());
        out.write(&rest[..length]);
        verbs.at += length + 1;
        if verbs.at > format.len() {
            break;
        }
        verbs.print_verb(out);
    }
    if !verbs.is_reordered && verbs.next < values.len() {
        out.text("%!(EXTRA ");
        for (at, value) in values[verbs.next..].iter().enumerate() {
            out.text(if at == 0 { "" } else { ", " });
            if !matches!(value.data, Data::Nil) {
                out.text(value.data.type_name());
                out.text("=");
            }
            print_with(&Flags::default(), value, 'v', out);
        }
        out.text(")");
    }
}

/// The reader of a format and of the arguments.
struct Verbs<'f, 'a> {
    format: &'f [u8],
    at: usize,
    values: &'f [Value<'a>],
    /// The index of the next argument.
    next: usize,
    /// Whether an argument was chosen by its number.
    is_reordered: bool,
    /// Whether the numbers of arguments of this verb are valid.
    is_good: bool,
}

impl Verbs<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let is_accepted = self.peek() == Some(byte);
        self.at += usize::from(is_accepted);
        is_accepted
    }

    /// Reads and prints a verb behind its `%`.
    fn print_verb(&mut self, out: &mut Buffer<'_>) {
        self.is_good = true;
        let mut flags = self.flags();
        let mut is_after_index = self.argument_number();
        if self.accept(b'*') {
            let width = self.number_argument();
            if width.is_none() {
                out.text("%!(BADWIDTH)");
            }
            if width.is_some_and(|width| width < 0) {
                flags.minus = true;
                flags.zero = false;
            }
            flags.width = width.map(|width| usize::try_from(width.unsigned_abs()).unwrap_or(0));
            is_after_index = false;
        } else {
            flags.width = self.number();
            self.is_good &= !(is_after_index && flags.width.is_some());
        }
        // A point at the very end is no precision.
        if self.at + 1 < self.format.len() && self.accept(b'.') {
            self.is_good &= !is_after_index;
            is_after_index = self.argument_number();
            if self.accept(b'*') {
                flags.precision =
                    self.number_argument().and_then(|precision| usize::try_from(precision).ok());
                if flags.precision.is_none() {
                    out.text("%!(BADPREC)");
                }
                is_after_index = false;
            } else {
                flags.precision = Some(self.number().unwrap_or(0));
            }
        }
        if !is_after_index {
            self.argument_number();
        }
        let Some((_, verb, length)) = runes(&self.format[self.at.min(self.format.len())..]).next() else {
            out.text("%!(NOVERB)");
            return;
        };
        self.at += length;
        self.print_argument(flags, verb.unwrap_or(char::REPLACEMENT_CHARACTER), out);
    }

    fn print_argument(&mut self, mut flags: Flags, verb: char, out: &mut Buffer<'_>) {
        let problem = match self.values.get(self.next) {
            _ if verb == '%' => {
                out.text("%");
                return;
            }
            Some(value) if self.is_good => {
                if matches!(verb, 'v' | 'w') {
                    flags.is_go_syntax = std::mem::take(&mut flags.sharp);
                    flags.plus = false;
                }
                self.next += 1;
                print_with(&flags, value, verb, out);
                return;
            }
            _ if self.is_good => "(MISSING)",
            _ => "(BADINDEX)",
        };
        out.text("%!");
        out.character(verb);
        out.text(problem);
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// Reads a number. Behind one that is too large, Go reads nothing any more.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let before = number.unwrap_or(0);
            if before > MAX_NUMBER {
                self.at = self.format.len();
                return None;
            }
            number = Some(before * 10 + usize::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// Reads a number of an argument, such as `[2]`, and returns whether there is one.
    fn argument_number(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.is_reordered = true;
        let rest = &self.format[self.at..];
        let Some(end) = rest.iter().position(|byte| *byte == b']') else {
            self.at += 1;
            self.is_good = false;
            return false;
        };
        let digits = &rest[1..end];
        self.at += end + 1;
        let index = std::str::from_utf8(digits)
            .ok()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let number = index.and_then(|digits| digits.parse::<usize>().ok());
        match number {
            Some(number) if (1..=self.values.len()).contains(&number) => {
                self.next = number - 1;
                true
            }
            number => {
                self.is_good = false;
                number.is_some()
            }
        }
    }

    /// Returns the next argument if it is an integer that can be a width or precision.
    fn number_argument(&mut self) -> Option<i64> {
        let value = self.values.get(self.next)?;
        self.next += 1;
        let number = match value.data {
            Data::Int(number) | Data::Int64(number) => number,
            Data::Byte(number) => number.into(),
            _ => return None,
        };
        (number.unsigned_abs() <= MAX_NUMBER as u64).then_some(number)
    }
}
