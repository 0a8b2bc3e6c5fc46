//! The bytes of an object: how they are read at ingest and how they are held.
//!
//! Reading is one pass that validates the whole text and takes out the metadata; nothing is turned into a tree. What is
//! then stored is cut from the original text, so the server's key order and number spelling stay.
//!
//! A text that servers write is read by [`quick`]; what that does not take, right or wrong, is read by `serde_json`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::compression::{self, Prefix};
use super::json::{self, Entry, Members};
use super::{Object, ResourceVersion, TypeMeta, Uid, key};

/// What an object takes from the request it came with.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The type of an object that does not say its own.
    pub type_meta: Arc<TypeMeta>,
    /// Whether `metadata.managedFields` stays in the body. It is more than half of many objects and few ask for it.
    pub keep_managed_fields: bool,
}

impl Ingest {
    /// Objects of this type, without managedFields.
    #[must_use]
    pub fn of(type_meta: Arc<TypeMeta>) -> Self {
        Self { type_meta, keep_managed_fields: false }
    }
}

/// Why a text is no object, or not the one asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Not JSON, or not of the types the API conventions give metadata. The text itself is not repeated: it may be
    /// a Secret.
    #[error("not a Kubernetes object: {0}")]
    Malformed(#[from] serde_json::Error),
    /// JSON is UTF-8, and this is not. The parser looks at the texts it hands out only, and a body is shown and
    /// searched as text.
    #[error("not a Kubernetes object: it is not UTF-8")]
    NotUtf8,
    /// There is no `metadata.name`.
    #[error("not a Kubernetes object: it has no metadata.name")]
    Nameless,
}

/// The stored form of a body. An object known by its row only has an empty one.
pub(super) struct Body {
    /// The text; of a compressed body its frame, which is empty where the text is that of the prefix.
    bytes: Box<[u8]>,
    /// What a compressed body was written against.
    against: Option<Arc<Prefix>>,
}

impl Body {
    pub(super) fn none() -> Self {
        Self::text(Box::default())
    }

    pub(super) fn text(text: Box<[u8]>) -> Self {
        Self { bytes: text, against: None }
    }

    pub(super) fn compressed(frame: Box<[u8]>, against: Arc<Prefix>) -> Self {
        Self { bytes: frame, against: Some(against) }
    }

    pub(super) fn json(&self) -> Cow<'_, [u8]> {
        let Some(against) = &self.against else { return Cow::Borrowed(&self.bytes) };
        // A frame and what it was written against are put together in one place and never taken apart, so this can't
        // fail unless memory did. An object without a body is no lie then, another body would be.
        let text = compression::decompress(&self.bytes, against).unwrap_or_else(|reason| {
            tracing::error!(reason, "a compressed body can't be read");
            Vec::new()
        });
        Cow::Owned(text)
    }

    /// Whether both are one JSON value. What differs to the byte is parsed: that is rare, and few objects at a time.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let against = |body: &Self| body.against.as_ref().map(Arc::as_ptr);
        if against(self) == against(other) && self.bytes == other.bytes {
            return true;
        }
        let (one, other) = (self.json(), other.json());
        let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
        one == other || value(&one).is_some_and(|one| value(&other) == Some(one))
    }

    /// The text, unless it is compressed.
    pub(super) fn plain(&self) -> Option<&[u8]> {
        self.against.is_none().then_some(&*self.bytes)
    }

    pub(super) fn prefix(&self) -> Option<&Arc<Prefix>> {
        self.against.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        match &self.against {
            Some(against) => compression::length(&self.bytes, against),
            None => self.bytes.len(),
        }
    }

    pub(super) fn stored_len(&self) -> usize {
        self.bytes.len()
    }
}

#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "said")]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "said")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    labels: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    owner_references: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "as_bytes")]
    managed_fields: Option<&'a [u8]>,
}

impl Metadata<'_> {
    /// What objects that are much alike have in common: their controller, else their labels; 0 where there is neither.
    ///
    /// The texts are compared as they are written, which is the same for siblings. Labels that name one object only
    /// count for nothing, so that nodes, and namespaces, are siblings each.
    fn workload(&self) -> u32 {
        let owners = self.owner_references.unwrap_or_default().as_bytes();
        if memmem::find(owners, br#""controller":true"#).is_some() {
            return compression::checksum(shared_owner(self.owner_references.unwrap_or_default()).as_bytes())
                .max(1);
        }
        let labels = self.labels.unwrap_or_default().as_bytes();
        match labels.len() {
            0..=2 => 0,
            _ if OF_ONE.iter().any(|label| memmem::find(labels, label).is_some()) => 1,
            _ => compression::checksum(labels).max(1),
        }
    }
}

