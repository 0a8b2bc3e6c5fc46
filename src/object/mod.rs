//! The data model: objects as bytes, with their keys, kinds, versions, paths and selectors. No I/O, no async, no import
//! from any other room.

mod age;
mod body;
mod compression;
mod error;
mod ingest;
mod json;
mod json_node;
mod json_value;
mod jsonpath;
mod key;
mod key_func;
mod kind;
mod last_write;
mod names;
mod origin;
mod path;
#[cfg(feature = "recording")]
mod raw_members;
mod row;
mod selector;
mod tombstone;
mod uid;
mod version;

pub use age::human_duration;
pub use compression::{Compressor, Footprint};
pub use error::ObjectError;
pub use ingest::Ingest;
#[cfg(feature = "recording")]
pub(crate) use ingest::KnownValues;
pub use json::JsonText;
#[cfg(any(feature = "api", feature = "demo"))]
pub(crate) use json::blocks;
pub use json_node::{InvalidJson, JsonElements, JsonKind, JsonMembers, JsonNode};
pub use json_value::{
    JsonValue, format_go_float, format_json_float, format_yaml_float, go_quote, is_go_printable,
};
pub use jsonpath::{ItemStream, JsonPath, JsonPathError, relaxed_jsonpath};
pub use key::{Key, KeyError, ObjectName, split_meta_namespace_key};
pub use key_func::{
    KeyFunc, KeyGetter, KeyLister, KeyListerGetter, deletion_handling_meta_namespace_key, meta_namespace_key,
};
#[cfg(any(feature = "cel", feature = "serve"))]
pub(crate) use kind::is_built_in_group;
pub use kind::{ApiResource, TypeMeta};
pub use names::{is_dns_label, is_dns_subdomain, path_segment_problems};
pub use origin::Origin;
#[cfg(feature = "recording")]
pub(crate) use path::replaced_leaves;
pub use path::{FieldPath, PathCursor, PathError};
pub use row::{Column, Row};
pub use selector::{FieldSelector, LabelSelector, SelectorError};
pub use tombstone::{DeletedFinalStateUnknown, DeletedObject};
pub use uid::Uid;
pub use version::{ResourceVersion, VersionError};

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use body::Body;
use last_write::LastWrite;

/// A Kubernetes object of a kind chosen at run time.
///
/// An object is bytes, not a tree: the metadata that informers need (key, UID, resourceVersion) is stored separately,
/// and the body stays compact JSON, parsed only when a path is evaluated. It may carry a row of Table cells in addition
/// to its body or instead of it. An object is immutable; it is shared as `Arc<Object>`, which has no `&mut`:
///
/// ```compile_fail,E0596
/// # use std::sync::Arc;
/// # use kdelta::object::Object;
/// fn rename(mut object: Arc<Object>) -> Arc<Object> {
///     let within: &mut Object = &mut object;
///     object
/// }
/// ```
pub struct Object {
    type_meta: Arc<TypeMeta>,
    key: Key,
    /// The stored length of the namespace part of `key`; 0 for a cluster-scoped object. Stored, so that a name with a
    /// slash can't be misread.
    namespace_len: u16,
    /// The last write, if it was recorded at ingest.
    last_write: LastWrite,
    /// A hash that similar objects share; 0 for an object without any. Computed at ingest, so that compression need not
    /// parse the body again.
    workload: u32,
    uid: Uid,
    version: ResourceVersion,
    body: Body,
    /// Boxed: few objects have a row, and there are many objects.
    row: Option<Box<Row>>,
}

impl Object {
    /// Creates an object known only by its names, such as a Table row without an object. It has no body, UID or
    /// version.
    #[must_use]
    pub fn named(type_meta: Arc<TypeMeta>, namespace: &str, name: &str) -> Self {
        Self::with_key(type_meta, key::join(namespace, name), key::length_of(namespace))
    }

    /// As [`Object::named`], with a key and the length of its namespace.
    pub(crate) fn with_key(type_meta: Arc<TypeMeta>, key: Key, namespace_len: u16) -> Self {
        Self {
            type_meta,
            key,
            namespace_len,
            last_write: LastWrite::default(),
            workload: 0,
            uid: Uid::default(),
            version: ResourceVersion::UNSET,
            body: Body::empty(),
            row: None,
        }
    }

