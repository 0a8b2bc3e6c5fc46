//! A path into an object, and the walk along it over the bytes of the body.

mod cursor;
mod quick;
mod syntax;
mod walk;

pub use cursor::PathCursor;

use std::fmt;
use std::str::FromStr;

use super::{Object, ObjectError};
use walk::Text;

/// A path to fields of an object: `status.phase`, `spec.containers[*].image`, `metadata.labels['app.kubernetes.io/name']`.
///
/// A leading `.` or `$` and kubectl's braces are accepted: `{.status.phase}`. A name with dots is quoted in brackets
/// or has them escaped: `metadata.labels.a\.b`. `[0]` is an element of an array; `[*]` is each element, or each member
/// of an object, and a name that meets an array goes on into each of its elements, so that `spec.containers.image`
/// means what `spec.containers[*].image` does. Equal paths print equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldPath(Box<[Step]>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Name(Box<str>),
    Element(usize),
    Each,
}

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid field path {path:?}: {reason}")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

impl FieldPath {
    /// Reads a path.
    ///
    /// # Errors
    /// [`PathError`] when the text is empty, a bracket, brace or quote is left open, a name is empty, or brackets hold
    /// anything but a number, `*` or one quoted name.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let steps = syntax::parse(text).map_err(|reason| PathError { path: text.to_owned(), reason })?;
        Ok(Self(steps.into()))
    }

    /// The path along these names, whatever characters they hold.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(|name| Step::Name(name.into())).collect())
    }

    /// Hands each value at the end of the path to `visit`, in the order of the text: a string unescaped and without
    /// quotes, a number or boolean as it is written, an object or array as compact JSON. What is absent or null has no
    /// value. The text is read no further than to the last place where the path can lead.
    ///
    /// # Errors
    /// [`ObjectError::Malformed`] when what had to be read is not JSON; the values before it have been visited.
    pub fn values_with(&self, json: &[u8], mut visit: impl FnMut(&str)) -> Result<(), ObjectError> {
        walk::walk(&self.0, Text::Any(json), &mut visit).map_err(ObjectError::from)
    }

    /// The values that [`FieldPath::values_with`] visits.
    ///
    /// # Errors
    /// As [`FieldPath::values_with`].
    pub fn values(&self, json: &[u8]) -> Result<Vec<String>, ObjectError> {
        let mut values = Vec::new();
        self.values_with(json, |value| values.push(value.to_owned()))?;
        Ok(values)
    }

    /// As [`FieldPath::values_with`] over an object's body. Of an object that has no body, type and names are known.
    ///
    /// # Errors
    /// As [`FieldPath::values_with`]; not for a body that was validated when it came in, unless it holds half a
    /// surrogate pair or arrays in arrays beyond measure.
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
    fn a_path_leads_to_texts_as_they_are_written() {
        for (path, wanted) in [
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
            assert_eq!(values(path), wanted, "{path}");
        }
    }

    #[test]
    fn what_lies_behind_the_end_of_the_path_is_not_read() {
        let path = FieldPath::parse("metadata.labels.app").expect("a path");
        let cut = br#"{"metadata":{"uid":"u","labels":{"app":"web","#;
        assert_eq!(path.values(cut).expect("values"), ["web"]);
        let element = FieldPath::parse("a[1]").expect("a path");
        assert_eq!(element.values(br#"{"a":[0,1,"#).expect("values"), ["1"]);
        assert!(path.values(br#"{"metadata":{"uid":"u","labels":{"#).is_err());
    }

    #[test]
    fn a_name_that_meets_arrays_without_end_is_refused() {
        let json = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(FieldPath::parse("a.b").expect("a path").values(json.as_bytes()).is_err());
    }

    #[test]
    fn of_an_object_without_a_body_type_and_names_are_known() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let object = Object::named(type_meta, "shop", "web");
        for (path, wanted) in
            [("metadata.name", "web"), ("metadata.namespace", "shop"), ("kind", "Pod"), ("spec.x", "")]
        {
            let mut found = String::new();
            let path = FieldPath::parse(path).expect("a path");
            path.values_of(&object, |value| found.push_str(value)).expect("values");
            assert_eq!(found, wanted);
        }
    }
}
