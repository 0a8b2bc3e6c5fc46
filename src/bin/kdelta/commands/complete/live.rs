//! The values that only the kubeconfig or the cluster knows.

use std::collections::BTreeSet;
use std::sync::Arc;

use kdelta::api::{Catalog, Discovered, IncludeObject, Representation};
use kdelta::object::{ApiResource, Object, path_segment_problems};

use super::line::Line;
use super::wanted::{Candidate, Wanted, What};
use crate::commands::index::is_of_secrets;
use crate::session::{Cluster, Session, index_function, kubeconfig_names, namespaces, needs_body};
use crate::settings::{IndexName, Settings};

/// Looks up what is wanted at the end of a line.
///
/// # Errors
/// There is no configuration, or no answer. What a single type fails with is passed over.
pub(super) async fn look_up(
    line: &Line<'_>,
    wanted: &Wanted,
    settings: &Settings,
) -> anyhow::Result<Vec<Candidate>> {
    let plain = |names: Vec<String>| names.into_iter().map(Candidate::new).collect();
    let names = || kubeconfig_names(&settings.connection);
    match &wanted.what {
        What::Contexts => return Ok(plain(names()?.names)),
        What::Clusters => return Ok(plain(names()?.clusters)),
        What::Users => return Ok(plain(names()?.users)),
        _ => {}
    }
    let session = Session::open(settings, |_| {}, |_| {}).await?;
    // Of several contexts the first has to do.
    let cluster = session.cluster();
    let asked = Asked { line, cluster, is_demo: settings.demo.is_some() };
    let catalog = || cluster.discovery().catalog();
    let listable = |catalog: &Catalog, each: fn(&Discovered) -> &[String]| {
        let all: BTreeSet<&String> = catalog.resources().iter().flat_map(each).collect();
        all.into_iter().map(Candidate::new).collect()
    };
    Ok(match &wanted.what {
        What::Types => types(&*catalog().await?, &wanted.typed),
        What::Groups => listable(&*catalog().await?, |found| std::slice::from_ref(&found.resource.group)),
        What::Verbs => listable(&*catalog().await?, |found| &found.verbs),
        What::Categories => listable(&*catalog().await?, |found| &found.categories),
        What::Namespaces => {
            let all = cluster.first_page(&namespaces(), "", Representation::Metadata).await?;
            names_of(&all)
        }
        What::Names { types, taken } => {
            let mut names = asked.names(types).await;
            names.retain(|name| !taken.contains(&name.value));
            names
        }
        What::Labels(types) => asked.keys(types, "/metadata/labels").await,
        What::Annotations(types) => asked.keys(types, "/metadata/annotations").await,
        What::Values(index, types) => asked.values(index, types).await,
        What::Fixed(_) | What::Files | What::Contexts | What::Clusters | What::Users => Vec::new(),
    })
}

/// The types that can be listed, each under the shortest name that means it. Short names, categories and names with
/// their group only where some of them is typed: alone they would be a wall of words.
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

/// A line, and whom to ask about it.
struct Asked<'a> {
    line: &'a Line<'a>,
    cluster: &'a Cluster,
    is_demo: bool,
}

impl Asked<'_> {
    /// The first objects of these types, where the line looks for them.
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

    fn is_everywhere(&self) -> bool {
        self.line.flag_value("all_namespaces").is_some()
    }

    /// The namespaces that the line looks in; the empty one is all of them, or none.
    fn scopes(&self, resource: &ApiResource) -> Vec<String> {
        if !resource.namespaced || self.is_everywhere() {
            return vec![String::new()];
        }
        let given = self.line.flag_value("namespace").unwrap_or_default();
        let given: Vec<_> = given.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if given.is_empty() { vec![self.cluster.default_namespace().to_owned()] } else { given }
    }

    /// Names of objects. With `-A` those that live in namespaces can't be asked for by name.
    async fn names(&self, types: &[String]) -> Vec<Candidate> {
        let mut types = self.resources(types).await;
        types.retain(|resource| !(resource.namespaced && self.is_everywhere()));
        if !self.is_demo {
            let found = self.objects(&types, Representation::Table(IncludeObject::None)).await;
            return names_of(&found);
        }
        // The next demo is another one: what a controller has named has another name there.
        let mut found = self.objects(&types, Representation::Metadata).await;
        found.retain(|object| keys(object, "/metadata/ownerReferences/0").is_empty());
        names_of(&found)
    }

    async fn keys(&self, types: &[String], path: &str) -> Vec<Candidate> {
        let objects = self.objects(&self.resources(types).await, Representation::Metadata).await;
        objects.iter().flat_map(|object| keys(object, path)).map(Candidate::new).collect()
    }

    async fn values(&self, index: &IndexName, types: &[String]) -> Vec<Candidate> {
        let Ok(function) = index_function(index) else { return Vec::new() };
        let representation =
            if needs_body(index) { Representation::Objects } else { Representation::Metadata };
        let mut resources = self.resources(types).await;
        // A shell shows what is offered, and keeps the line.
        resources.retain(|resource| !is_of_secrets(index, resource));
        let mut values = BTreeSet::new();
        for object in self.objects(&resources, representation).await {
            // What one object has no value for, another may.
            let _ = function.visit(&object, &mut |value| {
                values.insert(value.to_owned());
            });
        }
        if *index == IndexName::Owner {
            // An owner is held under its uid too, which nobody types.
            values.retain(|value| value.contains('/'));
        }
        values.into_iter().map(Candidate::new).collect()
    }
}

/// The names that a request can carry.
fn names_of(objects: &[Arc<Object>]) -> Vec<Candidate> {
    let names = objects.iter().map(|object| object.name());
    names.filter(|name| path_segment_problems(name).is_empty()).map(Candidate::new).collect()
}

/// The keys of what stands at a place in an object.
fn keys(object: &Object, path: &str) -> Vec<String> {
    let Ok(body) = object.parse::<serde_json::Value>() else { return Vec::new() };
    let map = body.pointer(path).and_then(serde_json::Value::as_object);
    map.map(|map| map.keys().cloned().collect()).unwrap_or_default()
}
