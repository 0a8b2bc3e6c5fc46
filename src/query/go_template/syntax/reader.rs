//! The token reader of one template: lookahead, declared variables, and errors with Go's line numbers.

use super::lexer::Lexer;
use super::token::{Token, TokenKind};

/// The state of the parser for one template. Templates in a template share the lexer but not the lookahead.
#[derive(Debug)]
pub(super) struct Reader {
    /// The tokens that were put back, behind the last one that was read. The line of the first is that of errors.
    tokens: [Token; 3],
    peek_count: usize,
    /// The declared variables.
    pub(super) variables: Vec<Box<str>>,
    /// The line of the action that is parsed, or 0.
    pub(super) action_line: usize,
    pub(super) range_depth: usize,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            tokens: [Token::unread(), Token::unread(), Token::unread()],
            peek_count: 0,
            variables: vec!["$".into()],
            action_line: 0,
            range_depth: 0,
        }
    }

    pub(super) fn next(&mut self, lexer: &mut Lexer<'_>) -> Token {
        if self.peek_count > 0 {
            self.peek_count -= 1;
        } else {
            self.tokens[0] = lexer.next_token();
        }
        self.tokens[self.peek_count].clone()
    }

    pub(super) fn backup(&mut self) {
        self.peek_count += 1;
    }

    /// Puts back two tokens. The second is still in its place.
    pub(super) fn backup_two(&mut self, first: Token) {
        self.tokens[1] = first;
        self.peek_count = 2;
    }

    /// Puts back three tokens. The third is still in its place.
    pub(super) fn backup_three(&mut self, first: Token, second: Token) {
        self.tokens[2] = first;
        self.tokens[1] = second;
        self.peek_count = 3;
    }

    pub(super) fn peek(&mut self, lexer: &mut Lexer<'_>) -> Token {
        if self.peek_count == 0 {
            self.peek_count = 1;
            self.tokens[0] = lexer.next_token();
        }
        self.tokens[self.peek_count - 1].clone()
    }

    pub(super) fn next_non_space(&mut self, lexer: &mut Lexer<'_>) -> Token {
        loop {
            let token = self.next(lexer);
            if token.kind != TokenKind::Space {
                return token;
            }
        }
    }

    pub(super) fn peek_non_space(&mut self, lexer: &mut Lexer<'_>) -> Token {
        let token = self.next_non_space(lexer);
        self.backup();
        token
    }

    /// Returns a message with the position of the token that was read last.
    pub(super) fn error(&self, message: &str) -> String {
        format!("template: output:{}: {message}", self.tokens[0].line)
    }

    /// Returns the message for a token that does not fit.
    pub(super) fn unexpected(&self, token: &Token, context: &str) -> String {
        if token.kind != TokenKind::Error {
            return self.error(&format!("unexpected {} in {context}", token.describe()));
        }
        let mut message = token.text.to_string();
        if self.action_line != 0 && self.action_line != token.line {
            let preposition = if message.ends_with(" action") { "" } else { " in action" };
            let start = format!("{preposition} started at output:{}", self.action_line);
            message.push_str(&start);
        }
        self.error(&message)
    }
}