    /// Adds a row of Table cells.
    #[must_use]
    pub fn with_row(mut self, row: Row) -> Self {
        self.row = Some(Box::new(row));
        self
    }

    /// Sets the version of an object whose text carries none.
    #[must_use]
    pub fn with_resource_version(mut self, version: ResourceVersion) -> Self {
        self.version = version;
        self
    }

    /// Returns `apiVersion` and `kind`.
    #[must_use]
    pub fn type_meta(&self) -> &Arc<TypeMeta> {
        &self.type_meta
    }

    /// Returns the store key: `namespace/name`, or `name` for a cluster-scoped object. Cloning it copies no text.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the namespace; empty for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.key[..key::namespace_len(&self.key, self.namespace_len)]
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        match key::namespace_len(&self.key, self.namespace_len) {
            0 => &self.key,
            n => &self.key[n + 1..],
        }
    }

    /// Returns the UID, which distinguishes this object from earlier and later ones of the same name.
    #[must_use]
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// Returns the version of this state; unset where the representation carries none.
    #[must_use]
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.version
    }

    /// Returns the field manager that made the last change to this state, if it was made after `before`, an earlier state
    /// of the object. Both must have been [ingested](Ingest) with `record_manager`.
    ///
    /// The manager is that of the newest entry of `metadata.managedFields`. `None` if that entry is not newer than
    /// before: some changes leave managedFields as they are, such as the start of a deletion or the binding of a pod to a
    /// node, and a manager's second change in the same second can't be distinguished from those.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use kdelta::object::{Ingest, Object, TypeMeta};
    /// let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
    /// let ingest = Ingest { record_manager: true, ..Ingest::of(type_meta) };
    /// let state = |manager: &str, time: &str| {
    ///     let fields = format!(r#"[{{"manager":"{manager}","time":"{time}"}}]"#);
    ///     Object::from_json(format!(r#"{{"metadata":{{"name":"x","managedFields":{fields}}}}}"#).as_bytes(), &ingest)
    /// };
    /// let (old, new) = (state("helm", "2026-11-21T09:00:00Z")?, state("kubelet", "2026-11-21T09:00:01Z")?);
    /// assert_eq!(new.manager_since(&old).as_deref(), Some("kubelet"));
    /// assert_eq!(new.manager_since(&new), None);
    /// # Ok::<(), kdelta::object::ObjectError>(())
    /// ```
    #[must_use]
    pub fn manager_since(&self, before: &Self) -> Option<Arc<str>> {
        self.last_write.manager_since(before.last_write)
    }

    /// Returns the field manager that made the last change to this state, and the subresource through which it
    /// wrote (empty for the object itself), as [`Object::manager_since`] does. Without an earlier state, returns
    /// the author of the newest entry. Also returns `None` if the last write of the earlier state was not recorded.
    #[must_use]
    pub fn author_since(&self, before: Option<&Self>) -> Option<(Arc<str>, Arc<str>)> {
        let is_known = before.is_none_or(|before| before.last_write != LastWrite::default());
        let before = before.map(|before| before.last_write).unwrap_or_default();
        self.last_write.author_since(before).filter(|_| is_known)
    }

    /// Returns the manager of [`Object::manager_since`] with the subresource through which it wrote.
    #[cfg(feature = "lines")]
    pub(crate) fn manager_and_subresource_since(&self, before: &Self) -> Option<(Arc<str>, Arc<str>)> {
        self.last_write.author_since(before.last_write)
    }

    /// Returns a copy of a state that was stored without `metadata.managedFields`, with the author of its last write.
    #[must_use]
    pub fn with_author(&self, manager: &str, subresource: &str) -> Self {
        let mut object = self.with_body(Body::text(self.json().into_owned().into()));
        object.last_write = LastWrite::by(manager, subresource);
        object
    }

    /// Returns whether both are the same state of the same object: equal UID and equal, set resourceVersion.
    #[must_use]
    pub fn same_state(&self, other: &Self) -> bool {
        !self.version.is_unset() && self.uid == other.uid && self.version == other.version
    }

    /// Returns whether both are the same state with the same content. A server restored from a backup assigns versions
    /// a second time, so two states may share one; lists that may come from such a server are compared this way. Key
    /// order and string escapes are ignored: another server may write them differently. Rows are ignored too: their
    /// ages change continuously.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.same_state(other) && (std::ptr::eq(self, other) || self.body.same_value(&other.body))
    }

    /// Returns the compact JSON text; empty for an object that is known only by its row or name.
    ///
    /// The text is borrowed unless the body is compressed (see [`Compressor`]); each call then decompresses it, which
    /// takes a few microseconds.
    #[must_use]
    pub fn json(&self) -> Cow<'_, [u8]> {
        self.body.json()
    }

    /// Returns [`Object::json`], or JSON with the type and the names only if the object has no body.
    #[must_use]
    pub fn json_or_names(&self) -> Cow<'_, [u8]> {
        let json = self.json();
        if !json.is_empty() {
            return json;
        }
        let TypeMeta { api_version, kind } = &**self.type_meta();
        let mut metadata = serde_json::json!({"name": self.name()});
        if !self.namespace().is_empty() {
            metadata["namespace"] = self.namespace().into();
        }
        let names = serde_json::json!({"apiVersion": **api_version, "kind": **kind, "metadata": metadata});
        Cow::Owned(names.to_string().into_bytes())
    }

    /// Returns the length of [`Object::json`] without decompressing it.
    #[must_use]
    pub fn json_len(&self) -> usize {
        self.body.len()
    }

    /// Returns the bytes that the body occupies as stored, without data shared with other bodies.
    #[must_use]
    pub fn stored_len(&self) -> usize {
        self.body.stored_len()
    }

    /// Returns the approximate memory of the object in a queue: names, body and row, without shared data.
    #[must_use]
    pub fn weight(&self) -> usize {
        let row = self.row.as_ref().map_or(0, |row| row.stored_len());
        size_of::<Self>() + self.key.len() + self.body.stored_len() + row
    }

    /// Returns whether the body is compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.body.plain().is_none()
    }

    /// Returns a copy with an uncompressed body, for callers that read it several times, or `None` if it is
    /// uncompressed already.
    #[must_use]
    pub fn decompressed(&self) -> Option<Self> {
        self.is_compressed().then(|| self.with_body(Body::text(self.json().into_owned().into())))
    }

    /// Returns a copy without the body: with the type, the names, the UID, the version and the row.
    #[must_use]
    pub fn without_body(&self) -> Self {
        self.with_body(Body::empty())
    }

    /// Returns a copy with another form of the body.
    fn with_body(&self, body: Body) -> Self {
        Self {
            type_meta: Arc::clone(&self.type_meta),
            key: Arc::clone(&self.key),
            namespace_len: self.namespace_len,
            last_write: self.last_write,
            workload: self.workload,
            uid: self.uid.clone(),
            version: self.version.clone(),
            body,
            row: self.row.clone(),
        }
    }

    /// Returns a copy with another JSON text and the same names, UID and version.
    #[cfg(feature = "recording")]
    pub(crate) fn with_json(&self, json: String) -> Self {
        self.with_body(Body::text(json.into_bytes().into()))
    }

    /// Returns a copy with another row, or without one.
    #[cfg(feature = "recording")]
    pub(crate) fn copy_with_row(&self, row: Option<Row>) -> Self {
        let row = row.map(Box::new);
        Self { row, ..self.with_body(self.body.clone()) }
    }

    /// Returns the hash of the object's workload, which similar objects share; 0 for an object without one.
    #[cfg(feature = "recording")]
    pub(crate) fn workload(&self) -> u32 {
        self.workload
    }

    /// Returns the row of Table cells that came with this object.
    #[must_use]
    pub fn row(&self) -> Option<&Row> {
        self.row.as_deref()
    }

    /// Returns [`Object::json`] and the row, without copying a body that is not compressed.
    #[cfg(feature = "serve")]
    pub(crate) fn into_json_and_row(self) -> (Vec<u8>, Option<Row>) {
        (self.body.into_json(), self.row.map(|row| *row))
    }

    /// Deserializes the body into a type of the caller.
    ///
    /// # Errors
    /// [`ObjectError`] when the body does not fit `T`.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, ObjectError> {
        serde_json::from_slice(&self.json()).map_err(ObjectError::from)
    }
}

/// Prints names and version, never the body: it may be a Secret.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("kind", &self.type_meta.kind)
            .field("key", &self.key)
            .field("uid", &self.uid)
            .field("resource_version", &self.version)
            .finish_non_exhaustive()
    }
}
