//! Label and field selectors of a request.

use super::selectable_fields;
use crate::object::{FieldSelector, LabelSelector};
use crate::server::api_error::ApiError;
use crate::server::http::accept::ResponseForm;
use crate::server::http::query::Query;
use crate::server::source::{Kind, ObjectData};
use crate::wire::IncludeObject;

/// The selection of objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// `None` for every namespace.
    pub(crate) namespace: Option<String>,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
    /// The resource, if a field must be computed before it can be compared.
    computed: Option<Kind>,
}

impl Selection {
    /// Parses the selectors of a request.
    ///
    /// # Errors
    /// Returns an error if a selector is invalid or names an unsupported field.
    pub(crate) fn read(query: &Query, kind: &Kind, namespace: Option<&str>) -> Result<Self, ApiError> {
        let invalid = |error: crate::object::SelectorError| ApiError::bad_request(error.to_string());
        let labels = LabelSelector::parse(query.text("labelSelector")).map_err(invalid)?;
        let fields = FieldSelector::parse(query.text("fieldSelector")).map_err(invalid)?;
        if let Some(why) = fields.fields().find_map(|field| selectable_fields::unsupported(kind, field)) {
            return Err(ApiError::bad_request(why));
        }
        let computed =
            fields.fields().any(|field| selectable_fields::is_computed(kind, field)).then(|| kind.clone());
        Ok(Self { namespace: namespace.map(str::to_owned), labels, fields, computed })
    }

    /// Returns whether every object of the namespace is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Returns what the selectors and a representation need of the objects.
    pub(crate) fn data(&self, representation: ResponseForm) -> ObjectData {
        match representation {
            ResponseForm::Objects | ResponseForm::Metadata => ObjectData::Json,
            ResponseForm::Table(IncludeObject::None | IncludeObject::Identity) if self.is_everything() => {
                ObjectData::Rows
            }
            ResponseForm::Table(_) => ObjectData::RowsAndJson,
        }
    }

    /// Returns whether the selectors match; the namespace is not compared.
    pub(crate) fn matches(&self, json: &[u8]) -> bool {
        self.is_everything() || (self.labels.matches_json(json) && self.fields_match(json))
    }

    fn fields_match(&self, json: &[u8]) -> bool {
        let Some(kind) = &self.computed else { return self.fields.matches_json(json) };
        let mut object = serde_json::from_slice(json).unwrap_or_default();
        selectable_fields::compute(kind, &mut object);
        self.fields.matches_json(object.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::memory_source::core;

    #[test]
    fn only_supported_fields_can_select() {
        let pods = core("pods", "Pod");
        let read = |query: &str| Selection::read(&Query::parse(query), &pods, None);
        let running =
            read("fieldSelector=status.phase%3DRunning,spec.nodeName!%3Dn1&labelSelector=app%3Dweb")
                .expect("fine");
        let pod = |phase: &str| {
            format!(
                r#"{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"nodeName":"n2"}},"status":{{"phase":"{phase}"}}}}"#
            )
        };
        assert!(running.matches(pod("Running").as_bytes()) && !running.matches(pod("Pending").as_bytes()));
        let error = read("fieldSelector=spec.foo%3Dbar").expect_err("unknown");
        let status = String::from_utf8(error.json().to_vec()).expect("text");
        assert!(status.contains("field label not supported: spec.foo"), "{status}");
        assert!(read("labelSelector=a+b").is_err());
    }
}
