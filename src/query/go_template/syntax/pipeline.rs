//! The parser of pipelines: declarations, commands and operands.

use super::literal::{INVALID, unquote};
use super::node::{Command, Operand, OperandKind, Pipeline, Variable};
use super::number;
use super::parser::Parser;
use super::token::{Token, TokenKind};
use crate::query::go_template::format::quote;
use crate::query::go_template::functions::Function;

impl Parser<'_> {
    /// Parses a pipeline with the token `end` behind it.
    pub(super) fn pipeline(&mut self, context: &str, end: TokenKind) -> Result<Pipeline, String> {
        let pos = self.peek_non_space().pos;
        let mut pipeline =
            Pipeline { pos, variables: Vec::new(), is_assignment: false, commands: Vec::new() };
        while self.declaration(&mut pipeline, context)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    self.check(&pipeline, context)?;
                    return Ok(pipeline);
                }
                TokenKind::Bool
                | TokenKind::CharConstant
                | TokenKind::Complex
                | TokenKind::Dot
                | TokenKind::Field
                | TokenKind::Identifier
                | TokenKind::Number
                | TokenKind::Nil
                | TokenKind::RawString
                | TokenKind::String
                | TokenKind::Variable
                | TokenKind::LeftParen => {
                    self.reader.backup();
                    let command = self.command()?;
                    pipeline.commands.push(command);
                }
                _ => return self.unexpected(&token, context),
            }
        }
    }

    /// Parses a variable that is declared or assigned, and returns whether a second one of a range follows.
    fn declaration(&mut self, pipeline: &mut Pipeline, context: &str) -> Result<bool, String> {
        let variable = self.peek_non_space();
        if variable.kind != TokenKind::Variable {
            return Ok(false);
        }
        self.next();
        let after = self.peek();
        let next = self.peek_non_space();
        match next.kind {
            TokenKind::Assign | TokenKind::Declare => {
                pipeline.is_assignment = next.kind == TokenKind::Assign;
                self.next_non_space();
                self.declare(pipeline, variable.text);
            }
            TokenKind::Char if &*next.text == "," => {
                self.next_non_space();
                self.declare(pipeline, variable.text);
                if context != "range" || pipeline.variables.len() >= 2 {
                    return self.error(&format!("too many declarations in {context}"));
                }
                let following = self.peek_non_space().kind;
                if !matches!(following, TokenKind::Variable | TokenKind::RightDelim | TokenKind::RightParen) {
                    return self.error("range can only initialize variables");
                }
                return Ok(true);
            }
            _ if after.kind == TokenKind::Space => self.reader.backup_three(variable, after),
            _ => self.reader.backup_two(variable),
        }
        Ok(false)
    }

    fn declare(&mut self, pipeline: &mut Pipeline, name: Box<str>) {
        pipeline.variables.push(name.clone());
        self.reader.variables.push(name);
    }

    fn check(&self, pipeline: &Pipeline, context: &str) -> Result<(), String> {
        if pipeline.commands.is_empty() {
            return self.error(&format!("missing value for {context}"));
        }
        for (at, command) in pipeline.commands.iter().enumerate().skip(1) {
            let is_literal = command.args.first().is_some_and(|first| is_literal(&first.kind));
            if is_literal {
                return self.error(&format!("non executable command in pipeline stage {}", at + 1));
            }
        }
        Ok(())
    }

    /// Parses operands up to a `|`, which is read, or an end, which is left.
    fn command(&mut self) -> Result<Command, String> {
        let pos = self.peek_non_space().pos;
        let mut args = Vec::new();
        loop {
            self.peek_non_space();
            args.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                TokenKind::Space => continue,
                TokenKind::RightDelim | TokenKind::RightParen => self.reader.backup(),
                TokenKind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if args.is_empty() {
            return self.error("empty command");
        }
        Ok(Command { pos, args })
    }

    /// Parses a term with its fields; returns `None` before anything else.
    fn operand(&mut self) -> Result<Option<Operand>, String> {
        let Some(term) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != TokenKind::Field {
            return Ok(Some(term));
        }
        let mut fields = Vec::new();
        while self.peek().kind == TokenKind::Field {
            fields.push(field_name(&self.next()));
        }
        // The position of a longer chain is that of its second part.
        let kind = match term.kind {
            OperandKind::Field(mut names) => {
                names.append(&mut fields);
                OperandKind::Field(names)
            }
            OperandKind::Variable(mut variable) => {
                variable.fields.append(&mut fields);
                OperandKind::Variable(variable)
            }
            kind if is_literal(&kind) => {
                let term = Operand { pos: term.pos, kind }.to_string();
                return self.error(&format!("unexpected . after term {}", quote(term.as_bytes())));
            }
            kind => OperandKind::Chain(Box::new(Operand { pos: term.pos, kind }), fields),
        };
        Ok(Some(Operand { pos: first.pos, kind }))
    }

    fn term(&mut self) -> Result<Option<Operand>, String> {
        let token = self.next_non_space();
        let kind = match token.kind {
            TokenKind::Identifier => {
                let Some(function) = Function::named(&token.text) else {
                    let name = quote(token.text.as_bytes());
                    return self.error(&format!("function {name} not defined"));
                };
                OperandKind::Function(function)
            }
            TokenKind::Dot => OperandKind::Dot,
            TokenKind::Nil => OperandKind::Nil,
            TokenKind::Variable => self.variable(&token)?,
            TokenKind::Field => OperandKind::Field(vec![field_name(&token)]),
            TokenKind::Bool => OperandKind::Bool(&*token.text == "true"),
            TokenKind::CharConstant | TokenKind::Complex | TokenKind::Number => {
                let number = match token.kind {
                    TokenKind::CharConstant => number::character(&token.text),
                    TokenKind::Complex => number::complex(&token.text),
                    _ => number::number(&token.text),
                };
                match number {
                    Ok(number) => OperandKind::Number(number, token.text.clone()),
                    Err(message) => return self.error(&message),
                }
            }
            TokenKind::LeftParen => {
                let pipeline =
                    self.nested(|parser| parser.pipeline("parenthesized pipeline", TokenKind::RightParen))?;
                // Its position is that of its content.
                return Ok(Some(Operand {
                    pos: pipeline.pos,
                    kind: OperandKind::Pipeline(Box::new(pipeline)),
                }));
            }
            TokenKind::String | TokenKind::RawString => match unquote(&token.text) {
                Some(value) => OperandKind::Text { quoted: token.text.clone(), value: value.into() },
                None => return self.error(INVALID),
            },
            _ => {
                self.reader.backup();
                return Ok(None);
            }
        };
        Ok(Some(Operand { pos: token.pos, kind }))
    }

    fn variable(&mut self, token: &Token) -> Result<OperandKind, String> {
        if !self.reader.variables.contains(&token.text) {
            let name = quote(token.text.as_bytes());
            return self.error(&format!("undefined variable {name}"));
        }
        Ok(OperandKind::Variable(Variable { name: token.text.clone(), fields: Vec::new() }))
    }
}

/// Returns whether an operand can't be called.
fn is_literal(kind: &OperandKind) -> bool {
    matches!(
        kind,
        OperandKind::Bool(_)
            | OperandKind::Dot
            | OperandKind::Nil
            | OperandKind::Number(..)
            | OperandKind::Text { .. }
    )
}

fn field_name(token: &Token) -> Box<str> {
    token.text.strip_prefix('.').unwrap_or(&token.text).into()
}
