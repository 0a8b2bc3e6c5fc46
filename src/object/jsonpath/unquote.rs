//! Go's string escapes.

/// Removes the quotes, single or double, and replaces Go's escapes. `None` for invalid syntax.
pub(super) fn unquote(quoted: &str) -> Option<Vec<u8>> {
    let (quote, rest) = quoted.split_at_checked(1)?;
    let mut text = rest.strip_suffix(quote)?;
    let quote = quote.chars().next()?;
    let mut out = Vec::with_capacity(text.len());
    while let Some(first) = text.chars().next() {
        text = &text[first.len_utf8()..];
        match first {
            '\\' => text = escape(text, quote, &mut out)?,
            first if first == quote => return None,
            first => push(first, &mut out),
        }
    }
    Some(out)
}

/// Replaces the escape whose text follows a backslash, and returns the text after it.
fn escape<'t>(text: &'t str, quote: char, out: &mut Vec<u8>) -> Option<&'t str> {
    let kind = text.chars().next()?;
    let rest = &text[kind.len_utf8()..];
    let byte = match kind {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '\'' | '"' if kind == quote => u8::try_from(kind).ok()?,
        'x' => {
            let (code, rest) = number(rest, 2, 16)?;
            out.push(u8::try_from(code).ok()?);
            return Some(rest);
        }
        'u' | 'U' => {
            let (code, rest) = number(rest, if kind == 'u' { 4 } else { 8 }, 16)?;
            push(char::from_u32(code)?, out);
            return Some(rest);
        }
        '0'..='7' => {
            let (code, rest) = number(text, 3, 8)?;
            out.push(u8::try_from(code).ok()?);
            return Some(rest);
        }
        _ => return None,
    };
    out.push(byte);
    Some(rest)
}

/// Parses exactly `digits` digits.
fn number(text: &str, digits: usize, radix: u32) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    // `from_str_radix` also accepts a sign.
    let is_number = number.chars().all(|digit| digit.is_digit(radix));
    let number = is_number.then(|| u32::from_str_radix(number, radix).ok())??;
    Some((number, rest))
}

fn push(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn escapes_match_go() {
        let cases: [(&str, &[u8]); 8] = [
            (r#""plain 'x'""#, b"plain 'x'"),
            (r"'\a\b\f\n\r\t\v\\\''", b"\x07\x08\x0c\n\r\t\x0b\\'"),
            (r#""\"""#, b"\""),
            (r"'\x41\xff'", b"A\xff"),
            (r"'\101\000'", b"A\0"),
            (r"'\u00e4\U0001F600'", "ä😀".as_bytes()),
            ("'ä'", "ä".as_bytes()),
            ("''", b""),
        ];
        for (quoted, text) in cases {
            assert_eq!(unquote(quoted).as_deref(), Some(text), "{quoted}");
        }
    }

    #[test]
    fn invalid_escapes_are_refused() {
        for quoted in [
            "",
            "'",
            "'a",
            r"'\'",
            r#"'\"'"#,
            r"'\q'",
            r"'\x4'",
            r"'\x+1'",
            r"'\400'",
            r"'\08'",
            r"'\ud800'",
            r"'\U00110000'",
            r"'\uä'",
            "'a'b'",
        ] {
            assert_eq!(unquote(quoted), None, "{quoted}");
        }
    }
}
