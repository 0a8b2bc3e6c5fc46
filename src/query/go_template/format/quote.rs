//! Go's quoted strings and characters.

use super::flags::runes;
use crate::object::is_go_printable;

/// Returns a string in Go's syntax, as `%q` prints it.
pub(in crate::query::go_template) fn quote(text: &[u8]) -> String {
    quoted(text, '"', false)
}

/// Returns a quoted string or character; with `is_ascii`, other characters are escaped.
pub(super) fn quoted(text: &[u8], mark: char, is_ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    for (_, rune, _) in runes(text) {
        match rune {
            Ok(rune) => escape(rune, mark, is_ascii, &mut out),
            Err(byte) => {
                let escaped = format!("\\x{byte:02x}");
                out.push_str(&escaped);
            }
        }
    }
    out.push(mark);
    out
}

fn escape(rune: char, mark: char, is_ascii: bool, out: &mut String) {
    if rune == mark || rune == '\\' {
        out.push('\\');
        out.push(rune);
        return;
    }
    let is_plain = if is_ascii { rune.is_ascii() && is_go_printable(rune) } else { is_go_printable(rune) };
    if is_plain {
        out.push(rune);
        return;
    }
    match rune {
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        rune => {
            let code = u32::from(rune);
            let escaped = match code {
                0..0x20 | 0x7f => format!("\\x{code:02x}"),
                0..0x10000 => format!("\\u{code:04x}"),
                _ => format!("\\U{code:08x}"),
            };
            out.push_str(&escaped);
        }
    }
}

/// Returns whether a string can stand between backquotes.
pub(super) fn can_backquote(text: &[u8]) -> bool {
    let is_allowed =
        |rune: char| rune != '\u{feff}' && rune != '`' && rune != '\x7f' && (rune >= ' ' || rune == '\t');
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(is_allowed))
}

/// Returns a character as `%#U` prints it.
pub(in crate::query::go_template) fn describe_char(rune: Option<char>) -> String {
    match rune {
        Some(rune) if is_go_printable(rune) => format!("U+{:04X} '{rune}'", u32::from(rune)),
        Some(rune) => format!("U+{:04X}", u32::from(rune)),
        None => "U+FFFFFFFFFFFFFFFF".to_owned(),
    }
}
