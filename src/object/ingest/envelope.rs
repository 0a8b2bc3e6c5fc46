//! The members of an object that are extracted from its JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

/// The type of an object and its metadata.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(rename_all = "camelCase")]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "not_null")]
    pub(super) api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "not_null")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) metadata: Option<Metadata<'a>>,
}

/// The members of the metadata. Those of arrays and objects are their source text.
#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) uid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) resource_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "source_text")]
    pub(super) labels: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "source_text")]
    pub(super) owner_references: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "source_bytes")]
    pub(super) managed_fields: Option<&'a [u8]>,
}

/// Parses any valid object.
pub(super) fn parse_any(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    // serde would accept an array of the members' values too.
    if !text.starts_with('{') {
        return Err(serde_json::Error::custom("it does not begin with {"));
    }
    serde_json::from_str(text)
}

/// Deserializes a member that may be absent but not null: only an absent member can be added without occurring twice.
fn not_null<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    // A struct, because a bare Cow would copy the text.
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Text::deserialize(from).map(|Text(text)| Some(text))
}

/// Returns the source text of a member, unless it is null.
fn source_text<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a str>, D::Error> {
    Option::<&'a RawValue>::deserialize(from).map(|raw| raw.map(RawValue::get))
}

/// Returns the source bytes of a member, unless it is null.
fn source_bytes<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a [u8]>, D::Error> {
    source_text(from).map(|text| text.map(str::as_bytes))
}
