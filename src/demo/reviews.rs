//! The questions that clients ask before they act: may I, who am I. Nobody is refused anything here, and they are told so.

use serde_json::{Value, json};

use super::kinds::Kind;

/// group, plural, kind, whether namespaced.
const REVIEWS: [(&str, &str, &str, bool); 5] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", false),
    ("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", true),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false),
    ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", false),
];

/// The reviews as resources, for discovery. They can be created only, and nothing of them is kept.
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    REVIEWS.into_iter().map(|(group, plural, kind, namespaced)| Kind {
        group: group.into(),
        version: "v1".into(),
        plural: plural.into(),
        singular: kind.to_lowercase(),
        kind: kind.into(),
        namespaced,
        short_names: Vec::new(),
        categories: Vec::new(),
        subresources: Vec::new(),
        custom: None,
    })
}

/// Whether a resource is a review.
pub(super) fn is_one(kind: &Kind) -> bool {
    kind.group.starts_with("authentication.") || kind.group.starts_with("authorization.")
}

/// The answer to a review; nothing where there is none of that group and plural.
pub(super) fn answer(group: &str, plural: &str, asked: &Value) -> Option<Value> {
    let (_, _, kind, _) = REVIEWS.iter().find(|(own, name, ..)| *own == group && *name == plural)?;
    let any = ["*"];
    let status = match *kind {
        "SelfSubjectReview" => {
            // As whom a server treats those who come through a door without a lock.
            json!({"userInfo": {"username": "system:unsecured", "groups": ["system:masters", "system:authenticated"]}})
        }
        "SelfSubjectRulesReview" => json!({
            "incomplete": false,
            "resourceRules": [{"verbs": any, "apiGroups": any, "resources": any}],
            "nonResourceRules": [{"verbs": any, "nonResourceURLs": any}],
        }),
        _ => json!({"allowed": true}),
    };
    let mut answer =
        json!({"kind": kind, "apiVersion": format!("{group}/v1"), "metadata": {}, "status": status});
    if asked["spec"].is_object() {
        answer["spec"] = asked["spec"].clone();
    }
    Some(answer)
}
