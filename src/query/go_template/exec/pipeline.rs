//! Pipelines, commands, operands and field access.

use super::state::{Executor, NodeRef, Result};
use crate::query::go_template::format::quote;
use crate::query::go_template::syntax::{Command, Number, Operand, OperandKind, Pipeline, Variable};
use crate::query::go_template::value::{Data, Value};

/// The arguments of a command, and the result of the command before it in the pipeline.
#[derive(Debug, Clone)]
pub(super) struct Arguments<'a> {
    /// Without the first word of the command.
    pub(super) operands: &'a [Operand],
    pub(super) last: Option<Value<'a>>,
}

impl Arguments<'_> {
    pub(super) const NONE: Self = Self { operands: &[], last: None };

    fn is_empty(&self) -> bool {
        self.operands.is_empty() && self.last.is_none()
    }
}

impl<'a> Executor<'a, '_> {
    /// Evaluates a pipeline, and declares or assigns its variables. Declared ones are left to the caller.
    pub(super) fn pipeline(&mut self, dot: &Value<'a>, pipeline: &'a Pipeline) -> Result<Value<'a>> {
        self.nested(|executor| {
            executor.at(NodeRef::Pipeline(pipeline));
            let mut last = None;
            for command in &pipeline.commands {
                last = Some(executor.command(dot, command, last)?.unwrapped());
            }
            let value = last.unwrap_or(Value::MISSING);
            for name in &pipeline.variables {
                if pipeline.is_assignment {
                    *executor.variable(name)? = value.clone();
                } else {
                    executor.declare(name, value.clone());
                }
            }
            Ok(value)
        })
    }

    fn command(
        &mut self,
        dot: &Value<'a>,
        command: &'a Command,
        last: Option<Value<'a>>,
    ) -> Result<Value<'a>> {
        self.step()?;
        let Some((word, operands)) = command.args.split_first() else { return Ok(Value::MISSING) };
        let args = Arguments { operands, last };
        match &word.kind {
            OperandKind::Field(_) | OperandKind::Chain(..) => self.field_operand(dot, word, &args),
            OperandKind::Variable(variable) => self.variable_operand(word, variable, &args),
            OperandKind::Function(function) => {
                self.at(NodeRef::Operand(word));
                self.call(dot, *function, NodeRef::Command(command), args)
            }
            OperandKind::Pipeline(pipeline) => {
                self.reject_arguments(word, &args)?;
                self.pipeline(dot, pipeline)
            }
            literal => {
                self.at(NodeRef::Operand(word));
                self.reject_arguments(word, &args)?;
                match literal {
                    OperandKind::Dot => Ok(dot.clone()),
                    OperandKind::Nil => self.fail("nil is not a command"),
                    _ => self.literal(word),
                }
            }
        }
    }

    /// Fails if a value that is no function has arguments.
    fn reject_arguments(&self, word: &Operand, args: &Arguments<'a>) -> Result<()> {
        if args.is_empty() {
            return Ok(());
        }
        // A pipeline stands without its parentheses here.
        self.fail(format!("can't give argument to non-function {word}"))
    }

    /// Evaluates a literal where no type is expected.
    pub(super) fn literal(&mut self, operand: &'a Operand) -> Result<Value<'a>> {
        self.at(NodeRef::Operand(operand));
        Ok(match &operand.kind {
            OperandKind::Bool(value) => Value::of(Data::Bool(*value)),
            OperandKind::Text { value, .. } => Value::borrowed(value),
            OperandKind::Number(Number::Int(value), _) => Value::of(Data::Int(*value)),
            OperandKind::Number(Number::Float(value), _) => Value::of(Data::Float(*value)),
            OperandKind::Number(Number::Complex(real, imaginary), _) => {
                Value::of(Data::Complex(*real, *imaginary))
            }
            OperandKind::Number(Number::Overflow, text) => return self.fail(format!("{text} overflows int")),
            _ => Value::MISSING,
        })
    }

    /// Evaluates fields of the dot, or of a pipeline's or function's result.
    pub(super) fn field_operand(
        &mut self,
        dot: &Value<'a>,
        operand: &'a Operand,
        args: &Arguments<'a>,
    ) -> Result<Value<'a>> {
        self.at(NodeRef::Operand(operand));
        let (receiver, fields) = match &operand.kind {
            OperandKind::Field(fields) => (dot.clone(), fields),
            OperandKind::Chain(inner, fields) => {
                self.at(NodeRef::Operand(inner));
                let receiver = match &inner.kind {
                    OperandKind::Pipeline(pipeline) => self.pipeline(dot, pipeline)?,
                    OperandKind::Function(function) => {
                        self.call(dot, *function, NodeRef::Operand(inner), Arguments::NONE)?
                    }
                    _ => self.literal(inner)?,
                };
                (receiver, fields)
            }
            _ => return Ok(Value::MISSING),
        };
        self.fields(receiver, fields, args)
    }

    pub(super) fn variable_operand(
        &mut self,
        operand: &'a Operand,
        variable: &'a Variable,
        args: &Arguments<'a>,
    ) -> Result<Value<'a>> {
        self.at(NodeRef::Operand(operand));
        let value = self.variable(&variable.name)?.clone();
        if variable.fields.is_empty() {
            self.reject_arguments(operand, args)?;
            return Ok(value);
        }
        self.fields(value, &variable.fields, args)
    }

    fn fields(
        &mut self,
        mut value: Value<'a>,
        names: &[Box<str>],
        args: &Arguments<'a>,
    ) -> Result<Value<'a>> {
        let Some((last, names)) = names.split_last() else { return Ok(value) };
        for name in names {
            value = self.field(&value, name, false)?;
        }
        self.field(&value, last, !args.is_empty())
    }

    /// Returns a member of an object.
    fn field(&mut self, receiver: &Value<'a>, name: &str, has_arguments: bool) -> Result<Value<'a>> {
        self.step()?;
        if receiver.is_missing() {
            if self.options.allow_missing_keys {
                return Ok(Value::MISSING);
            }
            return self.fail(format!("nil data; no entry for key {}", quote(name.as_bytes())));
        }
        match &receiver.data {
            Data::Nil => self.fail(format!("nil pointer evaluating interface {{}}.{name}")),
            Data::Map(_) if has_arguments => self.fail(format!("{name} is not a method but has arguments")),
            Data::Map(members) => match members.binary_search_by(|(key, _)| (**key).cmp(name)) {
                Ok(at) => Ok(Value::element(&members[at].1)),
                Err(_) if self.options.allow_missing_keys => Ok(Value::MISSING),
                Err(_) => self.fail(format!("map has no entry for key {}", quote(name.as_bytes()))),
            },
            _ => self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name())),
        }
    }
}
