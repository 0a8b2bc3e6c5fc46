//! Parsing of objects at ingest.
//!
//! Parsing is one pass that validates the whole text and extracts the metadata; no tree is built. The stored text is
//! cut from the original, which preserves the server's key order and number spelling.
//!
//! [`parse_fast`] handles the JSON that servers write; `serde_json` handles everything that it rejects, valid or not.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::body::{Body, Whitespace};
use super::compression::checksum;
use super::error::ObjectError;
use super::json::{self, Entry, Members};
use super::last_write::LastWrite;
use super::{Object, ResourceVersion, TypeMeta, Uid, key};

/// Properties that an object takes from the request that returned it.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The type of objects that don't carry their own, such as the items of typed lists.
    pub type_meta: Arc<TypeMeta>,
    /// Whether `metadata.managedFields` stays in the body. It makes up more than half of many objects and is rarely
    /// needed.
    pub keep_managed_fields: bool,
    /// Whether the manager of the last change is recorded, for [`Object::manager_since`]. It is read from managedFields,
    /// also if those are removed, and takes no memory.
    pub record_manager: bool,
}

impl Ingest {
    /// Options for objects of this type, without managedFields and managers.
    #[must_use]
    pub fn of(type_meta: Arc<TypeMeta>) -> Self {
        Self { type_meta, keep_managed_fields: false, record_manager: false }
    }
}

impl Object {
    /// Parses one object from JSON.
    ///
    /// The result's body is compact, carries `apiVersion` and `kind` (those of `ingest` where the server omits them, as
    /// it does inside typed lists) and has no `metadata.managedFields` unless `ingest` keeps them. Keys stay in the
    /// server's order.
    ///
    /// # Errors
    /// [`ObjectError`] when the text is not one JSON object, or its metadata has no name or does not have the types of
    /// the Kubernetes API conventions. Inside managedFields that are dropped, only brackets and strings are checked.
    pub fn from_json(json: &[u8], ingest: &Ingest) -> Result<Self, ObjectError> {
        read(json, ingest)
    }

    /// Parses one object that no server has yet, whose name may be missing. Otherwise as [`Object::from_json`].
    ///
    /// # Errors
    /// Those of [`Object::from_json`], except for a missing name.
    pub fn unnamed_from_json(json: &[u8], ingest: &Ingest) -> Result<Self, ObjectError> {
        let json = json.trim_ascii();
        let text = str::from_utf8(json).map_err(|_| ObjectError::NotUtf8)?;
        built(json, parse_any(text)?, ingest)
    }

    /// Parses an object as [`Object::from_json`] does, from its own body, as [`Object::json`] returned it. The text is not
    /// copied. The body keeps its managedFields.
    ///
    /// # Errors
    /// Those of [`Object::from_json`].
    #[cfg(feature = "recording")]
    pub(crate) fn from_body(body: Vec<u8>, ingest: &Ingest) -> Result<Self, ObjectError> {
        read_body(body, ingest)
    }

    /// Parses the JSON that servers usually write, nested at most 66 deep. `None` means only that [`Object::from_json`]
    /// must decide.
    #[cfg(any(feature = "api", feature = "demo"))]
    pub(crate) fn from_plain_json(json: &[u8], ingest: &Ingest) -> Option<Self> {
        read_plain(json, ingest)
    }

    /// Parses the object at the front of a text and returns its end, without a look at the bytes after it.
    #[cfg(any(feature = "api", feature = "demo"))]
    pub(crate) fn from_plain_front(text: &[u8], ingest: &Ingest) -> Option<(Self, usize)> {
        read_front(text, ingest)
    }
}

#[derive(Deserialize, Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "not_null")]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "not_null")]
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
    #[serde(borrow, default, deserialize_with = "source_text")]
    labels: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "source_text")]
    owner_references: Option<&'a str>,
    #[serde(borrow, default, deserialize_with = "source_bytes")]
    managed_fields: Option<&'a [u8]>,
}

impl Metadata<'_> {
    /// Returns a hash that similar objects share: of their controller, or else of their labels; 0 without either.
    ///
    /// The texts are hashed as the server wrote them, which is the same for siblings. Labels that identify a single
    /// object are ignored, so that all nodes are siblings, and all namespaces are.
    fn workload(&self) -> u32 {
        let owners = self.owner_references.unwrap_or_default().as_bytes();
        if memmem::find(owners, br#""controller":true"#).is_some() {
            return checksum(shared_owner(self.owner_references.unwrap_or_default()).as_bytes()).max(1);
        }
        let labels = self.labels.unwrap_or_default().as_bytes();
        match labels.len() {
            0..=2 => 0,
            _ if SINGLE_OBJECT_LABELS.iter().any(|label| memmem::find(labels, label).is_some()) => 1,
            _ => checksum(labels).max(1),
        }
    }
}

