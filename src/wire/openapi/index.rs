//! The index of the documents of version 3.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The response to `/openapi/v3`: the group versions that have a document, each with the hash of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenApiIndex {
    hashes: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct Document {
    paths: Option<BTreeMap<String, Entry>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    #[serde(rename = "serverRelativeURL")]
    server_relative_url: String,
}

impl OpenApiIndex {
    /// Parses the index.
    ///
    /// # Errors
    /// The text is not JSON of that form.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Returns whether there is a document for a path such as `api/v1` or `apis/apps/v1`.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.hashes.contains_key(path)
    }

    /// Returns the hash of a document's content, with which a request for it may be answered from caches. The rest of
    /// the server's URL is not used, so that a request can't leave the path of the API.
    #[must_use]
    pub fn hash(&self, path: &str) -> Option<&str> {
        self.hashes.get(path)?.as_deref()
    }
}

impl<'de> Deserialize<'de> for OpenApiIndex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let paths = Document::deserialize(deserializer)?.paths.unwrap_or_default();
        let hashes = paths.into_iter().map(|(path, entry)| (path, hash(&entry.server_relative_url)));
        Ok(Self { hashes: hashes.collect() })
    }
}

/// Returns the value of the query parameter `hash`.
fn hash(url: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let value = query.split('&').find_map(|parameter| parameter.strip_prefix("hash="))?;
    Some(value.to_owned())
}
