//! Lists of a server inside this process, whose objects need not be written and parsed.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::vec;

use super::collection::Collection;
use crate::listwatch::{DirectContents, DirectList, Error, ListMeta, ListOptions, ListStream};
use crate::object::{LabelSelector, Object};
use crate::wire::representation::{IncludeObject, Representation};

/// The objects after which other tasks run: none of them is waited for.
const BATCH: usize = 2048;

/// The objects of a list that was not requested.
pub(super) struct DirectObjects {
    objects: vec::IntoIter<Arc<Object>>,
    /// `None` selects all.
    labels: Option<LabelSelector>,
    meta: ListMeta,
}

impl DirectObjects {
    /// Lists without a request. Returns `None` if the server or the options require one.
    ///
    /// # Errors
    /// That of the request.
    pub(super) async fn list(collection: &Collection, options: &ListOptions) -> Result<Option<Self>, Error> {
        let (Some(lists), Some((contents, labels))) =
            (collection.client.direct_lists(), selected(collection, options))
        else {
            return Ok(None);
        };
        // An invalid name is the same error as in a request.
        collection.list_request(collection.representation.for_single_request(), options)?;
        let (lists, resource) = (Arc::clone(lists), collection.resource.clone());
        let (ingest, namespace) = (collection.ingest.clone(), collection.scope().to_owned());
        // On a thread for blocking tasks, bounded by the runtime: the list reads files.
        let read = tokio::task::spawn_blocking(move || {
            let namespace = Some(&*namespace).filter(|namespace| !namespace.is_empty());
            lists.list(&resource, namespace, contents, &ingest)
        });
        let list = match read.await {
            Ok(list) => list?,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime ends.
            Err(error) => return Err(Error::Transport(error.to_string().into())),
        };
        Ok(list.map(|DirectList { objects, version }| Self {
            objects: objects.into_iter(),
            labels,
            meta: ListMeta { resource_version: version, ..ListMeta::default() },
        }))
    }
}

/// Returns the contents and the labels of the requested objects, if nothing else selects them and at no version.
fn selected(
    collection: &Collection,
    options: &ListOptions,
) -> Option<(DirectContents, Option<LabelSelector>)> {
    let is_latest = options.continue_token.is_empty()
        && options.version_match.is_none()
        && (options.resource_version.is_unset() || options.resource_version.is_any());
    if !is_latest || collection.name.is_some() || !collection.field_selector.is_empty() {
        return None;
    }
    // An invalid selector is left to the server, which returns its error.
    let labels = LabelSelector::parse(&collection.label_selector).ok()?;
    let labels = Some(labels).filter(|labels| !labels.is_everything());
    let contents = match collection.representation {
        Representation::Names if labels.is_none() => DirectContents::Names,
        Representation::Names | Representation::Objects => DirectContents::Objects,
        Representation::Rows | Representation::Table(IncludeObject::None | IncludeObject::Identity)
            if labels.is_none() =>
        {
            DirectContents::Rows
        }
        Representation::Rows
        | Representation::RowsAndObjects
        | Representation::Table(IncludeObject::None | IncludeObject::Identity | IncludeObject::Object) => {
            DirectContents::RowsAndObjects
        }
        // Bodies of metadata are written by the server.
        Representation::Metadata | Representation::Table(IncludeObject::Metadata) => return None,
    };
    Some((contents, labels))
}

impl ListStream for DirectObjects {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        loop {
            if self.objects.len().is_multiple_of(BATCH) {
                tokio::task::yield_now().await;
            }
            let Some(object) = self.objects.next() else { return Ok(None) };
            if self.labels.as_ref().is_none_or(|labels| labels.matches_json(&object.json())) {
                return Ok(Some(object));
            }
        }
    }

    fn meta(&self) -> &ListMeta {
        &self.meta
    }
}
