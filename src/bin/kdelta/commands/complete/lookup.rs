//! Completion values that must be looked up in the kubeconfig or the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use kdelta::api::Catalog;

use kdelta::object::{ApiResource, Object, path_segment_problems};
use kdelta::wire::DiscoveredResource;
use kdelta::wire::{IncludeObject, Representation};

use super::completion::{Candidate, Completion, ValueSource};
use super::field_path::PathStyle;
use crate::commands::explain;
use crate::commands::index::is_of_secrets;
use crate::session::{
    Cluster, Session, index_function, keyring, kubeconfig_names, namespaces, needs_body, recorded_contexts,
};
use crate::settings::{IndexName, Settings};
use crate::view::explain::Field;

/// The namespaces of a line.
pub(super) struct Scope {
    /// Whether all namespaces are selected.
    pub(super) is_everywhere: bool,
    /// The namespaces; empty for that of the context.
    pub(super) namespaces: Vec<String>,
}

/// Looks up the candidates for the end of a line.
///
/// # Errors
/// The configuration is missing or the cluster does not respond. Errors of a single type are ignored.
pub(super) async fn look_up(
    scope: &Scope,
    completion: &Completion,
    settings: &Settings,
) -> anyhow::Result<Vec<Candidate>> {
    let plain = |names: Vec<String>| names.into_iter().map(Candidate::new).collect();
    let names = || kubeconfig_names(&settings.connection);
    match &completion.source {
        ValueSource::Contexts => {
            let recorded = settings
                .recording
                .as_ref()
                .map(|recording| recorded_contexts(&recording.dir, &keyring(&settings.recording_keys)?));
            return Ok(plain(recorded.unwrap_or_else(|| Ok(names()?.names))?));
        }
        ValueSource::Clusters => return Ok(plain(names()?.clusters)),
        ValueSource::Users => return Ok(plain(names()?.users)),
        _ => {}
    }
    let session = Session::open(settings, |_| {}, |_| {}).await?;
    // With several contexts, the first is used.
    let cluster = session.cluster();
    let lookup = Lookup { scope, cluster, is_demo: settings.demo.is_some() };
    let catalog = || cluster.discovery().catalog();
    let listable = |catalog: &Catalog, each: fn(&DiscoveredResource) -> &[String]| {
        let all: BTreeSet<&String> = catalog.resources().iter().flat_map(each).collect();
        all.into_iter().map(Candidate::new).collect()
    };
    Ok(match &completion.source {
        ValueSource::Types => types(&*catalog().await?, &completion.typed),
        ValueSource::Fields { of, api_version } => {
            let fields = explain::fields(cluster.discovery(), of, api_version.as_deref()).await?;
            fields.into_iter().map(|field| Candidate::with_help(field.name, field.type_name)).collect()
        }
        ValueSource::ObjectFields { types, path, style } => lookup.fields(types, path, *style).await,
        ValueSource::Versions => {
            let versions: BTreeSet<String> =
                catalog().await?.resources().iter().map(|found| found.resource.api_version()).collect();
            versions.into_iter().map(Candidate::new).collect()
        }
        ValueSource::Groups => {
            listable(&*catalog().await?, |found| std::slice::from_ref(&found.resource.group))
        }
        ValueSource::Verbs => listable(&*catalog().await?, |found| &found.verbs),
        ValueSource::Categories => listable(&*catalog().await?, |found| &found.categories),
        ValueSource::Namespaces => {
            let all = cluster.first_page(&namespaces(), "", Representation::Metadata).await?;
            names_of(&all)
        }
        ValueSource::Names { types, taken } => {
            let mut names = lookup.names(types).await;
            names.retain(|name| !taken.contains(&name.value));
            names
        }
        ValueSource::Labels(types) => lookup.keys(types, "/metadata/labels").await,
        ValueSource::Annotations(types) => lookup.keys(types, "/metadata/annotations").await,
        ValueSource::Values(index, types) => lookup.values(index, types).await,
        ValueSource::Fixed(_)
        | ValueSource::Files
        | ValueSource::Contexts
        | ValueSource::Clusters
        | ValueSource::Users => Vec::new(),
    })
}

/// Returns the listable types, each under its shortest unambiguous name. Short names, categories and full names are
/// added only once part of the name is typed, to keep the list short.
fn types(catalog: &Catalog, typed: &str) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut seen = BTreeSet::new();
    for found in catalog.preferred().filter(|found| found.can("list")) {
        let resource = &found.resource;
        let help = format!("{}, {}", resource.kind, resource.api_version());
        let mut names = Vec::new();
        if seen.insert(resource.resource.clone()) {
            names.push(resource.resource.clone());
        } else {
            names.push(resource.group_resource());
        }
        if typed.contains('.') {
            names.push(resource.group_resource());
        }
        if !typed.is_empty() {
            names.extend(found.short_names.iter().filter(|name| seen.insert((*name).clone())).cloned());
            candidates.extend(found.categories.iter().map(|name| Candidate::with_help(name, "Category")));
        }
        candidates.extend(names.into_iter().map(|name| Candidate::with_help(name, help.as_str())));
    }
    candidates
}

