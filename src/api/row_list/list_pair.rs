//! The first requests for a list of joined rows. The first is a page with everything, which is the whole list of a small
//! cluster in one round trip. A larger list is requested as a pair of lists, and as one list if the two don't match.

use std::collections::VecDeque;

use super::arrival_time::ArrivalTimer;
use super::join::names_and_rows;
use super::objects::rows_and_objects;
use super::state::{ROWS, State};
use crate::api::collection::Collection;
use crate::listwatch::{Error, ListMeta, ListOptions};
use crate::wire::decode::Naming;
use crate::wire::representation::Representation;

/// The pair of lists that are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum ListPair {
    /// The metadata of the objects, then their rows.
    NamesAndRows,
    /// The rows, then their complete objects.
    RowsAndObjects,
}

impl ListPair {
    /// Returns the lists that are requested.
    pub(in crate::api) fn requests(
        self,
        options: &ListOptions,
        complete: Representation,
    ) -> Vec<(Representation, ListOptions)> {
        let page = options.resource_version.is_unset().then(|| (complete, self.page_options(options)));
        let pair = match self {
            Self::NamesAndRows => [Representation::Metadata, ROWS],
            Self::RowsAndObjects => [ROWS, Representation::Objects],
        };
        page.into_iter().chain(pair.map(|representation| (representation, options.clone()))).collect()
    }

    /// Sends the first requests, and returns the state from which the objects are read, with the metadata of the first
    /// list.
    pub(super) async fn start(
        self,
        collection: &Collection,
        options: &ListOptions,
    ) -> Result<(State, ListMeta), Error> {
        let mut arrival_time = collection.arrival_time.start();
        // If any version is set, a server may respond from memory. It then ignores the limit and sends all objects.
        if options.resource_version.is_unset()
            && let Some(page) = page(collection, &self.page_options(options), &mut arrival_time).await?
        {
            return Ok((page, ListMeta::default()));
        }
        let joined = match self {
            Self::NamesAndRows => names_and_rows(collection, options, &mut arrival_time).await?,
            Self::RowsAndObjects => rows_and_objects(collection, options, &mut arrival_time).await?,
        };
        if let Some(joined) = joined {
            return Ok(joined);
        }
        arrival_time.record();
        let items = collection
            .items(collection.representation.for_single_request(), Naming::RequestedNamespace, options)
            .await?;
        Ok((State::Complete(VecDeque::new(), items), ListMeta::default()))
    }

    fn page_options(self, options: &ListOptions) -> ListOptions {
        let limit = match self {
            // As in kubectl.
            Self::NamesAndRows => 500,
            // A server that is already writing the rest of a page with whole objects writes the pair later.
            Self::RowsAndObjects => 250,
        };
        ListOptions { limit, ..options.clone() }
    }
}

/// Requests a page of rows with everything of their objects that is needed. Returns `None` if the list has further pages.
async fn page(
    collection: &Collection,
    options: &ListOptions,
    arrival_time: &mut ArrivalTimer,
) -> Result<Option<State>, Error> {
    let mut items = collection
        .items(collection.representation.for_single_request(), Naming::RequestedNamespace, options)
        .await?;
    let mut ready = VecDeque::new();
    while ready.len() <= options.limit as usize {
        arrival_time.record();
        let next = items.next().await?;
        // Servers send the continue token before the first object, so the rest of the page need not be read.
        if !items.meta().continue_token.is_empty() {
            return Ok(None);
        }
        match next {
            Some(object) => ready.push_back(object),
            None => break,
        }
    }
    Ok(Some(State::Complete(ready, items)))
}
