//! Properties that hold for any bytes from a server, a file or a user, for the property tests and the fuzzer.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::discovery::Catalog;
use crate::client::failure;
use crate::client::redaction::Redaction;
use crate::kubeconfig::{Config, ConfigOptions};
use crate::object::{ApiResource, Ingest, Row};
use crate::wire::DiscoveredResource;
use crate::wire::decode::{Decoder, Naming};
use crate::wire::frames::{
    ListSplitter, Next, Piece, ProtobufListSplitter, ProtobufPiece, ProtobufWatchSplitter, WatchFrame,
    WatchSplitter,
};
use crate::wire::representation::{IncludeObject, Representation};
use crate::wire::{Limits, protobuf, status};

/// Limits that a fuzzer reaches.
const LIMITS: Limits = Limits { frame: 4096, depth: 32 };

/// Asserts that a watch has the same frames and the same result, whole or cut between any two bytes, and that a frame's
/// quick parse equals its full parse.
///
/// # Panics
/// The property does not hold.
pub fn frames(body: &[u8]) {
    let (whole, whole_ended) = split(body, body.len().max(1));
    let (cut, cut_ended) = split(body, 1);
    assert_eq!((&whole, whole_ended), (&cut, cut_ended), "cuts make a difference");
    for frame in &whole {
        assert!(frame.len() <= LIMITS.frame, "a frame beyond the limit");
        let parsed = WatchFrame::parse(frame).ok();
        if let Some(parsed) = &parsed {
            let object: Option<Value> = serde_json::from_slice(parsed.object).ok();
            assert!(object.is_some(), "an object that is no JSON");
        }
        if let (Some(quick), Some(parsed)) = (WatchFrame::quick(frame), &parsed) {
            assert_eq!(quick.event_type, parsed.event_type, "the quick parse reads another type");
        }
    }
}

/// Splits a stream in chunks of that size into frames; also returns whether it ended without error.
fn split(body: &[u8], size: usize) -> (Vec<Vec<u8>>, bool) {
    let mut splitter = WatchSplitter::new(LIMITS);
    let next = |chunk: &mut &[u8]| splitter.next(chunk).map(|frame| frame.map(<[u8]>::to_vec));
    let (frames, whole) = in_chunks(body, size, next);
    (frames, whole && splitter.finish().is_ok())
}

/// Collects the results of `next` for a body in chunks of that size; also returns whether none was rejected.
fn in_chunks<E>(
    body: &[u8],
    size: usize,
    mut next: impl FnMut(&mut &[u8]) -> Result<Option<Vec<u8>>, E>,
) -> (Vec<Vec<u8>>, bool) {
    let mut pieces = Vec::new();
    for mut chunk in body.chunks(size) {
        loop {
            match next(&mut chunk) {
                Ok(Some(piece)) => pieces.push(piece),
                Ok(None) => break,
                Err(_) => return (pieces, false),
            }
        }
    }
    (pieces, true)
}

/// Asserts that a refusal with any body has a sentence for users and a Status for programs.
///
/// # Panics
/// The property does not hold.
pub fn refusal(code: u16, body: &[u8]) {
    let error = failure::of_response(code, None, body, &Redaction::default());
    assert!(!error.to_string().is_empty(), "a refusal without a message");
    if let Some(status) = error.status() {
        let json: Option<Value> = serde_json::from_str(&status.json).ok();
        assert!(json.is_some_and(|json| json["kind"] == "Status"), "no Status: {:?}", status.json);
        assert!(!status.json.contains('\n'), "a Status of several lines");
    }
    assert!(!status::from_status_json(body).to_string().is_empty(), "an error without a message");
}

/// Asserts that the rows of a Table are the same, whole or cut between any two bytes, with any part of their objects.
///
/// # Panics
/// The property does not hold.
pub fn table_rows(body: &[u8]) {
    for include in [IncludeObject::None, IncludeObject::Metadata, IncludeObject::Object] {
        let whole = rows(body, body.len().max(1), include);
        assert_eq!(whole, rows(body, 1, include), "cuts make a difference");
    }
}