/// Returns the part of the owner references that siblings share: all of it, unless each object has an owner of its own.
/// The exceptions are pods of Jobs that a `CronJob` created, whose names end in the time, and `EndpointSlices`, of which
/// most Services have one.
fn shared_owner(owners: &str) -> &str {
    if owners.contains(r#""kind":"Service""#) {
        return "";
    }
    let job = owners.contains(r#""kind":"Job""#).then(|| owners.split_once(r#""name":""#)).flatten();
    let name = job.and_then(|(_, rest)| rest.split('"').next());
    name.map_or(owners, |name| name.trim_end_matches(|last: char| last.is_ascii_digit()))
}

/// Labels whose value names the one object that carries them.
const SINGLE_OBJECT_LABELS: [&[u8]; 2] =
    [br#""kubernetes.io/hostname":"#, br#""kubernetes.io/metadata.name":"#];

/// Deserializes a member that may be absent but not null: only an absent member can be added without occurring twice.
fn not_null<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    // A struct, because a bare Cow would copy the text.
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Text::deserialize(from).map(|Text(text)| Some(text))
}

/// Returns the source text of a member, unless it is null.
fn source_text<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a str>, D::Error> {
    Option::<&'a RawValue>::deserialize(from).map(|raw| raw.map(RawValue::get))
}

/// Returns the source bytes of a member, unless it is null.
fn source_bytes<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a [u8]>, D::Error> {
    source_text(from).map(|text| text.map(str::as_bytes))
}

/// Parses the JSON that servers write in three quarters of `serde_json`'s time. It also returns the end of the object,
/// which saves another pass over a watch line. It returns `None` for invalid JSON and for valid JSON of unusual form:
/// names with escapes, duplicate members, or types that differ from the API conventions. In managedFields that are not
/// `kept` only brackets are checked: they are half of the text, and errors inside are dropped with them.
///
/// The caller checks the bytes after the end, and that the text is UTF-8.
fn parse_fast(json: &[u8], kept: bool) -> Option<(Envelope<'_>, usize)> {
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
            b"apiVersion" => take_string(json, at, &mut envelope.api_version)?,
            b"kind" => take_string(json, at, &mut envelope.kind)?,
            b"metadata" => {
                let (metadata, end) = parse_fast_metadata(json, at, kept)?;
                set_once(&mut envelope.metadata, metadata)?;
                end
            }
            _ => skip_member(json, name, at)?,
        };
        members.step_over(end);
    }
}

/// Parses the metadata that begins at `at`, and returns its end.
fn parse_fast_metadata(json: &[u8], at: usize, kept: bool) -> Option<(Metadata<'_>, usize)> {
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
            b"name" => take_string(json, at, &mut metadata.name)?,
            b"namespace" => take_string(json, at, &mut metadata.namespace)?,
            b"uid" => take_string(json, at, &mut metadata.uid)?,
            b"resourceVersion" => take_string(json, at, &mut metadata.resource_version)?,
            b"labels" => take_source(json, at, &mut metadata.labels)?,
            b"ownerReferences" => take_source(json, at, &mut metadata.owner_references)?,
            b"managedFields" => {
                let skip = if kept { json::value } else { json::skip_brackets };
                let (value, end) = composite(json, at, skip)?;
                set_once(&mut metadata.managed_fields, value)?;
                end
            }
            _ => skip_member(json, name, at)?,
        };
        members.step_over(end);
    }
}

/// Stores a string without escapes and returns its end.
fn take_string<'a>(json: &'a [u8], at: usize, to: &mut Option<Cow<'a, str>>) -> Option<usize> {
    let end = (*json.get(at)? == b'"').then(|| json::value(json, at))??;
    let inside = &json[at + 1..end - 1];
    if memchr::memchr(b'\\', inside).is_some() {
        return None;
    }
    set_once(to, Cow::Borrowed(str::from_utf8(inside).ok()?))?;
    Some(end)
}

/// Stores the source text of an array or object and returns its end.
fn take_source<'a>(json: &'a [u8], at: usize, to: &mut Option<&'a str>) -> Option<usize> {
    let (value, end) = composite(json, at, json::value)?;
    set_once(to, str::from_utf8(value).ok()?)?;
    Some(end)
}

