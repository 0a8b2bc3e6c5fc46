//! The objects of a tree while they are being collected, and the concurrent requests for them.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use kdelta::object::Object;
use kdelta::wire::Representation;

use super::requests::{ListRequest, Requests};
use super::status_rules::{is_whole, set_state, shows_status};
use crate::commands::stats::Stats;
use crate::commands::walk::Walk;
use crate::session::{Part, PlannedPart};
use crate::settings::Selection;
use crate::view::{ObjectId, OwnerIndex, TreeObject};

/// A tree that is being collected.
pub(super) struct Collection<'a> {
    pub(super) requests: Requests<'a>,
    /// The objects that may belong to the tree, without selectors.
    pub(super) candidates: Selection,
    pub(super) index: OwnerIndex,
    /// The objects that the user selected.
    pub(super) requested: Vec<ObjectId>,
    pub(super) stats: Stats,
    /// Objects that the user may not read, although others of the tree name them.
    pub(super) forbidden: Vec<Part>,
    pub(super) now: Timestamp,
}

/// The objects of a part.
pub(super) struct Listed {
    pub(super) part: Part,
    pub(super) representation: Representation,
    pub(super) objects: Vec<Arc<Object>>,
}

impl Collection<'_> {
    /// Adds listed objects to the index. A state with its status is not replaced by one without.
    pub(super) fn add(&mut self, listed: &Listed) {
        for object in &listed.objects {
            let Some(mut added) = TreeObject::of(&listed.part.resource, object) else { continue };
            if shows_status(&listed.part.resource, listed.representation) {
                let reads_relations = self.index.has_names() && is_whole(listed.representation);
                set_state(&mut added, &object.json(), reads_relations, self.now);
            } else if self.index.get(&added.uid).is_some() {
                continue;
            }
            self.index.insert(added);
        }
    }

    /// Lists the parts of a walk for which there is a request, in the order of the walk. The permits of a server bound the
    /// number of concurrent requests.
    ///
    /// # Errors
    /// The cluster can't be used.
    pub(super) async fn list<'r>(
        &mut self,
        walk: &mut Walk<'_>,
        request: impl AsyncFn(&Part) -> Option<ListRequest<'r>>,
    ) -> anyhow::Result<Vec<Listed>> {
        let mut listed = Vec::new();
        loop {
            let batch = walk.next_batch();
            if batch.is_empty() {
                return Ok(listed);
            }
            let mut sources = Vec::with_capacity(batch.len());
            for planned in batch {
                let Some(ListRequest { selection, representation }) = request(&planned.part).await else {
                    continue;
                };
                let source = self.requests.source(&planned.part, &selection, representation);
                self.stats.add_source(&source);
                sources.push((planned, selection, representation, source));
            }
            let requests = self.requests;
            let list = |(place, (planned, selection, representation, source))| async move {
                let (planned, selection): (PlannedPart, Cow<'_, Selection>) = (planned, selection);
                let objects = requests.objects(&planned.part, &selection, source).await;
                (place, planned, representation, objects)
            };
            let mut running: FuturesUnordered<_> = sources.into_iter().enumerate().map(list).collect();
            let mut done = Vec::new();
            while let Some((place, planned, representation, objects)) = running.next().await {
                match objects {
                    Ok(objects) => done.push((place, Listed { part: planned.part, representation, objects })),
                    Err(error) => walk.failed(planned, error.into()).await?,
                }
            }
            done.sort_by_key(|(place, _)| *place);
            listed.extend(done.into_iter().map(|(_, listed)| listed));
        }
    }
}
