//! A parsed JSON value that borrows its text, for printers and queries that need a whole object at once.

mod float;
mod go_quote;
mod go_syntax;
mod go_text;
mod indent;
mod outline;
mod plain;
mod write;

pub use float::{format_go_float, format_json_float, format_yaml_float};
pub use go_quote::{go_quote, is_go_printable};

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Numbers have Go's types in an unstructured object: int64 if possible, otherwise float64.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number written without fraction and exponent that fits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string, unescaped.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<JsonValue<'a>>),
    /// Sorted by the bytes of the keys, each key once.
    Object(Vec<(Cow<'a, str>, JsonValue<'a>)>),
    /// JSON that is printed unchanged, because it is nested too deeply to parse or is not valid UTF-8.
    Raw(&'a [u8]),
}

impl<'a> JsonValue<'a> {
    /// Parses JSON. Invalid JSON, and JSON nested deeper than 128 levels, becomes [`JsonValue::Raw`].
    #[must_use]
    pub fn parse(json: &'a [u8]) -> Self {
        serde_json::from_slice(json).unwrap_or(Self::Raw(json))
    }

    /// Returns the member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let at = members.binary_search_by(|(name, _)| (**name).cmp(key)).ok()?;
        Some(&members[at].1)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonValueVisitor)
    }
}

struct JsonValueVisitor;

impl<'de> Visitor<'de> for JsonValueVisitor {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(JsonValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(JsonValue::Int(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer beyond int64 is a float64 to Go, loss included"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(JsonValue::Float(value as f64), JsonValue::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(JsonValue::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(JsonValue::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(JsonValue::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(JsonValue::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'de, str>, JsonValue<'de>)> = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            members.push((key, value));
        }
        // The sort is stable, so the last of equal keys stays last; it is the one that counts.
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.reverse();
        members.dedup_by(|(a, _), (b, _)| a == b);
        members.reverse();
        Ok(JsonValue::Object(members))
    }
}

/// A key, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match JsonValue::deserialize(deserializer)? {
            JsonValue::Text(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("a key is a string")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_last_duplicate_wins() {
        let value = JsonValue::parse(br#"{"b":1,"a":[null,true,"x"],"b":2,"B":3}"#);
        let text = |text: &'static str| Cow::Borrowed(text);
        assert_eq!(
            value,
            JsonValue::Object(vec![
                (text("B"), JsonValue::Int(3)),
                (
                    text("a"),
                    JsonValue::Array(vec![
                        JsonValue::Null,
                        JsonValue::Bool(true),
                        JsonValue::Text(text("x"))
                    ])
                ),
                (text("b"), JsonValue::Int(2)),
            ])
        );
    }

    #[test]
    fn unescaped_text_is_borrowed() {
        let JsonValue::Array(items) = JsonValue::parse(br#"["plain","a\nb"]"#) else { panic!("an array") };
        assert!(matches!(&items[0], JsonValue::Text(Cow::Borrowed("plain"))));
        assert!(matches!(&items[1], JsonValue::Text(Cow::Owned(text)) if text == "a\nb"));
    }

    #[test]
    fn numbers_match_go() {
        let numbers = b"[9223372036854775807,-9223372036854775808,9223372036854775808,1.0,1e2]";
        let JsonValue::Array(items) = JsonValue::parse(numbers) else { panic!("an array") };
        assert_eq!(
            items,
            [
                JsonValue::Int(i64::MAX),
                JsonValue::Int(i64::MIN),
                JsonValue::Float(9_223_372_036_854_775_808.0),
                JsonValue::Float(1.0),
                JsonValue::Float(100.0)
            ]
        );
    }

    #[test]
    fn deeply_nested_json_is_unchanged() {
        let json = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(JsonValue::parse(json.as_bytes()), JsonValue::Raw(json.as_bytes()));
    }
}