/// Returns the source bytes of an array or object, and its end, which `skip` finds.
fn composite(json: &[u8], at: usize, skip: fn(&[u8], usize) -> Option<usize>) -> Option<(&[u8], usize)> {
    let end = matches!(json.get(at)?, b'{' | b'[').then(|| skip(json, at))??;
    Some((&json[at..end], end))
}

/// Skips a member that is not needed, unless its name has escapes: it could spell a name that is.
fn skip_member(json: &[u8], name: &[u8], at: usize) -> Option<usize> {
    if name.contains(&b'\\') { None } else { json::value(json, at) }
}

fn set_once<T>(to: &mut Option<T>, value: T) -> Option<()> {
    to.replace(value).is_none().then_some(())
}

/// Parses any valid object.
fn parse_any(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    // serde would accept an array of the members' values too.
    if !text.starts_with('{') {
        return Err(serde_json::Error::custom("it does not begin with {"));
    }
    serde_json::from_str(text)
}

/// Implements [`Object::from_json`].
fn read(json: &[u8], ingest: &Ingest) -> Result<Object, ObjectError> {
    let json = json.trim_ascii();
    let text = str::from_utf8(json).map_err(|_| ObjectError::NotUtf8)?;
    let fast = parse_fast(json, ingest.keep_managed_fields).filter(|(_, end)| *end == json.len());
    let envelope = fast.map_or_else(|| parse_any(text), |(envelope, _)| Ok(envelope))?;
    object(json, envelope, ingest)
}

/// Implements [`Object::from_body`].
#[cfg(feature = "recording")]
fn read_body(body: Vec<u8>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let ingest = Ingest { keep_managed_fields: true, ..ingest.clone() };
    // Most texts are ASCII, and that check is faster.
    if !body.is_ascii() && str::from_utf8(&body).is_err() {
        return Err(ObjectError::NotUtf8);
    }
    let fast = parse_fast(&body, true).filter(|(envelope, end)| {
        let name = envelope.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
        let has_type = envelope.kind.is_some() && envelope.api_version.is_some();
        *end == body.len() && has_type && name.is_some_and(|name| !name.is_empty())
    });
    let Some((envelope, _)) = fast else { return read(&body, &ingest) };
    let object = without_body(envelope, &ingest);
    Ok(Object { body: Body::text(body.into_boxed_slice()), ..object })
}

/// Implements [`Object::from_plain_json`].
#[cfg(any(feature = "api", feature = "demo"))]
fn read_plain(json: &[u8], ingest: &Ingest) -> Option<Object> {
    let (object, end) = read_front(json, ingest)?;
    (end == json.len()).then_some(object)
}

/// Implements [`Object::from_plain_front`].
#[cfg(any(feature = "api", feature = "demo"))]
fn read_front(text: &[u8], ingest: &Ingest) -> Option<(Object, usize)> {
    let (envelope, end) = parse_fast(text, ingest.keep_managed_fields)?;
    let json = &text[..end];
    // Most texts are ASCII, and that check is faster.
    if !json.is_ascii() && str::from_utf8(json).is_err() {
        return None;
    }
    Some((object(json, envelope, ingest).ok()?, end))
}

/// Builds the object of a parsed text, which must be UTF-8.
///
/// # Errors
/// It has no name, or is no object.
fn object(json: &[u8], envelope: Envelope<'_>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let name = envelope.metadata.as_ref().and_then(|metadata| metadata.name.as_ref());
    if name.is_none_or(|name| name.is_empty()) {
        return Err(ObjectError::Nameless);
    }
    built(json, envelope, ingest)
}

/// Builds the object of a parsed text, which must be UTF-8. A missing name is empty.
fn built(json: &[u8], envelope: Envelope<'_>, ingest: &Ingest) -> Result<Object, ObjectError> {
    let managed_fields = envelope.metadata.as_ref().and_then(|metadata| metadata.managed_fields);
    let unwanted = match managed_fields {
        Some(raw) if !ingest.keep_managed_fields => member_span(json, raw),
        _ => 0..0,
    };
    let default = &*ingest.type_meta;
    let missing = [
        ("kind", envelope.kind.is_none().then_some(&*default.kind)),
        ("apiVersion", envelope.api_version.is_none().then_some(&*default.api_version)),
    ];
    let body = Body::text(assemble(json, missing, unwanted)?);
    Ok(Object { body, ..without_body(envelope, ingest) })
}

