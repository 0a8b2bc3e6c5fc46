//! The tokens of a template.

use crate::query::go_template::format::quote;

/// The type of a token. Keywords are printed in angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query::go_template) enum TokenKind {
    /// The text is the message of a lexical error.
    Error,
    Bool,
    /// A printable ASCII character without a meaning of its own, such as a comma.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    /// `.name`
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    /// `$` or `$name`
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl TokenKind {
    /// Returns the keyword that a word is.
    pub(super) fn of_keyword(word: &str) -> Option<Self> {
        Some(match word {
            "block" => Self::Block,
            "break" => Self::Break,
            "continue" => Self::Continue,
            "define" => Self::Define,
            "else" => Self::Else,
            "end" => Self::End,
            "if" => Self::If,
            "nil" => Self::Nil,
            "range" => Self::Range,
            "template" => Self::Template,
            "with" => Self::With,
            _ => return None,
        })
    }

    fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Dot
                | Self::Define
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// A token: its type, position in bytes, text and line.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Token {
    pub(super) kind: TokenKind,
    pub(super) pos: usize,
    pub(super) text: Box<str>,
    pub(super) line: usize,
}

impl Token {
    /// Returns a token for a parser that has not read any.
    pub(super) fn unread() -> Self {
        Self { kind: TokenKind::Eof, pos: 0, text: "".into(), line: 0 }
    }

    /// Returns the token as Go's messages print it.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            TokenKind::Eof => "EOF".to_owned(),
            TokenKind::Error => self.text.to_string(),
            kind if kind.is_keyword() => format!("<{}>", self.text),
            _ if self.text.len() > 10 => {
                let start: String = self.text.chars().take(10).collect();
                format!("{}...", quote(start.as_bytes()))
            }
            _ => quote(self.text.as_bytes()),
        }
    }
}
