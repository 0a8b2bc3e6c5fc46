//! Which form of its objects a client asks for.

use super::query::Query;
use crate::demo::api_error::ApiError;

/// The form of the objects of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::demo) enum Representation {
    Objects,
    /// `PartialObjectMetadata`.
    Metadata,
    /// Rows, and beside each so much of the object.
    Table(IncludeObject),
}

/// `includeObject`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::demo) enum IncludeObject {
    None,
    Metadata,
    Object,
}

/// The first form of the `Accept` header that there is; without a header, whole objects.
///
/// # Errors
/// There is none of them; `includeObject` is none of its values.
pub(in crate::demo) fn form(accept: Option<&str>, query: &Query) -> Result<Representation, ApiError> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Ok(Representation::Objects);
    };
    match accept.split(',').find_map(offered) {
        Some(Representation::Table(_)) => Ok(Representation::Table(include(query.text("includeObject"))?)),
        Some(form) => Ok(form),
        None => Err(ApiError::not_acceptable()),
    }
}

fn include(text: &str) -> Result<IncludeObject, ApiError> {
    match text {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "None" => Ok(IncludeObject::None),
        "Object" => Ok(IncludeObject::Object),
        other => Err(ApiError::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be \
             'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

fn offered(clause: &str) -> Option<Representation> {
    let (media_type, parameters) = clause.split_once(';').unwrap_or((clause, ""));
    if !["application/json", "application/*", "*/*"].contains(&media_type.trim()) {
        return None;
    }
    match (parameter(parameters, "as"), parameter(parameters, "v")) {
        (None, _) => Some(Representation::Objects),
        (Some("Table"), Some("v1" | "v1beta1") | None) => {
            Some(Representation::Table(IncludeObject::Metadata))
        }
        (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), Some("v1") | None) => {
            Some(Representation::Metadata)
        }
        _ => None,
    }
}

/// The version of the aggregated discovery that is asked for.
pub(in crate::demo) fn aggregated(accept: Option<&str>) -> Option<&'static str> {
    accept.unwrap_or_default().split(',').find_map(|clause| {
        let parameters = clause.split_once(';')?.1;
        let is_it = parameter(parameters, "as") == Some("APIGroupDiscoveryList");
        ["v2", "v2beta1"].into_iter().find(|version| is_it && parameter(parameters, "v") == Some(version))
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
    fn the_first_form_that_there_is_wins() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        for (accept, query, wanted) in [
            (None, "", Some(Representation::Objects)),
            (Some("*/*"), "", Some(Representation::Objects)),
            (Some("application/vnd.kubernetes.protobuf,application/json"), "", Some(Representation::Objects)),
            (Some("application/vnd.kubernetes.protobuf"), "", None),
            (
                Some("application/json;as=Foo;v=v1;g=meta.k8s.io, application/json"),
                "",
                Some(Representation::Objects),
            ),
            (
                Some("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
                "",
                Some(Representation::Metadata),
            ),
            (Some(table), "", Some(Representation::Table(IncludeObject::Metadata))),
            (Some(table), "includeObject=None", Some(Representation::Table(IncludeObject::None))),
            (Some(table), "includeObject=Foo", None),
            (Some("application/json"), "includeObject=Foo", Some(Representation::Objects)),
        ] {
            assert_eq!(form(accept, &Query::parse(query)).ok(), wanted, "{accept:?} {query}");
        }
    }

    #[test]
    fn aggregated_discovery_is_asked_for_by_its_name() {
        let both = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(aggregated(Some(both)), Some("v2"));
        assert_eq!(aggregated(Some("application/json")), None);
    }
}
