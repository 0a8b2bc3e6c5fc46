//! Masking of Secrets: the values that are secret, and their replacement.

use kdelta::diff::{ChangePath, PathStep};
use kdelta::object::{ApiResource, FieldPath};

/// The replacement of a hidden value.
pub(crate) const MASK: &str = "***";

/// The secret fields: the data, and its copy in kubectl's last-applied annotation.
const SECRET_FIELDS: [&[&str]; 3] = [
    &["data"],
    &["stringData"],
    &["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"],
];

/// Whether the path leads to a secret value, or to one that contains it, in an object of that resource.
pub(crate) fn is_secret_at(resource: &ApiResource, path: &FieldPath) -> bool {
    let leads_to = |place: &[&str]| {
        let mut rest = path.cursor();
        for name in place {
            if rest.is_at_end() {
                return true;
            }
            let Some(next) = rest.member(name) else { return false };
            rest = next;
        }
        true
    };
    is_secret(resource) && SECRET_FIELDS.iter().any(|place| leads_to(place))
}

/// Whether a changed path leads to a secret value, or to one that contains it.
pub(crate) fn is_secret_change(resource: &ApiResource, path: &ChangePath<'_>) -> bool {
    let is_on_the_way = |(step, name): (&PathStep<'_>, &&str)| match step {
        PathStep::Member(member) => **member == **name,
        PathStep::Element { .. } => true,
    };
    is_secret(resource)
        && SECRET_FIELDS.iter().any(|place| path.steps().iter().zip(place.iter()).all(is_on_the_way))
}

fn is_secret(resource: &ApiResource) -> bool {
    resource.group.is_empty() && resource.resource == "secrets"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str) -> ApiResource {
        ApiResource {
            group: group.into(),
            version: "v1".into(),
            resource: plural.into(),
            kind: "X".into(),
            namespaced: true,
        }
    }

    #[test]
    fn paths_to_secret_data_and_its_parents_are_secret() {
        let secrets = resource("", "secrets");
        let is_secret = |text: &str| is_secret_at(&secrets, &FieldPath::parse(text).expect(text));
        let applied = "metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']";
        for text in ["data", "data.token", "stringData.x", "data[*]", "*", "*.token", "metadata", applied] {
            assert!(is_secret(text), "{text}");
        }
        for text in ["metadata.annotations", "metadata.annotations.*", "metadata.*"] {
            assert!(is_secret(text), "{text}");
        }
        for text in ["type", "metadata.name", "metadata.annotations.a", "metadata.labels", "immutable"] {
            assert!(!is_secret(text), "{text}");
        }
        let path = FieldPath::parse("data.token").expect("a path");
        for (group, plural) in [("", "configmaps"), ("example.com", "secrets")] {
            assert!(!is_secret_at(&resource(group, plural), &path), "{plural} of {group:?}");
        }
    }
}
