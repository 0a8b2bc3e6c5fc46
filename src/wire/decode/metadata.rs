//! The metadata of objects and lists in JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::listwatch::{Error, ListMeta};
use crate::object::ResourceVersion;
use crate::wire::malformed::malformed;

/// The fields of a JSON object that identify it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectHead<'a> {
    #[serde(borrow)]
    pub(super) api_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) metadata: Option<&'a RawValue>,
}

/// The fields of the metadata of an object or a list that the decoder needs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) resource_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) creation_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "continue")]
    pub(super) continue_token: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) annotations: Option<Annotations<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Annotations<'a> {
    #[serde(borrow, rename = "k8s.io/initial-events-end")]
    pub(super) initial_events_end: Option<Cow<'a, str>>,
}

impl<'a> Metadata<'a> {
    pub(super) fn read(json: &'a RawValue) -> Result<Self, Error> {
        serde_json::from_str(json.get()).map_err(|error| malformed("metadata", &error))
    }

    pub(super) fn version(&self) -> ResourceVersion {
        ResourceVersion::new(self.resource_version.as_deref().unwrap_or_default())
    }
}

/// Decodes the `metadata` of a list.
pub(crate) fn list_meta(json: &[u8]) -> Result<ListMeta, Error> {
    let metadata: Option<Metadata<'_>> =
        serde_json::from_slice(json).map_err(|error| malformed("metadata", &error))?;
    Ok(metadata.map_or_else(ListMeta::default, |metadata| ListMeta {
        resource_version: metadata.version(),
        continue_token: metadata.continue_token.unwrap_or_default().into_owned(),
    }))
}
