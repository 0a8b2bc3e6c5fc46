//! The metadata of objects and lists: `ListMeta`, `ObjectMeta` and their parts.

use std::borrow::Cow;
use std::mem;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use smallvec::SmallVec;

use super::{Fields, malformed, member};
use crate::listwatch::Error;

/// Decodes the metadata of a list: its version and the token of the next page.
pub(crate) fn list_meta(message: &[u8]) -> Result<(Cow<'_, str>, Cow<'_, str>), Error> {
    let (mut version, mut token) = (Cow::default(), Cow::default());
    for field in Fields(message) {
        match field? {
            (2, value) => version = value.text()?,
            (3, value) => token = value.text()?,
            _ => {}
        }
    }
    Ok((version, token))
}

/// The fields that identify an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Names<'a> {
    pub(crate) namespace: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) resource_version: Cow<'a, str>,
}

/// Decodes the identifying fields of a `PartialObjectMetadata`, or of any other object: the metadata is the first
/// field of each.
pub(crate) fn names(object: &[u8]) -> Result<Names<'_>, Error> {
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

/// `metadata` in the order in which a server writes its JSON, without managedFields.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMeta<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    generate_name: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    self_link: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    resource_version: Cow<'a, str>,
    #[serde(skip_serializing_if = "is_zero")]
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "SmallVec::is_empty", serialize_with = "map")]
    labels: Entries<'a>,
    #[serde(skip_serializing_if = "SmallVec::is_empty", serialize_with = "map")]
    annotations: Entries<'a>,
    #[serde(skip_serializing_if = "SmallVec::is_empty", serialize_with = "list")]
    owner_references: SmallVec<[OwnerReference<'a>; 1]>,
    #[serde(skip_serializing_if = "SmallVec::is_empty", serialize_with = "list")]
    finalizers: SmallVec<[Cow<'a, str>; 1]>,
}

/// The entries of a map; most objects have no more than eight.
type Entries<'a> = SmallVec<[(Cow<'a, str>, Cow<'a, str>); 8]>;

fn map<S: Serializer>(entries: &Entries<'_>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

fn list<S: Serializer, A: smallvec::Array<Item: Serialize>>(
    items: &SmallVec<A>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(items.iter())
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference<'a> {
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    name: Cow<'a, str>,
    uid: Cow<'a, str>,
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

/// Writes a `PartialObjectMetadata` as the JSON of an object that has only metadata.
pub(crate) fn json(object: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let metadata = ObjectMeta::read(member(object, 1)?.unwrap_or_default())?;
    serde_json::to_writer(out, &Partial { metadata }).map_err(|_| malformed("it can't be written as JSON"))
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
                (11, value) => meta.labels.push(entry(value.bytes()?)?),
                (12, value) => meta.annotations.push(entry(value.bytes()?)?),
                (13, value) => meta.owner_references.push(OwnerReference::read(value.bytes()?)?),
                (14, value) => meta.finalizers.push(value.text()?),
                _ => {}
            }
        }
        sort(&mut meta.labels);
        sort(&mut meta.annotations);
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

/// Sorts the entries by key, as servers do, and keeps the last value of each key.
fn sort(entries: &mut Entries<'_>) {
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    entries.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            mem::swap(later, kept);
        }
        is_same
    });
}

