//! A state of an object under a later version.

use std::ops::Range;

use crate::object::body::Body;
use crate::object::json::{self, Entry, Members, Name};
use crate::object::{Object, ResourceVersion};

impl Object {
    /// Returns a copy with another resourceVersion, also in its text.
    ///
    /// A Kubernetes server reports an object that a selector no longer matches in this form: its last state that matched,
    /// with the version of the change that ended the match.
    #[must_use]
    pub fn at_version(&self, version: ResourceVersion) -> Self {
        let json = self.json();
        let body = match version_in(&json) {
            Some(place) => {
                let quoted = serde_json::Value::from(version.to_string()).to_string();
                Body::text([&json[..place.start], quoted.as_bytes(), &json[place.end..]].concat().into())
            }
            None => Body::text(json.into_owned().into()),
        };
        self.with_body(body).with_resource_version(version)
    }
}

/// Returns the place of the value of `metadata.resourceVersion`.
fn version_in(json: &[u8]) -> Option<Range<usize>> {
    let metadata = member(json, 0, b"metadata")?;
    member(json, metadata.start, b"resourceVersion")
}

/// Returns the place of a member's value in the object that begins at `at`.
fn member(json: &[u8], at: usize, name: &[u8]) -> Option<Range<usize>> {
    if *json.get(at)? != b'{' {
        return None;
    }
    let mut members = Members::of(json, at);
    while let Entry::Member(Name { written: found, .. }, at) = members.next()? {
        let end = json::value(json, at)?;
        if found == name {
            return Some(at..end);
        }
        members.step_over(end);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::object::{Ingest, TypeMeta};

    fn at(json: &str, version: &str) -> (String, String) {
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
        let object =
            Object::from_json(json.as_bytes(), &ingest).expect("an object").at_version(version.into());
        let text = String::from_utf8_lossy(&object.json()).into_owned();
        (object.resource_version().to_string(), text)
    }

    #[test]
    fn the_version_changes_and_nothing_else() {
        let text = |version: &str| {
            format!(
                r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"annotations":{{"resourceVersion":"1"}},"resourceVersion":"{version}","name":"x"}},"spec":{{"resourceVersion":"2"}}}}"#
            )
        };
        assert_eq!(at(&text("17"), "1234"), ("1234".to_owned(), text("1234")));
    }

    #[test]
    fn a_text_without_a_version_stays() {
        let text = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}"#;
        assert_eq!(at(text, "5"), ("5".to_owned(), text.to_owned()));
    }
}
