//! The state of a mirror: its collections and the documents of the server.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::collection::{Collection, PartNumber};
use crate::object::ApiResource;
use crate::recording::source::documents::Documents;
use crate::recording::source::kinds::{Origin, RecordedKinds, ServedVersions};
use crate::server::source::{Kind, KindId};

/// The path below which the definitions of custom resources are.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

/// The collections and the documents.
#[derive(Default)]
pub(super) struct State {
    /// A collection keeps its number, served or not. Bounded by the types that the server has had.
    pub(super) collections: Vec<Collection>,
    /// The parts that run, with the number of their collection and whether their initial state is complete.
    parts: HashMap<PartNumber, (KindId, bool)>,
    documents: BTreeMap<Arc<str>, Bytes>,
    /// The resources to serve; `None` after a change of the collections or the documents, until they are requested.
    served: Option<Arc<ServedContent>>,
}

/// The resources and the documents to serve.
pub(super) struct ServedContent {
    pub(super) kinds: RecordedKinds,
    pub(super) documents: Documents,
    /// The kinds of the served collections, custom ones with their definitions.
    collections: BTreeMap<KindId, Arc<Kind>>,
    /// Other versions of served collections.
    alternates: Vec<(KindId, Arc<Kind>)>,
}

impl ServedContent {
    pub(super) fn kind(&self, id: KindId) -> Option<&Arc<Kind>> {
        self.collections.get(&id)
    }

    /// Returns the number and the kind of a served collection.
    pub(super) fn find(&self, group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
        let is_it = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
        let others = self.alternates.iter().map(|(id, kind)| (id, kind));
        let (id, kind) = self.collections.iter().chain(others).find(|(_, kind)| is_it(kind))?;
        Some((*id, Arc::clone(kind)))
    }
}

impl State {
    /// Adds a part.
    pub(super) fn begin(&mut self, part: PartNumber, resource: &Arc<ApiResource>) {
        let known = self.collections.iter().position(|known| *known.resource == **resource);
        let id = known.unwrap_or_else(|| {
            self.collections.push(Collection::new(Arc::clone(resource)));
            self.collections.len() - 1
        });
        self.parts.insert(part, (id, false));
    }

    /// Returns the collection of a part, and whether it is the only part of it.
    pub(super) fn collection(&mut self, part: PartNumber) -> Option<(&mut Collection, bool)> {
        let (id, _) = *self.parts.get(&part)?;
        let is_only = self.parts.values().filter(|(of, _)| *of == id).count() == 1;
        Some((self.collections.get_mut(id)?, is_only))
    }

    /// Serves the collection of a part whose initial state is complete.
    pub(super) fn synced(&mut self, part: PartNumber, version: u64) {
        let Some((id, is_synced)) = self.parts.get_mut(&part) else { return };
        *is_synced = true;
        if let Some(collection) = self.collections.get_mut(*id) {
            let was_served = collection.is_served();
            collection.serve(version);
            if !was_served {
                self.served = None;
            }
        }
    }

    /// Removes a part and its objects.
    pub(super) fn end(&mut self, part: PartNumber) {
        let Some((id, _)) = self.parts.remove(&part) else { return };
        let has_others = self.parts.values().any(|(of, is_synced)| *of == id && *is_synced);
        let Some(collection) = self.collections.get_mut(id) else { return };
        if has_others {
            collection.remove_part(part);
        } else {
            collection.end();
            self.served = None;
        }
    }

    /// Records that definitions of custom resources have changed.
    pub(super) fn definitions_changed(&mut self) {
        self.served = None;
    }

    /// Sets the document at a path.
    pub(super) fn set_document(&mut self, path: &str, body: &Bytes) {
        if self.documents.get(path) != Some(body) {
            self.documents.insert(path.into(), body.clone());
            self.served = None;
        }
    }

    /// Returns the resources and the documents to serve.
    pub(super) fn served(&mut self) -> Arc<ServedContent> {
        if let Some(served) = &self.served {
            return Arc::clone(served);
        }
        let is_served = |collection: &&Collection| collection.is_served();
        let resources: Vec<_> =
            self.collections.iter().filter(is_served).map(|one| Arc::clone(&one.resource)).collect();
        let versions = ServedVersions::WithAlternates;
        let kinds = RecordedKinds::read(&self.documents, &resources, Origin::Mirror, versions);
        let id =
            |resource: &Arc<ApiResource>| self.collections.iter().position(|one| one.resource == *resource);
        let collections = kinds.recorded.iter();
        let collections =
            collections.filter_map(|(resource, kind)| Some((id(resource)?, self.defined(kind)))).collect();
        let alternates = kinds.alternates.iter();
        let alternates =
            alternates.filter_map(|(of, kind)| Some((id(&kinds.recorded[*of].0)?, Arc::clone(kind))));
        let alternates = alternates.collect();
        let documents = Documents::new(self.documents.clone(), &kinds);
        let served = Arc::new(ServedContent { kinds, documents, collections, alternates });
        self.served = Some(Arc::clone(&served));
        served
    }

    /// Returns a kind. A custom one gets the columns, the schema and the selectable fields of its definition.
    fn defined(&self, kind: &Arc<Kind>) -> Arc<Kind> {
        let definition = if kind.is_custom() { self.definition(&kind.group_resource()) } else { None };
        let custom = definition.and_then(|definition| {
            let versions = definition["spec"]["versions"].as_array()?;
            let version = versions.iter().find(|version| version["name"] == kind.version.as_str())?;
            Kind::of_definition_version(&definition, version)?.custom
        });
        match custom {
            Some(custom) => Arc::new(Kind { custom: Some(custom), ..(**kind).clone() }),
            None => Arc::clone(kind),
        }
    }

    /// Returns the definition of a custom resource: the mirrored object, or else the document.
    fn definition(&self, name: &str) -> Option<Value> {
        let mut collections = self.collections.iter().filter(|one| is_definitions(&one.resource));
        if let Some(mirrored) = collections.find_map(|collection| collection.get("", name)) {
            return mirrored.object.parse().ok();
        }
        let body = self.documents.get(format!("{DEFINITIONS}{name}").as_str())?;
        serde_json::from_slice(body).ok()
    }
}

/// Returns whether the objects of a resource are the definitions of custom resources.
pub(super) fn is_definitions(resource: &ApiResource) -> bool {
    resource.group == "apiextensions.k8s.io" && resource.resource == "customresourcedefinitions"
}
