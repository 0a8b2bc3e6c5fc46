//! Content negotiation: the representation that the `Accept` header requests.

use super::query::Query;
use crate::server::api_error::ApiError;
use crate::wire::IncludeObject;

/// The form of the objects in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseForm {
    Objects,
    /// `PartialObjectMetadata`.
    Metadata,
    /// Table rows, each with this part of its object.
    Table(IncludeObject),
}

/// Returns the first supported representation in the `Accept` header, or complete objects without the header.
///
/// # Errors
/// No representation in the header is supported, or `includeObject` is invalid.
pub(crate) fn representation(accept: Option<&str>, query: &Query) -> Result<ResponseForm, ApiError> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok(ResponseForm::Objects);
    };
    match accept.split(',').find_map(supported) {
        Some(ResponseForm::Table(_)) => Ok(ResponseForm::Table(include(query.text("includeObject"))?)),
        Some(representation) => Ok(representation),
        None => Err(ApiError::not_acceptable()),
    }
}

fn include(text: &str) -> Result<IncludeObject, ApiError> {
    match text {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "None" => Ok(IncludeObject::None),
        "Object" => Ok(IncludeObject::Object),
        "Identity" => Ok(IncludeObject::Identity),
        other => Err(ApiError::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be \
             'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

fn supported(clause: &str) -> Option<ResponseForm> {
    let (media_type, parameters) = clause.split_once(';').unwrap_or((clause, ""));
    if !["application/json", "application/*", "*/*"].contains(&media_type.trim()) {
        return None;
    }
    match (parameter(parameters, "as"), parameter(parameters, "v")) {
        (None, _) => Some(ResponseForm::Objects),
        (Some("Table"), Some("v1" | "v1beta1") | None) => Some(ResponseForm::Table(IncludeObject::Metadata)),
        (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), Some("v1") | None) => {
            Some(ResponseForm::Metadata)
        }
        _ => None,
    }
}

/// Returns the requested version of aggregated discovery, or `None` for unaggregated documents.
pub(crate) fn aggregated(accept: Option<&str>) -> Option<&'static str> {
    accept.unwrap_or_default().split(',').find_map(|clause| {
        let parameters = clause.split_once(';')?.1;
        let is_aggregated = parameter(parameters, "as") == Some("APIGroupDiscoveryList");
        ["v2", "v2beta1"]
            .into_iter()
            .find(|version| is_aggregated && parameter(parameters, "v") == Some(version))
    })
}

fn parameter<'a>(parameters: &'a str, name: &str) -> Option<&'a str> {
    let pairs = parameters.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().find(|(own, _)| *own == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_supported_representation_is_selected() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        for (accept, query, expected) in [
            (None, "", Some(ResponseForm::Objects)),
            (Some("*/*"), "", Some(ResponseForm::Objects)),
            (Some("application/vnd.kubernetes.protobuf,application/json"), "", Some(ResponseForm::Objects)),
            (Some("application/vnd.kubernetes.protobuf"), "", None),
            (
                Some("application/json;as=Foo;v=v1;g=meta.k8s.io, application/json"),
                "",
                Some(ResponseForm::Objects),
            ),
            (
                Some("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
                "",
                Some(ResponseForm::Metadata),
            ),
            (Some(table), "", Some(ResponseForm::Table(IncludeObject::Metadata))),
            (Some(table), "includeObject=None", Some(ResponseForm::Table(IncludeObject::None))),
            (Some(table), "includeObject=Foo", None),
            (Some("application/json"), "includeObject=Foo", Some(ResponseForm::Objects)),
        ] {
            assert_eq!(representation(accept, &Query::parse(query)).ok(), expected, "{accept:?} {query}");
        }
    }

    #[test]
    fn aggregated_discovery_is_requested_by_name() {
        let both = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(aggregated(Some(both)), Some("v2"));
        assert_eq!(aggregated(Some("application/json")), None);
    }
}
