//! The types of the recordings that a recorder continues.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use kdelta::object::ApiResource;
use kdelta::recording::{Keyring, Moment, Recording, RecordingError, Writer};
use serde_json::Value;

use crate::session::plan::RecordedType;

/// The path of the definitions of custom types, whose documents a recorder requests.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The recordings of a directory, whose types are read when they are needed.
#[derive(Clone)]
pub(in crate::session) struct RecordedTypes {
    dir: PathBuf,
    keyring: Keyring,
}

impl RecordedTypes {
    pub(in crate::session) fn new(dir: &Path, keyring: &Keyring) -> Self {
        Self { dir: dir.to_owned(), keyring: keyring.clone() }
    }

    /// Whether a context may have been recorded.
    pub(in crate::session) fn may_have(&self, context: &str) -> bool {
        Writer::directory(&self.dir, context).is_dir()
    }

    /// Returns the types of the recording of a context; none if it can't be read, which opening it for the recorder reports.
    pub(in crate::session) async fn of_context(&self, context: &str) -> Vec<RecordedType> {
        if !self.may_have(context) {
            return Vec::new();
        }
        let (dir, keyring) = (Writer::directory(&self.dir, context), self.keyring.clone());
        let reading = tokio::task::spawn_blocking(move || read(&dir, &keyring));
        reading.await.ok().and_then(Result::ok).unwrap_or_default()
    }
}

fn read(dir: &Path, keyring: &Keyring) -> Result<Vec<RecordedType>, RecordingError> {
    let recording = Recording::open_with(dir, keyring)?;
    let resources = recording.resources()?;
    // Without the documents, types have their plural and their kind.
    let documents = recording.state(Moment::End).and_then(|state| state.documents()).unwrap_or_default();
    let recorded = |resource: Arc<ApiResource>| {
        let path = format!("{DEFINITIONS}/{}", resource.group_resource());
        let other_names = documents.get(&*path).map(other_names).unwrap_or_default();
        RecordedType { resource, other_names }
    };
    Ok(resources.into_iter().map(recorded).collect())
}

/// Returns the singular and the short names in the definition of a custom type.
fn other_names(definition: &Bytes) -> Vec<String> {
    let definition: Value = serde_json::from_slice(definition).unwrap_or_default();
    let names = &definition["spec"]["names"];
    let short_names = names["shortNames"].as_array().into_iter().flatten();
    short_names.chain([&names["singular"]]).filter_map(Value::as_str).map(str::to_owned).collect()
}
