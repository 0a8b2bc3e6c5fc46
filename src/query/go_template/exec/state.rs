//! The state of an execution: variables, the current node, and errors.

use super::budget::Budget;
use crate::query::go_template::format::quote;
use crate::query::go_template::limits::MAX_DEPTH;
use crate::query::go_template::syntax::{Command, Definition, Node, Operand, Pipeline, Template};
use crate::query::go_template::value::Value;

/// A failed execution.
#[derive(Debug)]
pub(in crate::query::go_template) struct Failure {
    pub(in crate::query::go_template) kind: FailureKind,
    /// Go's message, with the position.
    pub(in crate::query::go_template) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query::go_template) enum FailureKind {
    /// As in Go.
    Invalid,
    /// A limit that Go does not have.
    Limit,
}

pub(super) type Result<T> = std::result::Result<T, Box<Failure>>;

/// The constants of an execution.
#[derive(Debug, Clone, Copy)]
pub(in crate::query::go_template) struct Options<'a> {
    /// The text of the template.
    pub(in crate::query::go_template) text: &'a str,
    pub(in crate::query::go_template) template: &'a Template,
    /// Whether a missing key is no error.
    pub(in crate::query::go_template) allow_missing_keys: bool,
}

/// The node that an error refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum NodeRef<'a> {
    Node(&'a Node),
    Pipeline(&'a Pipeline),
    Command(&'a Command),
    Operand(&'a Operand),
}

/// An execution that writes to `out`.
#[derive(Debug)]
pub(in crate::query::go_template) struct Executor<'a, 'o> {
    pub(super) options: Options<'a>,
    pub(super) out: &'o mut Vec<u8>,
    pub(super) budget: Budget,
    /// The variables of all running templates.
    pub(super) variables: Vec<(&'a str, Value<'a>)>,
    /// The first variable of the current template.
    pub(super) frame: usize,
    /// The name of the current template.
    pub(super) name: &'a str,
    node: Option<NodeRef<'a>>,
    depth: usize,
}

impl<'a, 'o> Executor<'a, 'o> {
    /// Starts an execution of the definition `output` on `root`.
    pub(in crate::query::go_template) fn new(
        options: Options<'a>,
        root: Value<'a>,
        budget: Budget,
        out: &'o mut Vec<u8>,
    ) -> Self {
        Self {
            options,
            out,
            budget,
            variables: vec![("$", root)],
            frame: 0,
            name: "output",
            node: None,
            depth: 0,
        }
    }

    pub(in crate::query::go_template) fn definition(&self, name: &str) -> Option<&'a Definition> {
        self.options.template.definitions.iter().find(|definition| &*definition.name == name)
    }

    /// Declares a variable.
    pub(in crate::query::go_template) fn declare(&mut self, name: &'a str, value: Value<'a>) {
        self.variables.push((name, value));
    }

    pub(super) fn variable(&mut self, name: &str) -> Result<&mut Value<'a>> {
        let declared = self.variables[self.frame..].iter().rposition(|(declared, _)| *declared == name);
        match declared {
            Some(at) => Ok(&mut self.variables[self.frame + at].1),
            None => self.fail(format!("undefined variable: {name}")),
        }
    }

    /// Sets the node of errors.
    pub(super) fn at(&mut self, node: NodeRef<'a>) {
        self.node = Some(node);
    }

    /// Calls `run` one level deeper, and counts it as a step.
    pub(super) fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.step()?;
        if self.depth >= MAX_DEPTH {
            return self.exceed("exceeded the maximum depth of nested templates and actions");
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    pub(super) fn step(&mut self) -> Result<()> {
        if self.budget.take_step() { Ok(()) } else { self.exceed("exceeded the maximum number of steps") }
    }

    pub(super) fn fail<T>(&self, message: impl AsRef<str>) -> Result<T> {
        Err(Box::new(self.failure(FailureKind::Invalid, message.as_ref())))
    }

    pub(super) fn exceed<T>(&self, message: &str) -> Result<T> {
        Err(Box::new(self.failure(FailureKind::Limit, message)))
    }

    fn failure(&self, kind: FailureKind, message: &str) -> Failure {
        let message = match self.node {
            None => format!("template: {}: {message}", self.name),
            Some(node) => {
                let (line, column) = self.position(node);
                let (name, node) = (quote(self.name.as_bytes()), describe(node));
                format!("template: output:{line}:{column}: executing {name} at <{node}>: {message}")
            }
        };
        Failure { kind, message }
    }

    /// Returns the line, from 1, and the byte in it, from 0.
    fn position(&self, node: NodeRef<'_>) -> (usize, usize) {
        let pos = match node {
            NodeRef::Node(node) => node.pos,
            NodeRef::Pipeline(pipeline) => pipeline.pos,
            NodeRef::Command(command) => command.pos,
            NodeRef::Operand(operand) => operand.pos,
        };
        let before = self.options.text.get(..pos).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (1 + before.matches('\n').count(), pos - line_start)
    }
}

fn describe(node: NodeRef<'_>) -> String {
    match node {
        NodeRef::Node(node) => node.to_string(),
        NodeRef::Pipeline(pipeline) => pipeline.to_string(),
        NodeRef::Command(command) => command.to_string(),
        NodeRef::Operand(operand) => operand.to_string(),
    }
}
