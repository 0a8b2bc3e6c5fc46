//! The types whose values convert to text, for the values of an index.

use super::overload::resolve;
use crate::query::cel::functions::Overload;
use crate::query::cel::types::Type;

/// Whether a value of this type is a text, several, or none.
pub(super) fn may_be_texts(kind: &Type) -> bool {
    match kind {
        Type::Optional(inner) => may_be_texts(inner),
        Type::List(element) => may_be_text(element),
        other => may_be_text(other),
    }
}

/// Whether a value of this type is a text or none.
fn may_be_text(kind: &Type) -> bool {
    match kind {
        Type::Optional(inner) => may_be_text(inner),
        Type::Null => true,
        other => resolve("string", false, std::slice::from_ref(other)).is_ok(),
    }
}

/// Returns the functions that convert a value to a text.
pub(in crate::query::cel) fn text_overloads() -> Vec<Overload> {
    resolve("string", false, &[Type::Dyn]).map_or_else(|_| Vec::new(), |resolution| resolution.overloads)
}
