//! Escaping of untrusted text: text from a cluster must not control a terminal, hide, or forge a line.

use std::borrow::Cow;
use std::fmt::Write;

/// Starts the further lines of a message, so that none looks like a separate message.
const CONTINUATION: &str = "\n    ";

/// Escapes every character that could control a terminal, reverse the reading order, or hide.
///
/// ESC becomes `^[` and CR becomes `\r`, as in kubectl; other control characters use the same caret notation, and
/// characters beyond ASCII their number: `\u009b`, `\u202e`, `\U000e0041`. Tab, newline and the joiners inside emoji
/// stay.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut escaper = Escaper::default();
    for c in text.chars() {
        escaper.push(c, &mut out);
    }
    Cow::Owned(out)
}

/// Escapes a message and indents its further lines.
pub(crate) fn escape_message(text: &str) -> Cow<'_, str> {
    match escape(text.trim_end_matches('\n')) {
        text if text.contains('\n') => Cow::Owned(text.replace('\n', CONTINUATION)),
        text => text,
    }
}

/// Escapes a text that must stay on one line: newline and tab too.
pub(crate) fn escape_line(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    escape(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Appends text to a text, escaped as by [`escape_line`].
pub(crate) fn push_escaped_line(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        out.push_str(&escape_line(text));
    }
}

/// Escapes a text from a position on, as [`escape_line`] does.
pub(crate) fn escape_from(text: &mut String, start: usize) {
    if !is_plain(&text[start..]) {
        let rest = text.split_off(start);
        text.push_str(&escape_line(&rest));
    }
}

/// Escapes JSON for a terminal: unsafe characters become `\u009b`, which JSON readers treat as equal.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_unsafe) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    let mut escaper = Escaper::default();
    for c in json.chars() {
        if escaper.escapes(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String can't fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes a table cell and cuts it with `...` before the first character that would break the line, as kubectl does.
pub(crate) fn escape_cell(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    match text.find(['\n', '\r', '\x0c']) {
        None => escape(text),
        Some(at) => Cow::Owned(format!("{}...", escape(&text[..at]))),
    }
}

/// Whether nothing in a text has to be escaped, as in nearly all texts: comparing bytes is several times faster.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Escapes text character by character.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Escaper {
    /// Whether the last character was an emoji or modified one.
    after_emoji: bool,
}

impl Escaper {
    /// Appends the next character, escaped if necessary.
    pub(crate) fn push(&mut self, c: char, out: &mut String) {
        if !self.escapes(c) {
            out.push(c);
            return;
        }
        match c {
            '\r' => out.push_str("\\r"),
            '\x7f' => out.push_str("^?"),
            '\0'..='\x1f' => {
                out.push('^');
                out.push(char::from(c as u8 + b'@'));
            }
            // Writing to a String can't fail.
            '\u{10000}'.. => drop(write!(out, "\\U{:08x}", c as u32)),
            _ => drop(write!(out, "\\u{:04x}", c as u32)),
        }
    }

    /// Whether the next character must be escaped. A joiner or variation selector after an emoji belongs to it.
    fn escapes(&mut self, c: char) -> bool {
        let shapes_emoji = self.after_emoji && matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        self.after_emoji = shapes_emoji || is_emoji(c);
        !shapes_emoji && is_unsafe(c)
    }
}

/// Whether a character could control a terminal, reverse the reading order, or is invisible.
pub(crate) fn is_unsafe(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        // C0 and C1 controls.
        _ if c.is_control() => true,
        _ => !c.is_ascii() && is_invisible(c),
    }
}

/// Whether a character of Unicode 17 has no visible shape: category Cf except the Arabic, Syriac and Kaithi signs that
/// are drawn, all default-ignorable characters, and line and paragraph separators.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character is a pictograph that modifiers may follow. Matches whole blocks without letters.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203c}' | '\u{2049}' | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_are_escaped() {
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
    fn invisible_characters_are_escaped() {
        for (text, expected) in [
            ("ad\u{200b}min\u{feff}", "ad\\u200bmin\\ufeff"),
            ("\u{e0041}\u{e007f}\u{e0100}", "\\U000e0041\\U000e007f\\U000e0100"),
            ("soft\u{ad}\u{2060}\u{206f}\u{180e}", "soft\\u00ad\\u2060\\u206f\\u180e"),
            ("\u{3164}\u{115f}\u{ffa0}\u{34f}", "\\u3164\\u115f\\uffa0\\u034f"),
            ("ad\u{200d}min\u{fe0f}", "ad\\u200dmin\\ufe0f"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn emoji_modifiers_stay() {
        let text = "⚠\u{fe0f} 👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 🧑🏽\u{200d}🚀";
        assert_eq!((&*escape(text), &*escape_json(text)), (text, text));
        assert_eq!(escape("👍\u{200d}\u{200b}\u{200d}"), "👍\u{200d}\\u200b\\u200d");
    }

    #[test]
    fn further_lines_of_messages_are_indented() {
        for (text, expected) in [
            ("one", "one"),
            ("one\n", "one"),
            ("no\nresumed at 99, nothing was missed", "no\n    resumed at 99, nothing was missed"),
            ("no\r\nresumed\u{2028}at\u{85}99", "no\\r\n    resumed\\u2028at\\u008599"),
        ] {
            assert_eq!(escape_message(text), expected);
        }
        assert_eq!(escape_line("a\nb\tc\x1b"), "a\\nb\\tc^[");
    }

    #[test]
    fn escaped_json_is_equal_and_safe() {
        let text = "a\u{9b}31m\u{7f}\u{202e}txt ünï\u{feff}\u{e0041}";
        let json = serde_json::json!({ "k": text }).to_string();
        let shown = escape_json(&json);
        assert_eq!(shown, r#"{"k":"a\u009b31m\u007f\u202etxt ünï\ufeff\udb40\udc41"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON")["k"], text);
        assert!(matches!(escape_json("{\"k\":\"ünï\"}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn cell_is_cut_at_line_break() {
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
