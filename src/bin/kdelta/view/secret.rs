//! Masking of Secrets: the values that are secret, and their replacement.

use kdelta::diff::{ChangePath, PathStep};
use kdelta::object::{ApiResource, FieldPath};
use serde_json::Value;

/// The replacement of a hidden value.
pub(crate) const MASK: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";

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

/// Returns two states of a Secret as JSON with masked values; `None` for objects of other resources. As in `kubectl
/// diff`, a value that differs is marked as that before or after.
pub(crate) fn masked_states(resource: &ApiResource, old: &str, new: &str) -> Option<[String; 2]> {
    if !is_secret(resource) {
        return None;
    }
    let [mut old, mut new] = [(old, BEFORE), (new, AFTER)]
        .map(|(json, mask)| serde_json::from_str(json).unwrap_or_else(|_| Value::from(mask)));
    for field in SECRET_FIELDS {
        mask(at(&mut old, field), at(&mut new, field));
    }
    Some([old, new].map(|state| state.to_string()))
}

/// Returns the JSON of a Secret with masked values; `None` for objects of other resources.
pub(crate) fn masked_secret(resource: &ApiResource, json: &str) -> Option<String> {
    if !is_secret(resource) {
        return None;
    }
    let mut state = serde_json::from_str(json).unwrap_or_else(|_| Value::from(MASK));
    for field in SECRET_FIELDS {
        mask(at(&mut state, field), None);
    }
    Some(state.to_string())
}

fn at<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| value.get_mut(*name))
}

/// Masks the values of both states, which may be within objects.
fn mask(old: Option<&mut Value>, new: Option<&mut Value>) {
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for (_, value) in new.iter_mut().filter(|(name, _)| !old.contains_key(*name)) {
                mask(None, Some(value));
            }
            for (name, value) in old.iter_mut() {
                mask(Some(value), new.get_mut(name));
            }
        }
        (Some(Value::Object(only)), None) | (None, Some(Value::Object(only))) => {
            only.values_mut().for_each(|value| mask(Some(value), None));
        }
        (Some(old), Some(new)) if old == new => {
            *old = MASK.into();
            *new = MASK.into();
        }
        (Some(old), Some(new)) => {
            *old = BEFORE.into();
            *new = AFTER.into();
        }
        (Some(only), None) | (None, Some(only)) => *only = MASK.into(),
        (None, None) => {}
    }
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
    fn states_of_a_secret_show_which_values_differ() {
        let state = |data: Value, applied: &str| {
            serde_json::json!({"data": data, "type": "t", "metadata": {"annotations": {
                "a": "b", "kubectl.kubernetes.io/last-applied-configuration": applied}}})
            .to_string()
        };
        let old =
            state(serde_json::json!({"same": "s3cret", "changed": "s3cret", "gone": "s3cret"}), "s3cret");
        let new = state(
            serde_json::json!({"same": "s3cret", "changed": {"x": "s3cret2"}, "new": "s3cret"}),
            "s3cret",
        );
        let masked = masked_states(&resource("", "secrets"), &old, &new).expect("a Secret");
        assert_eq!(
            masked,
            [
                state(serde_json::json!({"same": "***", "changed": "*** (before)", "gone": "***"}), "***"),
                state(serde_json::json!({"same": "***", "changed": "*** (after)", "new": "***"}), "***"),
            ]
        );
        let masked =
            masked_states(&resource("", "secrets"), &old, "{\"data\":\"s3cret\"}").expect("a Secret");
        assert!(masked.iter().all(|state| !state.contains("s3cret")), "{masked:?}");
        let deep = format!("{}\"s3cret\"{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(
            masked_states(&resource("", "secrets"), &deep, "{}").expect("a Secret")[0],
            "\"*** (before)\""
        );
        assert_eq!(masked_states(&resource("", "configmaps"), &old, &new), None);
        assert_eq!(masked_secret(&resource("", "configmaps"), &old), None);
        let masked = masked_secret(&resource("", "secrets"), &old).expect("a Secret");
        assert!(masked.contains("***") && !masked.contains("s3cret"), "{masked}");
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
