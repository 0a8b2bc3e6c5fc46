//! One level of a JSON value: its members or elements as unparsed slices of the text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A value split one level deep.
pub(super) enum Level<'a> {
    Object(Members<'a>),
    Array(Vec<&'a str>),
    /// A string, number, boolean or null, or a value that can't be split, such as an object with a lone surrogate in a
    /// name.
    Scalar,
}

impl<'a> Level<'a> {
    pub(super) fn of(json: &'a str) -> Self {
        let taken = match json.as_bytes().first() {
            Some(b'{') => serde_json::from_str(json).map(Self::Object),
            Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(json)
                .map(|elements| Self::Array(elements.into_iter().map(RawValue::get).collect())),
            _ => Ok(Self::Scalar),
        };
        taken.unwrap_or(Self::Scalar)
    }
}

/// The members of an object in text order. For a duplicate name the last value wins.
#[derive(Default)]
pub(super) struct Members<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
    places: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Members<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.places.get(name).map(|at| self.members[*at].1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Cow<'a, str>, &'a str)> {
        let last = |(at, (name, _)): &(usize, &(Cow<'a, str>, _))| self.places.get(name) == Some(at);
        self.members.iter().enumerate().filter(last).map(|(_, (name, value))| (name, *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // A struct, because a bare Cow would copy the text.
        #[derive(serde::Deserialize)]
        #[serde(transparent)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
        let mut all = Members::default();
        while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
            all.places.insert(name.clone(), all.members.len());
            all.members.push((name, value.get()));
        }
        Ok(all)
    }
}

/// Returns whether two unsplittable values are equal: strings by content, numbers by value.
pub(super) fn equal_scalars(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (one.as_bytes().first(), other.as_bytes().first()) {
        (Some(b'"'), Some(b'"')) if one.contains('\\') || other.contains('\\') => {
            let text = |json| serde_json::from_str::<String>(json).ok();
            text(one).is_some_and(|one| text(other) == Some(one))
        }
        (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => equal_numbers(one, other),
        _ => false,
    }
}

/// Compares integers as integers: two different large ones may be equal as floats.
fn equal_numbers(one: &str, other: &str) -> bool {
    match (one.parse::<i128>(), other.parse::<i128>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (one.parse::<f64>(), other.parse::<f64>()) {
            // Bitwise equality, or both zero: the values that equal texts would parse to.
            (Ok(one), Ok(other)) => one.is_finite() && one.total_cmp(&other).is_eq(),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_compared_by_value() {
        for (one, other, same) in [
            (r#""<""#, r#""\u003c""#, true),
            (r#""a""#, r#""b""#, false),
            ("1.0", "1", true),
            ("1e2", "100", true),
            ("0.1", "0.10", true),
            ("9007199254740993", "9007199254740992", false),
            ("1", "true", false),
            ("1", "\"1\"", false),
            ("null", "false", false),
            (r#""\ud800""#, r#""\ud801""#, false),
        ] {
            assert_eq!(equal_scalars(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn the_last_of_duplicate_names_wins() {
        let Level::Object(members) = Level::of(r#"{"a":1,"b":{ "c" : 2 },"a":3}"#) else {
            panic!("an object")
        };
        let read: Vec<_> = members.iter().map(|(name, value)| (&**name, value)).collect();
        assert_eq!(read, [("b", r#"{ "c" : 2 }"#), ("a", "3")]);
        assert_eq!(members.get("a"), Some("3"));
        assert!(matches!(Level::of(r#"{"\ud800":1}"#), Level::Scalar));
    }
}
