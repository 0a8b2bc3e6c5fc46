//! Parsing of objects at ingest.
//!
//! Parsing is one pass that validates the whole text and extracts the metadata; no tree is built. The stored text is
//! cut from the original, which preserves the server's key order and number spelling.
//!
//! [`fast_parser`] handles the JSON that servers write; `serde_json` handles everything that it rejects, valid or not.

mod envelope;
mod fast_parser;
#[cfg(feature = "recording")]
mod known_values;
mod stored_text;
#[cfg(test)]
mod tests;
mod workload;

use std::sync::Arc;

use super::body::Body;
use super::error::ObjectError;
use super::last_write::LastWrite;
use super::{Object, ResourceVersion, TypeMeta, Uid, key};
use envelope::{Envelope, parse_any};
use fast_parser::parse_fast;
#[cfg(feature = "recording")]
pub(crate) use known_values::KnownValues;
use stored_text::{assemble, member_span};

/// Properties that an object takes from the request that returned it.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The type of objects that don't carry their own, such as the items of typed lists.
    pub type_meta: Arc<TypeMeta>,
    /// Whether `metadata.managedFields` stays in the body. It makes up more than half of many objects and is rarely
    /// needed.
    pub keep_managed_fields: bool,
    /// Whether the manager of the last change is recorded, for [`Object::manager_since`]. It is read from managedFields,
    /// also if those are removed, and takes no memory.
    pub record_manager: bool,
}

impl Ingest {
    /// Options for objects of this type, without managedFields and managers.
    #[must_use]
    pub fn of(type_meta: Arc<TypeMeta>) -> Self {
        Self { type_meta, keep_managed_fields: false, record_manager: false }
    }
}

impl Object {
    /// Parses one object from JSON.
    ///
    /// The result's body is compact, carries `apiVersion` and `kind` (those of `ingest` where the server omits them, as
    /// it does inside typed lists) and has no `metadata.managedFields` unless `ingest` keeps them. Keys stay in the
    /// server's order.
    ///
    /// # Errors
    /// [`ObjectError`] when the text is not one JSON object, or its metadata has no name or does not have the types of
    /// the Kubernetes API conventions. Inside managedFields that are dropped, only brackets and strings are checked.
    pub fn from_json(json: &[u8], ingest: &Ingest) -> Result<Self, ObjectError> {
        read(json, ingest)
    }

    /// Parses one object that no server has yet, whose name may be missing. Otherwise as [`Object::from_json`].
    ///
    /// # Errors
    /// Those of [`Object::from_json`], except for a missing name.
    pub fn unnamed_from_json(json: &[u8], ingest: &Ingest) -> Result<Self, ObjectError> {
        let json = json.trim_ascii();
        let text = str::from_utf8(json).map_err(|_| ObjectError::NotUtf8)?;
        built(json, parse_any(text)?, ingest)
    }

    /// Parses an object as [`Object::from_json`] does, from its own body, as [`Object::json`] returned it. The text is not
    /// copied, unless it has managedFields that are not kept.
    ///
    /// What it has in common with the body `before` is not parsed again: `values` are those of that body, and become those of
    /// this one.
    ///
    /// # Errors
    /// Those of [`Object::from_json`].
    #[cfg(feature = "recording")]
    pub(crate) fn from_body(
        body: Vec<u8>,
        before: &[u8],
        values: &mut KnownValues,
        ingest: &Ingest,
    ) -> Result<Self, ObjectError> {
        read_body(body, before, values, ingest)
    }

    /// Parses the JSON that servers usually write, nested at most 66 deep. `None` means only that [`Object::from_json`]
    /// must decide.
    #[cfg(any(feature = "api", feature = "demo"))]
    pub(crate) fn from_plain_json(json: &[u8], ingest: &Ingest) -> Option<Self> {
        read_plain(json, ingest)
    }

    /// Parses the object at the front of a text and returns its end, without a look at the bytes after it.
    #[cfg(any(feature = "api", feature = "demo"))]
    pub(crate) fn from_plain_front(text: &[u8], ingest: &Ingest) -> Option<(Self, usize)> {
        read_front(text, ingest)
    }
}

/// Implements [`Object::from_json`].
fn read(json: &[u8], ingest: &Ingest) -> Result<Object, ObjectError> {
    let json = json.trim_ascii();
    let text = str::from_utf8(json).map_err(|_| ObjectError::NotUtf8)?;
    let fast = parse_fast(json, ingest.keep_managed_fields).filter(|(_, end)| *end == json.len());
    let envelope = fast.map_or_else(|| parse_any(text), |(envelope, _)| Ok(envelope))?;
    object(json, envelope, ingest)
}

