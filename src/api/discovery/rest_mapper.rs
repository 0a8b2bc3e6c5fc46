//! The resources that a word means, as client-go's `RESTMapper` finds them. Pure.

use super::catalog::Catalog;
use crate::object::ApiResource;
use crate::wire::DiscoveredResource;

/// A resource as typed: `deploy`, `deployments.apps`, `deployments.v1.apps`. Parts that are not given are empty.
#[derive(Clone, Copy)]
struct Partial<'a> {
    name: &'a str,
    version: &'a str,
    group: &'a str,
}

impl<'a> Partial<'a> {
    /// Reads `NAME[.GROUP]`.
    fn in_group(text: &'a str) -> Self {
        let (name, group) = text.split_once('.').unwrap_or((text, ""));
        Self { name, version: "", group }
    }

    /// Reads `NAME.VERSION.GROUP`, whose group may be empty; `None` if there are fewer dots.
    fn in_version(text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once('.')?;
        let (version, group) = rest.split_once('.')?;
        Some(Self { name, version, group })
    }
}

impl Catalog {
    /// Returns the resource that a word means, in the preferred version unless the word names another: by its plural or
    /// singular name in any case, by a short name, or by its kind with the exact group. A group may be the start of one;
    /// an exact group counts first.
    ///
    /// client-go ignores the version after a short name. Here it counts if the server has the resource in it.
    pub(super) fn mapping(&self, text: &str) -> Option<&DiscoveredResource> {
        let (versioned, plain) = (Partial::in_version(text), Partial::in_group(text));
        let by_name = versioned.and_then(|partial| self.first_named(partial));
        by_name
            .or_else(|| self.first_named(plain))
            .or_else(|| versioned.and_then(|partial| self.first_of_kind(partial)))
            .or_else(|| self.first_of_kind(plain))
    }

    fn first_named(&self, partial: Partial<'_>) -> Option<&DiscoveredResource> {
        let expanded = self.expand(partial);
        self.named(Partial { version: partial.version, ..expanded }).or_else(|| self.named(expanded))
    }

    /// Returns the first resource with that plural or singular name in any case, one of the exact group if there is one.
    fn named(&self, partial: Partial<'_>) -> Option<&DiscoveredResource> {
        let Partial { name, version, group } = partial;
        let name = name.to_lowercase();
        let is_named = |one: &&DiscoveredResource| {
            (one.resource.resource == name || singular(one) == name)
                && (version.is_empty() || one.resource.version == version)
        };
        let exact = self.resources.iter().filter(|one| group.is_empty() || one.resource.group == group);
        // With a version, only the exact group counts.
        let by_prefix =
            self.resources.iter().filter(|one| version.is_empty() && one.resource.group.starts_with(group));
        exact.chain(by_prefix).find(is_named)
    }

    /// Returns the first resource of that kind, given as it is written or in lower case, in exactly that group.
    fn first_of_kind(&self, partial: Partial<'_>) -> Option<&DiscoveredResource> {
        let Partial { name, version, group } = partial;
        self.resources.iter().find(|one| {
            let ApiResource { kind, .. } = &one.resource;
            (kind == name || kind.to_lowercase() == name)
                && one.resource.group == group
                && (version.is_empty() || one.resource.version == version)
        })
    }

    /// Replaces a short name by the plural name and the group of its resource. A plural or singular name is no short
    /// name. Of several resources with a short name the first counts, those of the exact group before others.
    fn expand<'a>(&'a self, partial: Partial<'a>) -> Partial<'a> {
        if self.is_name(partial) {
            return partial;
        }
        if let Some(found) = self.with_short_name(partial).next() {
            let ApiResource { resource, group, .. } = &found.resource;
            return Partial { name: resource, version: "", group };
        }
        let by_prefix = self.resources.iter().find(|one| {
            !partial.group.is_empty()
                && one.resource.group.starts_with(partial.group)
                && one.short_names.iter().any(|short| short == partial.name)
        });
        match by_prefix {
            Some(found) => {
                Partial { name: &found.resource.resource, group: &found.resource.group, ..partial }
            }
            None => partial,
        }
    }

    /// Whether the word is the plural or singular name of a resource, in that group if there is one.
    fn is_name(&self, partial: Partial<'_>) -> bool {
        self.resources.iter().any(|one| {
            (partial.group.is_empty() || one.resource.group == partial.group)
                && (one.resource.resource == partial.name || one.singular == partial.name)
        })
    }

