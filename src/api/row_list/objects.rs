//! Rows joined with their complete objects, which come in a list of their own.
//!
//! A server takes twice as long for a Table with its objects as for the Table without and the objects. The rows are
//! requested first: they are few bytes, and each waits here for its object, so that no object is kept. Rows and objects
//! are of the same version and therefore belong to the same objects, in whatever order they arrive. A row has no
//! namespace: if any name occurs twice, a Table with objects is requested instead, as on any other doubt.

use super::arrival_time::{ArrivalTimer, within};
use super::fallback::is_fallback_error;
use super::join::{SILENCE_LIMIT, options_at};
use super::returned_objects::ReturnedObjects;
use super::state::{ROWS, State};
use super::waiting_rows::WaitingRows;
use crate::api::collection::Collection;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;

/// Requests the rows and their objects. Returns `None` if they can't be had or matched.
pub(super) async fn rows_and_objects(
    collection: &Collection,
    options: &ListOptions,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<(State, ListMeta)>, Error> {
    let Some((rows, meta)) = rows(collection, options, arrival_time).await? else { return Ok(None) };
    let objects = objects(collection, &meta, rows, arrival_time).await?;
    Ok(objects.map(|objects| (objects, meta)))
}

/// Requests all rows. Returns `None` if they are refused, arrive too slowly, are incomplete or come as
/// objects, or if a name occurs twice.
async fn rows(
    collection: &Collection,
    options: &ListOptions,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<(WaitingRows, ListMeta)>, Error> {
    let collection = Collection { silence_limit: Some(SILENCE_LIMIT), ..collection.clone() };
    // The cell that is most likely the name: if it is another one, no object has it as its name.
    let request = collection.items(ROWS, Naming::RequestedNamespace, options);
    let mut items = match within(SILENCE_LIMIT, request).await {
        Some(Err(error)) if is_fallback_error(&error) => return Ok(None),
        Some(items) => items?,
        None => return Ok(None),
    };
    let mut rows = WaitingRows::default();
    loop {
        arrival_time.record();
        let named = match within(SILENCE_LIMIT, items.next()).await {
            None | Some(Err(Error::Timeout(_) | Error::Decode(_))) => return Ok(None),
            Some(named) => named?,
        };
        let Some(named) = named else { break };
        // A server without Tables sends objects, which should not come twice.
        let Some(row) = named.row().filter(|_| !items.has_objects()) else { return Ok(None) };
        if !rows.insert(named.name(), row.clone()) {
            return Ok(None);
        }
    }
    let meta = items.meta().clone();
    let is_whole = meta.continue_token.is_empty() && !meta.resource_version.is_unset() && !rows.is_empty();
    Ok(is_whole.then_some((rows, meta)))
}

/// Requests the objects of these rows. Returns `None` if the server sends none of the rows' version, or the first object
/// has no row.
async fn objects(
    collection: &Collection,
    meta: &ListMeta,
    mut rows: WaitingRows,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<State>, Error> {
    // Servers respond from memory, and a collection without changes is returned at the same version.
    for version_match in [ResourceVersionMatch::NotOlderThan, ResourceVersionMatch::Exact] {
        arrival_time.record();
        let options = options_at(meta, version_match);
        let request = collection.items(Representation::Objects, Naming::RequestedNamespace, &options);
        let mut items = match request.await {
            Err(error) if is_fallback_error(&error) => continue,
            items => items?,
        };
        let first = items.next().await?;
        if items.meta().resource_version != meta.resource_version {
            continue;
        }
        let Some(first) = first.and_then(|object| rows.join(object)) else { return Ok(None) };
        return Ok(Some(State::Objects(Some(first), items, rows, ReturnedObjects::names())));
    }
    Ok(None)
}
