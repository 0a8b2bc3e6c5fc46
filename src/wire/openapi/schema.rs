//! A schema of either version: the members that describe fields.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::enum_text::enum_text;
use super::kind::GroupVersionKind;
use crate::object::JsonValue;

/// The schema of an object or a field. A member that is missing or null is empty or `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The description.
    pub description: String,
    /// The types; usually one or none.
    pub types: Vec<String>,
    /// The reference to another schema (`$ref`).
    pub reference: String,
    /// The fields of an object by name.
    pub properties: Option<BTreeMap<String, Schema>>,
    /// The names of the required fields.
    pub required: Vec<String>,
    /// The schema of the elements of a list.
    pub items: Option<Box<Schema>>,
    /// The schema of the values of a map, unless it allows anything.
    pub additional_properties: Option<Box<Schema>>,
    /// The schemas that must all match.
    pub all_of: Vec<Schema>,
    /// The allowed values, as Go prints them with `%v`: the empty string is an empty text.
    pub enum_values: Vec<String>,
    /// The reference to further documentation.
    pub external_docs: Option<Box<ExternalDocs>>,
    /// The kinds that the schema describes (`x-kubernetes-group-version-kind`).
    pub kinds: Vec<GroupVersionKind>,
    /// Whether there is any member, known or not.
    has_members: bool,
}

/// A reference to further documentation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ExternalDocs {
    /// The description.
    pub description: String,
    /// The address.
    pub url: String,
}

impl Schema {
    /// Returns whether the schema has no member, not even one that is not kept here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_members
    }

    /// Returns a field of an object.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Self> {
        self.properties.as_ref()?.get(name)
    }

    /// Returns the schemas that the schema consists of: those that must all match, and that of its elements or values.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let nested = self.items.as_deref().into_iter().chain(self.additional_properties.as_deref());
        self.all_of.iter().chain(nested)
    }

    /// Parses one member.
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "description" => self.description = text(map)?,
            "type" => self.types = map.next_value::<Types>()?.0,
            "$ref" => self.reference = text(map)?,
            "properties" => self.properties = map.next_value()?,
            "required" => self.required = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "items" => self.items = map.next_value::<SchemaOrOther>()?.0,
            "additionalProperties" => self.additional_properties = map.next_value::<SchemaOrOther>()?.0,
            "allOf" => self.all_of = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "enum" => {
                let values = map.next_value::<Option<Vec<JsonValue<'de>>>>()?.unwrap_or_default();
                self.enum_values = values.iter().map(enum_text).collect();
            }
            "externalDocs" => self.external_docs = map.next_value()?,
            "x-kubernetes-group-version-kind" => {
                self.kinds = map.next_value::<Option<_>>()?.unwrap_or_default();
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<String, A::Error> {
    Ok(map.next_value::<Option<String>>()?.unwrap_or_default())
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SchemaVisitor)
    }
}

struct SchemaVisitor;

impl<'de> Visitor<'de> for SchemaVisitor {
    type Value = Schema;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Schema, A::Error> {
        let mut schema = Schema::default();
        while let Some(key) = map.next_key::<String>()? {
            schema.has_members = true;
            schema.read(&key, &mut map)?;
        }
        Ok(schema)
    }
}

/// A schema, or a boolean or list in its place, which say nothing about fields. An empty schema counts as none.
struct SchemaOrOther(Option<Box<Schema>>);

impl<'de> Deserialize<'de> for SchemaOrOther {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SchemaOrOtherVisitor)
    }
}

struct SchemaOrOtherVisitor;

impl<'de> Visitor<'de> for SchemaOrOtherVisitor {
    type Value = SchemaOrOther;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a schema, a boolean or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SchemaOrOther, A::Error> {
        let schema = SchemaVisitor.visit_map(map)?;
        Ok(SchemaOrOther(Some(schema).filter(|schema| !schema.is_empty()).map(Box::new)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<SchemaOrOther, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(SchemaOrOther(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<SchemaOrOther, E> {
        Ok(SchemaOrOther(None))
    }

    fn visit_unit<E>(self) -> Result<SchemaOrOther, E> {
        Ok(SchemaOrOther(None))
    }
}

/// One type or a list of types.
struct Types(Vec<String>);

impl<'de> Deserialize<'de> for Types {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypesVisitor)
    }
}

struct TypesVisitor;

impl<'de> Visitor<'de> for TypesVisitor {
    type Value = Types;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type or a list of types")
    }

    fn visit_str<E>(self, text: &str) -> Result<Types, E> {
        Ok(Types(if text.is_empty() { Vec::new() } else { vec![text.to_owned()] }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Types, A::Error> {
        let mut types = Vec::new();
        while let Some(one) = sequence.next_element()? {
            types.push(one);
        }
        Ok(Types(types))
    }

    fn visit_unit<E>(self) -> Result<Types, E> {
        Ok(Types(Vec::new()))
    }
}
