//! Calls of functions: the number and types of arguments, and those of `and` and `or` that are evaluated.

use super::pipeline::Arguments;
use super::state::{Executor, NodeRef, Result};
use crate::query::go_template::functions::{CallError, Function, Parameter};
use crate::query::go_template::syntax::{Operand, OperandKind};
use crate::query::go_template::value::{Data, Value};

impl<'a> Executor<'a, '_> {
    /// Calls a function. An error of the function itself refers to `node`.
    pub(super) fn call(
        &mut self,
        dot: &Value<'a>,
        function: Function,
        node: NodeRef<'a>,
        args: Arguments<'a>,
    ) -> Result<Value<'a>> {
        let (fixed, variadic) = function.parameters();
        self.check_count(function, &args)?;
        if matches!(function, Function::And | Function::Or) {
            return self.logic(dot, function, args);
        }
        let parameter = |at: usize| fixed.get(at).copied().or(variadic).unwrap_or(Parameter::Any);
        let mut values = Vec::with_capacity(args.operands.len() + 1);
        for (at, operand) in args.operands.iter().enumerate() {
            values.push(self.argument(dot, operand, parameter(at))?);
        }
        if let Some(last) = args.last {
            values.push(self.checked(last, parameter(values.len()))?);
        }
        let callee = match (function, args.operands.first()) {
            (Function::Call, Some(first)) => first.to_string(),
            (Function::Call, None) => reflected_text(values.first()),
            _ => String::new(),
        };
        match function.call(&values, &callee, self.budget.function_text) {
            Ok(value) => {
                if let Data::Text(text) = &value.data {
                    self.budget.take_function_text(text.bytes().len());
                }
                Ok(value)
            }
            Err(CallError::Failed(message)) => {
                self.at(node);
                self.fail(format!("error calling {}: {message}", function.name()))
            }
            Err(CallError::TooMuchText) => {
                self.at(node);
                self.exceed("exceeded the maximum size of all strings that functions return")
            }
        }
    }

    fn check_count(&self, function: Function, args: &Arguments<'a>) -> Result<()> {
        let (fixed, variadic) = function.parameters();
        let (name, want) = (function.name(), fixed.len());
        let count = args.operands.len() + usize::from(args.last.is_some());
        if variadic.is_some() && count < want {
            let got = args.operands.len();
            return self.fail(format!("wrong number of args for {name}: want at least {want} got {got}"));
        }
        if variadic.is_none() && count != want {
            return self.fail(format!("wrong number of args for {name}: want {want} got {count}"));
        }
        Ok(())
    }

    /// Evaluates `and` or `or` up to the argument that decides.
    fn logic(&mut self, dot: &Value<'a>, function: Function, args: Arguments<'a>) -> Result<Value<'a>> {
        let mut value = Value::MISSING;
        for operand in args.operands {
            value = self.argument(dot, operand, Parameter::Reflected)?;
            if value.is_true() == (function == Function::Or) {
                return Ok(value);
            }
        }
        Ok(args.last.unwrap_or(value))
    }

    /// Evaluates an argument.
    fn argument(&mut self, dot: &Value<'a>, operand: &'a Operand, parameter: Parameter) -> Result<Value<'a>> {
        self.step()?;
        self.at(NodeRef::Operand(operand));
        let value = match &operand.kind {
            OperandKind::Dot => dot.clone(),
            OperandKind::Nil if parameter == Parameter::Text => {
                return self.fail("cannot assign nil to string");
            }
            OperandKind::Nil => Value::MISSING,
            OperandKind::Field(_) | OperandKind::Chain(..) => {
                self.field_operand(dot, operand, &Arguments::NONE)?
            }
            OperandKind::Variable(variable) => self.variable_operand(operand, variable, &Arguments::NONE)?,
            OperandKind::Pipeline(pipeline) => self.pipeline(dot, pipeline)?,
            OperandKind::Function(function) => {
                self.call(dot, *function, NodeRef::Operand(operand), Arguments::NONE)?
            }
            OperandKind::Text { .. } => return self.literal(operand),
            _ if parameter == Parameter::Text => {
                return self.fail(format!("expected string; found {operand}"));
            }
            _ => return self.literal(operand),
        };
        self.checked(value, parameter)
    }

    /// Checks that a value fits a parameter.
    fn checked(&self, value: Value<'a>, parameter: Parameter) -> Result<Value<'a>> {
        if parameter != Parameter::Text {
            return Ok(value);
        }
        if value.is_missing() {
            return self.fail("invalid value; expected string");
        }
        match value.data {
            Data::Text(_) => Ok(value.unwrapped()),
            Data::Nil => self.fail("wrong type for value; expected string; got interface {}"),
            data => self.fail(format!("wrong type for value; expected string; got {}", data.type_name())),
        }
    }
}

/// Returns a value as `reflect.Value` prints itself: a string, or only its type.
fn reflected_text(value: Option<&Value<'_>>) -> String {
    match value.map(|value| &value.data) {
        Some(Data::Text(text)) => String::from_utf8_lossy(text.bytes()).into_owned(),
        None | Some(Data::Nil) => "<invalid Value>".to_owned(),
        Some(data) => format!("<{} Value>", data.type_name()),
    }
}