/// Implements [`Object::from_body`].
#[cfg(feature = "recording")]
fn read_body(
    body: Vec<u8>,
    before: &[u8],
    values: &mut KnownValues,
    ingest: &Ingest,
) -> Result<Object, ObjectError> {
    // Most texts are ASCII, and that check is faster.
    if !body.is_ascii() && str::from_utf8(&body).is_err() {
        return Err(ObjectError::NotUtf8);
    }
    let fast = values.parse(&body, before, ingest.keep_managed_fields).filter(|(envelope, end)| {
        let Some(metadata) = &envelope.metadata else { return false };
        let has_type = envelope.kind.is_some() && envelope.api_version.is_some();
        let has_name = metadata.name.as_ref().is_some_and(|name| !name.is_empty());
        let is_kept = ingest.keep_managed_fields || metadata.managed_fields.is_none();
        *end == body.len() && has_type && has_name && is_kept
    });
    let Some((envelope, _)) = fast else {
        // The object may get another body than this.
        *values = KnownValues::default();
        return read(&body, ingest);
    };
    let object = without_body(envelope, ingest);
    Ok(Object { body: Body::text(body.into_boxed_slice()), ..object })
}

/// Implements [`Object::from_plain_json`].
#[cfg(any(feature = "api", feature = "demo"))]
fn read_plain(json: &[u8], ingest: &Ingest) -> Option<Object> {
    let (object, end) = read_front(json, ingest)?;
    (end == json.len()).then_some(object)
}

/// Implements [`Object::from_plain_front`].
#[cfg(any(feature = "api", feature = "demo"))]
fn read_front(text: &[u8], ingest: &Ingest) -> Option<(Object, usize)> {
    let (envelope, end) = parse_fast(text, ingest.keep_managed_fields)?;
    let json = &text[..end];
    // Most texts are ASCII, and that check is faster.
    if !json.is_ascii() && str::from_utf8(json).is_err() {
        return None;
    }
    Some((object(json, envelope, ingest).ok()?, end))
}

/// Builds the object of a parsed text, which must be UTF-8.
///
/// # Errors
/// It has no name, or is no object.
fn object(json: &[u8], envelope: Envelope<'_>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let name = envelope.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
    if name.is_none_or(|name| name.is_empty()) {
        return Err(ObjectError::Nameless);
    }
    built(json, envelope, ingest)
}

/// Builds the object of a parsed text, which must be UTF-8. A missing name is empty.
fn built(json: &[u8], envelope: Envelope<'_>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let managed_fields = envelope.metadata.as_ref().and_then(|metadata| metadata.managed_fields);
    let unwanted = match managed_fields {
        Some(raw) if !ingest.keep_managed_fields => member_span(json, raw),
        _ => 0..0,
    };
    let default = &*ingest.type_meta;
    let missing = [
        ("kind", envelope.kind.is_none().then_some(&*default.kind)),
        ("apiVersion", envelope.api_version.is_none().then_some(&*default.api_version)),
    ];
    let body = Body::text(assemble(json, missing, unwanted)?);
    Ok(Object { body, ..without_body(envelope, ingest) })
}

/// Builds the object of a parsed text without its body.
fn without_body(envelope: Envelope<'_>, ingest: &Ingest) -> Object {
    let Envelope { api_version, kind, metadata } = envelope;
    let metadata = metadata.unwrap_or_default();
    let workload = metadata.workload();
    let name = metadata.name.unwrap_or_default();
    let namespace = metadata.namespace.unwrap_or_default();
    let last_write = match metadata.managed_fields {
        Some(raw) if ingest.record_manager => LastWrite::of(raw),
        _ => LastWrite::default(),
    };
    Object {
        key: key::join(&namespace, &name),
        namespace_len: key::length_of(&namespace),
        uid: Uid::new(&metadata.uid.unwrap_or_default()),
        version: ResourceVersion::new(&metadata.resource_version.unwrap_or_default()),
        last_write,
        workload,
        body: Body::empty(),
        type_meta: shared_type(api_version.as_deref(), kind.as_deref(), &ingest.type_meta),
        row: None,
    }
}

/// Returns the shared default type if the object's own is equal, so that a million objects share one.
fn shared_type(api_version: Option<&str>, kind: Option<&str>, default: &Arc<TypeMeta>) -> Arc<TypeMeta> {
    let api_version = api_version.unwrap_or(&default.api_version);
    let kind = kind.unwrap_or(&default.kind);
    if api_version == default.api_version && kind == default.kind {
        Arc::clone(default)
    } else {
        Arc::new(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() })
    }
}
