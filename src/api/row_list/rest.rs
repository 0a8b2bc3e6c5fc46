//! The list that replaces rows which failed to match after some were returned.

use super::arrival_time::wait;
use super::fallback::is_fallback_error;
use super::returned_objects::moved_on;
use crate::api::collection::Collection;
use crate::api::list_response::ListResponse;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::wire::decode::Naming;

/// The number of tries while the server sends a time to wait.
const TRIES: u32 = 10;

/// Returns the options for a list that contains all returned objects: in the state of the rows. A continue token
/// implies that state.
pub(super) fn options(first: &ListOptions, meta: &ListMeta) -> ListOptions {
    if !first.continue_token.is_empty() || meta.resource_version.is_unset() {
        return first.clone();
    }
    ListOptions {
        resource_version: meta.resource_version.clone(),
        version_match: Some(ResourceVersionMatch::Exact),
        ..first.clone()
    }
}

/// Requests the rest. Since objects have been returned, the caller can't start again: after a refusal with a time to
/// wait, the request is repeated here.
pub(super) async fn request(collection: &Collection, options: &ListOptions) -> Result<ListResponse, Error> {
    let whole = collection.representation.whole();
    for _ in 1..TRIES {
        match collection.items(whole, Naming::RequestedNamespace, options).await {
            Err(error) => match error.retry_after() {
                Some(pause) => wait(pause).await,
                None if is_fallback_error(&error) => return Err(moved_on()),
                None => return Err(error),
            },
            items => return items,
        }
    }
    collection.items(whole, Naming::RequestedNamespace, options).await
}
