//! Nodes as Go's error messages print them.

use std::fmt::{self, Display, Formatter, Write as _};

use super::node::{Command, Node, NodeKind, Operand, OperandKind, Pipeline};
use crate::query::go_template::format::quote;

/// Only the nodes that an error can refer to are printed as in Go.
impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            NodeKind::Text(text) => f.write_str(text),
            NodeKind::Action(pipeline) => write!(f, "{{{{{pipeline}}}}}"),
            NodeKind::Break => f.write_str("{{break}}"),
            NodeKind::Continue => f.write_str("{{continue}}"),
            NodeKind::If(_) => f.write_str("{{if}}"),
            NodeKind::With(_) => f.write_str("{{with}}"),
            NodeKind::Range(_) => f.write_str("{{range}}"),
            NodeKind::Template { name, argument } => {
                write!(f, "{{{{template {}", quote(name.as_bytes()))?;
                if let Some(argument) = argument {
                    write!(f, " {argument}")?;
                }
                f.write_str("}}")
            }
        }
    }
}

impl Display for Pipeline {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.variables.is_empty() {
            write!(f, "{} {} ", self.variables.join(", "), if self.is_assignment { "=" } else { ":=" })?;
        }
        for (at, command) in self.commands.iter().enumerate() {
            write!(f, "{}{command}", if at == 0 { "" } else { " | " })?;
        }
        Ok(())
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, arg) in self.args.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { " " })?;
            in_parentheses(arg, f)?;
        }
        Ok(())
    }
}

fn in_parentheses(operand: &Operand, f: &mut Formatter<'_>) -> fmt::Result {
    match operand.kind {
        OperandKind::Pipeline(_) => write!(f, "({operand})"),
        _ => write!(f, "{operand}"),
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let fields = |fields: &[Box<str>], f: &mut Formatter<'_>| {
            fields.iter().try_for_each(|field| write!(f, ".{field}"))
        };
        match &self.kind {
            OperandKind::Bool(value) => write!(f, "{value}"),
            OperandKind::Chain(operand, names) => {
                in_parentheses(operand, f)?;
                fields(names, f)
            }
            OperandKind::Dot => f.write_char('.'),
            OperandKind::Field(names) => fields(names, f),
            OperandKind::Function(function) => f.write_str(function.name()),
            OperandKind::Nil => f.write_str("nil"),
            OperandKind::Number(_, text) => f.write_str(text),
            OperandKind::Pipeline(pipeline) => write!(f, "{pipeline}"),
            OperandKind::Text { quoted, .. } => f.write_str(quoted),
            OperandKind::Variable(variable) => {
                f.write_str(&variable.name)?;
                fields(&variable.fields, f)
            }
        }
    }
}
