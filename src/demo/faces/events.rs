//! Events as the group `events.k8s.io` has them.

use serde_json::Value;

use crate::demo::kinds::Kind;

/// What the core group calls them, and what this group does.
const WORDS: [(&str, &str); 7] = [
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// The resource.
pub(super) fn kind() -> Kind {
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
        custom: None,
    }
}

/// Whether a resource is this one.
pub(super) fn is_it(kind: &Kind) -> bool {
    kind.group == "events.k8s.io"
}

/// From the words of the core group into those of this one.
pub(super) fn reword(event: &mut Value) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, own) in WORDS {
        if let Some(value) = map.remove(core) {
            map.insert(own.to_owned(), value);
        }
    }
    // What the core group says even where it is empty.
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
    fn an_event_is_told_in_the_words_of_the_group() {
        let mut event = json!({
            "metadata": {"name": "e", "namespace": "n"}, "involvedObject": {"kind": "Pod", "name": "p"},
            "message": "m", "count": 2, "reportingInstance": "", "type": "Normal", "eventTime": null, "reportingComponent": "kubelet",
        });
        reword(&mut event);
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
