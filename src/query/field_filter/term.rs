//! A condition on the values of one field.

use std::cmp::Ordering;

use crate::object::{FieldPath, ObjectError};
use crate::query::quantity::Quantity;

/// A condition on the values of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// The term as it is written.
    pub(super) text: String,
    pub(super) path: FieldPath,
    pub(super) test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Compare(Comparison, Operand),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The value to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Quantity(Quantity),
    Text(String),
}

impl Term {
    /// Whether the field is one of the metadata.
    pub(super) fn reads_only_metadata(&self) -> bool {
        self.path.to_string().starts_with("metadata.")
    }

    /// Whether a field with the visited values matches.
    pub(super) fn matches(
        &self,
        visit_values: impl FnOnce(&mut dyn FnMut(&str)) -> Result<(), ObjectError>,
    ) -> bool {
        let (mut is_present, mut found) = (false, false);
        // A text that can't be read was rejected at ingest.
        let _unread = visit_values(&mut |value| {
            is_present = true;
            found |= self.test.holds(value);
        });
        match &self.test {
            Test::In(values) => found || (!is_present && values.iter().any(String::is_empty)),
            Test::NotIn(values) => !found && (is_present || !values.iter().any(String::is_empty)),
            Test::Compare(..) => found,
        }
    }
}

impl Test {
    /// Whether a value is in the set or in the order.
    fn holds(&self, value: &str) -> bool {
        match self {
            Self::In(values) | Self::NotIn(values) => values.iter().any(|expected| expected == value),
            Self::Compare(comparison, Operand::Quantity(operand)) => {
                Quantity::parse(value).is_ok_and(|value| comparison.allows(value.cmp(operand)))
            }
            Self::Compare(comparison, Operand::Text(operand)) => {
                comparison.allows(value.cmp(operand.as_str()))
            }
        }
    }
}

impl Comparison {
    fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
