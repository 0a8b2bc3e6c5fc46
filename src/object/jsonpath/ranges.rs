//! The top level of a template: `range` … `end`, and the sets of results.

use super::budget::Budget;
use super::error::JsonPathError;
use super::evaluate::Evaluator;
use super::item::Item;
use super::node::Node;

/// A receiver of result sets, one per node of the top level. It charges what it produces.
pub(super) type Sink<'s, 'v> = dyn FnMut(&[Item<'v>], &mut Budget<'v>) -> Result<(), JsonPathError> + 's;

/// An evaluation of the top level.
pub(super) struct Ranges<'v> {
    pub evaluator: Evaluator<'v>,
    nodes: &'v [Node],
    /// The position of the `end` that was met last, also of an earlier range.
    last_end: usize,
}

impl<'v> Ranges<'v> {
    pub(super) fn new(evaluator: Evaluator<'v>, nodes: &'v [Node]) -> Self {
        Self { evaluator, nodes, last_end: 0 }
    }

    /// Evaluates the nodes from `start` on `value`, up to the `end` of the range around them.
    pub(super) fn run(
        &mut self,
        start: usize,
        value: Item<'v>,
        sink: &mut Sink<'_, 'v>,
    ) -> Result<(), JsonPathError> {
        let current = [value.unwrapped()];
        let mut at = start;
        while let Some(node) = self.nodes.get(at) {
            let items = self.evaluator.walk(&current, node).map_err(|failure| failure.error)?;
            if self.evaluator.ended > 0 && self.evaluator.ended <= self.evaluator.within {
                self.evaluator.ended -= 1;
                self.last_end = at;
                break;
            }
            if self.evaluator.begun > 0 {
                self.evaluator.begun -= 1;
                self.evaluator.budget.enter_range()?;
                self.evaluator.within += 1;
                self.bodies(at + 1, &items, sink)?;
                self.evaluator.within -= 1;
                self.evaluator.budget.leave_range();
                // Without an `end`, the body is evaluated once more on the values around the range, as in client-go.
                at = self.last_end.max(at);
            } else {
                sink(&items, &mut self.evaluator.budget)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// Evaluates the body of a range on each value. Without values, the body is evaluated without output: it moves to the
    /// range's `end`, and fails as it would in client-go.
    fn bodies(
        &mut self,
        start: usize,
        items: &[Item<'v>],
        sink: &mut Sink<'_, 'v>,
    ) -> Result<(), JsonPathError> {
        if items.is_empty() {
            return self.run(start, Item::NoValue, &mut |_, _| Ok(()));
        }
        items.iter().try_for_each(|item| self.run(start, *item, sink))
    }
}