/// Decodes one entry of a map of strings.
pub(crate) fn entry(message: &[u8]) -> Result<(Cow<'_, str>, Cow<'_, str>), Error> {
    let (mut key, mut value) = (Cow::default(), Cow::default());
    for field in Fields(message) {
        match field? {
            (1, text) => key = text.text()?,
            (2, text) => value = text.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// A time in whole seconds, as in the API.
#[derive(Debug)]
struct Time(Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// Decodes a time; `None` for an empty message, which is Go's zero time.
fn time(message: &[u8]) -> Result<Option<Time>, Error> {
    let mut seconds = None;
    for field in Fields(message) {
        if let (1, value) = field? {
            seconds = Some(value.number()?);
        }
    }
    let Some(seconds) = seconds else { return Ok(None) };
    let time = Timestamp::from_second(seconds).map_err(|_| malformed("a time is out of range"))?;
    Ok(Some(Time(time)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::protobuf::testing::{field, number, written};

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
            // managedFields are skipped without decoding.
            [vec![(17 << 3 | 2) | 0x80, 1], written(3), vec![0xff; 3]].concat(),
        ];
        field(1, &metadata.concat())
    }

    fn text_of(message: &[u8]) -> Result<String, Error> {
        let mut text = Vec::new();
        json(message, &mut text)?;
        Ok(String::from_utf8(text).expect("UTF-8"))
    }

    #[test]
    fn protobuf_metadata_equals_its_json() {
        assert_eq!(
            text_of(&pod()).expect("JSON"),
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
        assert_eq!(
            known,
            Names { namespace: "shop".into(), name: "web-1".into(), resource_version: "17".into() }
        );
    }

    #[test]
    fn truncated_and_mistyped_messages_are_refused() {
        let whole = pod();
        for end in 1..whole.len() {
            assert!(text_of(&whole[..end]).is_err(), "{end}");
        }
        for metadata in [
            number(1, 5),
            field(7, b"x"),
            field(8, &number(1, 1 << 62)),
            vec![0x0b],
            [vec![0x0a], vec![0xff; 10]].concat(),
        ] {
            let error = text_of(&field(1, &metadata)).expect_err("nothing to read").to_string();
            assert!(error.starts_with("malformed protobuf: "), "{error}");
        }
        // An unknown field of four bytes is ignored.
        assert_eq!(names(&[0x15, 1, 2, 3, 4]).expect("no names"), Names::default());
    }

    #[test]
    fn truncated_annotation_equals_its_json() {
        let annotation = [field(1, b"note"), field(2, b"caf\xc3")].concat();
        let text = text_of(&field(1, &[field(1, b"x"), field(12, &annotation)].concat())).expect("JSON");
        let expected = "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"note\":\"caf\u{fffd}\"}}}";
        assert_eq!(text, expected);
    }

    #[test]
    fn labels_are_sorted_and_the_last_value_wins() {
        let keys = ["m", "b", "m", "a", "z", "c", "m", "d", "e", "b", "f"];
        let entry = |(at, key): (usize, &&str)| {
            field(11, &[field(1, key.as_bytes()), field(2, at.to_string().as_bytes())].concat())
        };
        let labels: Vec<u8> = keys.iter().enumerate().flat_map(entry).collect();
        let expected =
            r#"{"metadata":{"labels":{"a":"3","b":"9","c":"5","d":"7","e":"8","f":"10","m":"6","z":"4"}}}"#;
        assert_eq!(text_of(&field(1, &labels)).expect("JSON"), expected);
    }

    #[test]
    fn list_metadata_has_version_and_token() {
        let list = [field(1, b""), field(2, b"40"), field(3, b"next"), number(4, 7)].concat();
        assert_eq!(list_meta(&list).expect("both"), ("40".into(), "next".into()));
        assert_eq!(list_meta(b"").expect("none"), ("".into(), "".into()));
    }

    proptest! {
        // From the year 1 to the year 9999, the range of Go's RFC 3339.
        #[test]
        fn times_have_whole_seconds(seconds in -62_135_596_800_i64..253_402_207_201) {
            let read = time(&number(1, seconds.cast_unsigned())).expect("a time").expect("one");
            let expected = Timestamp::from_second(seconds).expect("a time").strftime("\"%Y-%m-%dT%H:%M:%SZ\"");
            prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), expected.to_string());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, at in 0usize..400, byte: u8) {
            let mut broken = pod();
            let at = at % broken.len();
            broken[at] = byte;
            for message in [&bytes, &broken] {
                if let Ok(text) = text_of(message) {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
                }
                let _ = (names(message), list_meta(message));
            }
        }
    }
}