/// The namespaces of a line and the cluster to query for it.
struct Lookup<'a> {
    scope: &'a Scope,
    cluster: &'a Cluster,
    is_demo: bool,
}

impl Lookup<'_> {
    /// Returns the first objects of these types in the namespaces of the line.
    async fn objects(&self, types: &[ApiResource], representation: Representation) -> Vec<Arc<Object>> {
        let mut objects = Vec::new();
        for resource in types {
            for namespace in self.scopes(resource) {
                let found = self.cluster.first_page(resource, &namespace, representation).await;
                objects.extend(found.unwrap_or_default());
            }
        }
        objects
    }

    async fn resources(&self, types: &[String]) -> Vec<ApiResource> {
        let mut resources = Vec::new();
        for word in types {
            let found = self.cluster.discovery().resolve(word).await;
            resources.extend(found.unwrap_or_default().into_iter().map(|found| found.resource));
        }
        resources
    }

    /// Returns the namespaces that the line selects; an empty one means all namespaces or a cluster-scoped type.
    fn scopes(&self, resource: &ApiResource) -> Vec<String> {
        let Scope { is_everywhere, namespaces } = self.scope;
        match () {
            () if !resource.namespaced || *is_everywhere => vec![String::new()],
            () if namespaces.is_empty() => vec![self.cluster.default_namespace().to_owned()],
            () => namespaces.clone(),
        }
    }

    /// Returns the fields that objects of any of these types have below a path.
    async fn fields(&self, types: &[String], path: &[String], style: PathStyle) -> Vec<Candidate> {
        let mut fields = Vec::new();
        for resource in self.resources(types).await {
            let found = explain::fields_below(self.cluster.discovery(), &resource, path).await;
            fields.extend(found.unwrap_or_default());
        }
        fields.into_iter().map(|field| candidate(field, style)).collect()
    }

    /// Returns names of objects. With `-A`, namespaced objects can't be requested by name.
    async fn names(&self, types: &[String]) -> Vec<Candidate> {
        let mut types = self.resources(types).await;
        types.retain(|resource| !(resource.namespaced && self.scope.is_everywhere));
        if !self.is_demo {
            let found = self.objects(&types, Representation::Table(IncludeObject::None)).await;
            return names_of(&found);
        }
        // Names given by controllers differ in the next demo.
        let mut found = self.objects(&types, Representation::Metadata).await;
        found.retain(|object| keys(object, "/metadata/ownerReferences/0").is_empty());
        names_of(&found)
    }

    async fn keys(&self, types: &[String], path: &str) -> Vec<Candidate> {
        let objects = self.objects(&self.resources(types).await, Representation::Metadata).await;
        objects.iter().flat_map(|object| keys(object, path)).map(Candidate::new).collect()
    }

    async fn values(&self, index: &IndexName, types: &[String]) -> Vec<Candidate> {
        let Ok(function) = index_function(index, &Arc::default()) else { return Vec::new() };
        let representation =
            if needs_body(index) { Representation::Objects } else { Representation::Metadata };
        let mut resources = self.resources(types).await;
        // A shell displays candidates and keeps the line in its history.
        resources.retain(|resource| !is_of_secrets(index, resource));
        let mut values = BTreeSet::new();
        for object in self.objects(&resources, representation).await {
            // Other objects may have a value where this one has none.
            let _ = function.visit(&object, &mut |value| {
                values.insert(value.to_owned());
            });
        }
        if *index == IndexName::Owner {
            // Owners are also indexed by uid, which users do not type.
            values.retain(|value| value.contains('/'));
        }
        values.into_iter().map(Candidate::new).collect()
    }
}

/// Returns a field with the text that a path needs after it.
fn candidate(field: Field, style: PathStyle) -> Candidate {
    let Field { name, type_name, is_list, is_map, has_fields } = field;
    let candidate = Candidate::with_help(name, type_name);
    match style.brackets.filter(|_| is_list) {
        // Only kubectl's paths have to go on.
        Some(_) if has_fields && !style.ends_anywhere => candidate.and_then("[*]."),
        Some(brackets) => candidate.and_then(brackets),
        None if has_fields && !style.ends_anywhere => candidate.and_then("."),
        None if has_fields || is_map => candidate.and_then(""),
        None if style.end.is_empty() => candidate,
        None => candidate.and_then(style.end),
    }
}

/// Returns the names that are valid in a request path.
fn names_of(objects: &[Arc<Object>]) -> Vec<Candidate> {
    let names = objects.iter().map(|object| object.name());
    names.filter(|name| path_segment_problems(name).is_empty()).map(Candidate::new).collect()
}

/// Returns the keys of the map at a JSON pointer.
fn keys(object: &Object, path: &str) -> Vec<String> {
    let Ok(body) = object.parse::<serde_json::Value>() else { return Vec::new() };
    let map = body.pointer(path).and_then(serde_json::Value::as_object);
    map.map(|map| map.keys().cloned().collect()).unwrap_or_default()
}
