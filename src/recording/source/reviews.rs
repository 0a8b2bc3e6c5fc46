//! Access reviews: every client may read everything that is served, and change nothing.

use http::Response;
use serde_json::{Value, json};

use super::kinds::Origin;
use crate::server::api_error::ApiError;
use crate::server::http::request::ApiRequest;
use crate::server::http::response::{self, Body, JSON};
use crate::wire::protobuf;

/// The verbs that are allowed.
const READ: [&str; 3] = ["get", "list", "watch"];

/// Returns the response to an access review, or `None` if there is no review with this group and plural.
pub(super) fn respond(
    group: &str,
    plural: &str,
    request: &ApiRequest,
    origin: Origin,
) -> Option<Response<Body>> {
    let body = &request.body.bytes;
    let spec = match request.content_type.as_str() {
        JSON => {
            serde_json::from_slice::<Value>(body).map(|review| review["spec"].clone()).unwrap_or_default()
        }
        other if protobuf::is_media_type(other) => spec_of_protobuf(body).unwrap_or_default(),
        _ => return Some(response::error_response(&ApiError::unsupported_media_type())),
    };
    result(group, plural, &spec, origin).map(|result| response::json(201, &result))
}

/// Returns the attributes in the specification of a `SelfSubjectAccessReview` as JSON: the result depends on
/// nothing else.
fn spec_of_protobuf(body: &[u8]) -> Option<Value> {
    let review = member(body.strip_prefix(protobuf::MAGIC)?, 2)?;
    let spec = member(review, 2)?;
    let attributes = [("resourceAttributes", 1), ("nonResourceAttributes", 2)];
    let (name, attributes) = attributes.into_iter().find_map(|(name, at)| Some((name, member(spec, at)?)))?;
    Some(json!({name: {"verb": std::str::from_utf8(member(attributes, 2)?).ok()?}}))
}

fn member(message: &[u8], number: u64) -> Option<&[u8]> {
    protobuf::member(message, number).ok().flatten()
}

fn result(group: &str, plural: &str, spec: &Value, origin: Origin) -> Option<Value> {
    let (kind, status) = match (group, plural) {
        ("authentication.k8s.io", "selfsubjectreviews") => {
            ("SelfSubjectReview", json!({"userInfo": {"username": "kdelta:reader"}}))
        }
        ("authorization.k8s.io", "selfsubjectrulesreviews") => (
            "SelfSubjectRulesReview",
            json!({
                "incomplete": false,
                "resourceRules": [{"verbs": READ, "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
            }),
        ),
        ("authorization.k8s.io", "selfsubjectaccessreviews") => {
            let attributes = ["resourceAttributes", "nonResourceAttributes"];
            let verb = attributes.iter().find_map(|name| spec[name]["verb"].as_str()).unwrap_or_default();
            let mut status = json!({"allowed": READ.contains(&verb)});
            if !READ.contains(&verb) {
                status["reason"] = origin.write_refusal().into();
            }
            ("SelfSubjectAccessReview", status)
        }
        _ => return None,
    };
    let mut result =
        json!({"kind": kind, "apiVersion": format!("{group}/v1"), "metadata": {}, "status": status});
    if spec.is_object() {
        result["spec"] = spec.clone();
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::protobuf::testing::{envelope, field};

    #[test]
    fn only_reads_are_allowed() {
        let allowed = |verb: &str| {
            let spec = json!({"resourceAttributes": {"verb": verb, "resource": "pods"}});
            let result = result("authorization.k8s.io", "selfsubjectaccessreviews", &spec, Origin::Recording)
                .expect("a result");
            assert_eq!(result["spec"], spec);
            result["status"]["allowed"].as_bool().expect("a boolean")
        };
        assert!(["get", "list", "watch"].into_iter().all(allowed));
        assert!(!["create", "delete", "patch", "*", ""].into_iter().any(allowed));
        assert!(result("authorization.k8s.io", "pods", &json!({}), Origin::Recording).is_none());
    }

    #[test]
    fn verbs_of_protobuf_are_read() {
        let attributes = [field(1, b"default"), field(2, b"list"), field(5, b"pods")].concat();
        for (name, at) in [("resourceAttributes", 1), ("nonResourceAttributes", 2)] {
            let review = [field(1, b""), field(2, &field(at, &attributes))].concat();
            let body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", &review);
            assert_eq!(spec_of_protobuf(&body), Some(json!({name: {"verb": "list"}})));
            for end in 0..body.len() {
                // A truncated body is not a review, and never causes a panic.
                let _read = spec_of_protobuf(&body[..end]);
            }
        }
    }
}
