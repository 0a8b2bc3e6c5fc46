//! Lists of a server inside this process, which are read without requests.

use std::sync::Arc;

use super::Error;
use crate::object::{ApiResource, Ingest, Object, ResourceVersion};

/// The contents of listed objects, in addition to names and versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectContents {
    /// Nothing.
    Names,
    /// The server's own columns and cells.
    Rows,
    /// Their bodies.
    Objects,
    /// Both.
    RowsAndObjects,
}

/// The objects of a list.
#[derive(Debug)]
pub struct DirectList {
    /// Sorted by namespace and name.
    pub objects: Vec<Arc<Object>>,
    /// The version of the collection.
    pub version: ResourceVersion,
}

/// The lists of a server inside this process, which has the objects in the form of this library already: they need not be
/// written and parsed.
pub trait DirectLists: Send + Sync + 'static {
    /// Returns all objects of a resource in one namespace, or in all, as a request without a version would. `None` means
    /// only that the list must be requested, as for a resource that does not exist. Blocks while the objects are read.
    ///
    /// # Errors
    /// The error of the request.
    fn list(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        contents: DirectContents,
        ingest: &Ingest,
    ) -> Result<Option<DirectList>, Error>;
}
