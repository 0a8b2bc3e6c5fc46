//! The statuses of the objects of a tree.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, Object};
use kdelta::query::ObjectStatus;
use kdelta::wire::Representation;

use super::collection::{CONCURRENT_GETS, Collection};
use super::status_rules::set_status;
use crate::session::Part;
use crate::view::{ObjectId, Tree};

/// The number of objects of a type and namespace up to which each is requested by name.
const MAX_GETS: usize = 20;

/// The objects of a type and namespace whose status is unknown.
struct Unknown {
    part: Part,
    /// The names by UID.
    names: Vec<(ObjectId, String)>,
}

impl Collection<'_> {
    /// Requests the objects of the tree whose status is unknown.
    pub(super) async fn add_statuses(&mut self, tree: &Tree) {
        let groups = self.without_status(tree);
        let found: Vec<_> = join_all(groups.iter().map(|group| self.states(group))).await;
        for (Unknown { part, names }, states) in groups.into_iter().zip(found) {
            for (uid, _) in names {
                let Some(object) = self.index.get_mut(&uid) else { continue };
                let (status, message) = match states.get(&uid) {
                    Some(Ok(state)) => {
                        set_status(object, &state.json(), self.now);
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
    }

    /// Requests whole objects: each by its name, or all of the namespace if most of them are part of the tree.
    async fn states(&self, group: &Unknown) -> HashMap<ObjectId, Result<Arc<Object>, Error>> {
        let Unknown { part, names } = group;
        let listed = self.index.count(&part.resource, &part.namespace);
        if names.len() > MAX_GETS && 2 * names.len() >= listed {
            let source = self.source(part, &self.candidates, Representation::Objects);
            return match self.objects(part, &self.candidates, source).await {
                Ok(objects) => {
                    let uid = |object: &Object| ObjectId::from(object.uid().to_string());
                    objects.into_iter().map(|object| (uid(&object), Ok(object))).collect()
                }
                Err(error) => names.iter().map(|(uid, _)| (Arc::clone(uid), Err(error.clone()))).collect(),
            };
        }
        let get = async |(uid, name): &(ObjectId, String)| {
            let part = Part { name: Some(name.as_str().into()), ..part.clone() };
            let source = self.source(&part, &self.candidates, Representation::Objects);
            match self.get(&part, &source, name).await {
                // Another object has the name by now.
                Ok(object) if object.uid().to_string() != **uid => None,
                state => Some((Arc::clone(uid), state)),
            }
        };
        let states: Vec<_> = stream::iter(names).map(get).buffered(CONCURRENT_GETS).collect().await;
        states.into_iter().flatten().collect()
    }

    /// Returns the objects of the tree whose status is unknown, in order of their first row.
    fn without_status(&self, tree: &Tree) -> Vec<Unknown> {
        let mut groups: Vec<Unknown> = Vec::new();
        let mut places: HashMap<(&Arc<ApiResource>, &str), usize> = HashMap::new();
        let objects = tree.uids().filter_map(|uid| self.index.get(uid));
        for object in objects.filter(|object| object.status.is_none()) {
            let place = places.entry((&object.resource, &object.namespace)).or_insert_with(|| {
                let resource = Arc::clone(&object.resource);
                let part = Part {
                    namespace: object.namespace.as_str().into(),
                    ..self.session.cluster().all_objects_of(resource)
                };
                groups.push(Unknown { part, names: Vec::new() });
                groups.len() - 1
            });
            groups[*place].names.push((Arc::clone(&object.uid), object.name.clone()));
        }
        groups
    }
}
