//! The evaluation of nodes, with the results and error texts of client-go's `util/jsonpath/jsonpath.go`. Objects are
//! visited in the order of their keys; Go's order is random.

use super::budget::Budget;
use super::error::JsonPathError;
use super::item::Item;
use super::node::{Filter, Node, Slice, Test};
use crate::object::JsonValue;

/// A failed evaluation.
pub(super) struct Failure {
    pub error: JsonPathError,
    /// Whether client-go returns values together with the error. An existence filter ignores the error and passes.
    pub has_values: bool,
}

impl From<JsonPathError> for Failure {
    fn from(error: JsonPathError) -> Self {
        Self { error, has_values: false }
    }
}

fn failure<T>(has_values: bool, text: String) -> Result<T, Failure> {
    Err(Failure { error: JsonPathError::Evaluation(text), has_values })
}

/// The values of a node, and whether they are final: client-go ends at the first empty slice of an array and ignores the
/// inputs after it.
pub(super) struct Selection<'v> {
    pub items: Vec<Item<'v>>,
    pub is_final: bool,
}

/// The evaluation of nodes and its state. `range` and `end` are counted wherever they appear.
pub(super) struct Evaluator<'v> {
    pub budget: Budget<'v>,
    pub allow_missing_keys: bool,
    /// The ranges that a node has just begun.
    pub begun: u32,
    /// The ranges around the node.
    pub within: u32,
    /// The ranges that a node has just ended.
    pub ended: u32,
}

impl<'v> Evaluator<'v> {
    pub(super) fn new(value: &'v JsonValue<'v>, allow_missing_keys: bool) -> Self {
        Self { budget: Budget::new(value), allow_missing_keys, begun: 0, within: 0, ended: 0 }
    }

    /// Evaluates one node on the current values.
    pub(super) fn walk(&mut self, input: &[Item<'v>], node: &'v Node) -> Result<Vec<Item<'v>>, Failure> {
        self.budget.charge(1 + input.len())?;
        Ok(match node {
            Node::List(nodes) => self.list(input, nodes)?,
            Node::Text(text) => {
                self.budget.charge_bytes(text.len())?;
                vec![Item::Text(text)]
            }
            Node::Field(name) => {
                let items = fields(input, name);
                if items.is_empty() && !input.is_empty() && !self.allow_missing_keys {
                    return Err(JsonPathError::NotFound(name.clone()).into());
                }
                items
            }
            Node::Array(slice) => self.array(input, slice)?.items,
            Node::Filter(filter) => self.filter(input, filter)?,
            Node::Int(number) => vec![Item::Int(*number); input.len()],
            Node::Float(number) => vec![Item::Float(*number); input.len()],
            Node::Bool(value) => vec![Item::Bool(*value); input.len()],
            Node::Wildcard => {
                let mut items = Vec::new();
                for value in input {
                    self.children(*value, &mut items)?;
                }
                items
            }
            Node::Recursive => {
                let mut items = Vec::new();
                for value in input {
                    self.descend(*value, &mut items)?;
                }
                items
            }
            Node::Union(lists) => {
                let mut items = Vec::new();
                for list in lists {
                    let found = self.list(input, list);
                    items.extend(
                        found.map_err(|failure| Failure { has_values: !input.is_empty(), ..failure })?,
                    );
                    self.budget.charge(items.len() / 16)?;
                }
                items
            }
            Node::Identifier(name) => self.identifier(input, name)?,
        })
    }

    /// Evaluates nodes, each on the results of the one before it.
    pub(super) fn list(&mut self, input: &[Item<'v>], nodes: &'v [Node]) -> Result<Vec<Item<'v>>, Failure> {
        let Some((first, rest)) = nodes.split_first() else { return Ok(input.to_vec()) };
        let mut items = self.walk(input, first)?;
        for node in rest {
            items = self.walk(&items, node)?;
        }
        Ok(items)
    }

