//! Redaction: confidential values become keyed hashes before an object is stored or recorded.
//!
//! Equal values have equal hashes under one key, so that a change of a value stays visible. Without the key, a
//! value can't be found by hashing guesses.

mod row;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::object::{FieldPath, Object, ObjectError, Row, replaced_leaves};

/// The beginning of each redacted text.
const MARKER: &str = "kdelta-redacted-";

/// The bytes of a hash that are written. 128 bits, so that different values never have equal hashes by chance.
const HASH_BYTES: usize = 16;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The treatment of the values in Secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretValues {
    /// They are recorded as they are.
    Keep,
    /// Each becomes a keyed hash.
    #[default]
    Hash,
    /// They are left out: `data` and `stringData` are empty.
    Drop,
}

/// Removes confidential values from objects.
///
/// The values of Secrets are those of `data` and `stringData`. Further fields are given by paths, for all types.
/// The copies of a value in the annotation `kubectl.kubernetes.io/last-applied-configuration` and in table cells
/// are removed too. A string, number or boolean is replaced by a hash as a string, which is valid base64 in `data`.
/// In objects and arrays, each value is replaced.
///
/// ```
/// use std::sync::Arc;
/// use kdelta::object::{Ingest, Object, TypeMeta};
/// use kdelta::recording::{Redaction, SecretValues};
///
/// let redaction = Redaction::new(&[7; 32], SecretValues::Hash, Vec::new());
/// let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Secret".into() });
/// let json = br#"{"metadata":{"name":"db"},"data":{"password":"czNjcjN0"}}"#;
/// let secret = Arc::new(Object::from_json(json, &Ingest::of(type_meta))?);
/// let redacted = redaction.object(&secret);
/// assert!(!String::from_utf8_lossy(&redacted.json()).contains("czNjcjN0"));
/// # Ok::<(), kdelta::object::ObjectError>(())
/// ```
pub struct Redaction {
    key: hmac::Key,
    secrets: SecretValues,
    paths: Vec<FieldPath>,
    /// The paths of the values of Secrets, the first in base64.
    data: [FieldPath; 2],
    last_applied: FieldPath,
}

/// The values that were removed from an object.
type Removed = Vec<String>;

