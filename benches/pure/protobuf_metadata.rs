//! Decoding of protobuf metadata into objects.

use std::hint::black_box;

use jiff::Timestamp;
use kdelta::api::bench_support::protobuf_objects;
use kdelta::object::Ingest;
use serde_json::Value;

use crate::Bench;

/// The byte figures are those of the messages, including managedFields.
pub(crate) fn run(bench: &Bench, texts: &[String], ingest: &Ingest) {
    let items: Vec<Vec<u8>> = texts.iter().map(|text| item(text)).collect();
    let bench = Bench { bytes: items.iter().map(Vec::len).sum(), ..bench.clone() };
    bench.run(
        "protobuf metadata to an object",
        || (),
        |()| {
            for object in protobuf_objects(items.iter().map(Vec::as_slice), ingest.clone()) {
                black_box(object.expect("an object"));
            }
        },
    );
}

/// Encodes the metadata of a pod, its fields in the order of their numbers.
fn item(pod: &str) -> Vec<u8> {
    let pod: Value = serde_json::from_str(pod).expect("JSON");
    let metadata = &pod["metadata"];
    let mut out = Vec::new();
    let names = [(1, "name"), (2, "generateName"), (3, "namespace"), (5, "uid"), (6, "resourceVersion")];
    texts(metadata, &names, &mut out);
    let created: Timestamp = text(metadata, "creationTimestamp").parse().expect("a time");
    let mut seconds = vec![1 << 3];
    varint(u64::try_from(created.as_second()).expect("a time of today"), &mut seconds);
    field(8, &seconds, &mut out);
    for (key, value) in metadata["labels"].as_object().expect("labels") {
        let mut entry = Vec::new();
        field(1, key.as_bytes(), &mut entry);
        field(2, value.as_str().expect("a text").as_bytes(), &mut entry);
        field(11, &entry, &mut out);
    }
    let mut owner = Vec::new();
    let names = [(1, "kind"), (3, "name"), (4, "uid"), (5, "apiVersion")];
    texts(&metadata["ownerReferences"][0], &names, &mut owner);
    owner.extend([6 << 3, 1, 7 << 3, 1]);
    field(13, &owner, &mut out);
    field(17, metadata["managedFields"].to_string().as_bytes(), &mut out);
    let mut item = Vec::new();
    field(1, &out, &mut item);
    item
}

fn texts(from: &Value, names: &[(u64, &str)], out: &mut Vec<u8>) {
    for (at, name) in names {
        field(*at, text(from, name).as_bytes(), out);
    }
}

fn text<'a>(from: &'a Value, name: &str) -> &'a str {
    from[name].as_str().expect("a text")
}

fn field(at: u64, value: &[u8], out: &mut Vec<u8>) {
    varint(at << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}
