//! The nouns every other room speaks of: an object as bytes, its key, kind and version, the paths and selectors that
//! ask something of it. No I/O, no async, no import from any other room.

mod age;
mod body;
mod compression;
mod json;
mod key;
mod kind;
mod names;
mod origin;
mod path;
mod row;
mod selector;
mod tombstone;
mod uid;
mod version;

pub use age::human_duration;
pub use body::{Ingest, ObjectError};
pub use compression::{Compressor, Footprint};
#[cfg(feature = "api")]
pub(crate) use json::blocks;
pub use key::{
    Key, KeyError, KeyFunc, KeyGetter, KeyLister, KeyListerGetter, ObjectName,
    deletion_handling_meta_namespace_key, meta_namespace_key, split_meta_namespace_key,
};
pub use kind::{ApiResource, TypeMeta};
pub use names::{is_dns_label, is_dns_subdomain, path_segment_problems};
pub use origin::Origin;
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

/// One Kubernetes object of a kind chosen at run time.
///
/// An object is bytes, not a tree: what the machine needs (key, uid, resourceVersion) is held apart, the body stays
/// compact JSON and is parsed only when something asks for a path. It may carry a row of Table cells beside its body,
/// or instead of it. An object is never changed once it is made; it is shared as `Arc<Object>`, which has no `&mut`:
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
    /// Length of the namespace part of `key`; 0 for a cluster-scoped object. Kept so that no name can be misread.
    namespace_len: u32,
    /// A number that objects which are much alike share; 0 where none is known to be. Known when the object is read,
    /// it need not be read again to be compressed.
    workload: u32,
    uid: Uid,
    version: ResourceVersion,
    body: Body,
    /// Boxed: few objects have one, and many are held.
    row: Option<Box<Row>>,
}

impl Object {
    /// Reads one object from its JSON.
    ///
    /// The result's body is compact, carries `apiVersion` and `kind` (those of `ingest` where the server left them
    /// out, as it does inside typed lists) and has no `metadata.managedFields` unless `ingest` keeps them. The order
    /// of keys stays the server's.
    ///
    /// # Errors
    /// [`ObjectError`] when the text is not one JSON object, or its metadata has no name or is not of the types that
    /// the Kubernetes API conventions give it. Inside managedFields that do not stay, brackets and strings need only
    /// end.
    pub fn from_json(json: &[u8], ingest: &Ingest) -> Result<Self, ObjectError> {
        body::read(json, ingest)
    }

    /// The same for a text that is plainly so, as servers write them, and nested 66 deep at most: whether one that is not
    /// is an object all the same, [`Object::from_json`] tells.
    #[cfg(feature = "api")]
    pub(crate) fn from_plain_json(json: &[u8], ingest: &Ingest) -> Option<Self> {
        body::read_plain(json, ingest)
    }

    /// The same of the front of a text, and where the object ends. What stands behind it is not looked at.
    #[cfg(feature = "api")]
    pub(crate) fn from_plain_front(text: &[u8], ingest: &Ingest) -> Option<(Self, usize)> {
        body::read_front(text, ingest)
    }

    /// An object known by its names only, as a Table row without an object is. It has no body, uid or version.
    #[must_use]
    pub fn named(type_meta: Arc<TypeMeta>, namespace: &str, name: &str) -> Self {
        Self {
            type_meta,
            key: key::join(namespace, name),
            namespace_len: key::length_of(namespace),
            workload: 0,
            uid: Uid::default(),
            version: ResourceVersion::UNSET,
            body: Body::none(),
            row: None,
        }
    }

    /// The same object with a row of Table cells.
    #[must_use]
    pub fn with_row(mut self, row: Row) -> Self {
        self.row = Some(Box::new(row));
        self
    }

    /// The same object with the version of its state, for one whose text carries none.
    #[must_use]
    pub fn with_resource_version(mut self, version: ResourceVersion) -> Self {
        self.version = version;
        self
    }

    /// `apiVersion` and `kind`.
    #[must_use]
    pub fn type_meta(&self) -> &Arc<TypeMeta> {
        &self.type_meta
    }

    /// The store key: `namespace/name`, or `name` alone for a cluster-scoped object. Cloning it copies no text.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The namespace; empty for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.key[..self.namespace_len as usize]
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.namespace_len as usize {
            0 => &self.key,
            n => &self.key[n + 1..],
        }
    }

    /// The uid: who this object is, beyond its name.
    #[must_use]
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// The version the server gave this state; unset where the representation carries none.
    #[must_use]
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.version
    }

    /// Whether both are the same state of the same object: equal uid and equal, set resourceVersion.
    #[must_use]
    pub fn same_state(&self, other: &Self) -> bool {
        !self.version.is_unset() && self.uid == other.uid && self.version == other.version
    }

    /// Whether both are the same state, and say the same. A server that was restored from a backup gives its versions a
    /// second time, so that two states may have one version; of a list that may come from such a server this is asked.
    /// The order of keys and the spelling of texts play no part: another server may write them otherwise. A row of cells
    /// is not looked at: it says how old things are, which changes by itself.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        self.same_state(other) && (std::ptr::eq(self, other) || self.body.says_the_same(&other.body))
    }

    /// The compact JSON text; empty when the object is known by its row or its name only.
    ///
    /// It is borrowed, unless the body is compressed (see [`Compressor`]): then it is decompressed by each call, in some
    /// microseconds.
    #[must_use]
    pub fn json(&self) -> Cow<'_, [u8]> {
        self.body.json()
    }

    /// The length of [`Object::json`], without unpacking it.
    #[must_use]
    pub fn json_len(&self) -> usize {
        self.body.len()
    }

    /// The bytes that the body takes: those of the text, or of its compressed form without what others share.
    #[must_use]
    pub fn stored_len(&self) -> usize {
        self.body.stored_len()
    }

    /// About how many bytes it takes while it waits somewhere: names, body and row, without what others share.
    #[must_use]
    pub fn weight(&self) -> usize {
        let row = self.row.as_ref().map_or(0, |row| row.stored_len());
        size_of::<Self>() + self.key.len() + self.body.stored_len() + row
    }

    /// Whether the body is compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.body.plain().is_none()
    }

    /// The same object with its text at hand, for who reads it more than once; nothing where it is so already.
    #[must_use]
    pub fn decompressed(&self) -> Option<Self> {
        self.is_compressed().then(|| self.with_body(Body::text(self.json().into_owned().into())))
    }

    /// The same object with another form of its body.
    fn with_body(&self, body: Body) -> Self {
        Self {
            type_meta: Arc::clone(&self.type_meta),
            key: Arc::clone(&self.key),
            namespace_len: self.namespace_len,
            workload: self.workload,
            uid: self.uid.clone(),
            version: self.version.clone(),
            body,
            row: self.row.clone(),
        }
    }

    /// The row of Table cells that came with this object.
    #[must_use]
    pub fn row(&self) -> Option<&Row> {
        self.row.as_deref()
    }

    /// A typed view, for library users.
    ///
    /// # Errors
    /// [`ObjectError`] when the body does not fit `T`.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, ObjectError> {
        serde_json::from_slice(&self.json()).map_err(ObjectError::from)
    }
}

/// Shows names and version, never the body: it may be a Secret.
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