/// What siblings have in common of their owners: all of it, unless each has an owner of its own. So do the pods of Jobs
/// that a schedule made, whose names end in the time, and slices of endpoints, of which a Service has one mostly.
fn shared_owner(owners: &str) -> &str {
    if owners.contains(r#""kind":"Service""#) {
        return "";
    }
    let job = owners.contains(r#""kind":"Job""#).then(|| owners.split_once(r#""name":""#)).flatten();
    let name = job.and_then(|(_, rest)| rest.split('"').next());
    name.map_or(owners, |name| name.trim_end_matches(|last: char| last.is_ascii_digit()))
}

/// Labels whose value is the name of the one object that has them.
const OF_ONE: [&[u8]; 2] = [br#""kubernetes.io/hostname":"#, br#""kubernetes.io/metadata.name":"#];

/// A member that may be missing but not null: only one that is missing can be added without standing there twice.
fn said<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    // A struct, because a bare Cow would copy the text.
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Text::deserialize(from).map(|Text(text)| Some(text))
}

/// The text of a member, unless it is null.
fn as_written<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a str>, D::Error> {
    Option::<&'a RawValue>::deserialize(from).map(|raw| raw.map(RawValue::get))
}

/// The same, of what is only cut out.
fn as_bytes<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a [u8]>, D::Error> {
    as_written(from).map(|text| text.map(str::as_bytes))
}

/// Reads what servers write, in three quarters of the time that `serde_json` takes, and tells of a line of a watch that
/// it is whole, which saves another pass. Nothing where it is not JSON, or not so plain: names with escapes, members that
/// stand there twice, other types than the conventions give. Of managedFields that are not `kept` only the brackets are
/// looked at: they are half of the text, and what is wrong inside goes with them.
///
/// With it comes where it ends. What stands behind that is not looked at, nor is it seen to that any of it is UTF-8.
fn quick(json: &[u8], kept: bool) -> Option<(Envelope<'_>, usize)> {
    if *json.first()? != b'{' {
        return None;
    }
    let mut envelope = Envelope::default();
    let mut members = Members::of(json, 0);
    loop {
        let (name, at) = match members.next()? {
            Entry::Member(name, at) => (name, at),
            Entry::End(end) => return Some((envelope, end)),
        };
        let end = match name {
            b"apiVersion" => plain(json, at, &mut envelope.api_version)?,
            b"kind" => plain(json, at, &mut envelope.kind)?,
            b"metadata" => {
                let (metadata, end) = quick_metadata(json, at, kept)?;
                once(&mut envelope.metadata, metadata)?;
                end
            }
            _ => other(json, name, at)?,
        };
        members.step_over(end);
    }
}

/// The metadata that begins at `at`, and where it ends.
fn quick_metadata(json: &[u8], at: usize, kept: bool) -> Option<(Metadata<'_>, usize)> {
    if *json.get(at)? != b'{' {
        return None;
    }
    let mut metadata = Metadata::default();
    let mut members = Members::of(json, at);
    loop {
        let (name, at) = match members.next()? {
            Entry::Member(name, at) => (name, at),
            Entry::End(end) => return Some((metadata, end)),
        };
        let end = match name {
            b"name" => plain(json, at, &mut metadata.name)?,
            b"namespace" => plain(json, at, &mut metadata.namespace)?,
            b"uid" => plain(json, at, &mut metadata.uid)?,
            b"resourceVersion" => plain(json, at, &mut metadata.resource_version)?,
            b"labels" => written(json, at, &mut metadata.labels)?,
            b"ownerReferences" => written(json, at, &mut metadata.owner_references)?,
            b"managedFields" => {
                let over = if kept { json::value } else { json::past };
                let (value, end) = whole(json, at, over)?;
                once(&mut metadata.managed_fields, value)?;
                end
            }
            _ => other(json, name, at)?,
        };
        members.step_over(end);
    }
}

/// Takes a string without escapes, and says where it ends.
fn plain<'a>(json: &'a [u8], at: usize, to: &mut Option<Cow<'a, str>>) -> Option<usize> {
    let end = (*json.get(at)? == b'"').then(|| json::value(json, at))??;
    let inside = &json[at + 1..end - 1];
    if memchr::memchr(b'\\', inside).is_some() {
        return None;
    }
    once(to, Cow::Borrowed(str::from_utf8(inside).ok()?))?;
    Some(end)
}

