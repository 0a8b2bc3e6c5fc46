//! The remainder of a list whose rows failed to match after some objects were returned: another list replaces the rows.

use super::arrival_time::wait;
use super::fallback::is_fallback_error;
use super::returned_objects::moved_on;
use crate::api::collection::Collection;
use crate::api::list_response::ListResponse;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::wire::decode::Naming;

/// The number of attempts while the server responds with `Retry-After`.
const MAX_ATTEMPTS: u32 = 10;

/// Returns the options for a list that contains all returned objects: a list at the version of the rows. A continue token
/// implies that version.
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

/// Requests the remainder. The caller can't start again, because objects have been returned: after a refusal with
/// `Retry-After`, the request is repeated here.
pub(super) async fn request(collection: &Collection, options: &ListOptions) -> Result<ListResponse, Error> {
    let representation = collection.representation.for_single_request();
    for _ in 1..MAX_ATTEMPTS {
        match collection.items(representation, Naming::RequestedNamespace, options).await {
            Err(error) => match error.retry_after() {
                Some(pause) => wait(pause).await,
                None if is_fallback_error(&error) => return Err(moved_on()),
                None => return Err(error),
            },
            items => return items,
        }
    }
    collection.items(representation, Naming::RequestedNamespace, options).await
}
