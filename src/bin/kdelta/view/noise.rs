//! Fields that change with most updates and carry no information.

use std::sync::LazyLock;

use kdelta::object::{FieldPath, JsonValue};

const NOISE: [&[&str]; 5] = [
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
    &["metadata", "annotations", "control-plane.alpha.kubernetes.io/leader"],
    &["status", "conditions", "lastHeartbeatTime"],
    &["spec", "renewTime"],
];

/// Returns the paths of these fields.
pub(super) fn paths() -> &'static [FieldPath] {
    // They are created once, because each update of an object needs them.
    static PATHS: LazyLock<Vec<FieldPath>> =
        LazyLock::new(|| NOISE.iter().map(|names| FieldPath::of_names(names.iter().copied())).collect());
    &PATHS
}

/// Removes these fields from an object.
pub(crate) fn remove_noise(object: &mut JsonValue<'_>) {
    for path in NOISE {
        remove(object, path);
    }
}

/// Removes the member at the end of a path, in each element of the lists on the way.
fn remove(value: &mut JsonValue<'_>, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    match value {
        JsonValue::Array(elements) => elements.iter_mut().for_each(|element| remove(element, path)),
        JsonValue::Object(members) if rest.is_empty() => members.retain(|(name, _)| name != first),
        JsonValue::Object(members) => {
            if let Some((_, value)) = members.iter_mut().find(|(name, _)| name == first) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_removed_also_within_lists() {
        let json = br#"{"metadata":{"name":"n","resourceVersion":"7"},"spec":{"renewTime":"x"},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"x"},7],"x":1}}"#;
        let mut object = JsonValue::parse(json);
        remove_noise(&mut object);
        let rest =
            br#"{"metadata":{"name":"n"},"spec":{},"status":{"conditions":[{"type":"Ready"},7],"x":1}}"#;
        assert_eq!(object, JsonValue::parse(rest));
    }
}
