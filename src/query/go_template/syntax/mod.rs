//! The syntax of templates: text to tokens to nodes, with Go's error messages.

mod describe;
mod lexer;
mod literal;
mod node;
mod number;
mod parser;
mod pipeline;
mod reader;
mod token;

pub(super) use node::{
    Branch, Command, Definition, Node, NodeKind, Operand, OperandKind, Pipeline, Template, Variable,
};
pub(super) use number::Number;
pub(super) use parser::parse;