/// Builds the object of a parsed text without its body.
fn without_body(envelope: Envelope<'_>, ingest: &Ingest) -> Object {
    let Envelope { api_version, kind, metadata } = envelope;
    let metadata = metadata.unwrap_or_default();
    let workload = metadata.workload();
    let name = metadata.name.unwrap_or_default();
    let namespace = metadata.namespace.unwrap_or_default();
    let last_write = match metadata.managed_fields {
        Some(raw) if ingest.record_manager => LastWrite::of(raw),
        _ => LastWrite::default(),
    };
    Object {
        key: key::join(&namespace, &name),
        namespace_len: key::length_of(&namespace),
        uid: Uid::new(&metadata.uid.unwrap_or_default()),
        version: ResourceVersion::new(&metadata.resource_version.unwrap_or_default()),
        last_write,
        workload,
        body: Body::empty(),
        type_meta: shared_type(api_version.as_deref(), kind.as_deref(), &ingest.type_meta),
        row: None,
    }
}

/// Returns the shared default type if the object's own is equal, so that a million objects share one.
fn shared_type(api_version: Option<&str>, kind: Option<&str>, default: &Arc<TypeMeta>) -> Arc<TypeMeta> {
    let api_version = api_version.unwrap_or(&default.api_version);
    let kind = kind.unwrap_or(&default.kind);
    if api_version == default.api_version && kind == default.kind {
        Arc::clone(default)
    } else {
        Arc::new(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() })
    }
}

/// Returns the range of the member with this value in `json`, with its name and one adjacent comma. `value` must be a
/// subslice of `json`. A member whose name has escapes is kept: no server writes one.
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