/// Takes an array or object as it is written, and says where it ends.
fn written<'a>(json: &'a [u8], at: usize, to: &mut Option<&'a str>) -> Option<usize> {
    let (value, end) = whole(json, at, json::value)?;
    once(to, str::from_utf8(value).ok()?)?;
    Some(end)
}

/// An array or object as it is written, and where it ends, which `over` tells.
fn whole(json: &[u8], at: usize, over: fn(&[u8], usize) -> Option<usize>) -> Option<(&[u8], usize)> {
    let end = matches!(json.get(at)?, b'{' | b'[').then(|| over(json, at))??;
    Some((&json[at..end], end))
}

/// Steps over a member that nobody asks for. Its name could be one of the others in escapes.
fn other(json: &[u8], name: &[u8], at: usize) -> Option<usize> {
    if name.contains(&b'\\') { None } else { json::value(json, at) }
}

fn once<T>(to: &mut Option<T>, value: T) -> Option<()> {
    to.replace(value).is_none().then_some(())
}

/// Reads any object.
fn thorough(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    // To serde an array of the members' values is as good.
    if !text.starts_with('{') {
        return Err(serde_json::Error::custom("it does not begin with {"));
    }
    serde_json::from_str(text)
}

/// See [`Object::from_json`].
pub(super) fn read(json: &[u8], ingest: &Ingest) -> Result<Object, ObjectError> {
    let json = json.trim_ascii();
    let text = str::from_utf8(json).map_err(|_| ObjectError::NotUtf8)?;
    let quick = quick(json, ingest.keep_managed_fields).filter(|(_, end)| *end == json.len());
    let envelope = quick.map_or_else(|| thorough(text), |(envelope, _)| Ok(envelope))?;
    object(json, envelope, ingest)
}

/// See [`Object::from_plain_json`].
#[cfg(feature = "api")]
pub(super) fn read_plain(json: &[u8], ingest: &Ingest) -> Option<Object> {
    let (object, end) = read_front(json, ingest)?;
    (end == json.len()).then_some(object)
}

/// See [`Object::from_plain_front`].
#[cfg(feature = "api")]
pub(super) fn read_front(text: &[u8], ingest: &Ingest) -> Option<(Object, usize)> {
    let (envelope, end) = quick(text, ingest.keep_managed_fields)?;
    let json = &text[..end];
    // Most texts are ASCII, and that is seen sooner.
    if !json.is_ascii() && str::from_utf8(json).is_err() {
        return None;
    }
    Some((object(json, envelope, ingest).ok()?, end))
}

/// The object of a text that has been read. It must be UTF-8.
fn object(json: &[u8], envelope: Envelope<'_>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let Envelope { api_version, kind, metadata } = envelope;
    let metadata = metadata.ok_or(ObjectError::Nameless)?;
    let workload = metadata.workload();
    let name = metadata.name.filter(|name| !name.is_empty()).ok_or(ObjectError::Nameless)?;
    let namespace = metadata.namespace.unwrap_or_default();
    let unwanted = match metadata.managed_fields {
        Some(raw) if !ingest.keep_managed_fields => member_span(json, raw),
        _ => 0..0,
    };
    let default = &*ingest.type_meta;
    let missing = [
        ("kind", kind.is_none().then_some(&*default.kind)),
        ("apiVersion", api_version.is_none().then_some(&*default.api_version)),
    ];
    Ok(Object {
        key: key::join(&namespace, &name),
        namespace_len: key::length_of(&namespace),
        uid: Uid::new(&metadata.uid.unwrap_or_default()),
        version: ResourceVersion::new(&metadata.resource_version.unwrap_or_default()),
        workload,
        body: Body::text(assemble(json, missing, unwanted)?),
        type_meta: shared_type(api_version.as_deref(), kind.as_deref(), &ingest.type_meta),
        row: None,
    })
}