impl Redaction {
    /// Creates a redaction with this key.
    #[must_use]
    pub fn new(key: &[u8; 32], secrets: SecretValues, paths: Vec<FieldPath>) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            secrets,
            paths,
            data: ["data", "stringData"].map(|name| FieldPath::of_names([name])),
            last_applied: FieldPath::of_names(["metadata", "annotations", LAST_APPLIED]),
        }
    }

    /// Returns the treatment of the values in Secrets.
    #[must_use]
    pub fn treatment_of_secrets(&self) -> SecretValues {
        self.secrets
    }

    /// Returns the object without confidential values, or the object itself if it can't have any. If its text can't
    /// be read, only its names, UID and version are left.
    #[must_use]
    pub fn object(&self, object: &Arc<Object>) -> Arc<Object> {
        let type_meta = object.type_meta();
        let is_secret = type_meta.kind == "Secret" && type_meta.api_version == "v1";
        let hides_data = is_secret && self.secrets != SecretValues::Keep;
        if !hides_data && self.paths.is_empty() {
            return Arc::clone(object);
        }
        let json = object.json();
        if json.is_empty() {
            return Arc::clone(object);
        }
        let mut removed = Removed::new();
        let text = str::from_utf8(&json).ok();
        let redacted = text.and_then(|text| self.document(text, hides_data, &mut removed).ok());
        match redacted {
            Some(redacted) if removed.is_empty() && Some(redacted.as_str()) == text => Arc::clone(object),
            Some(redacted) => {
                let row = object.row().map(|row| row::without(row, &removed));
                let redacted = object.with_json(redacted);
                Arc::new(match row {
                    Some(row) => redacted.with_row(row),
                    None => redacted,
                })
            }
            None => Arc::new(names_only(object)),
        }
    }

    /// Redacts the text of an object and the copy of its manifest in it.
    fn document(&self, json: &str, hides_data: bool, removed: &mut Removed) -> Result<String, ObjectError> {
        let redacted = self.fields(json, hides_data, removed)?;
        self.last_applied.replaced(&redacted, &mut |value| {
            let text = serde_json::from_str::<String>(value).unwrap_or_default();
            let manifest = Some(text.trim()).filter(|text| text.starts_with('{'));
            let manifest = manifest.and_then(|text| self.fields(text, hides_data, removed).ok());
            // A value that is not a manifest may contain anything.
            manifest.map_or_else(|| self.hash_of_json(value, removed), |manifest| quoted(&manifest))
        })
    }

    /// Redacts the fields of an object, or of its manifest.
    fn fields(&self, json: &str, hides_data: bool, removed: &mut Removed) -> Result<String, ObjectError> {
        let mut text = json.to_owned();
        if hides_data {
            let [data, string_data] = &self.data;
            text = data.replaced(&text, &mut |values| self.secret_values(values, true, removed))?;
            text = string_data.replaced(&text, &mut |values| self.secret_values(values, false, removed))?;
        }
        for path in &self.paths {
            text = path.replaced(&text, &mut |value| {
                let leaves = replaced_leaves(value, &mut |leaf| self.hash_of_json(leaf, removed));
                leaves.unwrap_or_else(|_| "null".to_owned())
            })?;
        }
        Ok(text)
    }

    fn secret_values(&self, values: &str, is_base64: bool, removed: &mut Removed) -> String {
        if values == "null" || self.secrets == SecretValues::Drop {
            let _ = replaced_leaves(values, &mut |leaf| self.hash_of_json(leaf, removed));
            return if values == "null" { values.to_owned() } else { "{}".to_owned() };
        }
        let redacted = replaced_leaves(values, &mut |leaf| match serde_json::from_str::<String>(leaf) {
            Ok(text) if is_base64 => {
                let value = STANDARD.decode(&text).unwrap_or_else(|_| text.clone().into_bytes());
                if is_redacted(&value) {
                    return leaf.to_owned();
                }
                let redacted = self.hash(&value);
                removed.push(text);
                quoted(&STANDARD.encode(redacted))
            }
            _ => self.hash_of_json(leaf, removed),
        });
        redacted.unwrap_or_else(|_| "{}".to_owned())
    }

    /// Returns the JSON of the replacement of a string, number or boolean.
    fn hash_of_json(&self, json: &str, removed: &mut Removed) -> String {
        match serde_json::from_str::<String>(json) {
            Ok(text) if text.is_empty() => quoted(""),
            Ok(text) if is_redacted(text.as_bytes()) => json.to_owned(),
            Ok(text) => {
                let redacted = self.hash(text.as_bytes());
                removed.push(text);
                quoted(&redacted)
            }
            Err(_) if json == "null" => json.to_owned(),
            Err(_) => {
                removed.push(json.to_owned());
                quoted(&self.hash(json.as_bytes()))
            }
        }
    }

    fn hash(&self, value: &[u8]) -> String {
        let tag = hmac::sign(&self.key, value);
        tag.as_ref().iter().take(HASH_BYTES).fold(MARKER.to_owned(), |text, byte| format!("{text}{byte:02x}"))
    }
}

/// Prints the options, never the key.
impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction")
            .field("secrets", &self.secrets)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

/// Returns whether a value is the hash of another redaction. It is kept, so that equal values stay equal.
fn is_redacted(value: &[u8]) -> bool {
    let hash = value.strip_prefix(MARKER.as_bytes());
    hash.is_some_and(|hash| hash.len() == 2 * HASH_BYTES && hash.iter().all(u8::is_ascii_hexdigit))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a copy of an object with its names, UID and version only.
fn names_only(object: &Object) -> Object {
    let type_meta = object.type_meta();
    let mut metadata = serde_json::json!({
        "name": object.name(),
        "uid": object.uid().to_string(),
        "resourceVersion": object.resource_version().to_string(),
    });
    if !object.namespace().is_empty() {
        metadata["namespace"] = object.namespace().into();
    }
    let json = serde_json::json!({
        "apiVersion": type_meta.api_version, "kind": type_meta.kind, "metadata": metadata,
    });
    let row = object.row().map(|row| Row::new(Arc::clone(row.columns()), row.cells().map(|_| "")));
    let redacted = object.with_json(json.to_string());
    match row {
        Some(row) => redacted.with_row(row),
        None => redacted,
    }
}
