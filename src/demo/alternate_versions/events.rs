//! Events of the group `events.k8s.io`.

use serde_json::Value;

use crate::server::source::{Conversion, Kind};

/// Field names of the core group and of this group.
const FIELD_NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Returns the resource.
pub(super) fn kind(verbs: &'static [&'static str]) -> Kind {
    Kind {
        group: "events.k8s.io".into(),
        version: "v1".into(),
        plural: "events".into(),
        singular: "event".into(),
        kind: "Event".into(),
        namespaced: true,
        short_names: vec!["ev".into()],
        categories: Vec::new(),
        subresources: Vec::new(),
        verbs,
        custom: None,
        conversion: Some(Conversion(convert)),
    }
}

/// Converts an object from the core group.
pub(super) fn convert(event: &mut Value) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, own) in FIELD_NAMES {
        if let Some(value) = map.remove(core) {
            map.insert(own.to_owned(), value);
        }
    }
    // The core group includes these even when they are empty.
    for name in ["reportingController", "reportingInstance"] {
        if map.get(name).is_some_and(|value| value == "") {
            map.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_converts_to_its_group() {
        let mut event = json!({
            "metadata": {"name": "e", "namespace": "n"}, "involvedObject": {"kind": "Pod", "name": "p"},
            "message": "m", "count": 2, "reportingInstance": "", "type": "Normal", "eventTime": null, "reportingComponent": "kubelet",
        });
        convert(&mut event);
        assert_eq!(
            event,
            json!({
                "metadata": {"name": "e", "namespace": "n"},
                "regarding": {"kind": "Pod", "name": "p"}, "note": "m", "deprecatedCount": 2, "type": "Normal",
                "eventTime": null, "reportingController": "kubelet",
            })
        );
    }
}
