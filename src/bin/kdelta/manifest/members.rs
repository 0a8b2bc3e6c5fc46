//! The members of JSON objects in the order of the text, with unparsed values.

use serde_json::value::RawValue;

use crate::raw_members::RawMembers;

/// The members of an object. Names may repeat.
#[derive(Default)]
pub(super) struct Members<'a>(RawMembers<'a>);

impl<'a> Members<'a> {
    /// Reads an object; `None` for any other value.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// Returns the members in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter()
    }

    /// Returns the value of a member. The last of several counts.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rfind(|(member, _)| *member == name).map(|(_, value)| value)
    }

    /// Returns the text of a member; empty if it is absent or no text.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).and_then(|value| serde_json::from_str(value).ok()).unwrap_or_default()
    }
}

/// Returns the items of an array; `None` for any other value.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// Returns Go's name for the type of a JSON value.
pub(super) fn type_of(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        Some(b'n') => "null",
        _ => "number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_the_last_of_equal_ones_counts() {
        let members = Members::read(r#"{"b": 1, "a": {"x": [1, 2]}, "b": "t\u0041"}"#).expect("an object");
        let all: Vec<_> = members.iter().collect();
        assert_eq!(all, [("b", "1"), ("a", r#"{"x": [1, 2]}"#), ("b", r#""t\u0041""#)]);
        assert_eq!(members.text("b"), "tA");
        assert_eq!((members.text("a"), members.get("c")), (String::new(), None));
        assert!(Members::read("[1]").is_none() && Members::read("5").is_none());
    }

    #[test]
    fn items_are_those_of_arrays() {
        assert_eq!(items("[1, {\"a\": 2}]"), Some(vec!["1", "{\"a\": 2}"]));
        assert_eq!((items("{}"), items("null")), (None, None));
    }
}