/// The default type itself where the object says the same, so that a million objects share one.
fn shared_type(api_version: Option<&str>, kind: Option<&str>, default: &Arc<TypeMeta>) -> Arc<TypeMeta> {
    let api_version = api_version.unwrap_or(&default.api_version);
    let kind = kind.unwrap_or(&default.kind);
    if api_version == default.api_version && kind == default.kind {
        Arc::clone(default)
    } else {
        Arc::new(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() })
    }
}

/// Where the member with this value stands in `json`, with its name and the one comma that goes with it. `value` must
/// be a part of `json`. A name spelled with escapes is left where it is: no server writes one.
fn member_span(json: &[u8], value: &[u8]) -> Range<usize> {
    const NAME: &[u8] = b"\"managedFields\"";
    let start = value.as_ptr().addr() - json.as_ptr().addr();
    let end = start + value.len();
    let before = json[..start].trim_ascii_end();
    let before = before.strip_suffix(b":").unwrap_or(before).trim_ascii_end();
    let Some(before) = before.strip_suffix(NAME) else { return 0..0 };
    let before = before.trim_ascii_end();
    if let Some(rest) = before.strip_suffix(b",") {
        return rest.len()..end;
    }
    let after = json[end..].trim_ascii_start();
    let comma = usize::from(after.first() == Some(&b','));
    before.len()..json.len() - after.len() + comma
}

