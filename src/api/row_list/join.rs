//! Rows joined with the names of their objects: requests the names, requests the rows at the same version, and checks that
//! they match.
//!
//! A row contains its object's name, but not its namespace. Rows are therefore matched to the list of names in order: the
//! name of each row must equal that of the next entry. No server guarantees the order, so a wrong match must be impossible:
//!
//! - If no name occurs twice, a row with the name of the next entry belongs to that object. Rows are returned as they
//!   arrive.
//! - If a name occurs in several namespaces (`default`, `kube-root-ca.crt`), rows of that name could be exchanged unnoticed:
//!   servers before Kubernetes 1.31 list from a hash table if they may return a later version. Such rows are requested at
//!   exactly the version of the names, which servers read in the order of the keys, and only if the names are in that order
//!   too. No row is returned before all of them have matched.
//!
//! Rows at the version of the names or a later one are requested first, unless the order matters: servers respond from
//! memory, and a collection without changes is returned at that version. Rows at exactly that version follow if the order
//! matters or the collection has changed. A server responds from memory only while it remembers a state of that version.
//! It forgets those of a collection that has not changed for minutes, and then reads from disk, which takes ten times as
//! long.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::arrival_time::{ArrivalTimer, within};
use super::fallback::is_fallback_error;
use super::returned_objects::ReturnedObjects;
use super::state::{ROWS, State};
use crate::api::collection::Collection;
use crate::api::list_response::ListResponse;
use crate::listwatch::{Error, ListMeta, ListOptions, ResourceVersionMatch};
use crate::object::{Object, ResourceVersion};
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;
use crate::wire::row_matcher::{Order, RowMatcher};

/// The silence after which a list of names or rows is dropped in favor of a list without it. Shorter than the silence after
/// which callers consider a list dead.
pub(super) const SILENCE_LIMIT: Duration = Duration::from_secs(45);

/// Requests the names and their rows. Returns `None` if they can't be had or matched.
pub(super) async fn names_and_rows(
    collection: &Collection,
    options: &ListOptions,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<(State, ListMeta)>, Error> {
    let Some((matcher, meta)) = names(collection, options, arrival_time).await? else { return Ok(None) };
    let rows = rows(collection, &meta, matcher, arrival_time).await?;
    Ok(rows.map(|rows| (rows, meta)))
}

/// Requests all names. Returns `None` if they arrive too slowly, or if the list is incomplete or has no version.
async fn names(
    collection: &Collection,
    options: &ListOptions,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<(RowMatcher, ListMeta)>, Error> {
    let collection = Collection { silence_limit: Some(SILENCE_LIMIT), ..collection.clone() };
    let request = collection.items(Representation::Metadata, Naming::RequestedNamespace, options);
    let Some(response) = within(SILENCE_LIMIT, request).await else { return Ok(None) };
    let mut items = response?;
    let mut matcher = RowMatcher::default();
    loop {
        arrival_time.record();
        match within(SILENCE_LIMIT, items.read_names_into(&mut matcher)).await {
            Some(Ok(true)) => {}
            Some(Ok(false)) => break,
            None | Some(Err(Error::Timeout(_))) => return Ok(None),
            Some(Err(error)) => return Err(error),
        }
    }
    let meta = items.meta().clone();
    let is_whole = meta.continue_token.is_empty() && !meta.resource_version.is_unset();
    Ok(is_whole.then_some((matcher, meta)))
}

/// Requests the rows of these names. Returns `None` if they can't be matched with certainty.
async fn rows(
    collection: &Collection,
    meta: &ListMeta,
    mut matcher: RowMatcher,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<State>, Error> {
    let order = matcher.order();
    let version_matches: &[_] = match order {
        Order::Distinct => &[ResourceVersionMatch::NotOlderThan, ResourceVersionMatch::Exact],
        Order::Sorted => &[ResourceVersionMatch::Exact],
        Order::Unsorted => &[],
    };
    for version_match in version_matches {
        arrival_time.record();
        let response =
            match collection.items(ROWS, Naming::RequestedNamespace, &options_at(meta, *version_match)).await
            {
                Err(error) if is_fallback_error(&error) => continue,
                response => response?,
            };
        matcher.rewind();
        let mut items = response.with_naming(Naming::Matcher(matcher));
        if let Some(ready) = matched_rows(&mut items, &meta.resource_version, order, arrival_time).await? {
            return Ok(Some(State::Rows(ready, items, ReturnedObjects::Rows(0))));
        }
        matcher = items.matcher_mut().map(std::mem::take).unwrap_or_default();
    }
    Ok(None)
}

/// Reads the rows that must be checked before any is returned: the first one if no name occurs twice, otherwise all.
/// Returns `None` if a row does not match.
async fn matched_rows(
    items: &mut ListResponse,
    version: &ResourceVersion,
    order: Order,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<VecDeque<Arc<Object>>>, Error> {
    let mut ready = VecDeque::new();
    while ready.is_empty() || order != Order::Distinct {
        arrival_time.record();
        match items.next().await {
            Ok(Some(row)) if items.is_at(version) => ready.push_back(row),
            Ok(None) if items.is_exhausted() => break,
            Ok(_) | Err(Error::Decode(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(ready))
}

/// Returns the options for a list at the version of another one.
pub(super) fn options_at(meta: &ListMeta, version_match: ResourceVersionMatch) -> ListOptions {
    ListOptions {
        resource_version: meta.resource_version.clone(),
        version_match: Some(version_match),
        ..ListOptions::default()
    }
}
