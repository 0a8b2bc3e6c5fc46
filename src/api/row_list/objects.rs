//! Pages of objects, joined with the rows of all pages.
//!
//! A server takes twice as long for a Table with its objects as for the Table without and the objects. The first page of a
//! list is such a Table, as it is the whole list of a small cluster. For the others, all rows are requested at once: they
//! are few bytes, and wait for their objects here. A continue token selects the same objects of one version in every
//! representation, so each object has one row. A row has no namespace: if any name occurs twice, and on any other doubt,
//! pages are Tables with objects.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::fallback::is_fallback_error;
use super::returned_objects::ReturnedObjects;
use super::state::{ROWS, State};
use crate::api::collection::Collection;
use crate::listwatch::{Error, ListMeta, ListOptions};
use crate::object::{Object, ResourceVersion, Row};
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;

/// The rows that wait for the objects of later pages. Clones share them.
///
/// An async mutex: held while the rows are requested, so that a second page waits for them, and else for a look-up.
#[derive(Clone, Default)]
pub(crate) struct WaitingRows(Arc<Mutex<Rows>>);

#[derive(Default)]
enum Rows {
    /// None have been requested.
    #[default]
    Unknown,
    /// The rows of a list at that version, by name.
    Known(ResourceVersion, HashMap<Box<str>, Row>),
    /// Rows can't be assigned to objects.
    Ambiguous,
}

impl WaitingRows {
    /// Requests the rows from a page on, unless those of this version are known. Returns whether they are.
    async fn request(
        &self,
        collection: &Collection,
        options: &ListOptions,
        version: &ResourceVersion,
    ) -> Result<bool, Error> {
        let mut rows = self.0.lock().await;
        match &*rows {
            Rows::Known(known, _) if known == version => return Ok(true),
            Rows::Ambiguous => return Ok(false),
            Rows::Unknown | Rows::Known(..) => {}
        }
        let all = rows_from(collection, options).await?;
        let all = all.filter(|(of, _)| of == version && !version.is_unset());
        *rows = all.map_or(Rows::Ambiguous, |(version, all)| Rows::Known(version, all));
        Ok(matches!(*rows, Rows::Known(..)))
    }

    async fn are_ambiguous(&self) -> bool {
        matches!(*self.0.lock().await, Rows::Ambiguous)
    }

    /// Takes the row of an object.
    pub(super) async fn take(&self, object: &Object) -> Option<Row> {
        match &mut *self.0.lock().await {
            Rows::Known(_, rows) => rows.remove(object.name()),
            Rows::Unknown | Rows::Ambiguous => None,
        }
    }
}

/// Requests a page that is not the first one.
pub(super) async fn page(collection: &Collection, options: &ListOptions) -> Result<(State, ListMeta), Error> {
    let rows = &collection.waiting_rows;
    if !rows.are_ambiguous().await {
        let mut items =
            collection.items(Representation::Objects, Naming::RequestedNamespace, options).await?;
        let first = items.next().await?;
        let meta = items.meta().clone();
        if rows.request(collection, options, &meta.resource_version).await? {
            return Ok((State::Objects(first, items, rows.clone(), ReturnedObjects::names()), meta));
        }
    }
    let whole = collection.representation.whole();
    let whole = collection.items(whole, Naming::RequestedNamespace, options).await?;
    Ok((State::Whole(VecDeque::new(), whole), ListMeta::default()))
}

/// Requests the rows from a page on. Returns their version, and `None` if they are refused, can't be decoded, are
/// incomplete or come as objects, or if a name occurs twice.
async fn rows_from(
    collection: &Collection,
    options: &ListOptions,
) -> Result<Option<(ResourceVersion, HashMap<Box<str>, Row>)>, Error> {
    let options = ListOptions { limit: 0, ..options.clone() };
    // The cell that is most likely the name: if it is another one, no object has it as its name.
    let mut items = match collection.items(ROWS, Naming::RequestedNamespace, &options).await {
        Err(error) if is_fallback_error(&error) => return Ok(None),
        items => items?,
    };
    let mut rows = HashMap::new();
    let mut arrival_time = collection.arrival_time.start();
    loop {
        arrival_time.record();
        let named = match items.next().await {
            Ok(Some(named)) => named,
            Ok(None) => break,
            Err(Error::Decode(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        // A server without Tables sends objects, which should not come twice.
        let Some(row) = named.row().filter(|_| !items.has_objects()) else { return Ok(None) };
        let Entry::Vacant(entry) = rows.entry(named.name().into()) else { return Ok(None) };
        entry.insert(row.clone());
    }
    let meta = items.meta();
    Ok(meta.continue_token.is_empty().then(|| (meta.resource_version.clone(), rows)))
}
