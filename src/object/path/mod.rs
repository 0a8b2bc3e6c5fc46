//! Field paths and their evaluation over the bytes of a body.

mod cursor;
mod quick;
#[cfg(feature = "recording")]
mod replace;
mod step;
mod syntax;
mod text;
mod walk;

pub use cursor::PathCursor;
#[cfg(feature = "recording")]
pub(crate) use replace::replaced_leaves;

use std::fmt;
use std::str::FromStr;

use super::{Object, ObjectError};
use step::Step;
use text::Text;

/// A path to fields of an object: `status.phase`, `spec.containers[*].image`,
/// `metadata.labels['app.kubernetes.io/name']`.
///
/// A leading `.` or `$` and kubectl's braces are accepted: `{.status.phase}`. A name with dots is quoted in brackets or
/// has its dots escaped: `metadata.labels.a\.b`. `[0]` is an element of an array; `[*]` is each element of an array or
/// each member of an object. A name applied to an array applies to each of its elements, so that
/// `spec.containers.image` means `spec.containers[*].image`. Equal paths print equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldPath(Box<[Step]>);

/// A syntax error in a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid field path {path:?}: {reason}")]
#[non_exhaustive]
pub struct PathError {
    /// The text.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl FieldPath {
    /// Parses a path.
    ///
    /// # Errors
    /// [`PathError`] when the text is empty, a bracket, brace or quote is not closed, a name is empty, or brackets hold
    /// anything but a number, `*` or one quoted name.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let steps = syntax::parse(text).map_err(|reason| PathError { path: text.to_owned(), reason })?;
        Ok(Self(steps.into()))
    }

    /// Creates a path of these names, which may contain any characters.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(|name| Step::Name(name.into())).collect())
    }

    /// Passes each value at the end of the path to `visit`, in text order: a string unescaped and without quotes, a
    /// number or boolean as written, an object or array as compact JSON. Absent and null fields have no value. The text
    /// is read only up to the last position that can match.
    ///
    /// # Errors
    /// [`ObjectError::Malformed`] when the text read is not valid JSON; the values before the error have been visited.
    pub fn values_with(&self, json: &[u8], mut visit: impl FnMut(&str)) -> Result<(), ObjectError> {
        walk::walk(&self.0, Text::Any(json), &mut visit).map_err(ObjectError::from)
    }

    /// Returns the values that [`FieldPath::values_with`] visits.
    ///
    /// # Errors
    /// As [`FieldPath::values_with`].
    pub fn values(&self, json: &[u8]) -> Result<Vec<String>, ObjectError> {
        let mut values = Vec::new();
        self.values_with(json, |value| values.push(value.to_owned()))?;
        Ok(values)
    }

    /// Visits the values in an object's body, as [`FieldPath::values_with`] does. An object without a body still has
    /// its type and names.
    ///
    /// # Errors
    /// As [`FieldPath::values_with`]. A body that was validated at ingest fails only if it contains a lone surrogate or
    /// excessively nested arrays.
    pub fn values_of(&self, object: &Object, mut visit: impl FnMut(&str)) -> Result<(), ObjectError> {
        let json = object.json();
        if !json.is_empty() {
            return walk::walk(&self.0, Text::Valid(&json), &mut visit).map_err(ObjectError::from);
        }
        let mut metadata = serde_json::Map::new();
        metadata.insert("name".into(), object.name().into());
        if !object.namespace().is_empty() {
            metadata.insert("namespace".into(), object.namespace().into());
        }
        let type_meta = object.type_meta();
        let known = serde_json::json!({
            "apiVersion": type_meta.api_version, "kind": type_meta.kind, "metadata": metadata,
        });
        self.values_with(known.to_string().as_bytes(), visit)
    }
}

impl FromStr for FieldPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        syntax::write(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::object::TypeMeta;

    const POD: &str = r#"{"kind":"Pod","metadata":{"name":"web","labels":{"a.b/c":"x","e":""},"finalizers":["f", "g"]},"spec":{"containers":[{"image":"i:1","ports":[{"n":1},{"n":2}]},{"image":"i:2"},null,7],"replicas":1.50,"big":12345678901234567890123,"on":true,"gone":null,"text":"q\"\u00fc\n"},"status":{ "phase" : "Run ning" }}"#;

    fn values(path: &str) -> Vec<String> {
        FieldPath::parse(path).expect(path).values(POD.as_bytes()).expect(path)
    }

    #[test]
    fn values_are_returned_as_written() {
        for (path, expected) in [
            ("metadata.name", &["web"][..]),
            (".metadata.name", &["web"]),
            ("{.metadata.name}", &["web"]),
            ("$.metadata['name']", &["web"]),
            ("metadata.labels['a.b/c']", &["x"]),
            ("metadata.labels[\"a.b/c\"]", &["x"]),
            (r"metadata.labels.a\.b/c", &["x"]),
            ("metadata.labels.e", &[""]),
            ("spec.containers[*].image", &["i:1", "i:2"]),
            ("spec.containers.image", &["i:1", "i:2"]),
            ("spec.containers[1].image", &["i:2"]),
            ("spec.containers[9].image", &[]),
            ("spec.containers.ports.n", &["1", "2"]),
            ("spec.containers.ports[1].n", &["2"]),
            ("spec.containers[0].ports", &[r#"[{"n":1},{"n":2}]"#]),
            ("spec.replicas", &["1.50"]),
            ("spec.big", &["12345678901234567890123"]),
            ("spec.on", &["true"]),
            ("spec.gone", &[]),
            ("spec.absent.deep", &[]),
            ("spec.on.deep", &[]),
            ("spec.text", &["q\"ü\n"]),
            ("status", &[r#"{"phase":"Run ning"}"#]),
            ("metadata.finalizers", &[r#"["f","g"]"#]),
            ("metadata.finalizers[*]", &["f", "g"]),
            ("metadata.labels.*", &["x", ""]),
            ("metadata.labels[*]", &["x", ""]),
            ("metadata[0]", &[]),
        ] {
            assert_eq!(values(path), expected, "{path}");
        }
    }

    #[test]
    fn text_after_the_last_match_is_not_read() {
        let path = FieldPath::parse("metadata.labels.app").expect("a path");
        let cut = br#"{"metadata":{"uid":"u","labels":{"app":"web","#;
        assert_eq!(path.values(cut).expect("values"), ["web"]);
        let element = FieldPath::parse("a[1]").expect("a path");
        assert_eq!(element.values(br#"{"a":[0,1,"#).expect("values"), ["1"]);
        assert!(path.values(br#"{"metadata":{"uid":"u","labels":{"#).is_err());
    }

    #[test]
    fn a_name_applied_to_endlessly_nested_arrays_fails() {
        let json = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(FieldPath::parse("a.b").expect("a path").values(json.as_bytes()).is_err());
    }

    #[test]
    fn an_object_without_a_body_has_type_and_names() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let object = Object::named(type_meta, "shop", "web");
        for (path, expected) in
            [("metadata.name", "web"), ("metadata.namespace", "shop"), ("kind", "Pod"), ("spec.x", "")]
        {
            let mut found = String::new();
            let path = FieldPath::parse(path).expect("a path");
            path.values_of(&object, |value| found.push_str(value)).expect("values");
            assert_eq!(found, expected);
        }
    }
}
