//! The expressions that select the changes of a watch, because they read the state before.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::object::Object;

use super::expression::Expression;
use crate::session::indices::ExpressionErrors;
use crate::settings::ObjectFilter;

/// A filter on changes. Unlike a [`Filter`](super::Filter), it holds no state: each change is selected on its own.
#[derive(Clone, Default)]
pub(crate) struct ChangeFilter {
    expressions: Vec<Expression>,
}

impl ChangeFilter {
    /// Creates the filter of a command line, which records the objects for which an expression has no result.
    pub(crate) fn new(filter: &ObjectFilter, errors: &Arc<ExpressionErrors>) -> Self {
        let expressions = filter.of_changes().iter();
        Self { expressions: expressions.map(|expression| Expression::new(expression, errors)).collect() }
    }

    /// Whether every change passes.
    pub(crate) fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Whether a change passes. An addition has no state before, and a deletion none after.
    pub(crate) fn passes(&self, old: Option<&Object>, new: Option<&Object>) -> bool {
        let now = Timestamp::now();
        self.expressions.iter().all(|expression| expression.matches_change(old, new, now))
    }
}
