//! YAML layout of the library that kubectl uses: block style, two spaces, sequences not indented inside mappings, long
//! texts broken at spaces after column 80, and its choice of scalar styles.

use kdelta::object::{JsonValue, format_yaml_float};

use super::order::{Member, in_order};
use super::style::{Style, is_break, is_printable};
use crate::view::escape_json;

/// Lines are broken at the first space after this column.
const BEST_WIDTH: usize = 80;
/// Longer keys, in bytes, are written after a `?`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Writes YAML into a string. Between calls it is at the start of a line.
pub(super) struct Emitter<'a> {
    out: &'a mut String,
    /// Whether a terminal displays the output, so that unsafe characters are escaped.
    for_terminal: bool,
    /// The number of characters since the start of the line.
    column: usize,
    /// Whether the last character was white space, so that the next token needs none.
    whitespace: bool,
    /// Whether the line holds only indentation and indicators.
    indention: bool,
}

/// The position of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// After a `key:`.
    Member,
    /// After a `-`.
    Item,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(out: &'a mut String, for_terminal: bool) -> Self {
        Self { out, for_terminal, column: 0, whitespace: true, indention: true }
    }

    /// Writes a whole document.
    pub(super) fn document(&mut self, tree: &JsonValue<'_>) {
        self.node(tree, 0, Place::Root);
        self.end_line();
    }

    /// Writes an item of a sequence at the left margin.
    pub(super) fn item(&mut self, tree: &JsonValue<'_>) {
        self.write_indent(0);
        self.indicator('-', true, true);
        self.node(tree, 0, Place::Item);
        self.end_line();
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.line_break();
        }
        (self.whitespace, self.indention) = (true, true);
    }

    /// Writes a value inside a node indented by `indent`.
    fn node(&mut self, tree: &JsonValue<'_>, indent: usize, place: Place) {
        let inner = if place == Place::Root { 0 } else { indent + 2 };
        match tree {
            JsonValue::Object(members) if !members.is_empty() => self.mapping(members, inner),
            JsonValue::Array(items) if !items.is_empty() => {
                let not_indented = place == Place::Member && !self.indention;
                self.sequence(items, if not_indented { indent } else { inner });
            }
            JsonValue::Object(_) => self.token("{}"),
            JsonValue::Array(_) => self.token("[]"),
            JsonValue::Null => self.token("null"),
            JsonValue::Bool(true) => self.token("true"),
            JsonValue::Bool(false) => self.token("false"),
            JsonValue::Int(value) => self.token(&value.to_string()),
            JsonValue::Float(value) => self.token(&format_yaml_float(*value)),
            JsonValue::Text(text) => self.text(text, indent + 2, false),
            // JSON is valid YAML.
            JsonValue::Raw(json) if self.for_terminal => {
                self.token(&escape_json(&String::from_utf8_lossy(json)));
            }
            JsonValue::Raw(json) => self.token(&String::from_utf8_lossy(json)),
        }
    }

    fn sequence(&mut self, items: &[JsonValue<'_>], indent: usize) {
        for item in items {
            self.write_indent(indent);
            self.indicator('-', true, true);
            self.node(item, indent, Place::Item);
        }
    }

    fn mapping(&mut self, members: &[Member<'_>], indent: usize) {
        for (key, value) in in_order(members) {
            self.write_indent(indent);
            if key.len() <= LONGEST_SIMPLE_KEY && !key.contains(is_break) {
                self.text(key, indent + 2, true);
                self.indicator(':', false, false);
            } else {
                self.indicator('?', true, true);
                self.text(key, indent + 2, false);
                self.write_indent(indent);
                self.indicator(':', true, true);
            }
            self.node(value, indent, Place::Member);
        }
    }

    /// Writes a text, whose further lines are indented by `indent`. A key is never broken.
    fn text(&mut self, text: &str, indent: usize, is_key: bool) {
        match Style::of(text, is_key, self.for_terminal) {
            Style::Plain => self.plain(text, indent, !is_key),
            Style::SingleQuoted => self.single_quoted(text, indent, !is_key),
            Style::DoubleQuoted => self.double_quoted(text, indent, !is_key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn plain(&mut self, text: &str, indent: usize, may_break: bool) {
        self.space();
        let mut after_space = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != ' ' {
                self.put(c);
            } else if may_break && !after_space && self.column > BEST_WIDTH && chars.peek() != Some(&' ') {
                self.write_indent(indent);
            } else {
                self.put(c);
            }
            after_space = c == ' ';
            if !after_space {
                self.indention = false;
            }
        }
        (self.whitespace, self.indention) = (false, false);
    }

    fn single_quoted(&mut self, text: &str, indent: usize, may_break: bool) {
        self.space();
        self.put('\'');
        self.indention = false;
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if c == ' '
                && may_break
                && !after_space
                && self.column > BEST_WIDTH
                && at > 0
                && next.is_some_and(|next| next != ' ')
            {
                self.write_indent(indent);
            } else {
                if c == '\'' {
                    self.put(c);
                }
                self.put(c);
            }
            after_space = c == ' ';
            if !after_space {
                self.indention = false;
            }
        }
        self.put('\'');
        (self.whitespace, self.indention) = (false, false);
    }

    fn double_quoted(&mut self, text: &str, indent: usize, may_break: bool) {
        self.space();
        self.put('"');
        self.indention = false;
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if c == ' ' && may_break && !after_space && self.column > BEST_WIDTH && at > 0 && next.is_some() {
                self.write_indent(indent);
                if next == Some(' ') {
                    self.put('\\');
                }
            } else if !is_printable(c, self.for_terminal) || is_break(c) || matches!(c, '"' | '\\') {
                self.escaped(c);
            } else {
                self.put(c);
            }
            after_space = c == ' ';
        }
        self.put('"');
        (self.whitespace, self.indention) = (false, false);
    }

    fn escaped(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = c as u32;
                let text = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                text.chars().for_each(|c| self.put(c));
                return;
            }
        };
        self.put('\\');
        self.put(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.space();
        self.put('|');
        if text.starts_with([' ', '\n']) {
            self.put('2');
        }
        match text.strip_suffix('\n') {
            None => self.put('-'),
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => self.put('+'),
            Some(_) => {}
        }
        self.line_break();
        (self.whitespace, self.indention) = (true, true);
        let mut line_starts = true;
        for c in text.chars() {
            if c == '\n' {
                self.line_break();
                (self.indention, line_starts) = (true, true);
            } else {
                if line_starts {
                    self.write_indent(indent);
                }
                self.put(c);
                (self.indention, line_starts) = (false, false);
            }
        }
    }

    /// Writes a word without quotes or breaks.
    fn token(&mut self, word: &str) {
        self.space();
        word.chars().for_each(|c| self.put(c));
        (self.whitespace, self.indention) = (false, false);
    }

    fn indicator(&mut self, c: char, needs_space: bool, is_indention: bool) {
        if needs_space {
            self.space();
        }
        self.put(c);
        self.whitespace = false;
        self.indention &= is_indention;
    }

    fn space(&mut self) {
        if !self.whitespace {
            self.put(' ');
        }
    }

    /// Moves to column `indent`, on a new line unless the current one is empty up to there.
    fn write_indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        (self.whitespace, self.indention) = (true, true);
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }
}