/// Builds the stored text: `json` on one line, without the unwanted range, with the missing members inserted after the
/// first brace. The object has other members: one without metadata was rejected.
///
/// Only a server that pretty-prints puts a newline into an object (inside a JSON string it would be escaped), so the
/// usual text is copied in two pieces without a look at each byte.
fn assemble(
    json: &[u8],
    missing: [(&str, Option<&str>); 2],
    unwanted: Range<usize>,
) -> Result<Box<[u8]>, serde_json::Error> {
    let missing = missing.iter().filter_map(|(name, value)| value.map(|value| (*name, value)));
    let added: usize =
        missing.clone().map(|(name, value)| name.len() + value.len() + r#""":"","#.len()).sum();
    // The exact capacity, so that boxing it does not copy.
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

    /// Runs the fast parser over a whole text. Bytes after it must make no difference.
    fn parse_fast_whole(text: &str, kept: bool) -> Option<Envelope<'_>> {
        let (read, end) = parse_fast(text.as_bytes(), kept)?;
        for behind in ["", "}", ",{", "\"", "\\", " "] {
            let longer = [&text[..end], behind].concat();
            let again = parse_fast(longer.as_bytes(), kept).map(|(read, end)| (format!("{read:?}"), end));
            assert_eq!(again, Some((format!("{read:?}"), end)), "{text}");
        }
        (end == text.len()).then_some(read)
    }

    #[test]
    fn the_fast_parser_accepts_what_servers_write() {
        for text in AS_SENT {
            for kept in [false, true] {
                assert!(parse_fast_whole(text, kept).is_some(), "{text}");
                assert_eq!(parse_fast_whole(text, kept), parse_any(text).ok(), "{text}");
            }
        }
        // Unusual or invalid: the full parser decides.
        for text in [
            r#"{"metadata":{"n\u0061me":"a"}}"#,
            r#"{"metadata":{"name":"\u0061"}}"#,
            r#"{"metadata":{"name":"a","name":"b"}}"#,
            r#"{"metadata":{"name":"a"},"metadata":{}}"#,
            r#"{"metadata":["a"]}"#,
            r#"{"metadata":{"name":"a","labels":null}}"#,
        ] {
            assert_eq!(parse_fast_whole(text, false), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_fast_parser_agrees_with_the_full_one(
            text in prop::sample::select(&AS_SENT[..]),
            damages in damages(),
        ) {
            let text = damaged(text.to_owned(), &damages);
            if let Some(read) = parse_fast_whole(&text, true) {
                prop_assert_eq!(Some(read), parse_any(&text).ok(), "{}", text);
            }
        }

        #[test]
        fn stored_bodies_are_json_despite_damaged_managed_fields(
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
    fn objects_of_single_object_owners_share_a_workload() {
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
    fn metadata_is_extracted_and_the_body_keeps_its_order() {
        let json = r#"{"metadata":{"name":"web","namespace":"shop","uid":"u-1","resourceVersion":"17"},"kind":"Pod","apiVersion":"v1","z":1.50,"a":"\u003c"}"#;
        let object = Object::from_json(json.as_bytes(), &pod()).expect("an object");
        assert_eq!((&**object.key(), object.namespace(), object.name()), ("shop/web", "shop", "web"));
        assert_eq!((object.uid(), object.resource_version()), (&Uid::new("u-1"), &"17".into()));
        assert_eq!(object.json(), json.as_bytes());
    }

    #[test]
    fn an_item_of_a_typed_list_gets_the_type_of_the_list() {
        assert_eq!(
            read_text(r#"{"metadata":{"name":"a"},"spec":{}}"#, &pod()),
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}"#
        );
        let ingest = pod();
        let own = Object::from_json(br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}"#, &ingest);
        assert!(Arc::ptr_eq(own.expect("an object").type_meta(), &ingest.type_meta));
    }

    #[test]
    fn missing_type_fields_are_inserted() {
        for (present, added) in [
            ("", r#""kind":"Pod","apiVersion":"v1","#),
            (r#""kind":"Pod","#, r#""apiVersion":"v1","#),
            (r#""apiVersion":"v1","#, r#""kind":"Pod","#),
            (r#""kind":"Pod","apiVersion":"v1","#, ""),
            (r#""apiVersion":"","kind":"","#, ""),
        ] {
            let text = |added| format!(r#"{{{added}{present}"metadata":{{"name":"a"}}}}"#);
            assert_eq!(read_text(&text(""), &pod()), text(added));
        }
        let odd = TypeMeta { api_version: "a\\b".into(), kind: "\"\n".into() };
        assert_eq!(
            read_text(r#"{"metadata":{"name":"a"}}"#, &Ingest::of(Arc::new(odd))),
            r#"{"kind":"\"\n","apiVersion":"a\\b","metadata":{"name":"a"}}"#
        );
    }

    #[test]
    fn managed_fields_are_removed_at_any_position() {
        for (given, expected) in [
            (r#"{"name":"a","managedFields":[{"f":{"k":"]}"}}]}"#, r#"{"name":"a"}"#),
            (r#"{"managedFields":[],"name":"a"}"#, r#"{"name":"a"}"#),
            (r#"{"uid":"u","managedFields":[1],"name":"a"}"#, r#"{"uid":"u","name":"a"}"#),
            (r#"{ "managedFields" : [ ] , "name":"a" }"#, r#"{"name":"a" }"#),
            (r#"{"name":"a","managedFields":null}"#, r#"{"name":"a","managedFields":null}"#),
            (r#"{"name":"a","managed\u0046ields":[]}"#, r#"{"name":"a","managed\u0046ields":[]}"#),
        ] {
            let object_text =
                |metadata| format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#);
            let text = read_text(&object_text(given), &pod());
            assert_eq!(text.replace("{ ", "{"), object_text(expected));
            let keep = Ingest { keep_managed_fields: true, ..pod() };
            assert_eq!(read_text(&object_text(given), &keep), object_text(given));
        }
    }

    #[test]
    fn manager_is_recorded_whether_managed_fields_stay_or_not() {
        let json = r#"{"metadata":{"name":"a","managedFields":[{"manager":"helm","time":"2026-11-21T09:00:00Z","fieldsV1":{"f:a":{}}}]}}"#;
        // The second form is not for the fast parser.
        for json in [json.to_owned(), json.replace("\"name\"", "\"n\\u0061me\"")] {
            for (keep_managed_fields, record_manager, expected) in [
                (false, false, None),
                (true, false, None),
                (false, true, Some("helm")),
                (true, true, Some("helm")),
            ] {
                let ingest = Ingest { keep_managed_fields, record_manager, ..pod() };
                let object = Object::from_json(json.as_bytes(), &ingest).expect("an object");
                let before = Object::named(Arc::clone(object.type_meta()), "", "a");
                assert_eq!(object.manager_since(&before).as_deref(), expected, "{json}");
            }
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
    fn errors_of_invalid_objects_do_not_contain_their_text() {
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
    fn invalid_utf8_is_rejected_at_any_position() {
        let json = b"{\"metadata\":{\"name\":\"x\"},\"data\":{\"a\":\"\xff\"}}";
        assert!(matches!(Object::from_json(json, &pod()), Err(ObjectError::NotUtf8)));
    }

    #[test]
    fn same_content_ignores_order_and_spelling() {
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
