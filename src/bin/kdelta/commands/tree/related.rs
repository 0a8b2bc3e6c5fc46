//! `kdelta tree --related`: the objects around a tree that are related to it in other ways than ownership.
//!
//! The relations that are known show what else to request, until nothing new is found: lists of the types that can refer to
//! an object of the tree, and by name the objects to which one refers.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use kdelta::api::Catalog;
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, path_segment_problems};
use kdelta::wire::Representation;

use super::collection::{Collection, Listed};
use super::owners::{FoundObject, unserved};
use super::requests::{CONCURRENT_GETS, Requests};
use super::status_rules::{is_whole, representation, set_state};
use crate::session::Part;
use crate::settings::Selection;
use crate::view::{ListNeed, ListScope, Needs, Presence, Target, Tree, TreeObject};

/// The number of rounds of requests. An ingress needs six: for its service, slices, pods, claims and volumes.
const MAX_ROUNDS: usize = 10;
/// The number of objects that are requested because others refer to them.
pub(super) const MAX_TARGETS: usize = 1000;

impl Collection<'_> {
    /// Returns the tree with its related objects and all statuses.
    ///
    /// # Errors
    /// Discovery fails.
    pub(super) async fn related_tree(&mut self, depth: Option<usize>) -> anyhow::Result<Tree> {
        let catalog = self.requests.session.cluster().discovery().catalog().await?;
        let mut done = Needs::default();
        let mut room = MAX_TARGETS;
        for _ in 0..MAX_ROUNDS {
            let (tree, needs) = Tree::of(&self.index, &self.requested, depth).with_related(&self.index);
            let lists: Vec<ListNeed> = needs.lists.difference(&done.lists).cloned().collect();
            let mut targets: Vec<Target> = needs.targets.difference(&done.targets).cloned().collect();
            done.targets.extend(targets.iter().cloned());
            if targets.len() > room {
                let more = targets.len() - room;
                let line = format!("{more} more related objects are not looked for");
                self.requests.reporter.messages().warning(&line);
                targets.truncate(room);
            }
            room -= targets.len();
            let has_more = self.add_statuses(&tree).await;
            if lists.is_empty() && targets.is_empty() && !has_more {
                break;
            }
            self.list_related(&catalog, &lists).await;
            let found = self.requests.targets(&self.candidates, &catalog, &targets).await;
            self.add_found(found);
            done.lists.extend(lists);
        }
        let (tree, _) = Tree::of(&self.index, &self.requested, depth).with_related(&self.index);
        if tree.left_out > 0 {
            let line = format!("{} more related objects are left out", tree.left_out);
            self.requests.reporter.messages().warning(&line);
        }
        Ok(tree)
    }

    async fn list_related(&mut self, catalog: &Catalog, lists: &[ListNeed]) {
        let (requests, candidates) = (self.requests, &self.candidates);
        let parts = lists.iter().filter_map(|need| {
            let resource = Arc::new(resource_of(catalog, need.kind.0, need.kind.1)?);
            let part = requests.session.cluster().all_objects_of(resource);
            let selection = narrowed(candidates, &need.scope);
            Some((Part { namespace: need.namespace.as_str().into(), ..part }, selection))
        });
        let parts: Vec<(Part, Selection)> = parts.collect();
        let objects = parts.iter().map(|(part, selection)| {
            let source = requests.source(part, selection, Representation::Objects);
            requests.objects(part, selection, source)
        });
        let objects: Vec<_> = stream::iter(objects).buffered(CONCURRENT_GETS).collect().await;
        for ((part, _), objects) in parts.into_iter().zip(objects) {
            match objects {
                Ok(objects) => {
                    self.add(&Listed { part, representation: Representation::Objects, objects });
                }
                Err(Error::Forbidden(_)) => self.forbidden.push(part),
                Err(error) => self.requests.reporter.report_error("", &error.into()),
            }
        }
    }
}

/// Returns the candidates within the scope of a list.
pub(super) fn narrowed(candidates: &Selection, scope: &ListScope) -> Selection {
    Selection {
        label_selector: scope.label_selector(),
        field_selector: scope.field_selector(),
        ..candidates.clone()
    }
}

impl Requests<'_> {
    /// Requests the objects to which others refer.
    ///
    /// # Errors
    /// Discovery fails.
    pub(super) async fn find_targets(
        &self,
        candidates: &Selection,
        targets: &[Target],
    ) -> anyhow::Result<Vec<FoundObject>> {
        let catalog = self.session.cluster().discovery().catalog().await?;
        Ok(self.targets(candidates, &catalog, targets).await)
    }

    async fn targets(
        &self,
        candidates: &Selection,
        catalog: &Catalog,
        targets: &[Target],
    ) -> Vec<FoundObject> {
        let found = targets.iter().map(|target| self.target(candidates, catalog, target));
        stream::iter(found).buffered(CONCURRENT_GETS).collect().await
    }

    async fn target(&self, candidates: &Selection, catalog: &Catalog, target: &Target) -> FoundObject {
        let known = resource_of(catalog, &target.group, &target.kind);
        let is_served = known.is_some();
        let resource = Arc::new(known.unwrap_or_else(|| unserved(&target.group, "", &target.kind)));
        let placeholder = |presence| TreeObject::unread(target, Arc::clone(&resource), presence);
        let missing = FoundObject { object: placeholder(Presence::Missing), refusal: None };
        let has_place = resource.namespaced != target.namespace.is_empty();
        if !is_served || !has_place || !path_segment_problems(&target.name).is_empty() {
            return missing;
        }
        let part = Part {
            namespace: target.namespace.as_str().into(),
            name: Some(target.name.as_str().into()),
            ..self.session.cluster().all_objects_of(Arc::clone(&resource))
        };
        let requested = representation(&resource);
        let source = self.source(&part, candidates, requested);
        match self.get(&part, &source, &target.name).await {
            Ok(object) => match TreeObject::of(&resource, &object) {
                Some(mut found) => {
                    set_state(&mut found, &object.json(), is_whole(requested), self.session.now());
                    FoundObject { object: found, refusal: None }
                }
                None => missing,
            },
            Err(Error::NotFound(_)) => missing,
            Err(error) => {
                let part = Part { name: None, ..part };
                FoundObject { object: placeholder(Presence::Unreadable), refusal: Some((part, error)) }
            }
        }
    }
}

/// Returns the resource of a kind, if it is served.
fn resource_of(catalog: &Catalog, group: &str, kind: &str) -> Option<ApiResource> {
    let mut resources = catalog.resources().iter().map(|found| &found.resource);
    resources.find(|resource| resource.group == group && resource.kind == kind).cloned()
}
