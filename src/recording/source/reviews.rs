//! Access reviews: every client may read everything that is served, and change nothing.

use http::Response;
use serde_json::{Map, Value, json};

use super::kinds::{READ, RecordedKinds};
use crate::server::api_error::{ApiError, Cause};
use crate::server::http::request::ApiRequest;
use crate::server::http::response::{self, Body, JSON};
use crate::wire::protobuf;

/// The kinds of the attributes of an access review. Exactly one is in its specification.
const ATTRIBUTES: [&str; 2] = ["resourceAttributes", "nonResourceAttributes"];

/// The type of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Review {
    /// The identity of the client.
    Subject,
    /// All rules of a namespace.
    Rules,
    /// One request.
    Access,
}

impl Review {
    fn of(group: &str, plural: &str) -> Option<Self> {
        match (group, plural) {
            ("authentication.k8s.io", "selfsubjectreviews") => Some(Self::Subject),
            ("authorization.k8s.io", "selfsubjectrulesreviews") => Some(Self::Rules),
            ("authorization.k8s.io", "selfsubjectaccessreviews") => Some(Self::Access),
            _ => None,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Subject => "SelfSubjectReview",
            Self::Rules => "SelfSubjectRulesReview",
            Self::Access => "SelfSubjectAccessReview",
        }
    }

    /// Reads the specification in a body; null if it has none.
    fn spec(self, content_type: &str, body: &[u8]) -> Result<Value, ApiError> {
        if content_type == JSON {
            let mut review: Value = serde_json::from_slice(body).map_err(|error| {
                self.undecodable(&format!("couldn't get version/kind; json parse error: {error}"))
            })?;
            let spec = review.as_object_mut().map(|review| review.remove("spec").unwrap_or_default());
            return spec.ok_or_else(|| self.undecodable("the body is not an object"));
        }
        if !protobuf::is_media_type(content_type) {
            return Err(ApiError::unsupported_media_type());
        }
        self.spec_of_protobuf(body).ok_or_else(|| self.undecodable("malformed protobuf"))
    }

    /// Returns the members of the specification on which the result depends as JSON.
    fn spec_of_protobuf(self, body: &[u8]) -> Option<Value> {
        let Some(spec) = member(member(body.strip_prefix(protobuf::MAGIC)?, 2)?.unwrap_or_default(), 2)?
        else {
            return Some(Value::Null);
        };
        match self {
            Self::Subject => Some(Value::Null),
            Self::Rules => texts(spec, &[("namespace", 1)]),
            Self::Access => {
                let fields: [&[(&str, u64)]; 2] = [
                    &[
                        ("namespace", 1),
                        ("verb", 2),
                        ("group", 3),
                        ("version", 4),
                        ("resource", 5),
                        ("subresource", 6),
                        ("name", 7),
                    ],
                    &[("path", 1), ("verb", 2)],
                ];
                let mut read = Map::new();
                for ((name, number), fields) in ATTRIBUTES.into_iter().zip(1..).zip(fields) {
                    if let Some(attributes) = member(spec, number)? {
                        read.insert(name.to_owned(), texts(attributes, fields)?);
                    }
                }
                Some(read.into())
            }
        }
    }

