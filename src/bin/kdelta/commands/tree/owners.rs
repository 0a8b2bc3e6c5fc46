//! The owners above the selected objects, each requested by its name unless it was listed.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use kdelta::api::Catalog;
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, path_segment_problems};

use super::collection::Collection;
use super::requests::{CONCURRENT_GETS, Requests};
use super::status_rules::{representation, set_status};
use crate::session::Part;
use crate::settings::Selection;
use crate::view::{OwnerReference, Presence, TreeObject};

/// The number of levels above a selected object. Real objects have a handful.
const MAX_LEVELS: usize = 64;
/// The number of owners that are requested for a tree. An object of a hostile controller may name tens of thousands.
const MAX_OWNERS: usize = 1000;

/// The result of looking for an owner.
pub(super) struct FoundOwner {
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
            for found in self.requests.owners(&self.candidates, &unknown).await? {
                let FoundOwner { object, refusal } = found;
                self.index.insert(object);
                match refusal {
                    Some((part, Error::Forbidden(_))) => self.forbidden.push(part),
                    Some((_, error)) => self.requests.reporter.report_error("", &error.into()),
                    None => {}
                }
            }
        }
        Ok(())
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
    ) -> anyhow::Result<Vec<FoundOwner>> {
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
    ) -> FoundOwner {
        let known = resource_of(catalog, owner);
        let is_served = known.is_some();
        let resource = Arc::new(known.unwrap_or_else(|| unserved(owner)));
        let placeholder =
            |presence| TreeObject::placeholder(owner, Arc::clone(&resource), namespace, presence);
        let missing = FoundOwner { object: placeholder(Presence::Missing), refusal: None };
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
                    set_status(&mut found, &object.json(), Timestamp::now());
                    FoundOwner { object: found, refusal: None }
                }
                _ => missing,
            },
            Err(Error::NotFound(_)) => missing,
            Err(error) => {
                FoundOwner { object: placeholder(Presence::Unreadable), refusal: Some((part, error)) }
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
    let version = owner.api_version.rsplit('/').next().unwrap_or_default();
    of_kind().find(|resource| resource.version == version).or_else(|| of_kind().next()).cloned()
}

/// Returns a resource for a kind that the server does not serve.
fn unserved(owner: &OwnerReference) -> ApiResource {
    ApiResource {
        group: owner.group().to_owned(),
        version: owner.api_version.rsplit('/').next().unwrap_or_default().to_owned(),
        resource: owner.kind.to_lowercase(),
        kind: owner.kind.clone(),
        namespaced: true,
    }
}
