//! The execution of a template on a list that is given item by item.

use super::error::TemplateError;
use super::exec::{Budget, Executor, Flow};
use super::syntax::{Branch, Node, NodeKind, Operand, OperandKind, Pipeline};
use super::template::GoTemplate;
use super::value::Value;
use crate::object::JsonValue;

/// An execution on the items of a list, in three parts: [`begin`](Self::begin), [`item`](Self::item) for each item in its
/// order, [`end`](Self::end). The limits of an execution hold for each item.
#[derive(Debug)]
pub struct ListExecution<'t> {
    template: &'t GoTemplate,
    before: &'t [Node],
    range: &'t Branch,
    after: &'t [Node],
    count: usize,
    is_finished: bool,
}

impl GoTemplate {
    /// Returns an execution for a list that is given item by item, with the output of [`GoTemplate::execute`] on the whole
    /// list; `None` if the template needs the whole list. It does not if it is constant text around one
    /// `{{range .items}}…{{end}}` that does not use the list itself (`$`).
    #[must_use]
    pub fn list_execution(&self) -> Option<ListExecution<'_>> {
        ListExecution::of(self)
    }
}

impl<'t> ListExecution<'t> {
    fn of(template: &'t GoTemplate) -> Option<Self> {
        let definitions = &template.template().definitions;
        let nodes = &definitions.iter().find(|definition| &*definition.name == "output")?.nodes;
        let at = nodes.iter().position(|node| !is_text(node))?;
        let (before, [Node { kind: NodeKind::Range(range), .. }, after @ ..]) = nodes.split_at(at) else {
            return None;
        };
        let [(pipeline, body)] = &range.arms[..] else { return None };
        let has_constant_rest = after.iter().chain(range.otherwise.iter().flatten()).all(is_text);
        if !has_constant_rest || !is_items(pipeline) || body.iter().any(node_uses_root) {
            return None;
        }
        Some(Self { template, before, range, after, count: 0, is_finished: false })
    }

    /// Appends the text before the first item.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        write_text(self.before, out);
    }

    /// Appends the output of an item. A failure appends nothing but the output up to there: kubectl's description needs
    /// the whole list.
    ///
    /// # Errors
    /// Those of [`GoTemplate::execute`].
    pub fn item(&mut self, item: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), TemplateError> {
        let index = self.count;
        self.count += 1;
        let [(pipeline, body)] = &self.range.arms[..] else { return Ok(()) };
        if self.is_finished {
            return Ok(());
        }
        let item = Value::element(item);
        let mut executor = Executor::new(self.template.options(), Value::MISSING, Budget::full(), out);
        match &pipeline.variables[..] {
            [] => {}
            [element] => executor.declare(element, item.clone()),
            [first, second, ..] => {
                executor.declare(first, Value::length(index));
                executor.declare(second, item.clone());
            }
        }
        match executor.walk(&item, body) {
            Ok(flow) => {
                self.is_finished = flow == Flow::Break;
                Ok(())
            }
            Err(failure) => Err(self.template.error(*failure)),
        }
    }

    /// Returns whether the template has left the range: further items print nothing.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Appends the text behind the last item, after that for an empty list.
    pub fn end(self, out: &mut Vec<u8>) {
        if self.count == 0 {
            write_text(self.range.otherwise.as_deref().unwrap_or(&[]), out);
        }
        write_text(self.after, out);
    }
}

fn write_text(nodes: &[Node], out: &mut Vec<u8>) {
    for node in nodes {
        if let NodeKind::Text(text) = &node.kind {
            out.extend_from_slice(text.as_bytes());
        }
    }
}

fn is_text(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Text(_))
}

/// Returns whether a pipeline is `.items`, possibly with declared variables.
fn is_items(pipeline: &Pipeline) -> bool {
    let [command] = &pipeline.commands[..] else { return false };
    let [Operand { kind: OperandKind::Field(fields), .. }] = &command.args[..] else { return false };
    !pipeline.is_assignment && fields.len() == 1 && &*fields[0] == "items"
}

/// Returns whether a node uses the variable `$`. That of a called template is another one.
fn node_uses_root(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Text(_) | NodeKind::Break | NodeKind::Continue => false,
        NodeKind::Action(pipeline) => pipeline_uses_root(pipeline),
        NodeKind::Template { argument, .. } => argument.as_ref().is_some_and(pipeline_uses_root),
        NodeKind::If(branch) | NodeKind::With(branch) | NodeKind::Range(branch) => {
            let uses_root = |(pipeline, nodes): &(Pipeline, Vec<Node>)| {
                pipeline_uses_root(pipeline) || nodes.iter().any(node_uses_root)
            };
            branch.arms.iter().any(uses_root) || branch.otherwise.iter().flatten().any(node_uses_root)
        }
    }
}

fn pipeline_uses_root(pipeline: &Pipeline) -> bool {
    let assigns_root = pipeline.variables.iter().any(|name| &**name == "$");
    assigns_root || pipeline.commands.iter().flat_map(|command| &command.args).any(operand_uses_root)
}

fn operand_uses_root(operand: &Operand) -> bool {
    match &operand.kind {
        OperandKind::Variable(variable) => &*variable.name == "$",
        OperandKind::Pipeline(pipeline) => pipeline_uses_root(pipeline),
        OperandKind::Chain(inner, _) => operand_uses_root(inner),
        _ => false,
    }
}
