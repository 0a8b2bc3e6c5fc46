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

/// Returns whether a word names a resource: by plural, kind or short name, possibly with a group.
pub(in crate::session) fn names(word: &str, resource: &ApiResource) -> bool {
    let (name, group) = word.split_once('.').unwrap_or((word, ""));
    let long = SHORT_NAMES
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(name))
        .map_or(name, |(_, long)| *long);
    // A version may precede the group.
    let is_group = |group: &str| group == resource.group;
    let has_group = group.is_empty()
        || is_group(group)
        || group.split_once('.').is_some_and(|(_, group)| is_group(group));
    is_word_of(long, resource) && has_group
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
}
