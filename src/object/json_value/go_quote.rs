//! Text in quotes, as Go prints it.

/// Returns a text as the verb `%q` prints it.
#[must_use]
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            _ if is_go_printable(character) => out.push(character),
            _ => {
                let code = u32::from(character);
                let escape = match code {
                    0..0x80 => format!("\\x{code:02x}"),
                    0x80..0x1_0000 => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                };
                out.push_str(&escape);
            }
        }
    }
    out.push('"');
    out
}

/// Returns whether a character is a letter, mark, number, punctuation, symbol or the ASCII space: Go's
/// `unicode.IsPrint`.
#[must_use]
pub fn is_go_printable(character: char) -> bool {
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    // The standard library escapes the same categories. It also escapes a combining character at the start of a text,
    // so a letter precedes it here.
    String::from_iter(['a', character]).escape_debug().nth(1) != Some('\\')
}

#[cfg(test)]
mod tests {
    use super::go_quote;

    // Taken from Go's `fmt.Sprintf("%q", …)`.
    #[test]
    fn quotes_match_go() {
        for (text, quoted) in [
            ("{.x[?(@.y==\"a\")]}", r#""{.x[?(@.y==\"a\")]}""#),
            ("a\0b\n\t\u{7f}\\'", r#""a\x00b\n\t\x7f\\'""#),
            (
                "a\u{301}é\u{200b}\u{1f600}\u{ad}\u{3000}\u{e000}",
                "\"a\u{301}é\\u200b\u{1f600}\\u00ad\\u3000\\ue000\"",
            ),
            ("\u{301}\u{a0}\u{2028}\u{e0001}", "\"\u{301}\\u00a0\\u2028\\U000e0001\""),
        ] {
            assert_eq!(go_quote(text), quoted);
        }
    }
}
