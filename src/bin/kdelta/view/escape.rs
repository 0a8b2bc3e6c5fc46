//! Cleaning of untrusted text: what a cluster says must not steer a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that could steer a terminal, or turn the order of what is read, made visible.
///
/// ESC becomes `^[` and CR becomes `\r`, as in kubectl; the other control characters get the same caret, and what lies
/// beyond ASCII its number: `\u009b`, `\u202e`. Tab and newline stay.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(steers) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match c {
            '\r' => out.push_str("\\r"),
            '\x7f' => out.push_str("^?"),
            '\0'..='\x1f' if steers(c) => {
                out.push('^');
                out.push(char::from(c as u8 + b'@'));
            }
            _ if steers(c) => {
                // Writing to a String can't fail.
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// JSON on its way to a terminal: the characters that could steer it as `\u009b`, which means the same to whoever reads
/// JSON.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            // Writing to a String can't fail. All of them have four digits.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A table cell: escaped, and cut with `...` before the first character that would break the line, as in kubectl.
pub(crate) fn escape_cell(text: &str) -> Cow<'_, str> {
    // Nearly all are. To look at bytes takes a fraction of the time.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    match text.find(['\n', '\r', '\x0c']) {
        None => escape(text),
        Some(at) => Cow::Owned(format!("{}...", escape(&text[..at]))),
    }
}

/// Whether a character could steer a terminal, or turn the order of what is read.
pub(crate) fn steers(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        // C0 and C1 controls.
        _ if c.is_control() => true,
        // What turns the reading order or hides: bidi marks, embeddings, overrides and isolates; line and paragraph
        // separators.
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_becomes_visible() {
        for (text, expected) in [
            ("plain ünïcödé 日本 👍🏽", "plain ünïcödé 日本 👍🏽"),
            ("a\x1b[31mred\x1b]0;title\x07", "a^[[31mred^[]0;title^G"),
            ("over\rwrite", "over\\rwrite"),
            ("\x7f\0\x08", "^?^@^H"),
            ("\u{9b}31m\u{85}", "\\u009b31m\\u0085"),
            ("user\u{202e}txt.exe\u{2066}\u{200f}", "user\\u202etxt.exe\\u2066\\u200f"),
            ("tab\tand\nline", "tab\tand\nline"),
        ] {
            assert_eq!(escape(text), expected);
        }
        assert!(matches!(escape("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_for_a_terminal_means_the_same_and_steers_nothing() {
        let said = "a\u{9b}31m\u{7f}\u{202e}txt ünï";
        let json = serde_json::json!({ "k": said }).to_string();
        let shown = escape_json(&json);
        assert_eq!(shown, r#"{"k":"a\u009b31m\u007f\u202etxt ünï"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON")["k"], said);
        assert!(matches!(escape_json("{\"k\":\"ünï\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cell_ends_where_its_line_would() {
        for (text, expected) in [
            ("one line", "one line"),
            ("first\nsecond", "first..."),
            ("first\rsecond", "first..."),
            ("\x1bfirst\x0csecond", "^[first..."),
            ("\n", "..."),
        ] {
            assert_eq!(escape_cell(text), expected);
        }
    }
}
