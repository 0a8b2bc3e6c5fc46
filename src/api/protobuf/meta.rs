//! The metadata of objects and lists: `ListMeta`, `ObjectMeta` and what is in them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{Fields, malformed, member};
use crate::listwatch::Error;

/// What a list says of itself: its version and the token of the next page.
pub(in crate::api) fn list_meta(message: &[u8]) -> Result<(&str, &str), Error> {
    let (mut version, mut token) = ("", "");
    for field in Fields(message) {
        match field? {
            (2, value) => version = value.text()?,
            (3, value) => token = value.text()?,
            _ => {}
        }
    }
    Ok((version, token))
}

/// What the machine knows an object by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::api) struct Names<'a> {
    pub(in crate::api) namespace: &'a str,
    pub(in crate::api) name: &'a str,
    pub(in crate::api) resource_version: &'a str,
}

/// The names in a `PartialObjectMetadata`, or in any other object: the metadata is the first field of all.
pub(in crate::api) fn names(object: &[u8]) -> Result<Names<'_>, Error> {
    let mut names = Names::default();
    for field in Fields(member(object, 1)?.unwrap_or_default()) {
        match field? {
            (1, value) => names.name = value.text()?,
            (3, value) => names.namespace = value.text()?,
            (6, value) => names.resource_version = value.text()?,
            _ => {}
        }
    }
    Ok(names)
}

/// `metadata` as a server writes it in JSON, in its order, without managedFields.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMeta<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    generate_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    self_link: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    resource_version: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owner_references: Vec<OwnerReference<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finalizers: Vec<&'a str>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_owner_deletion: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Partial<'a> {
    metadata: ObjectMeta<'a>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A `PartialObjectMetadata` as the JSON of an object of which the metadata is all.
pub(in crate::api) fn json(object: &[u8]) -> Result<Vec<u8>, Error> {
    let metadata = ObjectMeta::read(member(object, 1)?.unwrap_or_default())?;
    serde_json::to_vec(&Partial { metadata }).map_err(|_| malformed("it can't be written as JSON"))
}

impl<'a> ObjectMeta<'a> {
    fn read(message: &'a [u8]) -> Result<Self, Error> {
        let mut meta = Self::default();
        for field in Fields(message) {
            match field? {
                (1, value) => meta.name = value.text()?,
                (2, value) => meta.generate_name = value.text()?,
                (3, value) => meta.namespace = value.text()?,
                (4, value) => meta.self_link = value.text()?,
                (5, value) => meta.uid = value.text()?,
                (6, value) => meta.resource_version = value.text()?,
                (7, value) => meta.generation = value.number()?,
                (8, value) => meta.creation_timestamp = time(value.bytes()?)?,
                (9, value) => meta.deletion_timestamp = time(value.bytes()?)?,
                (10, value) => meta.deletion_grace_period_seconds = Some(value.number()?),
                (11, value) => meta.labels.extend([entry(value.bytes()?)?]),
                (12, value) => meta.annotations.extend([entry(value.bytes()?)?]),
                (13, value) => meta.owner_references.push(OwnerReference::read(value.bytes()?)?),
                (14, value) => meta.finalizers.push(value.text()?),
                _ => {}
            }
        }
        Ok(meta)
    }
}

impl<'a> OwnerReference<'a> {
    fn read(message: &'a [u8]) -> Result<Self, Error> {
        let mut owner = Self::default();
        for field in Fields(message) {
            match field? {
                (1, value) => owner.kind = value.text()?,
                (3, value) => owner.name = value.text()?,
                (4, value) => owner.uid = value.text()?,
                (5, value) => owner.api_version = value.text()?,
                (6, value) => owner.controller = Some(value.number()? != 0),
                (7, value) => owner.block_owner_deletion = Some(value.number()? != 0),
                _ => {}
            }
        }
        Ok(owner)
    }
}

