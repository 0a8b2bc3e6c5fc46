//! The words for types, as far as they show which type they name without discovery.

use kdelta::object::ApiResource;

/// The usual short names of the built-in types. Those of other types are in discovery documents, which take long to read.
const SHORT_NAMES: [(&str, &str); 22] = [
    ("cj", "cronjobs"),
    ("cm", "configmaps"),
    ("crd", "customresourcedefinitions"),
    ("deploy", "deployments"),
    ("ds", "daemonsets"),
    ("ep", "endpoints"),
    ("ev", "events"),
    ("hpa", "horizontalpodautoscalers"),
    ("ing", "ingresses"),
    ("limits", "limitranges"),
    ("netpol", "networkpolicies"),
    ("no", "nodes"),
    ("ns", "namespaces"),
    ("pdb", "poddisruptionbudgets"),
    ("po", "pods"),
    ("pv", "persistentvolumes"),
    ("pvc", "persistentvolumeclaims"),
    ("quota", "resourcequotas"),
    ("rs", "replicasets"),
    ("sa", "serviceaccounts"),
    ("sts", "statefulsets"),
    ("svc", "services"),
];

/// Returns whether a word is the plural or the kind of a resource.
pub(in crate::session) fn is_word_of(word: &str, resource: &ApiResource) -> bool {
    word.eq_ignore_ascii_case(&resource.resource) || word.eq_ignore_ascii_case(&resource.kind)
}

/// Returns whether a word names a resource: by plural, kind or usual short name, possibly with a group.
pub(in crate::session) fn names(word: &str, resource: &ApiResource) -> bool {
    names_by(word, resource, &[])
}

/// As [`names`], with other names of the resource.
pub(super) fn names_by(word: &str, resource: &ApiResource, other_names: &[String]) -> bool {
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    let long = SHORT_NAMES
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(name))
        .map_or(name, |(_, long)| *long);
    let has_group = group.is_empty() || group == resource.group || version_in(word, resource).is_some();
    has_group
        && (is_word_of(long, resource) || other_names.iter().any(|other| other.eq_ignore_ascii_case(name)))
}

/// Returns the version that a word has between the name of a resource and its group.
pub(super) fn version_in<'a>(word: &'a str, resource: &ApiResource) -> Option<&'a str> {
    let (_, rest) = word.split_once('.').filter(|(_, rest)| *rest != resource.group)?;
    rest.split_once('.').filter(|(_, group)| *group == resource.group).map(|(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployments() -> ApiResource {
        let [group, version, resource, kind] = ["apps", "v1", "deployments", "Deployment"].map(str::to_owned);
        ApiResource { group, version, resource, kind, namespaced: true }
    }

    #[test]
    fn types_are_named_by_plural_and_kind() {
        for word in ["deployments", "deployment", "Deployment"] {
            assert!(is_word_of(word, &deployments()), "{word}");
        }
        for word in ["deploy", "deployments.apps", "deployment/web", ""] {
            assert!(!is_word_of(word, &deployments()), "{word}");
        }
    }

    #[test]
    fn resources_are_named_by_plural_kind_short_name_and_group() {
        let deployments = deployments();
        for word in ["deployments", "deployment", "deploy", "deployments.apps", "deployments.v1.apps"] {
            assert!(names(word, &deployments), "{word}");
        }
        for word in ["pods", "all", "deployments.example.com"] {
            assert!(!names(word, &deployments), "{word}");
        }
        let core = ApiResource { group: String::new(), ..deployments };
        for (word, is_named) in [("deploy", true), ("deploy.v1.", true), ("deploy.metrics.k8s.io", false)] {
            assert_eq!(names(word, &core), is_named, "{word}");
        }
    }

    #[test]
    fn version_precedes_the_group() {
        let deployments = deployments();
        for (word, version) in [
            ("deployments", None),
            ("deployments.apps", None),
            ("deployments.v1.apps", Some("v1")),
            ("deployments.v1.example.com", None),
        ] {
            assert_eq!(version_in(word, &deployments), version, "{word}");
        }
        let core = ApiResource { group: String::new(), ..deployments };
        assert_eq!(version_in("deploy.v1.", &core), Some("v1"));
    }
}