    fn undecodable(self, why: &str) -> ApiError {
        let kind = self.kind();
        ApiError::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why}"))
    }

    /// Returns the result of a review.
    fn status(self, spec: &Value, kinds: &RecordedKinds) -> Result<Value, ApiError> {
        match self {
            Self::Subject => Ok(json!({"userInfo": {"username": "kdelta:reader"}})),
            Self::Rules if text(spec, "namespace").is_empty() => {
                Err(ApiError::bad_request("no namespace on request"))
            }
            Self::Rules => Ok(rules(kinds)),
            Self::Access => {
                let denial = self.denial(spec, kinds)?;
                let mut status = json!({"allowed": denial.is_none()});
                if let Some(reason) = denial {
                    status["reason"] = reason.into();
                }
                Ok(status)
            }
        }
    }

    /// Returns the reason why a request is denied; `None` if it is allowed.
    fn denial(self, spec: &Value, kinds: &RecordedKinds) -> Result<Option<String>, ApiError> {
        let [resource, other] = ATTRIBUTES.map(|name| Some(&spec[name]).filter(|own| !own.is_null()));
        if [resource, other].into_iter().flatten().any(|attributes| !attributes.is_object()) {
            return Err(self.undecodable("the attributes are not an object"));
        }
        match (resource, other) {
            (Some(attributes), None) => Ok(denial_of_resource(attributes, kinds)),
            (None, Some(attributes)) => {
                let is_read = READ.contains(&text(attributes, "verb"));
                Ok((!is_read).then(|| kinds.origin.write_refusal().to_owned()))
            }
            (None, None) => Err(invalid(
                "spec.resourceAttributes",
                &Value::Null,
                "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            )),
            (Some(_), Some(other)) => Err(invalid(
                "spec.nonResourceAttributes",
                other,
                "cannot be specified in combination with resourceAttributes",
            )),
        }
    }
}

/// A real server names no kind in this error.
fn invalid(field: &str, value: &Value, why: &str) -> ApiError {
    ApiError::invalid_of("authorization.k8s.io", "", "", &[Cause::invalid_value(field, value, why)])
}

/// Returns the response to a review, or `None` if there is no review with this group and plural.
pub(super) fn respond(
    group: &str,
    plural: &str,
    request: &ApiRequest,
    kinds: &RecordedKinds,
) -> Option<Response<Body>> {
    let review = Review::of(group, plural)?;
    let result = review.spec(&request.content_type, &request.body.bytes).and_then(|spec| {
        let status = review.status(&spec, kinds)?;
        let version = format!("{group}/v1");
        let mut result =
            json!({"kind": review.kind(), "apiVersion": version, "metadata": {}, "status": status});
        if spec.is_object() {
            result["spec"] = spec;
        }
        Ok(result)
    });
    Some(match result {
        Ok(result) => response::json(201, &result),
        Err(error) => response::error_response(&error),
    })
}

/// Returns the rules that allow reads of everything that is served.
fn rules(kinds: &RecordedKinds) -> Value {
    let rule = |verbs: &[&str], group: &str, resource: &str| json!({"verbs": verbs, "apiGroups": [group], "resources": [resource]});
    let mut rules = Vec::new();
    for kind in kinds.all.iter().filter(|kind| kind.is_readable()) {
        rules.push(rule(READ, &kind.group, &kind.plural));
        if (kind.group.as_str(), kind.plural.as_str()) == ("", "pods") {
            rules.push(rule(&["get"], "", "pods/log"));
        }
    }
    json!({
        "incomplete": false, "resourceRules": rules,
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
    })
}

/// Returns the reason why a request for a resource is denied; `None` if it is allowed. Logs may be requested: the message
/// of their refusal is clearer than that of a client without permission.
fn denial_of_resource(attributes: &Value, kinds: &RecordedKinds) -> Option<String> {
    let [verb, group, version, resource, subresource] =
        ["verb", "group", "version", "resource", "subresource"].map(|name| text(attributes, name));
    let is_log = (subresource, verb) == ("log", "get");
    if let Some(refusal) = kinds.origin.subresource_refusal(group, resource, subresource)
        && !is_log
    {
        return Some(refusal);
    }
    if !READ.contains(&verb) {
        return Some(kinds.origin.write_refusal().to_owned());
    }
    if !kinds.is_readable(group, version, resource) {
        return Some(kinds.missing_reason(group, resource));
    }
    match subresource {
        "" | "*" | "status" => None,
        "log" if is_log && group.is_empty() && ["pods", "*"].contains(&resource) => None,
        other => Some(kinds.missing_reason(group, &format!("{resource}/{other}"))),
    }
}

/// Returns the last bytes field with that number. The outer option is `None` for a malformed message.
fn member(message: &[u8], number: u64) -> Option<Option<&[u8]>> {
    protobuf::member(message, number).ok()
}

/// Returns the text fields of a message as an object, or `None` if they are malformed.
fn texts(message: &[u8], fields: &[(&str, u64)]) -> Option<Value> {
    let mut read = Map::new();
    for (name, number) in fields {
        if let Some(value) = member(message, *number)? {
            read.insert((*name).to_owned(), std::str::from_utf8(value).ok()?.into());
        }
    }
    Some(read.into())
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::object::ApiResource;
    use crate::recording::source::kinds::Origin;
    use crate::wire::protobuf::testing::{envelope, field};

    /// Pods and events of the core group, and deployments.
    fn kinds() -> RecordedKinds {
        let resource = |group: &str, plural: &str, kind: &str| {
            let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
            Arc::new(ApiResource { group, version, resource, kind, namespaced: true })
        };
        let recorded = [
            resource("", "pods", "Pod"),
            resource("", "events", "Event"),
            resource("apps", "deployments", "Deployment"),
        ];
        RecordedKinds::read(&BTreeMap::new(), &recorded, Origin::Recording)
    }

    fn denial(attributes: &Value) -> Option<String> {
        Review::Access.denial(&json!({"resourceAttributes": attributes}), &kinds()).expect("valid")
    }

    #[test]
    fn only_reads_are_allowed() {
        let of = |verb: &str| denial(&json!({"verb": verb, "resource": "pods"}));
        assert!(["get", "list", "watch"].into_iter().all(|verb| of(verb).is_none()));
        for verb in ["create", "delete", "patch", "*", ""] {
            assert_eq!(of(verb).as_deref(), Some("a recording is read-only"), "{verb}");
        }
        let path = |verb: &str| {
            let spec = json!({"nonResourceAttributes": {"verb": verb, "path": "/version"}});
            Review::Access.denial(&spec, &kinds()).expect("valid")
        };
        assert_eq!((path("get"), path("post").is_some()), (None, true));
    }

    #[test]
    fn only_recorded_types_are_allowed() {
        let missing = |name: &str| {
            Some(format!("{name} was not recorded: the recording has pods, events, deployments.apps"))
        };
        for (group, version, resource, expected) in [
            ("", "", "pods", None),
            ("", "v1", "pods", None),
            ("", "*", "pods", None),
            ("apps", "v1", "deployments", None),
            ("events.k8s.io", "v1", "events", None),
            ("*", "*", "*", None),
            ("", "", "*", None),
            ("*", "", "deployments", None),
            ("", "", "secrets", missing("secrets")),
            ("apps", "", "pods", missing("pods.apps")),
            ("batch", "", "*", missing("*.batch")),
            (
                "apps",
                "v1beta1",
                "deployments",
                Some("deployments.apps was recorded in version v1 only".to_owned()),
            ),
        ] {
            let attributes =
                json!({"verb": "list", "group": group, "version": version, "resource": resource});
            assert_eq!(denial(&attributes), expected, "{attributes}");
        }
    }

    #[test]
    fn subresources_are_allowed_as_far_as_their_requests_are_clear() {
        let of = |verb: &str, resource: &str, subresource: &str| {
            denial(&json!({"verb": verb, "resource": resource, "subresource": subresource}))
        };
        assert_eq!(of("get", "pods", "log"), None);
        assert_eq!(of("get", "pods", "status"), None);
        assert_eq!(of("get", "pods", "*"), None);
        assert_eq!(of("create", "pods", "log").as_deref(), Some("a recording has no logs"));
        assert_eq!(of("create", "pods", "exec").as_deref(), Some("a recording can't run commands"));
        assert_eq!(of("get", "pods", "exec").as_deref(), Some("a recording can't run commands"));
        assert_eq!(of("create", "pods", "eviction").as_deref(), Some("a recording is read-only"));
        assert!(of("get", "secrets", "log").is_some() && of("get", "pods", "scale").is_some());
    }

    #[test]
    fn rules_name_the_recorded_types() {
        let rules = Review::Rules.status(&json!({"namespace": "a"}), &kinds()).expect("rules");
        let rules = rules["resourceRules"].as_array().expect("rules").iter();
        let names: Vec<String> = rules
            .map(|rule| {
                format!(
                    "{} {}",
                    rule["resources"][0].as_str().unwrap(),
                    rule["apiGroups"][0].as_str().unwrap()
                )
            })
            .collect();
        assert_eq!(names, ["pods ", "pods/log ", "events ", "deployments apps", "events events.k8s.io"]);
        assert_eq!(Review::Rules.status(&json!({}), &kinds()).expect_err("no namespace").code, 400);
    }

    #[test]
    fn invalid_reviews_are_refused() {
        let code = |body: &str| {
            let spec = Review::Access.spec(JSON, body.as_bytes());
            spec.and_then(|spec| Review::Access.status(&spec, &kinds()))
                .map_or_else(|error| error.code, |_| 201)
        };
        for (body, expected) in [
            ("", 400),
            ("{", 400),
            ("[]", 400),
            ("{}", 422),
            (r#"{"spec": null}"#, 422),
            (r#"{"spec": {"resourceAttributes": null}}"#, 422),
            (r#"{"spec": {"resourceAttributes": {}, "nonResourceAttributes": {}}}"#, 422),
            (r#"{"spec": {"resourceAttributes": "pods"}}"#, 400),
            (r#"{"spec": {"resourceAttributes": {}}}"#, 201),
        ] {
            assert_eq!(code(body), expected, "{body}");
        }
        assert_eq!(Review::Access.spec("text/plain", b"{}").expect_err("another type").code, 415);
        let protobuf = "application/vnd.kubernetes.protobuf";
        assert_eq!(Review::Access.spec(protobuf, b"{}").expect_err("no protobuf").code, 400);
    }

    #[test]
    fn attributes_of_protobuf_are_read() {
        let pods = [
            field(1, b"default"),
            field(2, b"list"),
            field(3, b"apps"),
            field(4, b"v1"),
            field(5, b"deployments"),
            field(6, b"status"),
            field(7, b"web"),
        ]
        .concat();
        let expected = json!({
            "namespace": "default", "verb": "list", "group": "apps", "version": "v1", "resource": "deployments",
            "subresource": "status", "name": "web",
        });
        let path = [field(1, b"/version"), field(2, b"get")].concat();
        for (number, attributes, expected) in [
            (1, &pods, json!({"resourceAttributes": expected})),
            (2, &path, json!({"nonResourceAttributes": {"path": "/version", "verb": "get"}})),
        ] {
            let review = [field(1, b""), field(2, &field(number, attributes))].concat();
            let body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", &review);
            assert_eq!(Review::Access.spec_of_protobuf(&body), Some(expected));
            for end in 0..body.len() {
                // A truncated body is not a review, and never causes a panic.
                let _read = Review::Access.spec_of_protobuf(&body[..end]);
            }
        }
        let rules = [field(1, b""), field(2, &field(1, b"default"))].concat();
        let body = envelope("authorization.k8s.io/v1", "SelfSubjectRulesReview", &rules);
        assert_eq!(Review::Rules.spec_of_protobuf(&body), Some(json!({"namespace": "default"})));
    }
}
