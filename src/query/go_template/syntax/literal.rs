//! Go's string and character literals.

/// Go's message for a literal that is invalid.
pub(super) const INVALID: &str = "invalid syntax";

/// Returns the value of a string literal with its quotes, or `None` if it is invalid.
pub(super) fn unquote(literal: &str) -> Option<Vec<u8>> {
    if let Some(raw) = literal.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.replace('\r', "").into_bytes());
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let (next, after) = unescape(rest, '"')?;
        match next {
            Unescaped::Char(next) => value.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes()),
            Unescaped::Byte(byte) => value.push(byte),
        }
        rest = after;
    }
    Some(value)
}

/// Returns the code point of a character literal with its quotes, or Go's message.
pub(super) fn unquote_char(literal: &str) -> Result<u32, String> {
    let rest = literal.strip_prefix('\'').ok_or(INVALID)?;
    let (next, after) = unescape(rest, '\'').ok_or(INVALID)?;
    if after != "'" {
        return Err(format!("malformed character constant: {literal}"));
    }
    Ok(match next {
        Unescaped::Char(next) => u32::from(next),
        Unescaped::Byte(byte) => u32::from(byte),
    })
}

enum Unescaped {
    Char(char),
    /// From `\x` and octal escapes, which may give invalid UTF-8.
    Byte(u8),
}

/// Splits the first character or escape from a literal.
fn unescape(text: &str, quote: char) -> Option<(Unescaped, &str)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return (first != quote && first != '\n').then_some((Unescaped::Char(first), chars.as_str()));
    }
    let escape = chars.next()?;
    let simple = match escape {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        '\'' | '"' if escape == quote => quote,
        'x' => {
            let (value, rest) = digits(chars.as_str(), 2, 16)?;
            return Some((Unescaped::Byte(u8::try_from(value).ok()?), rest));
        }
        'u' | 'U' => {
            let (value, rest) = digits(chars.as_str(), if escape == 'u' { 4 } else { 8 }, 16)?;
            return Some((Unescaped::Char(char::from_u32(value)?), rest));
        }
        '0'..='7' => {
            let (value, rest) = digits(&text[1..], 3, 8)?;
            return Some((Unescaped::Byte(u8::try_from(value).ok()?), rest));
        }
        _ => return None,
    };
    Some((Unescaped::Char(simple), chars.as_str()))
}

fn digits(text: &str, count: usize, base: u32) -> Option<(u32, &str)> {
    let digits = text.get(..count)?;
    if !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    Some((u32::from_str_radix(digits, base).ok()?, &text[count..]))
}
