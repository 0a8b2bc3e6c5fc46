//! The choice of a scalar style: plain if possible, otherwise single-quoted, double-quoted, or literal for several
//! lines; by the rules of the YAML library that kubectl uses.

use super::plain;
use crate::view::is_unsafe;

/// A scalar style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

impl Style {
    /// Returns the style of a text. `is_key` is for a key before its `:` on one line, `for_terminal` for output that a
    /// terminal displays.
    pub(super) fn of(text: &str, is_key: bool, for_terminal: bool) -> Self {
        Shape::of(text, for_terminal).style(text, is_key)
    }
}

/// The properties of a text that decide its possible styles.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
struct Shape {
    plain: bool,
    single_quoted: bool,
    literal: bool,
    multiline: bool,
}

impl Shape {
    fn of(text: &str, for_terminal: bool) -> Self {
        if text.is_empty() {
            return Self { plain: true, single_quoted: true, literal: false, multiline: false };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut special, mut multiline, mut space_then_break, mut break_then_space) =
            (false, false, false, false);
        let mut previous: Option<char> = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let before_blank = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= match (c, previous) {
                (
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                    | '`',
                    None,
                ) => true,
                ('?' | ':' | '-', None) | (':', Some(_)) => before_blank,
                ('#', Some(previous)) => is_blank(previous),
                _ => false,
            };
            // Some readers treat line and paragraph separators as line breaks, so they are always escaped.
            special |= !is_printable(c, for_terminal) || matches!(c, '\u{2028}' | '\u{2029}');
            multiline |= is_break(c);
            space_then_break |= is_break(c) && previous == Some(' ');
            break_then_space |= c == ' ' && previous.is_some_and(is_break);
            previous = Some(c);
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let loose_ends = text.starts_with(edge) || text.ends_with(edge);
        let torn = space_then_break || special;
        Self {
            plain: !(indicators || loose_ends || break_then_space || torn || multiline),
            single_quoted: !(break_then_space || torn),
            literal: !(text.ends_with(' ') || torn),
            multiline,
        }
    }

    fn style(&self, text: &str, is_key: bool) -> Style {
        if text.contains('\n') {
            return if self.literal && !is_key { Style::Literal } else { Style::DoubleQuoted };
        }
        match () {
            () if !plain::is_text(text) || (is_key && self.multiline) => Style::DoubleQuoted,
            () if self.plain => Style::Plain,
            () if self.single_quoted => Style::SingleQuoted,
            () => Style::DoubleQuoted,
        }
    }
}

/// Whether a character may stand outside double quotes. This library quotes characters beyond the basic plane; it
/// allows those that reverse the reading order, but not for a terminal.
pub(super) fn is_printable(c: char, for_terminal: bool) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && c != '\u{feff}'
        && !(for_terminal && is_unsafe(c))
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\0') || is_break(c)
}
