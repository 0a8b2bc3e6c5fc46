//! Tests of the parsers, and of the objects and texts that they make.

use std::sync::Arc;

use proptest::prelude::*;

use super::Ingest;
use super::envelope::{Envelope, parse_any};
use super::fast_parser::parse_fast;
#[cfg(feature = "recording")]
use super::known_values::KnownValues;
use crate::object::json::{damaged, damages};
use crate::object::{Object, ObjectError, TypeMeta, Uid};

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

    #[cfg(feature = "recording")]
    #[test]
    fn a_body_after_another_is_parsed_as_it_is_alone(
        texts in proptest::collection::vec((prop::sample::select(&AS_SENT[..]), any::<bool>(), damages()), 1..6),
    ) {
        let ingest = Ingest { keep_managed_fields: true, ..pod() };
        let (mut values, mut before) = (KnownValues::default(), Vec::new());
        for (text, is_damaged, damages) in texts {
            // Longer than the values that are parsed again.
            let text = text.replace("\"n\"", &format!("\"text\":\"{}\",\"n\"", "x".repeat(300)));
            let text = if is_damaged { damaged(text, &damages) } else { text };
            let alone = Object::from_body(text.clone().into_bytes(), &[], &mut KnownValues::default(), &ingest);
            let after = Object::from_body(text.clone().into_bytes(), &before, &mut values, &ingest);
            prop_assert_eq!(format!("{:?}", after.as_ref().err()), format!("{:?}", alone.as_ref().err()), "{}", text);
            let (Ok(after), Ok(alone)) = (after, alone) else {
                values = KnownValues::default();
                continue;
            };
            prop_assert_eq!(after.json(), alone.json(), "{}", text);
            prop_assert_eq!((after.key(), after.uid()), (alone.key(), alone.uid()));
            before = after.json().into_owned();
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
        let object_text = |metadata| format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#);
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
    assert_eq!(read_text(json, &pod()), r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a \" b"}}"#);
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
