//! Discovery documents: aggregated, and per group version.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::server::source::Kind;

/// Returns the aggregated document of `/api` (the core group) or `/apis` (the others).
pub(super) fn aggregated(kinds: &[Arc<Kind>], core: bool, version: &str) -> Value {
    let groups = groups(kinds).into_iter().filter(|(group, _)| group.is_empty() == core);
    let items: Vec<Value> = groups
        .map(|(group, versions)| {
            let versions = versions.into_iter().map(|version| {
                let resources: Vec<Value> = of(kinds, &group, &version).map(aggregated_resource).collect();
                json!({"version": version, "resources": resources, "freshness": "Current"})
            });
            let versions: Vec<Value> = versions.collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    })
}

/// Returns the entry of a resource in the aggregated document.
pub(crate) fn aggregated_resource(kind: &Kind) -> Value {
    let response = |kind: &str| json!({"group": "", "version": "", "kind": kind});
    let mut resource = json!({
        "resource": kind.plural, "responseKind": response(&kind.kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular, "verbs": kind.verbs,
    });
    with_names(&mut resource, kind);
    let subresources = kind.subresources.iter().map(|name| {
        let (group, version, kind, verbs) = subresource(kind, name);
        json!({
            "subresource": name, "verbs": verbs,
            "responseKind": {"group": group, "version": version, "kind": kind},
        })
    });
    let subresources: Vec<Value> = subresources.collect();
    if !subresources.is_empty() {
        resource["subresources"] = subresources.into();
    }
    resource
}

/// Returns group, version, kind and verbs of a subresource; an empty group means the resource's own.
fn subresource<'a>(
    kind: &'a Kind,
    name: &str,
) -> (&'static str, &'static str, &'a str, &'static [&'static str]) {
    match name {
        "scale" => ("autoscaling", "v1", "Scale", &["get", "patch", "update"]),
        "eviction" => ("policy", "v1", "Eviction", &["create"]),
        "exec" => ("", "", "PodExecOptions", &["create", "get"]),
        "log" => ("", "", &kind.kind, &["get"]),
        _ => ("", "", &kind.kind, &["get", "patch", "update"]),
    }
}

fn with_names(resource: &mut Value, kind: &Kind) {
    if !kind.short_names.is_empty() {
        resource["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        resource["categories"] = kind.categories.clone().into();
    }
}

/// Returns the unaggregated `/api`.
pub(super) fn versions(address: &str) -> Value {
    let server = json!({"clientCIDR": "0.0.0.0/0", "serverAddress": address});
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [server]})
}

/// Returns the unaggregated `/apis`.
pub(super) fn group_list(kinds: &[Arc<Kind>]) -> Value {
    let named = groups(kinds).into_iter().filter(|(group, _)| !group.is_empty());
    let groups: Vec<Value> = named.map(|(group, versions)| group_entry(&group, &versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// Returns `/apis/GROUP`.
pub(super) fn group(kinds: &[Arc<Kind>], name: &str) -> Option<Value> {
    let (group, versions) = groups(kinds).into_iter().find(|(group, _)| group == name && !name.is_empty())?;
    let mut entry = group_entry(&group, &versions);
    entry["kind"] = "APIGroup".into();
    entry["apiVersion"] = "v1".into();
    Some(entry)
}

fn group_entry(group: &str, versions: &[String]) -> Value {
    let entry = |version: &String| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    let versions: Vec<Value> = versions.iter().map(entry).collect();
    json!({"name": group, "preferredVersion": versions.first(), "versions": versions})
}

/// Returns `/api/v1` or `/apis/GROUP/VERSION`.
pub(super) fn resource_list(kinds: &[Arc<Kind>], group: &str, version: &str) -> Option<Value> {
    let mut resources = Vec::new();
    for kind in of(kinds, group, version) {
        let mut resource = json!({
            "name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced,
            "kind": kind.kind, "verbs": kind.verbs,
        });
        with_names(&mut resource, kind);
        resources.push(resource);
        for name in &kind.subresources {
            let (group, version, own, verbs) = subresource(kind, name);
            let mut resource = json!({
                "name": format!("{}/{name}", kind.plural), "singularName": "", "namespaced": kind.namespaced,
                "kind": own, "verbs": verbs,
            });
            if !group.is_empty() {
                resource["group"] = group.into();
                resource["version"] = version.into();
            }
            resources.push(resource);
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    (!resources.is_empty()).then(|| {
        json!({
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources,
        })
    })
}

/// Returns the groups with their versions, preferred version first, in the order of definition.
pub(super) fn groups(kinds: &[Arc<Kind>]) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for kind in kinds {
        match groups.iter_mut().find(|(group, _)| *group == kind.group) {
            Some((_, versions)) if versions.contains(&kind.version) => {}
            Some((_, versions)) => versions.push(kind.version.clone()),
            None => groups.push((kind.group.clone(), vec![kind.version.clone()])),
        }
    }
    groups
}

fn of<'a>(kinds: &'a [Arc<Kind>], group: &'a str, version: &'a str) -> impl Iterator<Item = &'a Kind> {
    kinds.iter().map(AsRef::as_ref).filter(move |kind| kind.group == group && kind.version == version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::memory_source::core;

    #[test]
    fn both_discovery_forms_list_the_same_resources() {
        let kinds: [_; 4] =
            [("", "pods"), ("apps", "deployments"), ("apps", "replicasets"), ("batch", "jobs")]
                .map(|(group, plural)| Arc::new(Kind { group: group.into(), ..core(plural, "Any") }));
        let whole = aggregated(&kinds, false, "v2");
        for group in whole["items"].as_array().expect("groups") {
            let (name, version) =
                (group["metadata"]["name"].as_str().expect("a name"), &group["versions"][0]);
            let version_name = version["version"].as_str().expect("a version");
            let single = resource_list(&kinds, name, version_name).expect("a list");
            let plain = |list: &Value, key: &str| -> Vec<String> {
                let names = list["resources"].as_array().expect("resources").iter();
                let names = names.map(|one| one[key].as_str().expect("a name").to_owned());
                names.filter(|name| !name.contains('/')).collect()
            };
            assert_eq!(plain(version, "resource"), plain(&single, "name"));
        }
        assert_eq!(aggregated(&kinds, true, "v2")["items"].as_array().map(Vec::len), Some(1));
        assert!(group(&kinds, "apps").is_some() && group(&kinds, "nope").is_none());
        assert!(resource_list(&kinds, "apps", "v9").is_none());
    }
}
