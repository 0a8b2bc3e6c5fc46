//! Events of the core group and of the group `events.k8s.io`.

use serde_json::Value;

use crate::server::source::{Conversion, Kind};

/// Field names of the core group and of the group `events.k8s.io`.
const FIELD_NAMES: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Returns the resource of the group `events.k8s.io`, whose objects are stored in the core group.
pub(crate) fn group_events(verbs: &'static [&'static str]) -> Kind {
    kind("events.k8s.io", Conversion(to_group), verbs)
}

/// Returns the resource of the core group, whose objects are stored in the group `events.k8s.io`.
pub(crate) fn core_events(verbs: &'static [&'static str]) -> Kind {
    kind("", Conversion(to_core), verbs)
}

fn kind(group: &str, conversion: Conversion, verbs: &'static [&'static str]) -> Kind {
    Kind {
        group: group.into(),
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
        conversion: Some(conversion),
    }
}

/// Converts an object from the core group.
fn to_group(event: &mut Value) {
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

/// Converts an object to the core group.
fn to_core(event: &mut Value) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, own) in FIELD_NAMES {
        if let Some(value) = map.remove(own) {
            map.insert(core.to_owned(), value);
        }
    }
    for name in ["reportingComponent", "reportingInstance"] {
        map.entry(name).or_insert_with(|| "".into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_converts_to_its_group_and_back() {
        let mut event = json!({
            "metadata": {"name": "e", "namespace": "n"}, "involvedObject": {"kind": "Pod", "name": "p"},
            "message": "m", "count": 2, "reportingInstance": "", "type": "Normal", "eventTime": null, "reportingComponent": "kubelet",
        });
        let stored = event.clone();
        to_group(&mut event);
        assert_eq!(
            event,
            json!({
                "metadata": {"name": "e", "namespace": "n"},
                "regarding": {"kind": "Pod", "name": "p"}, "note": "m", "deprecatedCount": 2, "type": "Normal",
                "eventTime": null, "reportingController": "kubelet",
            })
        );
        to_core(&mut event);
        assert_eq!(event, stored);
    }
}
