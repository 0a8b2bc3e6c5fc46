//! The owners above the selected objects, each requested by its name unless it was listed.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use kdelta::api::Catalog;
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, path_segment_problems};

use super::collection::Collection;
use super::requests::{CONCURRENT_GETS, Requests};
use super::status_rules::{is_whole, representation, set_state};
use crate::session::Part;
use crate::settings::Selection;
use crate::view::{OwnerReference, Presence, TreeObject};

/// The number of levels above a selected object. Real objects have a handful.
const MAX_LEVELS: usize = 64;
/// The number of owners that are requested for a tree. An object of a hostile controller may name tens of thousands.
const MAX_OWNERS: usize = 1000;

/// The result of looking for an object to which others refer.
pub(super) struct FoundObject {
    pub(super) object: TreeObject,
    pub(super) refusal: Option<(Part, Error)>,
}

impl Collection<'_> {
    /// Adds the owners of the selected objects and theirs.
    ///
    /// # Errors
    /// Discovery fails.
    pub(super) async fn add_owners(&mut self) -> anyhow::Result<()> {
        let mut room = MAX_OWNERS;
        for _ in 0..MAX_LEVELS {
            let mut unknown = self.index.unknown_owners(&self.requested);
            if unknown.len() > room {
                let more = unknown.len() - room;
                self.requests.reporter.messages().warning(&format!("{more} more owners are not looked for"));
                unknown.truncate(room);
            }
            room -= unknown.len();
            if unknown.is_empty() {
                return Ok(());
            }
            let found = self.requests.owners(&self.candidates, &unknown).await?;
            self.add_found(found);
        }
        Ok(())
    }

    /// Adds objects to which others refer, and reports those that can't be read.
    pub(super) fn add_found(&mut self, found: Vec<FoundObject>) {
        for FoundObject { object, refusal } in found {
            self.index.insert(object);
            match refusal {
                Some((part, Error::Forbidden(_))) => self.forbidden.push(part),
                Some((_, error)) => self.requests.reporter.report_error("", &error.into()),
                None => {}
            }
        }
    }
}

impl Requests<'_> {
    /// Requests owners, each with the namespace of its dependent.
    ///
    /// # Errors
    /// Discovery fails.
    pub(super) async fn owners(
        &self,
        candidates: &Selection,
        owners: &[(OwnerReference, String)],
    ) -> anyhow::Result<Vec<FoundObject>> {
        let catalog = self.session.cluster().discovery().catalog().await?;
        let looked_for =
            owners.iter().map(|(owner, namespace)| self.owner(candidates, &catalog, owner, namespace));
        Ok(stream::iter(looked_for).buffered(CONCURRENT_GETS).collect().await)
    }

    async fn owner(
        &self,
        candidates: &Selection,
        catalog: &Catalog,
        owner: &OwnerReference,
        namespace: &str,
    ) -> FoundObject {
        let known = resource_of(catalog, owner);
        let is_served = known.is_some();
        let resource =
            Arc::new(known.unwrap_or_else(|| unserved(owner.group(), version(owner), &owner.kind)));
        let placeholder =
            |presence| TreeObject::placeholder(owner, Arc::clone(&resource), namespace, presence);
        let missing = FoundObject { object: placeholder(Presence::Missing), refusal: None };
        // An object without a namespace has no owner in one, and no object has a name that a path can't hold.
        let has_place = !resource.namespaced || !namespace.is_empty();
        if !is_served || !has_place || !path_segment_problems(&owner.name).is_empty() {
            return missing;
        }
        let part = Part {
            namespace: if resource.namespaced { namespace.into() } else { "".into() },
            name: Some(owner.name.as_str().into()),
            ..self.session.cluster().all_objects_of(Arc::clone(&resource))
        };
        let source = self.source(&part, candidates, representation(&resource));
        match self.get(&part, &source, &owner.name).await {
            // An object of the same name with another UID is not the owner.
            Ok(object) => match TreeObject::of(&resource, &object) {
                Some(mut found) if found.uid == owner.uid => {
                    let reads_relations = self.reads_relations && is_whole(representation(&resource));
                    set_state(&mut found, &object.json(), reads_relations, self.session.now());
                    FoundObject { object: found, refusal: None }
                }
                _ => missing,
            },
            Err(Error::NotFound(_)) => missing,
            Err(error) => {
                FoundObject { object: placeholder(Presence::Unreadable), refusal: Some((part, error)) }
            }
        }
    }
}

/// Returns the resource of an owner's kind, in the version of the reference if that is served.
fn resource_of(catalog: &Catalog, owner: &OwnerReference) -> Option<ApiResource> {
    let of_kind = || {
        let all = catalog.resources().iter().map(|found| &found.resource);
        all.filter(|resource| resource.group == owner.group() && resource.kind == owner.kind)
    };
    of_kind().find(|resource| resource.version == version(owner)).or_else(|| of_kind().next()).cloned()
}

fn version(owner: &OwnerReference) -> &str {
    owner.api_version.rsplit('/').next().unwrap_or_default()
}

/// Returns a resource for a kind that the server does not serve.
pub(super) fn unserved(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: kind.to_lowercase(),
        kind: kind.to_owned(),
        namespaced: true,
    }
}
