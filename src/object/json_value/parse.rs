//! Parses JSON in one pass: a whole value, or only some of its members.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::JsonValue;

/// The part of a value to parse.
pub(crate) enum Projection {
    /// All of it.
    Whole,
    /// These members of an object, or of each element of an array.
    Members(&'static [ProjectedMember]),
}

/// The name of a member, and the part of its value to parse.
pub(crate) type ProjectedMember = (&'static str, Projection);

/// Parses the projected part of a value.
///
/// # Errors
/// The JSON is invalid, or nested deeper than 128 levels.
pub(super) fn projected<'a>(
    json: &'a [u8],
    projection: &'static Projection,
) -> serde_json::Result<JsonValue<'a>> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = ValueSeed(projection).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ValueSeed(&Projection::Whole).deserialize(deserializer)
    }
}

/// Parses the projected part of a value.
struct ValueSeed(&'static Projection);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = JsonValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed {
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
        while let Some(item) = sequence.next_element_seed(ValueSeed(self.0))? {
            items.push(item);
        }
        Ok(JsonValue::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let members = match self.0 {
            Projection::Whole => all_members(map),
            Projection::Members(projected) => projected_members(map, projected),
        };
        members.map(JsonValue::Object)
    }
}

/// The members of an object.
type Members<'a> = Vec<(Cow<'a, str>, JsonValue<'a>)>;

fn all_members<'de, A: MapAccess<'de>>(mut map: A) -> Result<Members<'de>, A::Error> {
    let mut members = Members::new();
    while let Some((Key(key), value)) = map.next_entry()? {
        members.push((key, value));
    }
    // The sort is stable, so the last of equal keys stays last; it is the one that counts.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members.reverse();
    members.dedup_by(|(a, _), (b, _)| a == b);
    members.reverse();
    Ok(members)
}

fn projected_members<'de, A: MapAccess<'de>>(
    mut map: A,
    projected: &'static [ProjectedMember],
) -> Result<Members<'de>, A::Error> {
    let mut members = Members::new();
    while let Some(found) = map.next_key_seed(NameSeed(projected))? {
        let Some((name, projection)) = found else {
            map.next_value::<IgnoredAny>()?;
            continue;
        };
        let value = map.next_value_seed(ValueSeed(projection))?;
        match members.binary_search_by(|(member, _)| (**member).cmp(name)) {
            Ok(at) => members[at].1 = value,
            Err(at) => members.insert(at, (Cow::Borrowed(name), value)),
        }
    }
    Ok(members)
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

/// Finds the name of a member among the projected ones.
struct NameSeed(&'static [ProjectedMember]);

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Option<&'static ProjectedMember>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Option<&'static ProjectedMember>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|(projected, _)| *projected == name))
    }
}
