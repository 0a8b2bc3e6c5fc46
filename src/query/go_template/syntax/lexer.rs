//! The lexer: splits a template into text and the tokens of its actions.
//!
//! The rules, positions and messages are those of Go's `text/template/parse`. Unlike Go, letters and digits of an
//! identifier are those of Rust's `char`, which accepts some combining marks and letter-like numbers in addition.

use super::token::{Token, TokenKind};
use crate::query::go_template::format::{describe_char, quote};

const LEFT: &str = "{{";
const RIGHT: &str = "}}";
/// The length of a trim marker: the minus and a space.
const MARKER: usize = 2;
const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// A lexer over the text of a template.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    /// The end of the text that was read.
    pos: usize,
    /// The start of the current token.
    start: usize,
    line: usize,
    start_line: usize,
    paren_depth: usize,
    is_inside_action: bool,
}

/// The next state of the lexer, or a finished token.
enum Step {
    Text,
    LeftDelim,
    RightDelim,
    Done(Token),
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, pos: 0, start: 0, line: 1, start_line: 1, paren_depth: 0, is_inside_action: false }
    }

    /// Returns the next token; at the end, and after an error, the end of the text again and again.
    pub(super) fn next_token(&mut self) -> Token {
        let mut step = if self.is_inside_action { self.inside_action() } else { self.plain_text() };
        loop {
            step = match step {
                Step::Text => self.plain_text(),
                Step::LeftDelim => self.left_delim(),
                Step::RightDelim => self.right_delim(),
                Step::Done(token) => return token,
            };
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        self.line += usize::from(next == '\n');
        Some(next)
    }

    fn accept(&mut self, accepted: &[char]) -> bool {
        let is_accepted = self.peek().is_some_and(|next| accepted.contains(&next));
        if is_accepted {
            self.next();
        }
        is_accepted
    }

    fn accept_run(&mut self, accepted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&accepted) {
            self.next();
        }
    }

    fn token(&mut self, kind: TokenKind) -> Token {
        let text = self.text[self.start..self.pos].into();
        let token = Token { kind, pos: self.start, text, line: self.start_line };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    fn emit(&mut self, kind: TokenKind) -> Step {
        Step::Done(self.token(kind))
    }

    /// Skips the text up to the current position, whose lines were not counted.
    fn ignore(&mut self) {
        self.count_lines();
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn count_lines(&mut self) {
        self.line += self.text[self.start..self.pos].matches('\n').count();
    }

    fn error(&mut self, message: impl Into<Box<str>>) -> Step {
        let token =
            Token { kind: TokenKind::Error, pos: self.start, text: message.into(), line: self.start_line };
        (self.text, self.pos, self.start) = ("", 0, 0);
        Step::Done(token)
    }

    fn plain_text(&mut self) -> Step {
        let Some(length) = self.rest().find(LEFT) else {
            self.pos = self.text.len();
            if self.pos == self.start {
                return self.emit(TokenKind::Eof);
            }
            self.count_lines();
            return self.emit(TokenKind::Text);
        };
        if length > 0 {
            self.pos += length;
            let text = &self.text[self.start..self.pos];
            let is_trimmed = has_left_marker(&self.text[self.pos + LEFT.len()..]);
            let trimmed = if is_trimmed { text.len() - text.trim_end_matches(SPACES).len() } else { 0 };
            self.pos -= trimmed;
            self.count_lines();
            let token = self.token(TokenKind::Text);
            self.pos += trimmed;
            self.ignore();
            if !token.text.is_empty() {
                return Step::Done(token);
            }
        }
        Step::LeftDelim
    }

    fn left_delim(&mut self) -> Step {
        self.pos += LEFT.len();
        let marker = if has_left_marker(self.rest()) { MARKER } else { 0 };
        if self.text[self.pos + marker..].starts_with("/*") {
            self.pos += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.token(TokenKind::LeftDelim);
        self.is_inside_action = true;
        self.pos += marker;
        self.ignore();
        self.paren_depth = 0;
        Step::Done(token)
    }

    fn comment(&mut self) -> Step {
        let Some(length) = self.text[self.pos + 2..].find("*/") else {
            return self.error("unclosed comment");
        };
        self.pos += 2 + length + 2;
        let Some(is_trimmed) = self.at_right_delim() else {
            return self.error("comment ends before closing delimiter");
        };
        self.close(is_trimmed);
        self.ignore();
        Step::Text
    }

    /// Returns whether the closing delimiter that follows trims, or `None` if something else follows.
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_marker(rest) && rest[MARKER..].starts_with(RIGHT) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    /// Moves behind the closing delimiter and the space that it trims.
    fn close(&mut self, is_trimmed: bool) {
        self.pos += if is_trimmed { MARKER } else { 0 };
        self.pos += RIGHT.len();
        if is_trimmed {
            self.trim_start();
        }
    }

    fn trim_start(&mut self) {
        self.pos += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
    }

    fn right_delim(&mut self) -> Step {
        let is_trimmed = self.at_right_delim() == Some(true);
        if is_trimmed {
            self.pos += MARKER;
            self.ignore();
        }
        self.pos += RIGHT.len();
        let token = self.token(TokenKind::RightDelim);
        if is_trimmed {
            self.trim_start();
            self.ignore();
        }
        self.is_inside_action = false;
        Step::Done(token)
    }

    fn inside_action(&mut self) -> Step {
        if self.at_right_delim().is_some() {
            return if self.paren_depth == 0 { Step::RightDelim } else { self.error("unclosed left paren") };
        }
        let Some(first) = self.peek() else { return self.error("unclosed action") };
        if is_space(first) {
            return self.space();
        }
        if first.is_ascii_digit() || matches!(first, '+' | '-') {
            return self.number();
        }
        if first == '.' {
            // A digit after the dot starts a number.
            return match self.text.as_bytes().get(self.pos + 1) {
                Some(b'0'..=b'9') | None => self.number(),
                Some(_) => self.name(TokenKind::Field),
            };
        }
        if is_alphanumeric(first) {
            return self.word();
        }
        self.next();
        match first {
            '=' => self.emit(TokenKind::Assign),
            ':' if self.next() == Some('=') => self.emit(TokenKind::Declare),
            ':' => self.error("expected :="),
            '|' => self.emit(TokenKind::Pipe),
            '"' => self.quoted('"', TokenKind::String, "unterminated quoted string"),
            '\'' => self.quoted('\'', TokenKind::CharConstant, "unterminated character constant"),
            '`' => self.raw_quoted(),
            '$' => {
                self.pos -= 1;
                self.name(TokenKind::Variable)
            }
            '(' => {
                self.paren_depth += 1;
                self.emit(TokenKind::LeftParen)
            }
            ')' if self.paren_depth == 0 => self.error("unexpected right paren"),
            ')' => {
                self.paren_depth -= 1;
                self.emit(TokenKind::RightParen)
            }
            '!'..='~' => self.emit(TokenKind::Char),
            other => self.error(format!("unrecognized character in action: {}", describe_char(Some(other)))),
        }
    }

    /// Scans spaces. The last one may belong to a closing delimiter with a trim marker.
    fn space(&mut self) -> Step {
        let before = self.pos;
        self.accept_run(is_space);
        let last = self.pos - 1;
        if has_right_marker(&self.text[last..]) && self.text[last + MARKER..].starts_with(RIGHT) {
            self.line -= usize::from(self.text.as_bytes()[last] == b'\n');
            self.pos = last;
            if last == before {
                return Step::RightDelim;
            }
        }
        self.emit(TokenKind::Space)
    }

    fn word(&mut self) -> Step {
        self.accept_run(is_alphanumeric);
        if !self.at_terminator() {
            return self.bad_character();
        }
        let word = &self.text[self.start..self.pos];
        let kind = match word {
            "true" | "false" => TokenKind::Bool,
            word => TokenKind::of_keyword(word).unwrap_or(TokenKind::Identifier),
        };
        self.emit(kind)
    }

    /// Scans `.name` or `$name`; the name may be missing.
    fn name(&mut self, kind: TokenKind) -> Step {
        self.next();
        if self.at_terminator() {
            return self.emit(if kind == TokenKind::Field { TokenKind::Dot } else { kind });
        }
        self.accept_run(is_alphanumeric);
        if self.at_terminator() { self.emit(kind) } else { self.bad_character() }
    }

    fn bad_character(&mut self) -> Step {
        self.error(format!("bad character {}", describe_char(self.peek())))
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(next) => is_space(next) || self.rest().starts_with(RIGHT),
        }
    }

    fn quoted(&mut self, end: char, kind: TokenKind, unterminated: &str) -> Step {
        loop {
            match self.next() {
                Some('\\') if !matches!(self.next(), None | Some('\n')) => {}
                None | Some('\n' | '\\') => return self.error(unterminated),
                Some(next) if next == end => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_quoted(&mut self) -> Step {
        loop {
            match self.next() {
                None => return self.error("unterminated raw quoted string"),
                Some('`') => return self.emit(TokenKind::RawString),
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Step {
        if !self.scan_number() {
            return self.bad_number();
        }
        if !matches!(self.peek(), Some('+' | '-')) {
            return self.emit(TokenKind::Number);
        }
        if !self.scan_number() || !self.text[..self.pos].ends_with('i') {
            return self.bad_number();
        }
        self.emit(TokenKind::Complex)
    }

    fn bad_number(&mut self) -> Step {
        let number = quote(&self.text.as_bytes()[self.start..self.pos]);
        self.error(format!("bad number syntax: {number}"))
    }

    /// Scans what may be a number; the parser decides.
    fn scan_number(&mut self) -> bool {
        self.accept(&['+', '-']);
        let mut base = 10;
        if self.accept(&['0']) {
            if self.accept(&['x', 'X']) {
                base = 16;
            } else if self.accept(&['o', 'O']) {
                base = 8;
            } else if self.accept(&['b', 'B']) {
                base = 2;
            }
        }
        let is_digit = |next: char| next == '_' || next.is_digit(base);
        self.accept_run(is_digit);
        if self.accept(&['.']) {
            self.accept_run(is_digit);
        }
        if base == 10 && self.accept(&['e', 'E']) || base == 16 && self.accept(&['p', 'P']) {
            self.accept(&['+', '-']);
            self.accept_run(|next| next == '_' || next.is_ascii_digit());
        }
        self.accept(&['i']);
        let is_number = !self.peek().is_some_and(is_alphanumeric);
        if !is_number {
            self.next();
        }
        is_number
    }
}

fn is_space(next: char) -> bool {
    SPACES.contains(&next)
}

fn is_alphanumeric(next: char) -> bool {
    next == '_' || next.is_alphanumeric()
}

fn has_left_marker(text: &str) -> bool {
    matches!(text.as_bytes(), [b'-', space, ..] if is_space(char::from(*space)))
}

fn has_right_marker(text: &str) -> bool {
    matches!(text.as_bytes(), [space, b'-', ..] if is_space(char::from(*space)))
}
