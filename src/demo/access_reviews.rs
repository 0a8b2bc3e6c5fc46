//! Access reviews: the permissions and the identity of the client. The demo allows every request.

use serde_json::{Value, json};

use crate::server::source::Kind;

/// Group, plural, kind, whether namespaced.
const REVIEWS: [(&str, &str, &str, bool); 5] = [
    ("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", false),
    ("authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", true),
    ("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false),
    ("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", false),
];

/// Returns the reviews as resources for discovery. They can only be created and are not stored.
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
        verbs: &["create"],
        custom: None,
        conversion: None,
    })
}

/// Returns the response to a review, or `None` if there is none with this group and plural.
pub(super) fn respond(group: &str, plural: &str, request: &Value) -> Option<Value> {
    let (_, _, kind, _) = REVIEWS.iter().find(|(own, name, ..)| *own == group && *name == plural)?;
    let any = ["*"];
    let status = match *kind {
        "SelfSubjectReview" => {
            // The identity that a server assigns on its unsecured port.
            json!({"userInfo": {"username": "system:unsecured", "groups": ["system:masters", "system:authenticated"]}})
        }
        "SelfSubjectRulesReview" => json!({
            "incomplete": false,
            "resourceRules": [{"verbs": any, "apiGroups": any, "resources": any}],
            "nonResourceRules": [{"verbs": any, "nonResourceURLs": any}],
        }),
        _ => json!({"allowed": true}),
    };
    let mut response =
        json!({"kind": kind, "apiVersion": format!("{group}/v1"), "metadata": {}, "status": status});
    if request["spec"].is_object() {
        response["spec"] = request["spec"].clone();
    }
    Some(response)
}
