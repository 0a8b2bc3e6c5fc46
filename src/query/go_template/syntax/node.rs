//! The nodes of a parsed template. Each has its position in the text, for error messages.

use super::number::Number;
use crate::query::go_template::functions::Function;

/// A template and those that it defines.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Template {
    /// In the order of their definitions; the name of the outermost is `output`.
    pub(in crate::query::go_template) definitions: Vec<Definition>,
}

/// A named list of nodes.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Definition {
    pub(in crate::query::go_template) name: Box<str>,
    pub(in crate::query::go_template) nodes: Vec<Node>,
}

#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Node {
    pub(in crate::query::go_template) pos: usize,
    pub(in crate::query::go_template) kind: NodeKind,
}

#[derive(Debug, Clone)]
pub(in crate::query::go_template) enum NodeKind {
    Text(Box<str>),
    Action(Pipeline),
    Break,
    Continue,
    If(Branch),
    With(Branch),
    Range(Branch),
    /// A call of a template: `template` or `block`.
    Template {
        name: Box<str>,
        argument: Option<Pipeline>,
    },
}

/// A control structure. Only `if` and `with` have more than one arm: `else if`, `else with`.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Branch {
    pub(in crate::query::go_template) arms: Vec<(Pipeline, Vec<Node>)>,
    pub(in crate::query::go_template) otherwise: Option<Vec<Node>>,
}

#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Pipeline {
    pub(in crate::query::go_template) pos: usize,
    /// The variables that are declared or assigned.
    pub(in crate::query::go_template) variables: Vec<Box<str>>,
    pub(in crate::query::go_template) is_assignment: bool,
    pub(in crate::query::go_template) commands: Vec<Command>,
}

/// An operand, or a function with its arguments. The first argument is the function.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Command {
    pub(in crate::query::go_template) pos: usize,
    pub(in crate::query::go_template) args: Vec<Operand>,
}

#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Operand {
    pub(in crate::query::go_template) pos: usize,
    pub(in crate::query::go_template) kind: OperandKind,
}

#[derive(Debug, Clone)]
pub(in crate::query::go_template) enum OperandKind {
    Bool(bool),
    /// Fields of a function's or pipeline's result.
    Chain(Box<Operand>, Vec<Box<str>>),
    Dot,
    Field(Vec<Box<str>>),
    Function(Function),
    Nil,
    Number(Number, Box<str>),
    Pipeline(Box<Pipeline>),
    Text {
        quoted: Box<str>,
        value: Box<[u8]>,
    },
    Variable(Variable),
}

/// A variable and the fields of its value.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Variable {
    pub(in crate::query::go_template) name: Box<str>,
    pub(in crate::query::go_template) fields: Vec<Box<str>>,
}
