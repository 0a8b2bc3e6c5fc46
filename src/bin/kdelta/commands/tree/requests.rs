//! The requests for the objects of a tree.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, Object};
use kdelta::store::Indexers;
use kdelta::wire::Representation;

use super::status_rules::representation;
use crate::commands::needs;
use crate::commands::reporter::Reporter;
use crate::commands::synced::synced_indexer;
use crate::session::{Filter, Part, PartSource, ServerConditions, Session};
use crate::settings::{Print, Selection};
use crate::view::ObjectId;

/// The number of namespaces up to which each is listed, instead of all at once.
pub(super) const MAX_NAMESPACES: usize = 3;

/// The number of concurrent requests for single objects.
pub(super) const CONCURRENT_GETS: usize = 32;

/// The number of objects of a type and namespace up to which each is requested by name.
const MAX_GETS: usize = 20;

/// Whether a type is deprecated, for which the server prints a warning. The slices of endpoints are part of trees.
pub(super) fn is_endpoints(resource: &ApiResource) -> bool {
    resource.group.is_empty() && resource.resource == "endpoints"
}

/// Requests objects of a tree.
#[derive(Clone, Copy)]
pub(super) struct Requests<'a> {
    pub(super) session: &'a Session,
    pub(super) reporter: &'a Reporter,
    /// Whether relations other than ownership are read.
    pub(super) reads_relations: bool,
}

/// The request for the objects of a part.
pub(super) struct ListRequest<'a> {
    pub(super) selection: Cow<'a, Selection>,
    pub(super) representation: Representation,
}

/// The request for the selected objects of a part. The server evaluates the terms of `--where` that it can.
pub(super) struct RootRequest {
    pub(super) conditions: ServerConditions,
    pub(super) selection: Selection,
    pub(super) representation: Representation,
}

impl RootRequest {
    /// Returns the request, with conditions on those fields that are loaded.
    pub(super) fn of(session: &Session, part: &Part, selection: &Selection) -> Self {
        let known = session.known_fields(part);
        let conditions = ServerConditions::divide(part, &[], &selection.filter, &known);
        let needed = representation(&part.resource);
        let representation = needs::with_filter(needed, conditions.filter.needs());
        Self { selection: conditions.selection(selection), conditions, representation }
    }
}

/// Objects of a type and namespace to be requested as a whole.
#[derive(Debug, Clone)]
pub(super) struct ObjectGroup {
    pub(super) part: Part,
    /// The names by UID.
    pub(super) names: Vec<(ObjectId, String)>,
    /// The number of all objects of the type in the namespace.
    pub(super) listed: usize,
}

/// The states of a group by UID. An object that is missing was deleted, or another one has its name.
pub(super) type States = HashMap<ObjectId, Result<Arc<Object>, Error>>;

impl Requests<'_> {
    /// Returns the source of a part.
    pub(super) fn source(
        &self,
        part: &Part,
        selection: &Selection,
        representation: Representation,
    ) -> PartSource {
        let print = Print::default();
        let source = self.session.source(part, selection, &print, representation, Filter::default());
        self.reporter.source(part, selection, source)
    }

    /// Requests one object.
    pub(super) async fn get(
        &self,
        part: &Part,
        source: &PartSource,
        name: &str,
    ) -> Result<Arc<Object>, Error> {
        let (attempts, observer) = (source.attempts(), self.reporter.one_shot_observer(part));
        attempts.repeat(&observer, async || source.get_named(name).await).await
    }

    /// Requests all objects of a part.
    pub(super) async fn objects(
        &self,
        part: &Part,
        selection: &Selection,
        source: PartSource,
    ) -> Result<Vec<Arc<Object>>, Error> {
        if let Some(name) = &part.name {
            let object = self.get(part, &source, name).await?;
            return Ok(if source.selects(&object)? { vec![object] } else { Vec::new() });
        }
        let (session, reporter) = (self.session, self.reporter);
        let indexer = synced_indexer(session, source, Indexers::default(), selection, part, reporter).await?;
        Ok(indexer.list())
    }

    /// Requests whole objects: each by its name, or all of the namespace if most of them are part of the tree.
    pub(super) async fn states(&self, candidates: &Selection, group: &ObjectGroup) -> States {
        let ObjectGroup { part, names, listed } = group;
        if names.len() > MAX_GETS && 2 * names.len() >= *listed {
            let source = self.source(part, candidates, Representation::Objects);
            return match self.objects(part, candidates, source).await {
                Ok(objects) => {
                    let uid = |object: &Object| ObjectId::from(object.uid().to_string());
                    objects.into_iter().map(|object| (uid(&object), Ok(object))).collect()
                }
                Err(error) => names.iter().map(|(uid, _)| (Arc::clone(uid), Err(error.clone()))).collect(),
            };
        }
        let get = async |(uid, name): &(ObjectId, String)| {
            let part = Part { name: Some(name.as_str().into()), ..part.clone() };
            let source = self.source(&part, candidates, Representation::Objects);
            match self.get(&part, &source, name).await {
                // Another object has the name by now.
                Ok(object) if object.uid().to_string() != **uid => None,
                state => Some((Arc::clone(uid), state)),
            }
        };
        let states: Vec<_> = stream::iter(names).map(get).buffered(CONCURRENT_GETS).collect().await;
        states.into_iter().flatten().collect()
    }
}
