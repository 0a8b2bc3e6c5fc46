//! Access reviews: every client may read everything that is served, and change nothing.

#[cfg(test)]
mod tests;

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
        let member = |message, number| protobuf::member(message, number).ok();
        let review = member(body.strip_prefix(protobuf::MAGIC)?, 2)?.unwrap_or_default();
        let Some(spec) = member(review, 2)? else { return Some(Value::Null) };
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

/// Returns the error of an invalid field. It names no kind, like that of a real server.
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

/// Returns the text fields of a message as an object, or `None` if they are malformed.
fn texts(message: &[u8], fields: &[(&str, u64)]) -> Option<Value> {
    let mut read = Map::new();
    for (name, number) in fields {
        if let Some(value) = protobuf::member(message, *number).ok()? {
            read.insert((*name).to_owned(), std::str::from_utf8(value).ok()?.into());
        }
    }
    Some(read.into())
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
