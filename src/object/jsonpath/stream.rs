//! The execution of a template on a list, item by item: a large list needs the memory of one item.

use super::budget::Budget;
use super::error::JsonPathError;
use super::evaluate::Evaluator;
use super::item::{Item, print_joined};
use super::node::Node;
use super::plan::{Element, Plan, empty_list, may_fail};
use super::ranges::Ranges;
use crate::object::JsonValue;

/// An execution item by item. [`ItemStream::begin`], [`ItemStream::item`] for each item and [`ItemStream::end`] together
/// append what [`JsonPath::execute`](crate::object::JsonPath::execute) appends for kubectl's list of these items,
/// `{"apiVersion":"v1","items":[…],"kind":"List","metadata":{"resourceVersion":""}}`.
///
/// The limit of steps applies to each item.
#[derive(Debug)]
pub struct ItemStream<'t> {
    nodes: &'t [Node],
    plan: Plan<'t>,
    allow_missing_keys: bool,
    stages: Vec<Stage>,
    /// Whether the walk had a result.
    has_results: bool,
    /// The error of the earliest stage, which the whole execution would meet first.
    failure: Option<(usize, JsonPathError)>,
}

/// The state of one node of the walk, which sees the values of all items.
#[derive(Debug, Clone, Copy, Default)]
struct Stage {
    has_input: bool,
    has_output: bool,
    /// An empty slice ended the node's evaluation.
    is_final: bool,
}

/// The position of the element selection among the stages; the nodes after it follow.
const ELEMENT: usize = 0;

/// An error with the stage that it arose in.
type StageError = (usize, JsonPathError);

impl<'t> ItemStream<'t> {
    pub(super) fn of(nodes: &'t [Node], allow_missing_keys: bool) -> Option<Self> {
        let plan = Plan::of(nodes)?;
        let stages = vec![Stage::default(); plan.chain.len()];
        Some(Self { nodes, plan, allow_missing_keys, stages, has_results: false, failure: None })
    }

