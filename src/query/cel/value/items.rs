//! The elements of lists and the entries of maps, whether they were made or are stored text.

use std::rc::Rc;

use super::Value;
use crate::object::{JsonElements, JsonKind, JsonMembers, JsonNode};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;

/// An iterator over a list with the indices, or over a map with the keys. Each step is charged for.
pub(in crate::query::cel) enum Items<'a> {
    List(Rc<[Value<'a>]>, usize),
    Map(Rc<[(Value<'a>, Value<'a>)]>, usize),
    Elements(JsonElements<'a>, i64),
    Members(JsonMembers<'a>),
}

impl<'a> Items<'a> {
    /// Iterates over a list or a map.
    pub(in crate::query::cel) fn of(value: &Value<'a>) -> Result<Self, CelError> {
        match value {
            Value::List(elements) => Ok(Self::List(Rc::clone(elements), 0)),
            Value::Map(entries) => Ok(Self::Map(Rc::clone(entries), 0)),
            Value::Json(node) if node.kind() == JsonKind::Array => Ok(Self::Elements(node.elements(), 0)),
            Value::Json(node) => Ok(Self::Members(node.members())),
            _ => Err(CelError::NoOverload("a macro")),
        }
    }

    /// Whether this iterates over a map.
    pub(in crate::query::cel) fn is_map(&self) -> bool {
        matches!(self, Self::Map(..) | Self::Members(_))
    }

    /// Returns the next index and element, or key and value.
    pub(in crate::query::cel) fn next(
        &mut self,
        budget: &mut Budget,
    ) -> Result<Option<(Value<'a>, Value<'a>)>, CelError> {
        budget.charge(1)?;
        Ok(match self {
            Self::List(elements, at) => elements.get(*at).cloned().map(|element| {
                *at += 1;
                (index(*at - 1), element)
            }),
            Self::Map(entries, at) => entries.get(*at).cloned().inspect(|_| *at += 1),
            Self::Elements(elements, at) => {
                let before = elements.offset();
                let Some(element) = elements.next() else { return Ok(None) };
                budget.skip(elements.offset() - before)?;
                *at += 1;
                Some((Value::Int(*at - 1), Value::of_json(element?)?))
            }
            Self::Members(members) => {
                let before = members.offset();
                let Some(member) = members.next() else { return Ok(None) };
                budget.skip(members.offset() - before)?;
                let (name, value) = member?;
                Some((Value::Text(name.into()), Value::of_json(value)?))
            }
        })
    }
}

fn index<'a>(at: usize) -> Value<'a> {
    Value::Int(i64::try_from(at).unwrap_or(i64::MAX))
}

/// Returns the elements of a list.
pub(in crate::query::cel) fn list_items<'a>(
    value: &Value<'a>,
    budget: &mut Budget,
) -> Result<Rc<[Value<'a>]>, CelError> {
    if let Value::List(elements) = value {
        budget.charge(elements.len() as u64)?;
        return Ok(Rc::clone(elements));
    }
    if !value.is_list() {
        return Err(CelError::NoOverload("a function of lists"));
    }
    let mut items = Items::of(value)?;
    let mut elements = Vec::new();
    while let Some((_, element)) = items.next(budget)? {
        elements.push(element);
    }
    Ok(elements.into())
}

/// Returns the entries of a map.
pub(in crate::query::cel) fn entries<'a>(
    value: &Value<'a>,
    budget: &mut Budget,
) -> Result<Rc<[(Value<'a>, Value<'a>)]>, CelError> {
    if let Value::Map(entries) = value {
        budget.charge(entries.len() as u64)?;
        return Ok(Rc::clone(entries));
    }
    let mut items = Items::of(value)?;
    let mut entries = Vec::new();
    while let Some(entry) = items.next(budget)? {
        entries.push(entry);
    }
    Ok(entries.into())
}

/// Returns the number of elements or entries.
pub(in crate::query::cel) fn length(value: &Value<'_>, budget: &mut Budget) -> Result<usize, CelError> {
    Ok(match value {
        Value::List(elements) => elements.len(),
        Value::Map(entries) => entries.len(),
        Value::Json(node) => json_length(*node, budget)?,
        _ => 0,
    })
}

/// Counts without parsing the elements.
fn json_length(node: JsonNode<'_>, budget: &mut Budget) -> Result<usize, CelError> {
    let mut count = 0;
    let mut elements = node.elements();
    for element in elements.by_ref() {
        element?;
        budget.charge(1)?;
        count += 1;
    }
    let mut members = node.members();
    for member in members.by_ref() {
        member?;
        budget.charge(1)?;
        count += 1;
    }
    let start = node.elements().offset();
    budget.skip(elements.offset().max(members.offset()) - start)?;
    Ok(count)
}

/// Returns the element of a list; `None` if the list is shorter.
pub(in crate::query::cel) fn element<'a>(
    list: &Value<'a>,
    index: &Value<'a>,
    budget: &mut Budget,
) -> Result<Option<Value<'a>>, CelError> {
    let at = match index {
        Value::Int(at) => usize::try_from(*at).ok(),
        Value::Uint(at) => usize::try_from(*at).ok(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
        Value::Double(at) if at.fract() == 0.0 && (0.0..1e15).contains(at) => Some(*at as usize),
        _ => return Err(CelError::NoOverload("[]")),
    };
    let Some(at) = at else { return Ok(None) };
    if let Value::List(elements) = list {
        return Ok(elements.get(at).cloned());
    }
    let mut items = Items::of(list)?;
    for _ in 0..at {
        if items.next(budget)?.is_none() {
            return Ok(None);
        }
    }
    Ok(items.next(budget)?.map(|(_, element)| element))
}

/// Returns both lists as one.
pub(super) fn concatenated<'a>(
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, CelError> {
    let total = length(left, budget)? + length(right, budget)?;
    budget.charge(total as u64)?;
    let mut elements = Vec::with_capacity(total);
    elements.extend_from_slice(&list_items(left, budget)?);
    elements.extend_from_slice(&list_items(right, budget)?);
    Ok(Value::made_list(elements))
}
