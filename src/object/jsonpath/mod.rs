//! kubectl's jsonpath templates, as in `kubectl get -o jsonpath=TEMPLATE`. The semantics and error texts are those of
//! client-go's `util/jsonpath`.
//!
//! Differences: objects are visited in the order of their keys (Go's order is random), a template may be executed more
//! than once (client-go forgets what stands in front of the last range), templates that crash client-go return an error
//! or print `<no value>`, and hostile templates end with [`JsonPathError::TooManySteps`].

mod budget;
mod error;
mod evaluate;
mod item;
mod node;
mod parser;
mod plan;
mod ranges;
mod relaxed;
mod stream;
mod unquote;

#[cfg(test)]
mod tests;

pub use error::JsonPathError;
pub use relaxed::relaxed_jsonpath;
pub use stream::ItemStream;

use std::borrow::Cow;

use super::JsonValue;
use budget::Budget;
use evaluate::Evaluator;
use item::{Item, print_joined};
use node::Node;
use ranges::{Ranges, Sink};

/// A parsed template.
#[derive(Debug, Clone)]
pub struct JsonPath {
    nodes: Vec<Node>,
    allow_missing_keys: bool,
}

impl JsonPath {
    /// Parses a template: text with `{…}` sections.
    ///
    /// # Errors
    /// [`JsonPathError::Syntax`] when the template is malformed or its expressions are nested too deeply.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        Ok(Self { nodes: parser::parse(text)?, allow_missing_keys: false })
    }

    /// Sets whether a field that no value has is an empty result (kubectl's default) or an error (the default here and in
    /// client-go).
    #[must_use]
    pub fn allow_missing_keys(mut self, allow: bool) -> Self {
        self.allow_missing_keys = allow;
        self
    }

    /// Appends the output for `value`, without a final line break: the results of each section are joined by spaces,
    /// arrays and objects are compact JSON, other values are printed as Go's `%v`.
    ///
    /// # Errors
    /// [`JsonPathError`] when the template does not fit the value or takes too many steps; `out` is then unchanged.
    pub fn execute(&self, value: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        self.print(value, out, |items, out, budget| print_joined(items, true, out, budget))
    }

    /// Appends the output of `-o jsonpath-as-json=`: the results of each section, texts between sections included, as an
    /// indented JSON array with a final line break.
    ///
    /// # Errors
    /// As [`JsonPath::execute`].
    pub fn execute_json(&self, value: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), JsonPathError> {
        self.print(value, out, |items, out, budget| {
            for (at, item) in items.iter().enumerate() {
                let start = out.len();
                out.extend_from_slice(if at == 0 { b"[\n    " } else { b",\n    " });
                item.into_json().write_indented(1, out);
                budget.charge_bytes(out.len() - start)?;
            }
            out.extend_from_slice(if items.is_empty() { b"[]\n" } else { b"\n]\n" });
            Ok(())
        })
    }

    /// Returns the results of each section, as custom columns and sorting need them. A text of the template is a result
    /// too.
    ///
    /// # Errors
    /// As [`JsonPath::execute`].
    pub fn find_results<'v>(
        &'v self,
        value: &'v JsonValue<'v>,
    ) -> Result<Vec<Vec<Cow<'v, JsonValue<'v>>>>, JsonPathError> {
        let mut sets = Vec::new();
        self.evaluate(value, &mut |items, _| {
            sets.push(items.iter().map(|item| item.into_json()).collect());
            Ok(())
        })?;
        Ok(sets)
    }

    /// Returns how to execute the template item by item on a list, or `None` where an output depends on several items or
    /// on the list as a whole.
    ///
    /// Streamed are templates in which exactly one section walks the items of a list: `{range .items[*]}…{end}` or
    /// `{.items[*].a.b}`, also with a filter in place of `[*]` and with texts and other fields of the list around it.
    #[must_use]
    pub fn streaming(&self) -> Option<ItemStream<'_>> {
        ItemStream::of(&self.nodes, self.allow_missing_keys)
    }

    /// Returns the field below which everything lies that the template reads; `None` if it reads more, or may.
    #[must_use]
    pub fn root_field(&self) -> Option<&str> {
        let [Node::List(path)] = self.nodes.as_slice() else { return None };
        let [Node::Field(first), rest @ ..] = path.as_slice() else { return None };
        let is_step = |node: &Node| matches!(node, Node::Field(_) | Node::Array(_) | Node::Wildcard);
        rest.iter().all(is_step).then_some(first)
    }

    fn evaluate<'v>(
        &'v self,
        value: &'v JsonValue<'v>,
        sink: &mut Sink<'_, 'v>,
    ) -> Result<(), JsonPathError> {
        let evaluator = Evaluator::new(value, self.allow_missing_keys);
        Ranges::new(evaluator, &self.nodes).run(0, Item::Json(value), sink)
    }

    fn print<'v>(
        &'v self,
        value: &'v JsonValue<'v>,
        out: &mut Vec<u8>,
        print: impl Fn(&[Item<'v>], &mut Vec<u8>, &mut Budget<'v>) -> Result<(), JsonPathError>,
    ) -> Result<(), JsonPathError> {
        let before = out.len();
        let printed = self.evaluate(value, &mut |items, budget| print(items, out, budget));
        if printed.is_err() {
            out.truncate(before);
        }
        printed
    }
}