    fn identifier(&mut self, input: &[Item<'v>], name: &str) -> Result<Vec<Item<'v>>, Failure> {
        match name {
            "range" => {
                self.begun = self.begun.saturating_add(1);
                Ok(input.to_vec())
            }
            "end" if self.within > 0 => {
                self.ended = self.ended.saturating_add(1);
                Ok(Vec::new())
            }
            "end" => failure(false, "not in range, nothing to end".to_owned()),
            _ => failure(!input.is_empty(), format!("unrecognized identifier {name}")),
        }
    }

    pub(super) fn array(&mut self, input: &[Item<'v>], slice: &Slice) -> Result<Selection<'v>, Failure> {
        let mut items = Vec::new();
        for value in input.iter().filter(|value| !value.is_null()) {
            let Some(array) = value.as_array() else {
                return failure(true, format!("{} is not array or slice", value.type_name()));
            };
            let Some(selected) = select(array, slice)? else {
                return Ok(Selection { items, is_final: true });
            };
            let step = match slice.step {
                Some(step) if step <= 0 => return failure(true, "step must be > 0".to_owned()),
                step => step.map_or(1, |step| usize::try_from(step).unwrap_or(usize::MAX)),
            };
            self.budget.charge(selected.len())?;
            items.extend(selected.iter().step_by(step).map(Item::Json));
        }
        Ok(Selection { items, is_final: false })
    }

    fn filter(&mut self, input: &[Item<'v>], filter: &'v Filter) -> Result<Vec<Item<'v>>, Failure> {
        let mut items = Vec::new();
        for value in input {
            let Some(array) = value.as_array() else {
                let text = format!("{} is not array or slice and cannot be filtered", value.go_text());
                return failure(true, text);
            };
            for element in array.iter().map(Item::Json) {
                if self.passes(element, filter, !items.is_empty())? {
                    items.push(element);
                }
            }
        }
        Ok(items)
    }

    /// Returns whether an element passes a filter; `has_passed` is whether an earlier one did.
    pub(super) fn passes(
        &mut self,
        element: Item<'v>,
        filter: &'v Filter,
        has_passed: bool,
    ) -> Result<bool, Failure> {
        let left = self.list(&[element], &filter.left);
        let Test::Compare { operator, right } = &filter.test else {
            return match left {
                Ok(items) => Ok(!items.is_empty()),
                Err(failure) if matches!(failure.error, JsonPathError::TooManySteps { .. }) => Err(failure),
                Err(failure) => Ok(failure.has_values),
            };
        };
        let with_input = |failure| Failure { has_values: true, ..failure };
        let Some(left) = single(&left.map_err(with_input)?)? else { return Ok(false) };
        let right = self.list(&[element], right).map_err(with_input)?;
        let Some(right) = single(&right)? else { return Ok(false) };
        left.compare(operator, right).map_err(|error| Failure { error, has_values: has_passed })
    }

    /// Appends the members of an object, the elements of an array, or the bytes of a string.
    fn children(&mut self, value: Item<'v>, items: &mut Vec<Item<'v>>) -> Result<(), Failure> {
        let before = items.len();
        match value {
            Item::Json(JsonValue::Object(members)) => {
                items.extend(members.iter().map(|(_, member)| Item::Json(member)));
            }
            Item::Json(JsonValue::Array(elements)) => items.extend(elements.iter().map(Item::Json)),
            Item::Json(JsonValue::Text(text)) => items.extend(text.bytes().map(Item::Byte)),
            Item::Text(text) => items.extend(text.iter().copied().map(Item::Byte)),
            _ => {}
        }
        self.budget.charge(items.len() - before)?;
        Ok(())
    }

    /// Appends a value and everything below it that has children, strings included.
    fn descend(&mut self, value: Item<'v>, items: &mut Vec<Item<'v>>) -> Result<(), Failure> {
        self.budget.charge(1)?;
        match value {
            Item::Json(JsonValue::Object(members)) if !members.is_empty() => {
                items.push(value);
                members.iter().try_for_each(|(_, member)| self.descend(Item::Json(member), items))
            }
            Item::Json(JsonValue::Array(elements)) if !elements.is_empty() => {
                items.push(value);
                elements.iter().try_for_each(|element| self.descend(Item::Json(element), items))
            }
            Item::Json(JsonValue::Text(text)) if !text.is_empty() => {
                items.push(value);
                Ok(())
            }
            Item::Text(text) if !text.is_empty() => {
                items.push(value);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn fields<'v>(input: &[Item<'v>], name: &str) -> Vec<Item<'v>> {
    let field = |value: &Item<'v>| match value {
        Item::Json(value) => value.get(name).map(Item::Json),
        _ => None,
    };
    input.iter().filter_map(field).collect()
}

/// Returns the one value of a filter's side; `None` without a value.
fn single<'v>(items: &[Item<'v>]) -> Result<Option<Item<'v>>, Failure> {
    match *items {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        _ => failure(true, "can only compare one element at a time".to_owned()),
    }
}

/// Returns the elements of a slice without its step; `None` if it selects no elements, wherever it lies.
fn select<'a, 'v>(array: &'a [JsonValue<'v>], slice: &Slice) -> Result<Option<&'a [JsonValue<'v>]>, Failure> {
    let length = i64::try_from(array.len()).unwrap_or(i64::MAX);
    let mut start = slice.start.unwrap_or(0);
    if start < 0 {
        start += length;
    }
    let mut end = slice.end.unwrap_or(length);
    if end < 0 || (end == 0 && slice.is_index) {
        end += length;
    }
    if start == end {
        return Ok(None);
    }
    let outside = |index| failure(true, format!("array index out of bounds: index {index}, length {length}"));
    if start < 0 || start >= length {
        return outside(start);
    }
    if end < 0 || end > length {
        return outside(end.wrapping_sub(1));
    }
    if start > end {
        return failure(true, format!("starting index {start} is greater than ending index {end}"));
    }
    let index = |at: i64| usize::try_from(at).unwrap_or(usize::MAX);
    Ok(array.get(index(start)..index(end)))
}