/// Asserts that the objects of a list are the same, decoded in place or scanned to their ends, whole or cut. Decoding in place may
/// accept more: invalid managedFields, which are dropped.
///
/// # Panics
/// The property does not hold.
pub fn items(body: &[u8]) {
    let (followed, ended) = objects(body, 1);
    for size in [body.len().max(1), 64] {
        let (read, read_ended) = objects(body, size);
        assert!(read.starts_with(&followed), "an object differs");
        assert!(!ended || (read_ended && read.len() == followed.len()), "the result differs");
    }
}

/// Returns key and text of each object of a list in chunks of that size, and whether the list ended without error. In
/// chunks of one byte all objects are scanned.
fn objects(body: &[u8], size: usize) -> (Vec<(String, Vec<u8>)>, bool) {
    let ingest = Ingest::of(resource("", "pods", "Pod").type_meta());
    let epoch = || Timestamp::UNIX_EPOCH;
    let mut decoder =
        Decoder::new(ingest, Representation::Objects, String::new(), Naming::RequestedNamespace, epoch);
    let mut splitter = ListSplitter::new(Limits { depth: 512, ..LIMITS });
    let mut objects = Vec::new();
    for mut chunk in body.chunks(size) {
        loop {
            let read = match splitter.read(&mut chunk, |front| decoder.plain_item(front)) {
                Ok(Some(Next::Read(object))) => Ok(Some(object)),
                Ok(Some(Next::Piece(Piece::Item(json)))) => decoder.item(json).map(Some),
                Ok(Some(Next::Piece(_))) => Ok(None),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let Ok(object) = read else { return (objects, false) };
            objects.extend(object.map(|object| (object.key().to_string(), object.json().into_owned())));
        }
    }
    (objects, splitter.finish().is_ok())
}

/// Returns name and cells of each row, and whether the list ended without error.
fn rows(body: &[u8], size: usize, include: IncludeObject) -> (Vec<(String, Vec<String>)>, bool) {
    let ingest = Ingest::of(resource("", "pods", "Pod").type_meta());
    let mut decoder = Decoder::new(
        ingest,
        Representation::Table(include),
        String::new(),
        Naming::RequestedNamespace,
        || Timestamp::UNIX_EPOCH,
    );
    let mut splitter = ListSplitter::new(LIMITS);
    let mut rows = Vec::new();
    for mut chunk in body.chunks(size) {
        loop {
            let read = match splitter.next(&mut chunk) {
                Ok(Some(Piece::Row(json))) => decoder.row(json).map(Some),
                Ok(Some(Piece::Item(json))) => decoder.item(json).map(Some),
                Ok(Some(Piece::Columns(json))) => decoder.columns(json).map(|()| None),
                Ok(Some(_)) => Ok(None),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let Ok(object) = read else { return (rows, false) };
            rows.extend(object.map(|object| {
                let cells = object.row().into_iter().flat_map(Row::cells).map(str::to_owned);
                (object.name().to_owned(), cells.collect())
            }));
        }
    }
    (rows, splitter.finish().is_ok())
}

/// Asserts that a list in Protocol Buffers has the same objects and the same result, whole or cut between any two bytes,
/// and that a watch has the same events; the identifying fields of an object equal those of its JSON, and an event is decoded or
/// rejected.
///
/// # Panics
/// The property does not hold.
pub fn protobuf(body: &[u8]) {
    let (whole, cut) = (protobuf_items(body, body.len().max(1)), protobuf_items(body, 1));
    assert_eq!(whole, cut, "cuts make a difference");
    for item in &whole.0 {
        let mut text = Vec::new();
        if protobuf::json(item, &mut text).is_err() {
            continue;
        }
        let json: Value = serde_json::from_slice(&text).unwrap_or_default();
        let names = protobuf::names(item);
        let name = names.map(|names| names.name).unwrap_or_default();
        assert_eq!(json["metadata"]["name"].as_str().unwrap_or_default(), name, "another name");
    }
    let ingest = Ingest::of(resource("", "pods", "Pod").type_meta());
    let epoch = || Timestamp::UNIX_EPOCH;
    let mut decoder =
        Decoder::new(ingest, Representation::Metadata, String::new(), Naming::RequestedNamespace, epoch);
    let _read_or_rejected = decoder.protobuf_frame(body);

    // The body as a watch twice: unchanged, and cut into frames with a length before each.
    let size = body.first().map_or(1, |first| usize::from(*first) + 1);
    let framed = |part: &[u8]| [&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes(), part].concat();
    let framed: Vec<u8> = body.chunks(size).flat_map(framed).collect();
    for (stream, expected) in [(body, None), (&framed, Some(body.chunks(size).collect::<Vec<_>>()))] {
        let (whole, cut) = (protobuf_frames(stream, stream.len().max(1)), protobuf_frames(stream, 1));
        assert_eq!(whole, cut, "cuts make a difference to a watch");
        assert!(
            expected.is_none_or(|expected| whole.1 && whole.0 == expected),
            "the events differ from the frames"
        );
        for frame in &whole.0 {
            let _read_or_rejected = decoder.protobuf_frame(frame);
        }
    }
}

/// Splits a watch in chunks of that size into events; also returns whether it ended without error.
fn protobuf_frames(body: &[u8], size: usize) -> (Vec<Vec<u8>>, bool) {
    let mut splitter = ProtobufWatchSplitter::new(LIMITS);
    let next = |chunk: &mut &[u8]| splitter.next(chunk).map(|frame| frame.map(<[u8]>::to_vec));
    let (frames, whole) = in_chunks(body, size, next);
    (frames, whole && splitter.finish().is_ok())
}

/// Splits a list in chunks of that size into items; also returns whether it ended without error.
fn protobuf_items(body: &[u8], size: usize) -> (Vec<Vec<u8>>, bool) {
    let mut splitter = ProtobufListSplitter::new(LIMITS);
    let next = |chunk: &mut &[u8]| loop {
        match splitter.next(chunk) {
            Ok(Some(ProtobufPiece::Item(item))) => break Ok(Some(item.to_vec())),
            Ok(Some(ProtobufPiece::Metadata(_) | ProtobufPiece::TypeMeta(_))) => {}
            Ok(None) => break Ok(None),
            Err(error) => break Err(error),
        }
    };
    let (items, whole) = in_chunks(body, size, next);
    (items, whole && splitter.finish().is_ok())
}

/// Asserts that a word resolves to resources with that name, or to nothing; then at most three words are similar.
///
/// # Panics
/// The property does not hold.
pub fn resource_word(word: &str) {
    let catalog = catalog();
    let name = word.to_lowercase();
    let name = name.split('.').next().unwrap_or_default();
    let found = catalog.find(word);
    if found.is_empty() {
        assert!(catalog.near(word).len() <= 3, "too many words near {word:?}");
    }
    for one in found {
        let ApiResource { resource, kind, .. } = &one.resource;
        let called = *resource == *name
            || one.singular == name
            || kind.to_lowercase() == name
            || one.short_names.iter().any(|short| short == name)
            || one.categories.iter().any(|category| category == word);
        assert!(called, "{word:?} is not {resource}");
        assert!(!catalog.alternatives(word).contains(&one.resource.group_resource()));
    }
}

fn resource(group: &str, plural: &str, kind: &str) -> ApiResource {
    ApiResource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: plural.to_owned(),
        kind: kind.to_owned(),
        namespaced: true,
    }
}

fn catalog() -> Catalog {
    let one = |group: &str, plural: &str, kind: &str, short: &str, verb: &str| DiscoveredResource {
        resource: resource(group, plural, kind),
        singular: kind.to_lowercase(),
        short_names: vec![short.to_owned()],
        categories: vec!["all".to_owned()],
        verbs: vec![verb.to_owned()],
        preferred: true,
    };
    let all = vec![
        one("", "pods", "Pod", "po", "list"),
        one("apps", "deployments", "Deployment", "deploy", "list"),
        one("metrics.k8s.io", "pods", "PodMetrics", "po", "list"),
        one("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", "sar", "create"),
    ];
    Catalog::new(all, Vec::new())
}

/// Asserts that a kubeconfig is usable or rejected in one line, and that neither output shows a credential. `file` is overwritten.
///
/// # Errors
/// The file can't be written.
///
/// # Panics
/// The property does not hold.
pub fn kubeconfig(text: &[u8], file: &Path) -> std::io::Result<()> {
    std::fs::write(file, text)?;
    let options = ConfigOptions { kubeconfig: Some(file.to_owned()), ..ConfigOptions::default() };
    match Config::load(&options) {
        Ok(config) => {
            let shown = format!("{config:?}");
            let user = config.user();
            for secret in [&user.token, &user.password].into_iter().flatten() {
                let secret = secret.expose();
                // A short one may occur by chance.
                assert!(secret.len() < 8 || !shown.contains(secret), "a credential is shown");
            }
        }
        Err(error) => {
            let message = error.to_string();
            assert!(
                !message.is_empty() && !message.contains(['\n', '\u{1b}']),
                "not one plain line: {message:?}"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FRAME: &str = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\\\"\",\"resourceVersion\":\"7\"}}}\n";
    const STATUS: &str = r#"{"kind":"Status","status":"Failure","message":"no","reason":"Expired","details":{"retryAfterSeconds":3},"code":410}"#;
    const TABLE: &str = r#"{"kind":"Table","metadata":{"resourceVersion":"5"},"columnDefinitions":[{"name":"Name","format":"name"},{"name":"Age"}],"rows":[{"cells":["a",1.5e7],"object":{"metadata":{"name":"a"}}},{"cells":["b",null]}]}"#;
    const LIST: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","labels":{"a":"\u0062"},"managedFields":[{"fieldsV1":{"f:a":{}}}]},"spec":{"n":[1,-2.5e3,true]}},{"kind":"Pod","metadata":{"name":"b","namespace":"ü"}},{"metadata":{"name":"c"}}]}"#;
    const CONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: k, cluster: {server: 'https://h:1'}}]\nusers: [{name: u, user: {token: s3cret-s3cret, username: n, password: p4ssw0rd}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n";

    // Two items, of which the second has a label, and the end of a list as servers write it.
    const PROTOBUF: &str = "k8s\0\n\u{4}\n\u{2}v1\u{12}\"\n\u{3}\u{12}\u{1}7\u{12}\u{8}\n\u{6}\n\u{1}a2\u{1}5\u{12}\u{11}\n\u{f}\n\u{1}b\u{1a}\u{1}nZ\u{7}\n\u{1}k\u{12}\u{2}vw\u{1a}\0\"\0";

    /// Valid input repeated twice with a few bytes changed, a prefix of it, or any bytes.
    fn near(valid: &'static str) -> impl Strategy<Value = Vec<u8>> {
        let edits = prop::collection::vec((0..2 * valid.len(), any::<u8>()), 0..4);
        let edited = edits.prop_map(move |edits| {
            let mut bytes = valid.repeat(2).into_bytes();
            for (at, byte) in edits {
                bytes[at] = byte;
            }
            bytes
        });
        let prefix = (0..=valid.len()).prop_map(move |end| valid.as_bytes()[..end].to_vec());
        prop_oneof![4 => edited, 1 => prefix, 1 => any::<Vec<u8>>()]
    }

    proptest! {
        #[test]
        fn frames_do_not_depend_on_cuts(body in near(FRAME)) {
            frames(&body);
        }

        #[test]
        fn every_refusal_has_a_message_and_a_status(code in 0..1000_u16, body in near(STATUS)) {
            refusal(code, &body);
        }

        #[test]
        fn protobuf_lists_do_not_depend_on_cuts(body in near(PROTOBUF)) {
            protobuf(&body);
        }

        #[test]
        fn items_do_not_depend_on_in_place_decoding(body in near(LIST)) {
            items(&body);
        }

        #[test]
        fn rows_do_not_depend_on_cuts(body in near(TABLE)) {
            table_rows(&body);
        }

        #[test]
        fn word_resolves_to_a_resource_with_that_name(word in "(p|po|pods?|Deploy|deployments|all|sar|é|İ)?\\.?(v1|apps|metrics)?\\.?[a-z.]{0,4}|\\PC{0,12}") {
            resource_word(&word);
        }

        #[test]
        fn kubeconfig_is_used_or_rejected_and_never_shown(text in near(CONFIG)) {
            let folder = tempfile::tempdir().unwrap();
            kubeconfig(&text, &folder.path().join("config")).unwrap();
        }
    }

    #[test]
    fn protobuf_sample_is_valid() {
        let (items, ended) = protobuf_items(PROTOBUF.as_bytes(), 7);
        let names = items.iter().map(|item| protobuf::names(item).expect("names").name);
        assert_eq!((names.collect::<Vec<_>>(), ended), (vec!["a".into(), "b".into()], true));
    }
}
