//! The statuses of the objects of a tree.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use kdelta::listwatch::Error;
use kdelta::object::ApiResource;
use kdelta::query::ObjectStatus;

use super::collection::Collection;
use super::requests::ObjectGroup;
use super::status_rules::set_state;
use crate::session::{Part, Session};
use crate::view::{ObjectId, OwnerIndex, Tree};

impl Collection<'_> {
    /// Requests the objects of the tree whose status is unknown. Returns whether there are any.
    pub(super) async fn add_statuses(&mut self, tree: &Tree) -> bool {
        let reads_relations = self.index.has_names();
        let groups = groups(self.requests.session, &self.index, tree.uids(), |uid| {
            self.index.get(uid).is_some_and(|object| object.status.is_none())
        });
        let is_any = !groups.is_empty();
        let requests = groups.iter().map(|group| self.requests.states(&self.candidates, group));
        let found: Vec<_> = join_all(requests).await;
        for (ObjectGroup { part, names, .. }, states) in groups.into_iter().zip(found) {
            for (uid, _) in names {
                let Some(object) = self.index.get_mut(&uid) else { continue };
                let (status, message) = match states.get(&uid) {
                    Some(Ok(state)) => {
                        set_state(object, &state.json(), reads_relations, self.now);
                        continue;
                    }
                    Some(Err(Error::NotFound(_))) | None => {
                        (ObjectStatus::NotFound, "it was deleted meanwhile".to_owned())
                    }
                    Some(Err(error)) => (ObjectStatus::Unknown, error.to_string()),
                };
                (object.status, object.message) = (Some(status), message);
            }
            if states.values().any(|state| matches!(state, Err(Error::Forbidden(_)))) {
                self.forbidden.push(part);
            }
        }
        is_any
    }
}

/// Returns the objects to be requested for their status, by type and namespace, in order of their first row.
pub(super) fn groups<'a>(
    session: &Session,
    index: &OwnerIndex,
    uids: impl Iterator<Item = &'a ObjectId>,
    is_requested: impl Fn(&ObjectId) -> bool,
) -> Vec<ObjectGroup> {
    let mut groups: Vec<ObjectGroup> = Vec::new();
    let mut places: HashMap<(&Arc<ApiResource>, &str), usize> = HashMap::new();
    for object in uids.filter(|uid| is_requested(uid)).filter_map(|uid| index.get(uid)) {
        let place = places.entry((&object.resource, &object.namespace)).or_insert_with(|| {
            let resource = Arc::clone(&object.resource);
            let part = Part {
                namespace: object.namespace.as_str().into(),
                ..session.cluster().all_objects_of(resource)
            };
            groups.push(ObjectGroup { part, names: Vec::new(), listed: 0 });
            groups.len() - 1
        });
        groups[*place].names.push((Arc::clone(&object.uid), object.name.clone()));
    }
    for group in &mut groups {
        group.listed = index.count(&group.part.resource, &group.part.namespace);
    }
    groups
}
