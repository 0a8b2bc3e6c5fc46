//! What of a Secret is secret, and what people see instead.

use kdelta::diff::{ChangePath, PathStep};
use kdelta::object::{ApiResource, FieldPath};

/// What stands for a value that is not shown.
pub(crate) const MASK: &str = "***";

/// Where it is: the data, and the copy of it in what kubectl keeps of an object that was applied.
const PLACES: [&[&str]; 3] = [
    &["data"],
    &["stringData"],
    &["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"],
];

/// Whether what the path leads to in an object of that resource is, or holds, something secret.
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
    is_secret(resource) && PLACES.iter().any(|place| leads_to(place))
}

/// The same of the place of a change.
pub(crate) fn is_secret_change(resource: &ApiResource, path: &ChangePath<'_>) -> bool {
    let is_on_the_way = |(step, name): (&PathStep<'_>, &&str)| match step {
        PathStep::Member(member) => **member == **name,
        PathStep::Element { .. } => true,
    };
    is_secret(resource) && PLACES.iter().any(|place| path.steps().iter().zip(place.iter()).all(is_on_the_way))
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
    fn a_path_to_the_data_of_a_secret_or_to_what_holds_it_is_secret() {
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