    /// Returns whether an execution can fail after it has produced output. A caller that prints nothing in that case, as
    /// kubectl does, must hold the output back until [`ItemStream::end`] succeeds.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        matches!(self.plan.element, Element::Filter(_))
            || self.plan.chain.iter().any(|node| may_fail(node, self.allow_missing_keys))
            || self.around().chain(self.body()).any(|node| may_fail(node, self.allow_missing_keys))
    }

    /// Appends the output in front of the items.
    ///
    /// # Errors
    /// As [`JsonPath::execute`](crate::object::JsonPath::execute).
    pub fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        self.print_around(&self.nodes[..self.plan.at], out)
    }

    /// Appends the output of one item; nothing once an item has failed.
    ///
    /// # Errors
    /// As [`JsonPath::execute`](crate::object::JsonPath::execute). An error that an error of a later item could precede is
    /// returned by [`ItemStream::end`].
    pub fn item(&mut self, item: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        let before = out.len();
        let Err((stage, error)) = self.evaluate(item, out) else { return Ok(()) };
        out.truncate(before);
        let can_precede = |node: &Node| may_fail(node, self.allow_missing_keys);
        let is_filtered = stage > ELEMENT && matches!(self.plan.element, Element::Filter(_));
        let is_preceded =
            is_filtered || self.plan.chain.iter().take(stage.saturating_sub(1)).any(can_precede);
        self.failure = Some((stage, error.clone()));
        if is_preceded && !matches!(error, JsonPathError::TooManySteps { .. }) { Ok(()) } else { Err(error) }
    }

    /// Appends the output after the items.
    ///
    /// # Errors
    /// As [`JsonPath::execute`](crate::object::JsonPath::execute).
    pub fn end(&mut self, out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        if let Some(error) = self.first_error() {
            return Err(error);
        }
        if self.plan.end.is_some() && !self.has_results {
            let list = empty_list();
            let mut ranges = self.body_ranges(&list);
            ranges.run(self.plan.at + 1, Item::NoValue, &mut |_, _| Ok(()))?;
        }
        self.print_around(&self.nodes[self.plan.end.unwrap_or(self.plan.at) + 1..], out)
    }

    fn evaluate<'v>(&mut self, item: &'v JsonValue<'v>, out: &mut Vec<u8>) -> Result<(), StageError>
    where
        't: 'v,
    {
        let mut evaluator = Evaluator::new(item, self.allow_missing_keys);
        let Some(items) = self.walk(&mut evaluator, item)? else { return Ok(()) };
        let is_first = !self.has_results;
        self.has_results |= !items.is_empty();
        let body = self.plan.chain.len() + 1;
        if self.plan.end.is_none() {
            return print_joined(&items, is_first, out, &mut evaluator.budget).map_err(|error| (body, error));
        }
        let mut ranges = self.body_ranges(item);
        let mut print = |items: &[Item<'v>], budget: &mut Budget<'v>| print_joined(items, true, out, budget);
        for value in items {
            ranges.run(self.plan.at + 1, value, &mut print).map_err(|error| (body, error))?;
        }
        Ok(())
    }

    /// Evaluates the walk on one item, up to the stage that has failed on an earlier one: `None` if there is one.
    fn walk<'v>(
        &mut self,
        evaluator: &mut Evaluator<'v>,
        item: &'v JsonValue<'v>,
    ) -> Result<Option<Vec<Item<'v>>>, StageError>
    where
        't: 'v,
    {
        let failed = self.failure.as_ref().map_or(usize::MAX, |(stage, _)| *stage);
        let mut items = vec![Item::Json(item)];
        if failed == ELEMENT {
            return Ok(None);
        }
        if let Element::Filter(filter) = self.plan.element {
            let passes = evaluator.passes(items[0], filter, false);
            if !passes.map_err(|failure| (ELEMENT, failure.error))? {
                items.clear();
            }
        }
        for (at, (node, stage)) in self.plan.chain.iter().zip(&mut self.stages).enumerate() {
            if at + 1 == failed {
                return Ok(None);
            }
            stage.has_input |= !items.is_empty();
            items = stage.walk(evaluator, &items, node).map_err(|error| (at + 1, error))?;
            stage.has_output |= !items.is_empty();
        }
        Ok(self.failure.is_none().then_some(items))
    }

    /// Returns the error that the whole execution would meet first.
    fn first_error(&self) -> Option<JsonPathError> {
        let failed = self.failure.as_ref().map_or(usize::MAX, |(stage, _)| *stage);
        let missing = self.plan.chain.iter().zip(&self.stages).take(failed.saturating_sub(1)).find_map(
            |(node, stage)| {
                let Node::Field(name) = node else { return None };
                (stage.has_input && !stage.has_output).then_some(name)
            },
        );
        match missing {
            Some(name) if !self.allow_missing_keys => Some(JsonPathError::NotFound(name.clone())),
            _ => self.failure.as_ref().map(|(_, error)| error.clone()),
        }
    }

    /// Returns the evaluation of the range's body.
    fn body_ranges<'v>(&self, value: &'v JsonValue<'v>) -> Ranges<'v>
    where
        't: 'v,
    {
        let mut evaluator = Evaluator::new(value, self.allow_missing_keys);
        evaluator.within = 1;
        Ranges::new(evaluator, self.nodes)
    }

    /// Appends the output of sections that depend on no item.
    fn print_around(&self, nodes: &[Node], out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        let list = empty_list();
        let mut ranges = Ranges::new(Evaluator::new(&list, self.allow_missing_keys), nodes);
        ranges.run(0, Item::Json(&list), &mut |items, budget| print_joined(items, true, out, budget))
    }

    fn around(&self) -> impl Iterator<Item = &'t Node> {
        let after = self.plan.end.unwrap_or(self.plan.at) + 1;
        self.nodes[..self.plan.at].iter().chain(&self.nodes[after..])
    }

    fn body(&self) -> &'t [Node] {
        self.plan.end.map_or(&[], |end| &self.nodes[self.plan.at + 1..end])
    }
}

impl Stage {
    fn walk<'v>(
        &mut self,
        evaluator: &mut Evaluator<'v>,
        input: &[Item<'v>],
        node: &'v Node,
    ) -> Result<Vec<Item<'v>>, JsonPathError> {
        let result = match node {
            Node::Array(_) if self.is_final => return Ok(Vec::new()),
            Node::Array(slice) => evaluator.array(input, slice).map(|selection| {
                self.is_final |= selection.is_final;
                selection.items
            }),
            // The field may be missing in one item: `first_error` considers all.
            Node::Field(_) => {
                let allow_missing_keys = std::mem::replace(&mut evaluator.allow_missing_keys, true);
                let result = evaluator.walk(input, node);
                evaluator.allow_missing_keys = allow_missing_keys;
                result
            }
            _ => evaluator.walk(input, node),
        };
        result.map_err(|failure| failure.error)
    }
}
