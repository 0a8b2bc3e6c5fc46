//! The Kubernetes version of a server.

use serde::{Deserialize, Serialize};

use super::catalog::is_built_in;
use crate::object::ApiResource;

/// The version of Kubernetes that a server behaves as, ordered by version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerVersion {
    /// `1`.
    pub major: u32,
    /// `33` of `1.33`.
    pub minor: u32,
}

impl ServerVersion {
    /// Returns whether a server of this version serves every page of a list of the resource from memory (KEP-4988).
    /// The servers of other groups are unknown, and events are read from etcd.
    #[must_use]
    pub fn has_pages_in_memory(self, resource: &ApiResource) -> bool {
        self >= Self { major: 1, minor: 34 } && is_built_in(&resource.group) && resource.resource != "events"
    }
}

/// The response to `/version`. Fields that the server does not send are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct VersionInfo {
    /// `1`.
    pub major: String,
    /// `33` of `1.33`; some providers write `33+`.
    pub minor: String,
    /// The major version that a newer server emulates during a staged upgrade (KEP-4330).
    pub emulation_major: String,
    /// The minor version that a newer server emulates.
    pub emulation_minor: String,
    /// The major version of the oldest release that the server is compatible with.
    pub min_compatibility_major: String,
    /// The minor version of the oldest release that the server is compatible with.
    pub min_compatibility_minor: String,
    /// The whole version: `v1.33.1-eks-1`.
    pub git_version: String,
    /// The commit that the server was built from.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// The time of the build.
    pub build_date: String,
    /// The version of Go.
    pub go_version: String,
    /// The Go compiler.
    pub compiler: String,
    /// `linux/amd64`.
    pub platform: String,
}

impl VersionInfo {
    /// Returns the version that the server behaves as; `None` if it is not stated in numbers.
    pub(super) fn version(&self) -> Option<ServerVersion> {
        let parse = |major: &str, minor: &str| {
            // Some providers write `33+`.
            let minor = minor.trim_end_matches(|char: char| !char.is_ascii_digit());
            Some(ServerVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
        };
        parse(&self.emulation_major, &self.emulation_minor).or_else(|| parse(&self.major, &self.minor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulated_version_is_the_servers_version() {
        let version = |text: &str| serde_json::from_str::<VersionInfo>(text).expect("a response").version();
        let expected = |minor| Some(ServerVersion { major: 1, minor });
        assert_eq!(version(r#"{"major":"1","minor":"36","gitVersion":"v1.36.3"}"#), expected(36));
        assert_eq!(version(r#"{"major":"1","minor":"33+","gitVersion":"v1.33.1-eks-1"}"#), expected(33));
        assert_eq!(
            version(r#"{"major":"1","minor":"34","emulationMajor":"1","emulationMinor":"32"}"#),
            expected(32)
        );
        for unknown in ["{}", r#"{"major":"","minor":""}"#, r#"{"major":"1","minor":"x"}"#] {
            assert_eq!(version(unknown), None, "{unknown}");
        }
        assert!(expected(9) < expected(33));
    }

    #[test]
    fn pages_in_memory_depend_on_version_and_resource() {
        let of = |minor, group: &str, plural: &str| {
            let (group, resource) = (group.to_owned(), plural.to_owned());
            let resource =
                ApiResource { group, version: "v1".into(), resource, kind: "K".into(), namespaced: true };
            ServerVersion { major: 1, minor }.has_pages_in_memory(&resource)
        };
        assert_eq!([32, 33, 34].map(|minor| of(minor, "", "pods")), [false, false, true]);
        assert!(of(36, "apps", "deployments") && of(36, "networking.k8s.io", "ingresses"));
        for (group, plural) in [
            ("", "events"),
            ("events.k8s.io", "events"),
            ("metrics.k8s.io", "pods"),
            ("example.com", "widgets"),
        ] {
            assert!(!of(36, group, plural), "{plural}.{group}");
        }
    }
}
