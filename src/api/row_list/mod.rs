//! Lists of rows without objects: the fastest representation, matched to their objects afterwards.
//!
//! A Table without objects costs a server a twentieth of one with metadata, but its rows contain at most a name.
//! That is enough if the namespace is known or only names are needed. Rows of all namespaces are joined with the
//! metadata of the same objects at the same version; on any doubt a Table with metadata is requested for the objects
//! that have not been returned yet.

mod arrival_time;
mod fallback;
mod join;
mod list_pair;
mod objects;
mod remainder;
mod returned_objects;
mod state;
#[cfg(test)]
mod tests;
mod waiting_rows;

pub(super) use arrival_time::ArrivalTime;
pub(super) use list_pair::ListPair;

use std::collections::VecDeque;
use std::sync::Arc;

use super::collection::Collection;
use crate::listwatch::{Error, ListMeta, ListOptions};
use crate::object::Object;
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;
use fallback::is_fallback_error;
use returned_objects::{ReturnedObjects, moved_on};
use state::{ROWS, State};

/// A list whose rows come without objects.
pub(super) struct RowList {
    collection: Collection,
    options: ListOptions,
    state: State,
    /// The metadata of the list of names, or of the rows once the names have been dropped.
    meta: ListMeta,
}

/// Returns the lists that [`RowList::names`] requests first.
pub(super) fn requests_of_names(options: &ListOptions) -> Vec<(Representation, ListOptions)> {
    vec![(ROWS, options.clone())]
}

impl RowList {
    /// Lists rows and joins them with the metadata or the objects of the second list. The options must have no limit. Returns
    /// after up to four requests and before the first object, so that a refused list can be retried like any other.
    ///
    /// # Errors
    /// The server refused one of the requests.
    pub(super) async fn of_pair(
        pair: ListPair,
        collection: &Collection,
        options: &ListOptions,
    ) -> Result<Self, Error> {
        // Boxed: it holds several responses, and the future of a list with one request stays small.
        let (state, meta) = Box::pin(pair.start(collection, options)).await?;
        Ok(Self { collection: collection.clone(), options: options.clone(), state, meta })
    }

    /// Lists rows for their names.
    ///
    /// # Errors
    /// The server refused the rows, and then the metadata in their place.
    pub(super) async fn names(collection: &Collection, options: &ListOptions) -> Result<Self, Error> {
        let rows = async {
            let mut rows = collection.items(ROWS, Naming::Cell, options).await?;
            let first = rows.next().await?;
            Ok((first, rows))
        };
        let state = match Box::pin(rows).await {
            Ok((first, rows)) => State::Rows(first.into_iter().collect(), rows, ReturnedObjects::names()),
            Err(error) if is_fallback_error(&error) => {
                let items = collection
                    .items(Representation::Names.for_single_request(), Naming::RequestedNamespace, options)
                    .await?;
                State::Complete(VecDeque::new(), items)
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            collection: collection.clone(),
            options: options.clone(),
            state,
            meta: ListMeta::default(),
        })
    }

    /// Returns the list's metadata.
    pub(super) fn meta(&self) -> &ListMeta {
        match &self.state {
            State::Rows(_, _, ReturnedObjects::Rows(_)) | State::Objects(..) | State::Mismatched(_) => {
                &self.meta
            }
            State::Complete(_, items) | State::Rows(_, items, _) | State::Remainder(items, _) => items.meta(),
        }
    }

    /// Returns the next object. Dropping the future loses nothing: each step is in the state before it is awaited.
    pub(super) async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            match &mut self.state {
                State::Complete(ready, items) => {
                    let Some(object) = ready.pop_front() else { return items.next().await };
                    return Ok(Some(object));
                }
                State::Rows(ready, items, returned) => {
                    let row = match ready.pop_front() {
                        Some(row) => Ok(Some(row)),
                        None => items.next().await,
                    };
                    match row {
                        Ok(Some(row)) => {
                            returned.add(&row);
                            return Ok(Some(row));
                        }
                        Ok(None) if items.is_exhausted() => return Ok(None),
                        Ok(None) | Err(Error::Decode(_)) => self.drop_rows(),
                        Err(error) => return Err(error),
                    }
                }
                State::Objects(ready, items, rows, returned) => {
                    let object = match ready.take() {
                        Some(object) => Some(object),
                        None => match items.next().await? {
                            None if rows.is_empty() => return Ok(None),
                            None => None,
                            Some(object) => rows.join(object),
                        },
                    };
                    match object {
                        Some(object) => {
                            returned.add(&object);
                            return Ok(Some(object));
                        }
                        None => self.state = State::Mismatched(std::mem::take(returned)),
                    }
                }
                State::Mismatched(returned) => {
                    let options = remainder::options(&self.options, &self.meta);
                    let items = Box::pin(remainder::request(&self.collection, &options)).await?;
                    let returned = std::mem::take(returned);
                    self.state = State::Remainder(items, returned);
                }
                State::Remainder(items, returned) => {
                    let object = items.next().await?;
                    if items.meta().resource_version != self.meta.resource_version {
                        return Err(moved_on());
                    }
                    match object {
                        Some(object) if returned.has(&object)? => {}
                        Some(object) => return Ok(Some(object)),
                        None => return returned.end().map(|()| None),
                    }
                }
            }
        }
    }

    /// Drops the rows from here on.
    fn drop_rows(&mut self) {
        let State::Rows(_, items, returned) = &mut self.state else { return };
        let mut returned = std::mem::take(returned);
        if let ReturnedObjects::Rows(count) = returned {
            returned = ReturnedObjects::Keys(
                items.matcher_mut().map(|matcher| matcher.first_keys(count)).unwrap_or_default(),
            );
        } else {
            self.meta = items.meta().clone();
        }
        self.state = State::Mismatched(returned);
    }
}
