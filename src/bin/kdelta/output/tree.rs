//! A JSON tree that borrows its text, for printers that sort keys. It lives while one object is printed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value. Numbers have Go's types in an unstructured object: int64 if possible, otherwise float64.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    Array(Vec<Tree<'a>>),
    /// Sorted by the bytes of the keys, each key once.
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
    /// JSON that is printed unchanged, because it is nested too deeply to parse or is not valid UTF-8.
    Raw(&'a [u8]),
}

/// Parses the JSON of an object. Invalid JSON is kept as raw text and printed with its keys unsorted.
pub(super) fn parse(json: &[u8]) -> Tree<'_> {
    serde_json::from_slice(json).unwrap_or(Tree::Raw(json))
}

impl<'de: 'a, 'a> Deserialize<'de> for Tree<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Tree::Int(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer beyond int64 is a float64 to Go, loss included"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Tree::Float(value as f64), Tree::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Tree::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Tree::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Tree::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Tree::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Tree<'de>)> = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            members.push((key, value));
        }
        // The sort is stable, so the last of equal keys stays last; it is the one that counts.
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        members.reverse();
        members.dedup_by(|(a, _), (b, _)| a == b);
        members.reverse();
        Ok(Tree::Object(members))
    }
}

/// A key, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Tree::deserialize(deserializer)? {
            Tree::Text(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("a key is a string")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_last_duplicate_wins() {
        let tree = parse(br#"{"b":1,"a":[null,true,"x"],"b":2,"B":3}"#);
        let text = |text: &'static str| Cow::Borrowed(text);
        assert_eq!(
            tree,
            Tree::Object(vec![
                (text("B"), Tree::Int(3)),
                (text("a"), Tree::Array(vec![Tree::Null, Tree::Bool(true), Tree::Text(text("x"))])),
                (text("b"), Tree::Int(2)),
            ])
        );
    }

    #[test]
    fn unescaped_text_is_borrowed() {
        let Tree::Array(items) = parse(br#"["plain","a\nb"]"#) else { panic!("an array") };
        assert!(matches!(&items[0], Tree::Text(Cow::Borrowed("plain"))));
        assert!(matches!(&items[1], Tree::Text(Cow::Owned(text)) if text == "a\nb"));
    }

    #[test]
    fn numbers_match_go() {
        let numbers = b"[9223372036854775807,-9223372036854775808,9223372036854775808,1.0,1e2]";
        let Tree::Array(items) = parse(numbers) else { panic!("an array") };
        assert_eq!(
            items,
            [
                Tree::Int(i64::MAX),
                Tree::Int(i64::MIN),
                Tree::Float(9_223_372_036_854_775_808.0),
                Tree::Float(1.0),
                Tree::Float(100.0)
            ]
        );
    }

    #[test]
    fn deeply_nested_json_is_unchanged() {
        let json = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(parse(json.as_bytes()), Tree::Raw(json.as_bytes()));
    }
}