/// The stored text: `json` on one line, without the unwanted span, with the members that are missing after its first
/// brace. It has others: an object without metadata has been refused.
///
/// Only a server that pretty-prints puts a newline into an object (inside a JSON string it would be escaped), so the
/// usual text is copied in two pieces and never looked at byte by byte.
fn assemble(
    json: &[u8],
    missing: [(&str, Option<&str>); 2],
    unwanted: Range<usize>,
) -> Result<Box<[u8]>, serde_json::Error> {
    let missing = missing.iter().filter_map(|(name, value)| value.map(|value| (*name, value)));
    let added: usize =
        missing.clone().map(|(name, value)| name.len() + value.len() + r#""":"","#.len()).sum();
    // As much as it takes: to be boxed it need not be copied then.
    let mut out = Vec::with_capacity(json.len() + added - unwanted.len());
    out.push(b'{');
    for (name, value) in missing {
        serde_json::to_writer(&mut out, name)?;
        out.push(b':');
        serde_json::to_writer(&mut out, value)?;
        out.push(b',');
    }
    let kept = [&json[1..unwanted.start.max(1)], &json[unwanted.end.max(1)..]];
    if memchr::memchr2(b'\n', b'\r', json).is_none() {
        for part in kept {
            out.extend_from_slice(part);
        }
    } else {
        let mut whitespace = Whitespace::default();
        out.extend(kept.iter().copied().flatten().filter(|byte| !whitespace.is_at(**byte)));
    }
    Ok(out.into_boxed_slice())
}

/// Tells the bytes of validated JSON that only lay it out.
#[derive(Default)]
pub(super) struct Whitespace {
    in_string: bool,
    escaped: bool,
}

impl Whitespace {
    pub(super) fn is_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ => return !self.in_string && byte.is_ascii_whitespace(),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::json::{damaged, damages};

    const AS_SENT: [&str; 4] = [
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"17","creationTimestamp":null,"labels":{"a.b/c":"\u003c\n"},"ownerReferences":[{"controller":true,"uid":"o"}],"managedFields":[{"fieldsV1":{"f:a":{".":{}},"k:{\"name\":\"b\"}":{}}}]},"spec":{"n":-1.50e+3,"z":0,"on":true,"off":false,"args":["a\\","ü",[],{}]}}"#,
        r#"{"metadata":{"name":"a","labels":{},"managedFields":[]},"data":{"kind":"x","metadata":"y"}}"#,
        "{\n  \"metadata\" : {\r\n\t\"name\": \"a\", \"uid\" : \"u\" } , \"spec\": [ 1 , { } , [ ] ]\n}",
        r#"{"spec":{"deep":[[[{"a":[1,2]}]]]},"metadata":{"uid":"","name":"last"},"kind":""}"#,
    ];

    /// What the quick way reads of a whole text. What stands behind it must make no difference.
    fn quickly(text: &str, kept: bool) -> Option<Envelope<'_>> {
        let (read, end) = quick(text.as_bytes(), kept)?;
        for behind in ["", "}", ",{", "\"", "\\", " "] {
            let longer = [&text[..end], behind].concat();
            let again = quick(longer.as_bytes(), kept).map(|(read, end)| (format!("{read:?}"), end));
            assert_eq!(again, Some((format!("{read:?}"), end)), "{text}");
        }
        (end == text.len()).then_some(read)
    }

    #[test]
    fn what_servers_write_is_read_the_quick_way() {
        for text in AS_SENT {
            for kept in [false, true] {
                assert!(quickly(text, kept).is_some(), "{text}");
                assert_eq!(quickly(text, kept), thorough(text).ok(), "{text}");
            }
        }
        // Right, but not so plain, or wrong: the other way says which.
        for text in [
            r#"{"metadata":{"n\u0061me":"a"}}"#,
            r#"{"metadata":{"name":"\u0061"}}"#,
            r#"{"metadata":{"name":"a","name":"b"}}"#,
            r#"{"metadata":{"name":"a"},"metadata":{}}"#,
            r#"{"metadata":["a"]}"#,
            r#"{"metadata":{"name":"a","labels":null}}"#,
        ] {
            assert_eq!(quickly(text, false), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_quick_way_reads_nothing_that_the_thorough_one_reads_otherwise(
            text in prop::sample::select(&AS_SENT[..]),
            damages in damages(),
        ) {
            let text = damaged(text.to_owned(), &damages);
            if let Some(read) = quickly(&text, true) {
                prop_assert_eq!(Some(read), thorough(&text).ok(), "{}", text);
            }
        }

        #[test]
        fn what_is_kept_is_json_whatever_is_wrong_in_what_goes(
            text in prop::sample::select(&AS_SENT[..]),
            damages in damages(),
        ) {
            let text = damaged(text.to_owned(), &damages);
            if let Ok(object) = Object::from_json(text.as_bytes(), &pod()) {
                let kept: serde_json::Value = serde_json::from_slice(&object.json()).expect("JSON");
                prop_assert_eq!(&kept["metadata"]["name"], object.name());
            }
        }
    }

    fn pod() -> Ingest {
        Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }))
    }

    fn read_text(json: &str, ingest: &Ingest) -> String {
        let object = Object::from_json(json.as_bytes(), ingest).expect("an object");
        String::from_utf8(object.json().into_owned()).expect("UTF-8")
    }

    #[test]
    fn siblings_of_owners_that_have_one_object_each_are_known() {
        let workload = |kind: &str, name: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"x","ownerReferences":[{{"kind":"{kind}","name":"{name}","uid":"u-{name}","controller":true}}]}}}}"#
            );
            Object::from_json(json.as_bytes(), &pod()).expect("an object").workload
        };
        assert_eq!(workload("Job", "nightly-29123456"), workload("Job", "nightly-29123457"));
        assert_ne!(workload("Job", "nightly-29123456"), workload("Job", "hourly-29123456"));
        assert_eq!(workload("Service", "a"), workload("Service", "b"));
        assert_ne!(workload("ReplicaSet", "web-1"), workload("ReplicaSet", "web-2"));
    }

    #[test]
    fn metadata_is_held_apart_and_the_body_keeps_its_order() {
        let json = r#"{"metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"17"},"kind":"Pod","apiVersion":"v1","z":1.50,"a":"\u003c"}"#;
        let object = Object::from_json(json.as_bytes(), &pod()).expect("an object");
        assert_eq!((&**object.key(), object.namespace(), object.name()), ("shop/web", "shop", "web"));
        assert_eq!((object.uid(), object.resource_version()), (&Uid::new("u-1"), &"17".into()));
        assert_eq!(object.json(), json.as_bytes());
    }

    #[test]
    fn an_object_of_a_typed_list_gets_the_type_of_the_list() {
        assert_eq!(
            read_text(r#"{"metadata":{"name":"a"},"spec":{}}"#, &pod()),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}"#
        );
        let ingest = pod();
        let own = Object::from_json(br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}"#, &ingest);
        assert!(Arc::ptr_eq(own.expect("an object").type_meta(), &ingest.type_meta));
    }

    #[test]
    fn a_type_is_put_in_as_far_as_the_server_left_it_out() {
        for (said, put_in) in [
            ("", r#""kind":"Pod","apiVersion":"v1","#),
            (r#""kind":"Pod","#, r#""apiVersion":"v1","#),
            (r#""apiVersion":"v1","#, r#""kind":"Pod","#),
            (r#""kind":"Pod","apiVersion":"v1","#, ""),
            (r#""apiVersion":"","kind":"","#, ""),
        ] {
            let text = |put_in| format!(r#"{{{put_in}{said}"metadata":{{"name":"a"}}}}"#);
            assert_eq!(read_text(&text(""), &pod()), text(put_in));
        }
        let odd = TypeMeta { api_version: "a\\b".into(), kind: "\"\n".into() };
        assert_eq!(
            read_text(r#"{"metadata":{"name":"a"}}"#, &Ingest::of(Arc::new(odd))),
            r#"{"kind":"\"\n","apiVersion":"a\\b","metadata":{"name":"a"}}"#
        );
    }

    #[test]
    fn managed_fields_go_wherever_they_stand() {
        for (given, wanted) in [
            (r#"{"name":"a","managedFields":[{"f":{"k":"]}"}}]}"#, r#"{"name":"a"}"#),
            (r#"{"managedFields":[],"name":"a"}"#, r#"{"name":"a"}"#),
            (r#"{"uid":"u","managedFields":[1],"name":"a"}"#, r#"{"uid":"u","name":"a"}"#),
            (r#"{ "managedFields" : [ ] , "name":"a" }"#, r#"{"name":"a" }"#),
            (r#"{"name":"a","managedFields":null}"#, r#"{"name":"a","managedFields":null}"#),
            (r#"{"name":"a","managed\u0046ields":[]}"#, r#"{"name":"a","managed\u0046ields":[]}"#),
        ] {
            let whole = |metadata| format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#);
            let text = read_text(&whole(given), &pod());
            assert_eq!(text.replace("{ ", "{"), whole(wanted));
            let keep = Ingest { keep_managed_fields: true, ..pod() };
            assert_eq!(read_text(&whole(given), &keep), whole(given));
        }
    }

    #[test]
    fn a_pretty_printed_object_becomes_one_line() {
        let json = "{\n  \"kind\": \"Pod\",\r\n\t\"apiVersion\": \"v1\", \"metadata\": {\n \"managedFields\": [\n ],\n \"name\": \"a \\\" b\"\n }\n}\n";
        assert_eq!(
            read_text(json, &pod()),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a \" b"}}"#
        );
    }

    #[test]
    fn what_is_no_object_is_refused_without_repeating_it() {
        for json in [
            "",
            "[]",
            r#"["v1","Pod",{"name":"x"}]"#,
            "null",
            "{",
            r#"{"metadata":{"name":7}}"#,
            r#"{"metadata":{"name":"x"}} {}"#,
            r#"{"metadata":{"name":"x"},"secret":tru}"#,
            r#"{"metadata":{}}"#,
            r#"{"metadata":{"name":""}}"#,
            "{}",
            r#"{"kind":null,"metadata":{"name":"x"}}"#,
            r#"{"kind":null,"metadata":{"name":"x"}}"#,
            "{\"metadata\":{\"name\":\"x\"},\"a\":1\n2}",
        ] {
            let error = Object::from_json(json.as_bytes(), &pod()).expect_err(json).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_wherever_they_stand() {
        let json = b"{\"metadata\":{\"name\":\"x\"},\"data\":{\"a\":\"\xff\"}}";
        assert!(matches!(Object::from_json(json, &pod()), Err(ObjectError::NotUtf8)));
    }

    #[test]
    fn another_order_and_spelling_says_the_same_and_another_value_does_not() {
        let object = |json: &str| Object::from_json(json.as_bytes(), &pod()).expect("an object");
        let metadata = r#""metadata":{"name":"x","uid":"u","resourceVersion":"7"}"#;
        let one = object(&format!(r#"{{"kind":"Pod","apiVersion":"v1",{metadata},"a":"<","b":1}}"#));
        let respelled = format!(r#"{{"kind":"Pod","apiVersion":"v1",{metadata},"b":1,"a":"\u003c"}}"#);
        assert!(one.same_content(&one) && one.same_content(&object(&respelled)));
        assert!(!one.same_content(&object(&respelled.replace("003c", "003e"))));
        let later = object(&respelled.replace(r#""7""#, r#""8""#));
        assert!(!one.same_content(&later));
    }
}