    /// Returns the resources with that short name, in exactly that group if there is one.
    fn with_short_name<'a>(&'a self, partial: Partial<'a>) -> impl Iterator<Item = &'a DiscoveredResource> {
        self.resources.iter().filter(move |one| {
            (partial.group.is_empty() || one.resource.group == partial.group)
                && one.short_names.iter().any(|short| short == partial.name)
        })
    }

    /// Returns the resources of other groups that a short name could mean as well, as `group_resource`; empty for
    /// other words.
    #[must_use]
    pub fn alternatives(&self, text: &str) -> Vec<String> {
        let word = Partial::in_group(text);
        let mut found = self.with_short_name(word);
        let Some(first) = found.next().filter(|_| !self.is_name(word) && !self.is_category(text)) else {
            return Vec::new();
        };
        let mut others: Vec<String> = Vec::new();
        for other in found.filter(|other| !other.same_resource(first)) {
            let name = other.resource.group_resource();
            if !others.contains(&name) {
                others.push(name);
            }
        }
        others
    }

    /// Returns the resources whose plural or singular name is the word, in any case, or whose short name it is, in
    /// order of preference: all groups and versions. Of several resources with the same short name, the first counts.
    ///
    /// client-go also assumes resources of list types: `podlists` with the kind `PodList` for each kind, and `lists` with
    /// the kind `List` in each version. No server has one.
    pub(super) fn mapped(&self, word: &str) -> Vec<ApiResource> {
        let Partial { name, group, .. } = self.expand(Partial { name: word, version: "", group: "" });
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

/// Returns the singular name. Servers that do not send one mean the kind.
fn singular(found: &DiscoveredResource) -> String {
    if found.singular.is_empty() { found.resource.kind.to_lowercase() } else { found.singular.clone() }
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

    #[test]
    fn words_mean_what_they_mean_in_kubectl() {
        let mut hpa =
            resource("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", &["hpa"]);
        hpa.singular = "horizontalpodautoscaler".into();
        let mut newer = hpa.clone();
        newer.resource.version = "v2".into();
        let mut odd = resource("odd.example", "v1", "things", "OddKind", &[]);
        odd.singular = "thing".into();
        let catalog = Catalog::new(
            vec![
                resource("", "v1", "pods", "Pod", &["po"]),
                resource("", "v1", "services", "Service", &["svc"]),
                resource("apps", "v1", "deployments", "Deployment", &["deploy"]),
                newer,
                hpa,
                resource("mesh.example", "v1", "services", "Service", &["svc"]),
                resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", &["sc"]),
                odd,
            ],
            Vec::new(),
        );
        for (word, expected) in [
            ("pods", Some("v1/pods")),
            ("PODS", Some("v1/pods")),
            ("Pod", Some("v1/pods")),
            ("pods.v1.", Some("v1/pods")),
            ("pods.v1", None),
            ("po", Some("v1/pods")),
            ("PO", None),
            ("DEPLOY", None),
            ("deploy.v1beta1.apps", Some("apps/v1/deployments")),
            ("deployments.v1.apps", Some("apps/v1/deployments")),
            // client-go looks `v1beta1.apps` up as a group then.
            ("deployments.v1beta1.apps", None),
            ("deployment.apps", Some("apps/v1/deployments")),
            ("deployments.app", Some("apps/v1/deployments")),
            ("deploy.app", Some("apps/v1/deployments")),
            ("deployments.v1.app", None),
            ("hpa", Some("autoscaling/v2/horizontalpodautoscalers")),
            ("hpa.v1.autoscaling", Some("autoscaling/v1/horizontalpodautoscalers")),
            ("svc", Some("v1/services")),
            ("services.mesh", Some("mesh.example/v1/services")),
            ("svc.mesh.example", Some("mesh.example/v1/services")),
            ("storageclass.storage", Some("storage.k8s.io/v1/storageclasses")),
            ("things", Some("odd.example/v1/things")),
            ("OddKind", None),
            ("OddKind.odd.example", Some("odd.example/v1/things")),
            ("oddkind.v1.odd.example", Some("odd.example/v1/things")),
            ("ODDKIND.odd.example", None),
            ("OddKind.odd", None),
            ("", None),
        ] {
            let found = catalog.mapping(word).map(|one| &one.resource);
            let found = found.map(|one| format!("{}/{}", one.api_version(), one.resource));
            assert_eq!(found.as_deref(), expected, "{word}");
        }
        assert_eq!(catalog.alternatives("svc"), ["services.mesh.example"]);
        assert_eq!(catalog.alternatives("SVC"), [""; 0]);
    }
}
