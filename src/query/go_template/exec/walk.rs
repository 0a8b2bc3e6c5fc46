//! Nodes: text, actions, control structures and calls of templates.

use super::state::{Executor, NodeRef, Result};
use crate::object::JsonValue;
use crate::query::go_template::format::{Buffer, print_value, quote};
use crate::query::go_template::syntax::{Branch, Node, NodeKind, Pipeline};
use crate::query::go_template::value::{Data, Value};

/// The place at which the execution continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query::go_template) enum Flow {
    Next,
    /// Behind the enclosing range.
    Break,
    /// In the next iteration of the enclosing range.
    Continue,
}

impl<'a> Executor<'a, '_> {
    /// Executes nodes, one level deeper.
    pub(in crate::query::go_template) fn walk(&mut self, dot: &Value<'a>, nodes: &'a [Node]) -> Result<Flow> {
        self.nested(|executor| {
            for node in nodes {
                let flow = executor.walk_node(dot, node)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })
    }

    fn walk_node(&mut self, dot: &Value<'a>, node: &'a Node) -> Result<Flow> {
        self.step()?;
        self.at(NodeRef::Node(node));
        match &node.kind {
            NodeKind::Text(text) => self.write(text.as_bytes()),
            NodeKind::Action(pipeline) => self.action(dot, node, pipeline),
            NodeKind::Break => Ok(Flow::Break),
            NodeKind::Continue => Ok(Flow::Continue),
            NodeKind::If(branch) => self.walk_branch(dot, branch, false),
            NodeKind::With(branch) => self.walk_branch(dot, branch, true),
            NodeKind::Range(branch) => self.walk_range(dot, branch),
            NodeKind::Template { name, argument } => self.walk_template(dot, name, argument.as_ref()),
        }
    }

    /// Writes text, or fails if the output is too long.
    fn write(&mut self, text: &[u8]) -> Result<Flow> {
        if text.len() > self.budget.output {
            return self.output_is_full();
        }
        self.budget.take_output(text.len());
        self.out.extend_from_slice(text);
        Ok(Flow::Next)
    }

    fn output_is_full<T>(&self) -> Result<T> {
        self.exceed("exceeded the maximum size of the output")
    }

    fn action(&mut self, dot: &Value<'a>, node: &'a Node, pipeline: &'a Pipeline) -> Result<Flow> {
        let value = self.pipeline(dot, pipeline)?;
        if !pipeline.variables.is_empty() {
            return Ok(Flow::Next);
        }
        self.at(NodeRef::Node(node));
        if matches!(value.data, Data::Nil) {
            return self.write(b"<no value>");
        }
        let start = self.out.len();
        let mut out = Buffer::new(self.out, self.budget.output);
        print_value(&value, &mut out);
        if out.is_full() {
            return self.output_is_full();
        }
        let written = self.out.len() - start;
        self.budget.take_output(written);
        Ok(Flow::Next)
    }

    /// Executes `if` or `with`. Variables of all conditions are valid up to the end.
    fn walk_branch(&mut self, dot: &Value<'a>, branch: &'a Branch, sets_dot: bool) -> Result<Flow> {
        let declared = self.variables.len();
        let flow = self.chosen(dot, branch, sets_dot);
        self.variables.truncate(declared);
        flow
    }

    fn chosen(&mut self, dot: &Value<'a>, branch: &'a Branch, sets_dot: bool) -> Result<Flow> {
        for (pipeline, nodes) in &branch.arms {
            let value = self.pipeline(dot, pipeline)?;
            if value.is_true() {
                return self.walk(if sets_dot { &value } else { dot }, nodes);
            }
        }
        match &branch.otherwise {
            Some(nodes) => self.walk(dot, nodes),
            None => Ok(Flow::Next),
        }
    }

    fn walk_range(&mut self, dot: &Value<'a>, branch: &'a Branch) -> Result<Flow> {
        let declared = self.variables.len();
        let flow = self.iterate(dot, branch);
        self.variables.truncate(declared);
        flow
    }

    fn iterate(&mut self, dot: &Value<'a>, branch: &'a Branch) -> Result<Flow> {
        let Some((pipeline, nodes)) = branch.arms.first() else { return Ok(Flow::Next) };
        let value = self.pipeline(dot, pipeline)?;
        let mut range = Range { pipeline, nodes, is_entered: false };
        match &value.data {
            Data::Nil => {}
            Data::Int(count) => self.count(&mut range, &value, *count, Data::Int)?,
            Data::Int64(count) => self.count(&mut range, &value, *count, Data::Int64)?,
            Data::Byte(count) => {
                let byte = |number| Data::Byte(u8::try_from(number).unwrap_or(u8::MAX));
                self.count(&mut range, &value, i64::from(*count), byte)?;
            }
            Data::List(list) => self.elements(&mut range, list.items())?,
            Data::Map(members) => {
                for (key, member) in *members {
                    let key = Value::borrowed(key.as_bytes());
                    if !self.iteration(&mut range, key, &Value::element(member))? {
                        break;
                    }
                }
            }
            _ => return self.fail(format!("range can't iterate over {}", shown(&value))),
        }
        match &branch.otherwise {
            Some(nodes) if !range.is_entered => self.walk(dot, nodes),
            _ => Ok(Flow::Next),
        }
    }

    fn elements(&mut self, range: &mut Range<'a>, items: &'a [JsonValue<'a>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            if !self.iteration(range, Value::length(at), &Value::element(item))? {
                break;
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        range: &mut Range<'a>,
        value: &Value<'a>,
        count: i64,
        number: impl Fn(i64) -> Data<'a>,
    ) -> Result<()> {
        if range.pipeline.variables.len() > 1 {
            let shown = shown(value);
            return self.fail(format!("can't use {shown} to iterate over more than one variable"));
        }
        for at in 0..count {
            if !self.iteration(range, Value::MISSING, &Value::of(number(at)))? {
                break;
            }
        }
        Ok(())
    }

    /// Executes one iteration and returns whether another may follow.
    fn iteration(&mut self, range: &mut Range<'a>, index: Value<'a>, element: &Value<'a>) -> Result<bool> {
        range.is_entered = true;
        self.set_range_variables(range.pipeline, index, element)?;
        let declared = self.variables.len();
        let flow = self.walk(element, range.nodes)?;
        self.variables.truncate(declared);
        Ok(flow != Flow::Break)
    }

    /// Sets the variables of a range: the element, or the index and the element.
    fn set_range_variables(
        &mut self,
        pipeline: &'a Pipeline,
        index: Value<'a>,
        element: &Value<'a>,
    ) -> Result<()> {
        let values = match pipeline.variables.len() {
            0 => return Ok(()),
            1 => vec![element.clone()],
            _ => vec![index, element.clone()],
        };
        if pipeline.is_assignment {
            for (name, value) in pipeline.variables.iter().zip(values) {
                *self.variable(name)? = value;
            }
            return Ok(());
        }
        let first = self.variables.len().saturating_sub(values.len());
        for ((_, variable), value) in self.variables[first..].iter_mut().zip(values) {
            *variable = value;
        }
        Ok(())
    }

    /// Executes a definition. It inherits no variables, and `$` is its argument.
    fn walk_template(
        &mut self,
        dot: &Value<'a>,
        name: &'a str,
        argument: Option<&'a Pipeline>,
    ) -> Result<Flow> {
        let Some(definition) = self.definition(name) else {
            return self.fail(format!("template {} not defined", quote(name.as_bytes())));
        };
        let value = match argument {
            Some(pipeline) => self.pipeline(dot, pipeline)?,
            None => Value::MISSING,
        };
        let declared = self.variables.len();
        let (frame, outer) = (self.frame, self.name);
        self.frame = declared;
        self.name = &definition.name;
        self.variables.push(("$", value.clone()));
        let _flow = self.walk(&value, &definition.nodes)?;
        self.variables.truncate(declared);
        (self.frame, self.name) = (frame, outer);
        Ok(Flow::Next)
    }
}

/// Returns the start of a value for a message.
fn shown(value: &Value<'_>) -> String {
    let mut bytes = Vec::new();
    print_value(value, &mut Buffer::new(&mut bytes, 1 << 20));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A range that is executed.
struct Range<'a> {
    pipeline: &'a Pipeline,
    nodes: &'a [Node],
    is_entered: bool,
}
