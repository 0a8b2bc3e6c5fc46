//! Access to fields and elements. Each path that the expression names is looked up once per evaluation.

use super::{Evaluation, Lookup};
use crate::object::JsonNode;
use crate::query::cel::error::CelError;
use crate::query::cel::plan::{PathStep, Plan};
use crate::query::cel::value::{Outcome, Text, Value, element, find};

impl<'a> Evaluation<'a> {
    /// Returns the value at a path.
    pub(super) fn at_path(&mut self, place: usize) -> Outcome<'a> {
        match self.find_path(place)? {
            Some(value) => Ok(value),
            None => Err(self.missing(place)),
        }
    }

    /// Returns the value at a path; `None` if the value around it does not have it.
    pub(super) fn find_path(&mut self, place: usize) -> Lookup<'a> {
        if let Some(found) = &self.memo[place] {
            return found.clone();
        }
        let found = self.look_up(place);
        self.memo[place] = Some(found.clone());
        found
    }

    fn look_up(&mut self, place: usize) -> Lookup<'a> {
        let program = self.program;
        let path = &program.paths[place];
        let parent = path.parent.map(|parent| self.at_path(parent)).transpose()?;
        match (&path.step, parent) {
            (PathStep::Old, _) => match self.variables.old {
                Some(old) => Value::of_json(JsonNode::root(old)).map(Some),
                None => Ok(Some(Value::Null)),
            },
            (PathStep::Field(name), Some(parent)) => self.field_of(&parent, name),
            (PathStep::Element(at), Some(parent)) => {
                if parent.is_list() {
                    element(&parent, &Value::Int(*at), &mut self.budget)
                } else {
                    Ok(None)
                }
            }
            _ => Value::of_json(JsonNode::root(self.variables.object)).map(Some),
        }
    }

    /// Returns the error for a path without a value.
    fn missing(&self, place: usize) -> CelError {
        let name = self.path_name(place);
        match self.program.paths[place].step {
            PathStep::Element(_) => CelError::NoElement(name),
            _ => CelError::NoField(name),
        }
    }

    /// Returns a path as users write it, without `object.`.
    fn path_name(&self, place: usize) -> String {
        let path = &self.program.paths[place];
        let mut name = match path.parent {
            Some(parent) => self.path_name(parent),
            None => return if path.step == PathStep::Old { "old".to_owned() } else { String::new() },
        };
        match &path.step {
            PathStep::Field(field) => append_field(&mut name, field),
            PathStep::Element(at) => name = format!("{name}[{at}]"),
            PathStep::Object | PathStep::Old => {}
        }
        name
    }

    /// Returns a field of a map. Values without fields have none; a list does not accept a name.
    pub(super) fn field_of(&mut self, operand: &Value<'a>, field: &'a str) -> Lookup<'a> {
        match operand {
            Value::Optional(None) => Ok(None),
            Value::Optional(Some(inner)) => {
                let inner = Value::clone(inner);
                self.field_of(&inner, field)
            }
            operand if operand.is_list() => Err(CelError::NoOverload("a field")),
            operand => find(operand, &Value::Text(Text::Borrowed(field)), &mut self.budget),
        }
    }

    pub(super) fn select(&mut self, operand: &'a Plan, field: &'a str, is_optional: bool) -> Outcome<'a> {
        let operand = self.value(operand)?;
        let found = self.field_of(&operand, field)?;
        if is_optional || matches!(operand, Value::Optional(_)) {
            return Ok(Value::Optional(found.map(std::rc::Rc::new)));
        }
        found.ok_or_else(|| CelError::NoField(field.to_owned()))
    }

    pub(super) fn index(&mut self, operand: &'a Plan, index: &'a Plan, is_optional: bool) -> Outcome<'a> {
        let operand = self.value(operand)?;
        let index = self.value(index)?;
        let (inner, was_optional) = match &operand {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => (Value::clone(inner), true),
            other => (other.clone(), false),
        };
        let found = if inner.is_list() {
            element(&inner, &index, &mut self.budget)?
        } else if inner.is_map() {
            find(&inner, &index, &mut self.budget)?
        } else if is_optional || was_optional {
            None
        } else {
            return Err(CelError::NoOverload("[]"));
        };
        if is_optional || was_optional {
            return Ok(Value::Optional(found.map(std::rc::Rc::new)));
        }
        found.ok_or_else(|| match &index {
            Value::Text(key) => CelError::NoField(key.chars().take(80).collect()),
            Value::Int(at) => CelError::NoElement(format!("[{at}]")),
            _ => CelError::NoElement("of this key".to_owned()),
        })
    }
}

/// Appends a field: as a name behind a dot, or quoted in brackets.
fn append_field(name: &mut String, field: &str) {
    let is_plain = !field.is_empty() && field.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if is_plain {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(field);
    } else {
        *name = format!("{name}[{field:?}]");
    }
}
