//! The value of a sort expression in one object, and kubectl's comparison of two of them.

use crate::object::JsonValue;
use crate::query::quantity::Quantity;

/// The value that an object is sorted by: a copy of the scalar at the path, 24 bytes and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Missing,
    Null,
    Int(i64),
    Float(f64),
    Text(Box<str>),
    /// A text that is a quantity. Parsed once; compared with other texts as text.
    Quantity(Box<(Quantity, Box<str>)>),
    Bool,
    Array,
    Object,
}

/// Two values that kubectl can't compare. The messages are those of its comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// Two values of different types.
    #[error("unsortable interface: interface")]
    MixedTypes,
    /// A boolean and another value.
    #[error("unsortable type: bool")]
    Bool,
    /// An array and another value.
    #[error("unsortable type: []interface {{}}")]
    Array,
    /// An object and another value.
    #[error("unsortable type: map[string]interface {{}}")]
    Object,
}

impl SortKey {
    /// Returns the key of an object that lacks the field.
    pub(super) fn missing() -> Self {
        Self(Kind::Missing)
    }

    /// Returns the key of an object with this value.
    pub(super) fn of(value: &JsonValue<'_>) -> Self {
        Self(match value {
            JsonValue::Null => Kind::Null,
            JsonValue::Bool(_) => Kind::Bool,
            JsonValue::Int(number) => Kind::Int(*number),
            JsonValue::Float(number) => Kind::Float(*number),
            JsonValue::Text(text) => {
                let copy: Box<str> = (**text).into();
                match Quantity::parse(text) {
                    Ok(quantity) => Kind::Quantity(Box::new((quantity, copy))),
                    Err(_) => Kind::Text(copy),
                }
            }
            JsonValue::Array(_) => Kind::Array,
            JsonValue::Object(_) | JsonValue::Raw(_) => Kind::Object,
        })
    }

    /// Whether the object lacks the field. A field that is null is not missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.0 == Kind::Missing
    }

    /// Whether kubectl sorts this key before the other one:
    /// - A missing field comes before everything, also before another missing one.
    /// - Null comes before every value.
    /// - Integers compare with integers, floats with floats.
    /// - Texts compare as quantities if both are quantities, otherwise by their bytes. Times are texts.
    ///
    /// This is no order: missing fields are below each other, and `2` < `10` < `1a` < `2` among texts.
    ///
    /// # Errors
    ///
    /// Other pairs can't be compared.
    pub fn is_less(&self, other: &Self) -> Result<bool, Incomparable> {
        match (&self.0, &other.0) {
            (Kind::Missing, _) => Ok(true),
            (_, Kind::Missing | Kind::Null) => Ok(false),
            (Kind::Null, _) => Ok(true),
            (Kind::Int(a), Kind::Int(b)) => Ok(a < b),
            (Kind::Float(a), Kind::Float(b)) => Ok(a < b),
            (Kind::Quantity(a), Kind::Quantity(b)) => Ok(a.0 < b.0),
            (Kind::Text(a), Kind::Text(b)) => Ok(a < b),
            (Kind::Text(a), Kind::Quantity(b)) => Ok(*a < b.1),
            (Kind::Quantity(a), Kind::Text(b)) => Ok(a.1 < *b),
            (Kind::Bool, _) => Err(Incomparable::Bool),
            (Kind::Array, _) => Err(Incomparable::Array),
            (Kind::Object, _) => Err(Incomparable::Object),
            (Kind::Int(_) | Kind::Float(_) | Kind::Text(_) | Kind::Quantity(_), _) => {
                Err(Incomparable::MixedTypes)
            }
        }
    }
}
