//! The syntax of CEL: tokens, and the tree of an expression with its positions.

mod lexer;
mod literal;
mod operands;
mod parser;
#[cfg(test)]
mod tests;

pub(super) use lexer::lone_equals_sign;
pub(super) use operands::{operands, without_parentheses};
pub(super) use parser::parse;

/// A part of an expression.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    /// The byte where a problem with this part is shown.
    pub(super) at: usize,
    /// The number of levels of the tree below and including this part.
    pub(super) height: u32,
}

/// The forms of an expression. Calls of macros are calls.
#[derive(Debug)]
pub(super) enum ExprKind {
    Literal(Literal),
    Ident(String),
    /// `operand.field`, or `operand.?field`.
    Select {
        operand: Box<Expr>,
        field: String,
        is_optional: bool,
    },
    /// `operand[index]`, or `operand[?index]`.
    Index {
        operand: Box<Expr>,
        index: Box<Expr>,
        is_optional: bool,
    },
    /// `name(arguments)`, or `target.name(arguments)`.
    Call {
        target: Option<Box<Expr>>,
        name: String,
        arguments: Vec<Expr>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Terms joined by `&&`.
    And(Vec<Expr>),
    /// Terms joined by `||`.
    Or(Vec<Expr>),
    Conditional(Box<[Expr; 3]>),
    /// Elements; those written with `?` are optional values.
    List(Vec<(Expr, bool)>),
    Map(Vec<Entry>),
}

/// An entry of a map.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    /// Whether the key is written with `?`: the value is an optional value.
    pub(super) is_optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Binary {
    /// Whether the operator compares two values.
    pub(super) fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// Returns the operator as it is written.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}
