//! The events of a watch, and the Status that one of them may carry.

use std::borrow::Cow;

use serde::Serialize;

use super::{Fields, MAGIC, malformed, member};
use crate::listwatch::Error;

/// One event of a watch with its object undecoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProtobufEvent<'a> {
    /// `ADDED` and so on.
    pub(crate) event_type: Cow<'a, str>,
    /// The type that the envelope names; empty if it names none.
    pub(crate) type_name: TypeName<'a>,
    /// The message of the object.
    pub(crate) object: &'a [u8],
}

/// The `TypeMeta` of an envelope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TypeName<'a> {
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) kind: Cow<'a, str>,
}

/// Reads the `TypeMeta` of an envelope.
pub(crate) fn type_name(message: &[u8]) -> Result<TypeName<'_>, Error> {
    let mut name = TypeName::default();
    for field in Fields(message) {
        match field? {
            (1, value) => name.api_version = value.text()?,
            (2, value) => name.kind = value.text()?,
            _ => {}
        }
    }
    Ok(name)
}

/// Decodes a `WatchEvent`, whose object has an envelope of its own.
pub(crate) fn event(frame: &[u8]) -> Result<ProtobufEvent<'_>, Error> {
    let (mut event_type, mut extension) = (Cow::default(), None);
    for field in Fields(frame) {
        match field? {
            (1, value) => event_type = value.text()?,
            (2, value) => extension = Some(value.bytes()?),
            _ => {}
        }
    }
    let raw = extension.map(|extension| member(extension, 1)).transpose()?.flatten();
    let envelope = raw.and_then(|raw| raw.strip_prefix(MAGIC));
    let envelope = envelope.ok_or_else(|| malformed("an event has no object"))?;
    let object = member(envelope, 2)?.ok_or_else(|| malformed("an event has no object"))?;
    let type_name = type_name(member(envelope, 1)?.unwrap_or_default())?;
    Ok(ProtobufEvent { event_type, type_name, object })
}

/// The version of a bookmark, and whether it ends the initial events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bookmark<'a> {
    pub(crate) resource_version: Cow<'a, str>,
    pub(crate) initial_events_end: bool,
}

/// Decodes the object of a bookmark.
pub(crate) fn bookmark(object: &[u8]) -> Result<Bookmark<'_>, Error> {
    let mut bookmark = Bookmark { resource_version: Cow::default(), initial_events_end: false };
    for field in Fields(member(object, 1)?.unwrap_or_default()) {
        match field? {
            (6, value) => bookmark.resource_version = value.text()?,
            (12, value) => {
                let (key, value) = super::meta::entry(value.bytes()?)?;
                bookmark.initial_events_end |= key == "k8s.io/initial-events-end" && value == "true";
            }
            _ => {}
        }
    }
    Ok(bookmark)
}

/// A Status as a server writes it in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    kind: &'a str,
    api_version: &'a str,
    metadata: Empty,
    #[serde(rename = "status")]
    outcome: Cow<'a, str>,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
    code: i64,
}

#[derive(Debug, Default, Serialize)]
struct Empty {}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<i64>,
}

#[derive(Debug, Default, Serialize)]
struct Cause<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: Cow<'a, str>,
}

/// Converts the Status that ends a watch to JSON.
pub(crate) fn status_json(message: &[u8]) -> Result<Vec<u8>, Error> {
    let mut status = Status {
        kind: "Status",
        api_version: "v1",
        metadata: Empty {},
        outcome: Cow::default(),
        message: Cow::default(),
        reason: Cow::default(),
        details: None,
        code: 0,
    };
    for field in Fields(message) {
        match field? {
            (2, value) => status.outcome = value.text()?,
            (3, value) => status.message = value.text()?,
            (4, value) => status.reason = value.text()?,
            (5, value) => status.details = Some(Details::read(value.bytes()?)?),
            (6, value) => status.code = value.number()?,
            _ => {}
        }
    }
    serde_json::to_vec(&status).map_err(|_| malformed("it can't be written as JSON"))
}

impl<'a> Details<'a> {
    fn read(message: &'a [u8]) -> Result<Self, Error> {
        let mut details = Self::default();
        for field in Fields(message) {
            match field? {
                (1, value) => details.name = value.text()?,
                (2, value) => details.group = value.text()?,
                (3, value) => details.kind = value.text()?,
                (4, value) => details.causes.push(Cause::read(value.bytes()?)?),
                (5, value) => details.retry_after_seconds = Some(value.number()?).filter(|wait| *wait != 0),
                _ => {}
            }
        }
        Ok(details)
    }
}

impl<'a> Cause<'a> {
    fn read(message: &'a [u8]) -> Result<Self, Error> {
        let mut cause = Self::default();
        for field in Fields(message) {
            match field? {
                (1, value) => cause.reason = value.text()?,
                (2, value) => cause.message = value.text()?,
                (3, value) => cause.field = value.text()?,
                _ => {}
            }
        }
        Ok(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::protobuf::testing::{field, frame, number};

    #[test]
    fn event_has_type_and_object() {
        let whole = frame("ADDED", b"object");
        let type_name =
            TypeName { api_version: "meta.k8s.io/v1".into(), kind: "PartialObjectMetadata".into() };
        let expected = ProtobufEvent { event_type: "ADDED".into(), type_name, object: b"object" };
        assert_eq!(event(&whole).expect("an event"), expected);
        for end in 0..whole.len() {
            assert!(event(&whole[..end]).is_err(), "{end}");
        }
        assert!(event(&[field(1, b"ADDED"), field(2, &field(1, b"{}"))].concat()).is_err());
    }

    #[test]
    fn bookmark_marks_the_end_of_the_initial_state() {
        let annotation =
            |value: &[u8]| field(12, &[field(1, b"k8s.io/initial-events-end"), field(2, value)].concat());
        for (more, expected) in [(annotation(b"true"), true), (annotation(b"false"), false), (vec![], false)]
        {
            let object = field(1, &[field(6, b"392"), more].concat());
            let read = bookmark(&object).expect("a bookmark");
            assert_eq!(read, Bookmark { resource_version: "392".into(), initial_events_end: expected });
        }
    }

    #[test]
    fn protobuf_status_equals_its_json() {
        let cause = [field(1, b"ResourceVersionTooLarge"), field(2, b"Too large"), field(3, b"")].concat();
        let details = [field(1, b""), field(3, b"pods"), field(4, &cause), number(5, 1)].concat();
        let status = [
            field(1, b""),
            field(2, b"Failure"),
            field(3, b"too old"),
            field(4, b"Expired"),
            field(5, &details),
            number(6, 410),
        ];
        assert_eq!(
            String::from_utf8(status_json(&status.concat()).expect("JSON")).expect("UTF-8"),
            concat!(
                r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","#,
                r#""reason":"Expired","details":{"kind":"pods","causes":[{"reason":"ResourceVersionTooLarge","#,
                r#""message":"Too large"}],"retryAfterSeconds":1},"code":410}"#
            )
        );
    }
}
