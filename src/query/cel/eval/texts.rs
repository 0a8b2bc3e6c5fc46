//! The conversion of a result to texts, for the values of an index.

use super::Evaluation;
use crate::query::cel::error::CelError;
use crate::query::cel::functions::Overload;
use crate::query::cel::value::{Items, Text, Value, fits};

impl<'a> Evaluation<'a> {
    /// Returns the texts of the result, as the given functions make them: those of the elements of a list, none for null and
    /// for an optional value that is absent.
    pub(in crate::query::cel) fn texts(mut self, overloads: &[Overload]) -> Result<Vec<Text<'a>>, CelError> {
        let result = self.value(&self.program.root)?;
        let Some(result) = present(result) else { return Ok(Vec::new()) };
        if !result.is_list() {
            return Ok(vec![self.text(result, overloads)?]);
        }
        let mut texts = Vec::new();
        let mut items = Items::of(&result)?;
        while let Some((_, element)) = items.next(&mut self.budget)? {
            if let Some(element) = present(element) {
                texts.push(self.text(element, overloads)?);
            }
        }
        Ok(texts)
    }

    fn text(&mut self, value: Value<'a>, overloads: &[Overload]) -> Result<Text<'a>, CelError> {
        let kind = value.type_name();
        let value = [value];
        for Overload { arguments, call, .. } in overloads {
            if let [expected] = arguments.as_slice()
                && fits(&value[0], expected, &mut self.budget)?
                && let Value::Text(text) = call(&mut self.budget, &value)?
            {
                self.budget.read(text.len())?;
                return Ok(text);
            }
        }
        Err(CelError::NoText(kind))
    }
}

/// Returns the value; `None` for null and for an optional value that is absent.
fn present(mut value: Value<'_>) -> Option<Value<'_>> {
    while let Value::Optional(inner) = value {
        value = (*inner?).clone();
    }
    (!matches!(value, Value::Null)).then_some(value)
}
