//! Types and resources.

use std::sync::Arc;

use super::names::{is_dns_label, is_dns_subdomain};

/// The groups of the API server's own types.
#[cfg(any(feature = "cel", feature = "serve"))]
const BUILT_IN_GROUPS: [&str; 24] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Returns whether the API server itself has types in a group. Those of other groups are custom resources or served
/// by an aggregated API server.
#[cfg(any(feature = "cel", feature = "serve"))]
pub(crate) fn is_built_in_group(group: &str) -> bool {
    BUILT_IN_GROUPS.contains(&group)
}

/// The `apiVersion` and `kind` of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypeMeta {
    /// `v1`, `apps/v1`, …
    pub api_version: String,
    /// `Pod`, `Deployment`, …
    pub kind: String,
}

/// A resource that a server offers, as discovery returns it, with everything that a request path needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApiResource {
    /// API group; empty for the core group.
    pub group: String,
    /// The API version within the group.
    pub version: String,
    /// The plural name in paths (client-go: `Resource` of a `GroupVersionResource`).
    pub resource: String,
    /// The kind of its objects.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl ApiResource {
    /// Returns the resource of a type of `k8s-openapi`, without a request to the server. The application chooses the
    /// version of the types by a feature of `k8s-openapi`, or implements its traits for the type of a custom resource.
    /// [`Object::parse`](super::Object::parse) decodes the objects.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Node};
    /// use kdelta::object::ApiResource;
    ///
    /// let deployments = ApiResource::of::<Deployment>();
    /// assert_eq!((deployments.group_resource(), deployments.namespaced), ("deployments.apps".to_owned(), true));
    /// assert!(!ApiResource::of::<Node>().namespaced);
    /// ```
    #[cfg(feature = "k8s-openapi")]
    #[must_use]
    pub fn of<K>() -> Self
    where
        K: k8s_openapi::ListableResource,
        K::Scope: 'static,
    {
        use std::any::TypeId;
        Self {
            group: K::GROUP.to_owned(),
            version: K::VERSION.to_owned(),
            resource: K::URL_PATH_SEGMENT.to_owned(),
            kind: K::KIND.to_owned(),
            namespaced: TypeId::of::<K::Scope>() == TypeId::of::<k8s_openapi::NamespaceResourceScope>(),
        }
    }

    /// Whether group, version and plural name are DNS names, as Kubernetes requires: only then they can stand in a URL.
    /// The group of the core is empty.
    #[must_use]
    pub fn has_valid_names(&self) -> bool {
        (self.group.is_empty() || is_dns_subdomain(&self.group))
            && is_dns_label(&self.version)
            && is_dns_label(&self.resource)
    }

    /// Returns `v1` or `group/version`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns the type of this resource's objects.
    #[must_use]
    pub fn type_meta(&self) -> Arc<TypeMeta> {
        Arc::new(TypeMeta { api_version: self.api_version(), kind: self.kind.clone() })
    }

    /// Returns `pods` or `deployments.apps`, the name of the resource in messages of the server and kubectl.
    #[must_use]
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    /// Returns `pod` or `deployment.apps`, which kubectl prints before `/name`.
    #[must_use]
    pub fn group_kind_lower(&self) -> String {
        let kind = self.kind.to_lowercase();
        if self.group.is_empty() { kind } else { format!("{kind}.{}", self.group) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_group_has_no_name_in_any_form() {
        let pods = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        };
        assert_eq!(
            (pods.api_version(), pods.group_resource(), pods.group_kind_lower()),
            ("v1".into(), "pods".into(), "pod".into())
        );
        let deployments = ApiResource {
            group: "apps".into(),
            resource: "deployments".into(),
            kind: "Deployment".into(),
            ..pods
        };
        assert_eq!(deployments.api_version(), "apps/v1");
        assert_eq!(deployments.group_resource(), "deployments.apps");
        assert_eq!(deployments.group_kind_lower(), "deployment.apps");
    }
}
