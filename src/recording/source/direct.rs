//! Lists of a recording inside this process, without requests.

use std::sync::Arc;

use super::movable::MovableState;
use crate::listwatch::{DirectContents, DirectList, DirectLists, Error};
use crate::object::{ApiResource, Ingest, ResourceVersion};
use crate::server::api_error::ApiError;
use crate::server::source::Unreadable;
use crate::wire::status;

/// The lists of a recording at its current moment.
pub(super) struct RecordedLists(pub(super) Arc<MovableState>);

impl DirectLists for RecordedLists {
    fn list(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        contents: DirectContents,
        ingest: &Ingest,
    ) -> Result<Option<DirectList>, Error> {
        let state = self.0.current();
        let objects = state.objects(resource, namespace, contents, ingest).map_err(failed)?;
        let version = ResourceVersion::from(state.version_at_moment());
        Ok(objects.map(|objects| DirectList { objects, version }))
    }
}

/// Returns the error that a client gets from the server.
fn failed(reason: Unreadable) -> Error {
    let message = reason.0.clone();
    let error = ApiError::unreadable(reason);
    status::from_body(error.code, None, &error.json())
        .unwrap_or_else(|| status::from_text(error.code, None, &message))
}
