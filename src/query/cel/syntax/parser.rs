//! The parser: precedence climbing over the tokens, bounded in depth.

use super::lexer::{Token, tokens};
use super::{Binary, Entry, Expr, ExprKind, Literal, literal};
use crate::query::cel::error::Problem;

/// The nesting of an expression in its text.
const MAX_DEPTH: u32 = 50;

/// The levels of the tree of an expression. Chains of operators and fields count.
const MAX_HEIGHT: u32 = 100;

/// The length of an expression in bytes.
const MAX_LENGTH: usize = 100_000;

/// Words that CEL reserves: they are no variables.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "namespace",
    "package",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression.
pub(in crate::query::cel) fn parse(text: &str) -> Result<Expr, Problem> {
    if text.len() > MAX_LENGTH {
        return Err(Problem::new(0, "the expression is too long"));
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let expr = parser.expr()?;
    match parser.token() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    /// The tokens and where they begin, the end last.
    tokens: Vec<(Token<'a>, usize)>,
    next: usize,
    /// The nesting of the part that is being parsed.
    depth: u32,
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        self.tokens[self.next].0
    }

    fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    /// Takes the next token; the end stays.
    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    /// Takes the symbol, if it is next.
    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.token(), Token::Symbol(found) if found == symbol);
        if found {
            self.advance();
        }
        found
    }

    fn require(&mut self, symbol: &str) -> Result<(), Problem> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("{symbol:?}"))) }
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let found = match self.token() {
            Token::Ident(name) => format!("{name:?}"),
            Token::Symbol(symbol) => format!("{symbol:?}"),
            Token::Int(_) | Token::Uint(_) | Token::Double(_) => "a number".to_owned(),
            Token::Text { .. } | Token::Bytes { .. } => "a string".to_owned(),
            Token::End => "the end".to_owned(),
        };
        Problem::new(self.at(), format!("expected {expected}, found {found}"))
    }

    /// Parses an expression of any precedence.
    fn expr(&mut self) -> Result<Expr, Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Problem::new(self.at(), "the expression is nested too deeply"));
        }
        let condition = self.terms("||")?;
        let at = self.at();
        let expr = if self.take("?") {
            let then = self.terms("||")?;
            self.require(":")?;
            let otherwise = self.expr()?;
            let below = condition.height.max(then.height).max(otherwise.height);
            node(ExprKind::Conditional(Box::new([condition, then, otherwise])), at, below)?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// Parses terms joined by `||`, or those joined by `&&`.
    fn terms(&mut self, operator: &str) -> Result<Expr, Problem> {
        let first = self.term(operator)?;
        let at = self.at();
        if !self.take(operator) {
            return Ok(first);
        }
        let mut terms = vec![first, self.term(operator)?];
        while self.take(operator) {
            terms.push(self.term(operator)?);
        }
        let below = highest(&terms);
        node(if operator == "||" { ExprKind::Or(terms) } else { ExprKind::And(terms) }, at, below)
    }

    fn term(&mut self, operator: &str) -> Result<Expr, Problem> {
        if operator == "||" { self.terms("&&") } else { self.binary(0) }
    }

    /// Parses operators of at least this precedence, from the left.
    fn binary(&mut self, precedence: u8) -> Result<Expr, Problem> {
        let mut left = self.unary()?;
        while let Some((operator, own)) = self.operator()
            && own >= precedence
        {
            let at = self.at();
            self.advance();
            let right = self.binary(own + 1)?;
            let below = left.height.max(right.height);
            left = node(ExprKind::Binary(operator, Box::new(left), Box::new(right)), at, below)?;
        }
        Ok(left)
    }

    /// Returns the next operator and its precedence.
    fn operator(&self) -> Option<(Binary, u8)> {
        let Token::Symbol(symbol) = self.token() else { return None };
        Some(match symbol {
            "==" => (Binary::Equal, 0),
            "!=" => (Binary::NotEqual, 0),
            "<" => (Binary::Less, 0),
            "<=" => (Binary::LessEqual, 0),
            ">" => (Binary::Greater, 0),
            ">=" => (Binary::GreaterEqual, 0),
            "in" => (Binary::In, 0),
            "+" => (Binary::Add, 1),
            "-" => (Binary::Subtract, 1),
            "*" => (Binary::Multiply, 2),
            "/" => (Binary::Divide, 2),
            "%" => (Binary::Modulo, 2),
            _ => return None,
        })
    }

    /// Parses a member with the `!` or `-` before it.
    fn unary(&mut self) -> Result<Expr, Problem> {
        let at = self.at();
        let symbol = match self.token() {
            Token::Symbol("!") => "!",
            // The sign of a number belongs to the number.
            Token::Symbol("-") if !self.is_number(1) => "-",
            _ => return self.member(),
        };
        let mut count = 0;
        while self.token() == Token::Symbol(symbol) && !(symbol == "-" && self.is_number(1)) {
            self.advance();
            count += 1;
        }
        let operand = self.member()?;
        // Two cancel each other; one and three keep the type check of the operand.
        let below = operand.height;
        let unary = |operand| match symbol {
            "!" => ExprKind::Not(Box::new(operand)),
            _ => ExprKind::Negate(Box::new(operand)),
        };
        let once = node(unary(operand), at, below)?;
        if count % 2 == 1 { Ok(once) } else { node(unary(once), at, below + 1) }
    }

    fn is_number(&self, ahead: usize) -> bool {
        matches!(self.tokens.get(self.next + ahead), Some((Token::Int(_) | Token::Double(_), _)))
    }

    /// Parses a primary and the fields, indices and calls behind it.
    fn member(&mut self) -> Result<Expr, Problem> {
        let mut operand = self.primary()?;
        loop {
            let at = self.at();
            let below = operand.height;
            if self.take(".") {
                let is_optional = self.take("?");
                let name_at = self.at();
                let Token::Ident(name) = self.token() else { return Err(self.unexpected("a name")) };
                self.advance();
                if !is_optional && self.take("(") {
                    operand = self.call(Some(operand), name, name_at)?;
                } else {
                    let kind =
                        ExprKind::Select { operand: Box::new(operand), field: name.to_owned(), is_optional };
                    operand = node(kind, name_at, below)?;
                }
            } else if self.take("[") {
                let is_optional = self.take("?");
                let index = self.expr()?;
                self.require("]")?;
                let below = below.max(index.height);
                let kind =
                    ExprKind::Index { operand: Box::new(operand), index: Box::new(index), is_optional };
                operand = node(kind, at, below)?;
            } else {
                return Ok(operand);
            }
        }
    }

    /// Parses the arguments of a call behind the opening bracket.
    fn call(&mut self, target: Option<Expr>, name: &str, at: usize) -> Result<Expr, Problem> {
        let mut arguments = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.expr()?);
                if !self.take(",") {
                    break;
                }
            }
            self.require(")")?;
        }
        let below = highest(&arguments).max(target.as_ref().map_or(0, |target| target.height));
        let target = target.map(Box::new);
        node(ExprKind::Call { target, name: name.to_owned(), arguments }, at, below)
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let at = self.at();
        let is_negative = self.is_number(1) && self.take("-");
        let token = self.token();
        let literal = match token {
            Token::Int(text) => literal::int(text, is_negative, at)?,
            Token::Uint(text) => literal::uint(text, at)?,
            Token::Double(text) => literal::double(text, is_negative, at)?,
            Token::Text { content, is_raw } => literal::text(content, is_raw, at)?,
            Token::Bytes { content, is_raw } => literal::bytes(content, is_raw, at)?,
            Token::Symbol("true") => Literal::Bool(true),
            Token::Symbol("false") => Literal::Bool(false),
            Token::Symbol("null") => Literal::Null,
            Token::Symbol("(") => {
                self.advance();
                let inside = self.expr()?;
                self.require(")")?;
                return Ok(inside);
            }
            Token::Symbol("[") => return self.list(),
            Token::Symbol("{") => return self.map(),
            _ => return self.name(),
        };
        self.advance();
        node(ExprKind::Literal(literal), at, 0)
    }

    /// Parses a variable or a call.
    fn name(&mut self) -> Result<Expr, Problem> {
        let is_rooted = self.take(".");
        let at = self.at();
        let Token::Ident(name) = self.token() else {
            return Err(self.unexpected(if is_rooted { "a name" } else { "an expression" }));
        };
        if RESERVED.contains(&name) {
            return Err(Problem::new(at, format!("{name:?} is a reserved word")));
        }
        self.advance();
        if self.take("(") {
            return self.call(None, name, at);
        }
        if self.token() == Token::Symbol("{") {
            return Err(Problem::new(at, format!("unknown message type {name:?}")));
        }
        node(ExprKind::Ident(name.to_owned()), at, 0)
    }

    fn list(&mut self) -> Result<Expr, Problem> {
        let at = self.at();
        self.advance();
        let mut elements = Vec::new();
        while !self.take("]") {
            let is_optional = self.take("?");
            elements.push((self.expr()?, is_optional));
            if !self.take(",") {
                self.require("]")?;
                break;
            }
        }
        let below = elements.iter().map(|(element, _)| element.height).max().unwrap_or(0);
        node(ExprKind::List(elements), at, below)
    }

    fn map(&mut self) -> Result<Expr, Problem> {
        let at = self.at();
        self.advance();
        let mut entries = Vec::new();
        while !self.take("}") {
            let is_optional = self.take("?");
            let key = self.expr()?;
            self.require(":")?;
            entries.push(Entry { key, value: self.expr()?, is_optional });
            if !self.take(",") {
                self.require("}")?;
                break;
            }
        }
        let below = entries.iter().map(|entry| entry.key.height.max(entry.value.height)).max().unwrap_or(0);
        node(ExprKind::Map(entries), at, below)
    }
}

/// Returns the largest height.
fn highest(exprs: &[Expr]) -> u32 {
    exprs.iter().map(|expr| expr.height).max().unwrap_or(0)
}

/// Returns a node above the given height, unless the tree becomes too high.
fn node(kind: ExprKind, at: usize, below: u32) -> Result<Expr, Problem> {
    let height = below + 1;
    if height > MAX_HEIGHT {
        return Err(Problem::new(at, "the expression is nested too deeply"));
    }
    Ok(Expr { kind, at, height })
}