/// One entry of a map of texts.
pub(super) fn entry(message: &[u8]) -> Result<(&str, &str), Error> {
    let (mut key, mut value) = ("", "");
    for field in Fields(message) {
        match field? {
            (1, text) => key = text.text()?,
            (2, text) => value = text.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// A time in whole seconds, as the API has them; none where the message is empty, which is no time at all.
fn time(message: &[u8]) -> Result<Option<String>, Error> {
    let mut seconds = None;
    for field in Fields(message) {
        if let (1, value) = field? {
            seconds = Some(value.number()?);
        }
    }
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Timestamp::from_second(seconds).map_err(|_| malformed("a time is out of range"))?;
    Ok(Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::api::protobuf::testing::{field, number, written};

    fn pod() -> Vec<u8> {
        let owner = [
            field(1, b"ReplicaSet"),
            field(3, b"web"),
            field(4, b"u-2"),
            field(5, b"apps/v1"),
            number(6, 1),
            number(7, 0),
        ]
        .concat();
        let label = |key: &[u8], value: &[u8]| [field(1, key), field(2, value)].concat();
        let metadata = [
            field(1, b"web-1"),
            field(2, b""),
            field(3, b"shop"),
            field(4, b""),
            field(5, b"u-1"),
            field(6, b"17"),
            number(7, 0),
            field(8, &[number(1, 1_795_300_000), number(2, 0)].concat()),
            field(9, &number(1, 1_795_300_060)),
            number(10, 30),
            field(11, &label(b"b", b"2")),
            field(11, &label(b"a", b"<\"1\">")),
            field(13, &owner),
            field(14, b"kdelta.dev/hold"),
            // managedFields are stepped over: no message of theirs is looked into.
            [vec![(17 << 3 | 2) | 0x80, 1], written(3), vec![0xff; 3]].concat(),
        ];
        field(1, &metadata.concat())
    }

    #[test]
    fn metadata_is_what_its_json_would_be() {
        let text = String::from_utf8(json(&pod()).expect("JSON")).expect("UTF-8");
        assert_eq!(
            text,
            concat!(
                r#"{"metadata":{"name":"web-1","namespace":"shop","uid":"u-1","resourceVersion":"17","#,
                r#""creationTimestamp":"2026-11-21T22:26:40Z","deletionTimestamp":"2026-11-21T22:27:40Z","#,
                r#""deletionGracePeriodSeconds":30,"labels":{"a":"<\"1\">","b":"2"},"#,
                r#""ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u-2","#,
                r#""controller":true,"blockOwnerDeletion":false}],"finalizers":["kdelta.dev/hold"]}}"#
            )
        );
        let pod = pod();
        let known = names(&pod).expect("names");
        assert_eq!(known, Names { namespace: "shop", name: "web-1", resource_version: "17" });
    }

    #[test]
    fn a_message_that_is_cut_off_or_of_other_types_is_refused() {
        let whole = pod();
        for end in 1..whole.len() {
            assert!(json(&whole[..end]).is_err(), "{end}");
        }
        for metadata in [
            number(1, 5),
            field(1, b"\xff"),
            field(7, b"x"),
            field(8, &number(1, 1 << 62)),
            vec![0x0b],
            [vec![0x0a], vec![0xff; 10]].concat(),
        ] {
            let error = json(&field(1, &metadata)).expect_err("nothing to read").to_string();
            assert!(error.starts_with("malformed protobuf: "), "{error}");
        }
        // Of no use, and no harm: a field of four bytes that the API may get one day.
        assert_eq!(names(&[0x15, 1, 2, 3, 4]).expect("no names"), Names::default());
    }

    #[test]
    fn a_list_tells_version_and_token() {
        let list = [field(1, b""), field(2, b"40"), field(3, b"next"), number(4, 7)].concat();
        assert_eq!(list_meta(&list).expect("both"), ("40", "next"));
        assert_eq!(list_meta(b"").expect("none"), ("", ""));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, at in 0usize..400, byte: u8) {
            let mut broken = pod();
            let at = at % broken.len();
            broken[at] = byte;
            for message in [&bytes, &broken] {
                if let Ok(text) = json(message) {
                    prop_assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok());
                }
                let _ = (names(message), list_meta(message));
            }
        }
    }
}
