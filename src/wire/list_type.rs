//! The type of a list, and the type that it implies for items without one.

use std::sync::Arc;

use crate::listwatch::Error;
use crate::object::{Object, TypeMeta};

/// The type of one list, as it becomes known, compared with that of its collection.
///
/// Servers omit the type of the items of a typed list: a pod in a `PodList` is a pod because of the list. An item
/// that names its own type has that type, because a custom resource may have a list kind of any name. A kind that
/// comes after the items can't be used: servers write typed lists with the kind first.
#[derive(Debug)]
pub(crate) struct ListType {
    expected: Arc<TypeMeta>,
    kind: Option<String>,
    api_version: Option<String>,
    /// The type of items without one, if it is not that of the collection.
    other: Option<Arc<TypeMeta>>,
}

impl ListType {
    pub(crate) fn new(expected: Arc<TypeMeta>) -> Self {
        Self { expected, kind: None, api_version: None, other: None }
    }

    /// Sets the list's `kind`, and returns the type of items without one.
    pub(crate) fn set_kind(&mut self, kind: Option<String>) -> Arc<TypeMeta> {
        self.kind = kind;
        self.update()
    }

    /// Sets the list's `apiVersion`, and returns the type of items without one.
    pub(crate) fn set_api_version(&mut self, api_version: Option<String>) -> Arc<TypeMeta> {
        self.api_version = api_version;
        self.update()
    }

    fn update(&mut self) -> Arc<TypeMeta> {
        self.other = self.items().filter(|items| !is_same_type(items, &self.expected)).map(Arc::new);
        Arc::clone(self.other.as_ref().unwrap_or(&self.expected))
    }

    /// Returns the type of the items by the convention for lists; `None` for a list that may have items of any type.
    fn items(&self) -> Option<TypeMeta> {
        let kind = self.kind.as_deref()?.strip_suffix("List")?;
        if matches!(kind, "" | "PartialObjectMetadata") {
            return None;
        }
        let api_version = self.api_version.as_deref().filter(|text| !text.is_empty());
        let api_version = api_version.unwrap_or(&self.expected.api_version);
        Some(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() })
    }

    /// Checks an object that was decoded with the type that [`ListType::set_kind`] returned.
    ///
    /// # Errors
    /// [`Error::Decode`] for an item without a type in a list of another kind. The whole list is refused: without its
    /// items it would be an empty list, and every known object would count as deleted.
    pub(crate) fn check(&self, object: &Object) -> Result<(), Error> {
        match &self.other {
            Some(other) if Arc::ptr_eq(other, object.type_meta()) => self.refuse_untyped(),
            _ => Ok(()),
        }
    }

    /// Checks that items without a type may be read.
    ///
    /// # Errors
    /// As [`ListType::check`].
    pub(crate) fn refuse_untyped(&self) -> Result<(), Error> {
        let Some(other) = &self.other else { return Ok(()) };
        let (found, expected) = (&other.kind, &self.expected.kind);
        Err(Error::Decode(format!("the server returned a list of {found} instead of {expected}")))
    }
}

/// Returns true if two types have the same group and kind.
fn is_same_type(one: &TypeMeta, other: &TypeMeta) -> bool {
    one.kind == other.kind && group(one) == group(other)
}

/// Returns the group of an API version; empty for the core group.
fn group(type_meta: &TypeMeta) -> &str {
    type_meta.api_version.split_once('/').map_or("", |(group, _)| group)
}
