//! The resources that a word without a group may mean, as client-go's `RESTMapper` finds them. Pure.

use super::catalog::Catalog;
use crate::object::ApiResource;

impl Catalog {
    /// Returns the resources whose plural or singular name is the word, in any case, or whose short name it is, in
    /// order of preference: all groups and versions. Of several resources with the same short name, the first counts.
    ///
    /// client-go also assumes resources of list types: `podlists` with the kind `PodList` for each kind, and `lists` with
    /// the kind `List` in each version. No server has one.
    pub(super) fn mapped(&self, word: &str) -> Vec<ApiResource> {
        let is_name = self.resources.iter().any(|one| one.resource.resource == word || one.singular == word);
        let mut with_short_name =
            self.resources.iter().filter(|one| one.short_names.iter().any(|name| name == word));
        let (name, group) = match with_short_name.next().filter(|_| !is_name) {
            Some(found) => (found.resource.resource.as_str(), found.resource.group.as_str()),
            None => (word, ""),
        };
        let name = &*name.to_lowercase();
        let mut mapped: Vec<ApiResource> = Vec::new();
        for found in self.resources.iter().filter(|one| one.resource.group.starts_with(group)) {
            let own =
                (found.resource.resource == name || found.singular == name).then(|| found.resource.clone());
            let list = list_resource(&found.resource, name);
            for resource in own.into_iter().chain(list) {
                if !mapped.contains(&resource) {
                    mapped.push(resource);
                }
            }
        }
        mapped
    }
}

impl Catalog {
    /// Returns the resource of a kind, as manifests name it. A version is not needed in the core group, and a kind may be
    /// in lower case. Of several resources with the kind, the first counts.
    ///
    /// client-go also assumes list kinds: `PodList` for each kind, and `List` in each version.
    pub(super) fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<ApiResource> {
        let served = || {
            self.resources.iter().map(|found| &found.resource).filter(|resource| {
                resource.group == group && (version.is_empty() || resource.version == version)
            })
        };
        let own = served().find(|resource| resource.kind == kind || resource.kind.to_lowercase() == kind);
        own.cloned().or_else(|| {
            let element = kind.strip_suffix("List")?;
            let of = served().find(|resource| element.is_empty() || resource.kind == element)?;
            let list = list_resource(of, &kind.to_lowercase())?;
            Some(ApiResource { namespaced: of.namespaced && !element.is_empty(), ..list })
        })
    }
}

/// Returns the assumed resource of a kind's list type, if the name is its plural or singular.
fn list_resource(of: &ApiResource, name: &str) -> Option<ApiResource> {
    let element = name.strip_suffix("lists").or(name.strip_suffix("list"))?;
    let kind = if element.is_empty() { "" } else { &of.kind };
    (element == kind.to_lowercase()).then(|| ApiResource {
        group: of.group.clone(),
        version: of.version.clone(),
        resource: format!("{element}lists"),
        kind: format!("{kind}List"),
        namespaced: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::DiscoveredResource;

    fn resource(group: &str, version: &str, plural: &str, kind: &str, short: &[&str]) -> DiscoveredResource {
        DiscoveredResource {
            resource: ApiResource {
                group: group.into(),
                version: version.into(),
                resource: plural.into(),
                kind: kind.into(),
                namespaced: true,
            },
            singular: kind.to_lowercase(),
            short_names: short.iter().map(ToString::to_string).collect(),
            categories: Vec::new(),
            verbs: Vec::new(),
            preferred: false,
        }
    }

    #[test]
    fn words_map_as_in_client_go() {
        let catalog = Catalog::new(
            vec![
                resource("apps", "v1", "deployments", "Deployment", &["deploy"]),
                resource("events.k8s.io", "v1", "events", "Event", &["ev"]),
                resource("apps.example", "v1", "deployments", "Deployment", &["po"]),
                resource("apps.example", "v1beta1", "deployments", "Deployment", &[]),
                resource("", "v1", "pods", "Pod", &["po"]),
                resource("", "v1", "events", "Event", &["ev"]),
                resource("x.example", "v1", "po", "Po", &[]),
            ],
            Vec::new(),
        );
        let mapped = |word: &str| -> Vec<String> {
            let mapped = catalog.mapped(word);
            mapped.iter().map(|one| format!("{}/{}", one.api_version(), one.resource)).collect()
        };
        assert_eq!(mapped("events"), ["v1/events", "events.k8s.io/v1/events"]);
        assert_eq!(mapped("EVENT"), mapped("events"));
        assert_eq!(mapped("ev"), mapped("events"));
        let apps = ["apps/v1/deployments", "apps.example/v1/deployments", "apps.example/v1beta1/deployments"];
        assert_eq!(mapped("deploy"), apps, "the group of a short name is a prefix");
        assert_eq!(mapped("po"), ["x.example/v1/po"], "a name precedes a short name");
        assert_eq!(mapped("Deploy"), [""; 0], "short names are case-sensitive");
        assert_eq!(mapped("PodList"), ["v1/podlists"]);
        assert_eq!(mapped("lists").first().map(String::as_str), Some("v1/lists"));
        assert_eq!(catalog.mapped("podlist")[0].kind, "PodList");
    }

    #[test]
    fn kinds_map_as_in_client_go() {
        let catalog = Catalog::new(
            vec![
                resource("apps", "v1", "deployments", "Deployment", &[]),
                resource("apps", "v1beta1", "deployments", "Deployment", &[]),
                resource("", "v1", "pods", "Pod", &[]),
                resource("example", "v1", "policies", "Policy", &[]),
            ],
            Vec::new(),
        );
        let found = |group: &str, version: &str, kind: &str| {
            let found = catalog.of_kind(group, version, kind)?;
            Some(format!("{}/{} {}", found.api_version(), found.resource, found.namespaced))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found("apps", "v1beta1", "Deployment"), some("apps/v1beta1/deployments true"));
        assert_eq!(found("", "v1", "pod"), some("v1/pods true"));
        assert_eq!(found("", "", "Pod"), some("v1/pods true"));
        assert_eq!(found("", "v1", "PodList"), some("v1/podlists true"));
        assert_eq!(found("example", "v1", "PolicyList"), some("example/v1/policylists true"));
        assert_eq!(found("apps", "v1", "List"), some("apps/v1/lists false"));
        for (group, version, kind) in [
            ("", "v1", "POD"),
            ("", "v2", "Pod"),
            ("x", "v1", "Pod"),
            ("", "v1", "Deployment"),
            ("x", "v1", "List"),
        ] {
            assert_eq!(found(group, version, kind), None, "{group}/{version} {kind}");
        }
    }
}
