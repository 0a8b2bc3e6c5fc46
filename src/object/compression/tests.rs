use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Compressor, MIN_LEN, Prefix, State, Writer, decompress};
use crate::object::{Ingest, Object, TypeMeta};

fn object(json: &serde_json::Value) -> Arc<Object> {
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object"))
}

/// Returns text without a pattern, the same for the same seed.
fn noise(seed: u64, len: usize) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.alphanumeric()).collect()
}

/// Returns an object of a workload: the workload's template with a little text of its own.
fn sibling(workload: u64, number: u64, len: usize) -> Arc<Object> {
    object(&serde_json::json!({
        "metadata": {"name": format!("{workload}-{number}"), "labels": {"app": workload.to_string()}},
        "spec": {"template": noise(workload, len)},
        "status": {"ip": noise(workload << 32 | number, 12)},
    }))
}

fn stored_len(objects: &[Arc<Object>]) -> usize {
    objects.iter().map(|object| object.stored_len()).sum()
}

#[derive(Debug, Clone)]
struct ObjectSpec {
    workload: Option<u64>,
    template: u64,
    len: usize,
    own: Vec<u8>,
}

fn object_spec() -> impl Strategy<Value = ObjectSpec> {
    let len = prop_oneof![0..300usize, 300..6000usize, 120_000..140_000usize];
    (proptest::option::of(0..4u64), 0..3u64, len, proptest::collection::vec(any::<u8>(), 0..200))
        .prop_map(|(workload, template, len, own)| ObjectSpec { workload, template, len, own })
}

fn make(number: usize, made: &ObjectSpec) -> Arc<Object> {
    let labels = match made.workload {
        Some(workload) => serde_json::json!({"app": workload.to_string()}),
        None => serde_json::json!({}),
    };
    object(&serde_json::json!({
        "metadata": {"name": number.to_string(), "labels": labels},
        "spec": noise(made.template, made.len),
        "own": String::from_utf8_lossy(&made.own),
    }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn a_compressed_object_returns_the_same_json(all in proptest::collection::vec(object_spec(), 1..60), dropped: Vec<bool>) {
        let compressor = Compressor::new();
        let mut kept = Vec::new();
        for (number, made) in all.iter().enumerate() {
            let object = make(number, made);
            let text = object.json().into_owned();
            let compressed = compressor.compress(object);
            prop_assert_eq!(&*compressed.json(), &text);
            prop_assert_eq!(compressed.json_len(), text.len());
            prop_assert!(compressed.stored_len() <= text.len());
            // Some objects are dropped at once, and with them the base of others.
            if !dropped.get(number).copied().unwrap_or_default() {
                kept.push((compressed, text));
            }
        }
        drop(compressor);
        for (compressed, text) in &kept {
            prop_assert_eq!(&*compressed.json(), text);
            let decompressed = compressed.decompressed();
            prop_assert_eq!(decompressed.is_some(), compressed.is_compressed());
            prop_assert_eq!(decompressed.map_or(text.clone(), |object| object.json().into_owned()), text.clone());
        }
    }
}

#[test]
fn a_sibling_compresses_to_a_fraction_of_its_text() {
    let compressor = Compressor::new();
    let objects: Vec<_> =
        (0..50).flat_map(|workload| (0..20).map(move |number| (workload, number))).collect();
    let objects: Vec<_> = objects
        .into_iter()
        .map(|(workload, number)| compressor.compress(sibling(workload, number, 3000)))
        .collect();
    assert!(objects.iter().all(|object| object.is_compressed()));
    let siblings: Vec<_> = objects.chunks(20).flat_map(|workload| workload[1..].to_vec()).collect();
    assert!(
        stored_len(&siblings) < siblings.len() * 120,
        "{} bytes each",
        stored_len(&siblings) / siblings.len()
    );
}

#[test]
fn an_object_stays_readable_after_its_base_is_dropped() {
    let compressor = Compressor::new();
    let base = compressor.compress(sibling(1, 1, 2000));
    let other = compressor.compress(sibling(1, 2, 2000));
    assert!(other.stored_len() < 300);
    drop((base, compressor));
    assert_eq!(other.json(), sibling(1, 2, 2000).json());
    // A thread without a cached base reads it too.
    let read = std::thread::spawn(move || other.json().into_owned()).join().expect("no panic");
    assert_eq!(read, sibling(1, 2, 2000).json().into_owned());
}

#[test]
fn decompression_against_the_wrong_base_fails() {
    let text =
        |digit: &str| format!(r#"{{"a":"{}","b":"{}"}}"#, digit.repeat(300), noise(1, 300)).into_bytes();
    let empty = Arc::new(Prefix::text(Box::default()));
    Writer::with(|writer| {
        let mut base = |text: &[u8]| {
            let frame = writer.write(text, &empty).expect("a frame").into();
            Arc::new(Prefix::compressed(frame, Arc::clone(&empty)))
        };
        let (right, wrong) = (base(&text("1")), base(&text("2")));
        let mut own = text("1");
        own[100] = b'7';
        let frame = writer.write_sibling(&own, &right).expect("a sibling");
        assert_eq!(decompress(frame, &right), Ok(own));
        assert_eq!(decompress(frame, &wrong), Err("the text has a different checksum"));
    });
}

#[test]
fn a_base_is_freed_with_its_last_body() {
    let compressor = Compressor::new();
    let base = compressor.compress(sibling(1, 1, 2000));
    let other = compressor.compress(sibling(1, 2, 2000));
    let prefix = Arc::downgrade(other.body.prefix().expect("compressed"));
    assert!(Arc::ptr_eq(base.body.prefix().expect("compressed"), other.body.prefix().expect("compressed")));
    let _read = other.json();
    drop(base);
    assert_eq!(prefix.strong_count(), 1);
    drop(other);
    assert_eq!(prefix.strong_count(), 0, "neither the compressor nor a reader keeps the base alive");
    assert!(compressor.compress(sibling(1, 3, 2000)).is_compressed());
}

#[test]
fn workloads_without_live_bases_are_removed() {
    let compressor = Compressor::new();
    for workload in 0..20_000 {
        let _ = compressor.compress(sibling(workload, 1, 300));
    }
    let State { bases, .. } = &*compressor.state();
    assert!(bases.workloads() < 2500, "{}", bases.workloads());
}

#[test]
fn a_base_that_no_longer_fits_is_replaced() {
    let compressor = Compressor::new();
    let rolled_out = |number: u64, template| {
        object(&serde_json::json!({
            "metadata": {"name": number.to_string(), "labels": {"app": "web"}},
            "spec": noise(template, 3000),
        }))
    };
    let first: Vec<_> = (0..10).map(|number| compressor.compress(rolled_out(number, 1))).collect();
    let second: Vec<_> = (0..20).map(|number| compressor.compress(rolled_out(number, 2))).collect();
    assert!(stored_len(&first[1..]) < 9 * 200);
    assert!(stored_len(&second[10..]) < 10 * 200, "{}", stored_len(&second[10..]));
}

/// Returns an object of one workload in the given state.
fn in_state(state: u64, number: usize) -> Arc<Object> {
    object(&serde_json::json!({
        "metadata": {"name": number.to_string(), "labels": {"app": "web"}},
        "status": noise(state, 2000 + 500 * usize::try_from(state).expect("a small number")),
    }))
}

#[test]
fn objects_are_siblings_of_those_in_the_same_state() {
    let compressor = Compressor::new();
    let objects: Vec<_> =
        (0..60).map(|number| compressor.compress(in_state([0, 1, 0, 0, 2][number % 5], number))).collect();
    assert!(stored_len(&objects[5..]) < 55 * 60, "{} bytes each", stored_len(&objects[5..]) / 55);
    let bases: HashSet<_> =
        objects.iter().map(|object| Arc::as_ptr(object.body.prefix().expect("compressed"))).collect();
    assert_eq!(bases.len(), 3);
}

#[test]
fn a_new_state_replaces_a_base_when_all_are_in_use() {
    let compressor = Compressor::new();
    let mut before: Vec<_> = (0..4).map(|state| compressor.compress(in_state(state, 0))).collect();
    let after: Vec<_> = (1..40).map(|number| compressor.compress(in_state(9, number))).collect();
    assert!(stored_len(&after[20..]) < 19 * 60, "{} bytes each", stored_len(&after[20..]) / 19);
    before.extend(after);
    for (number, object) in before.iter().enumerate() {
        let expected = if number < 4 { in_state(number as u64, 0) } else { in_state(9, number - 3) };
        assert_eq!(object.json(), expected.json());
    }
}

#[test]
fn objects_without_a_workload_share_a_dictionary() {
    let compressor = Compressor::new();
    let template = noise(7, 2000);
    let alone = |number: u64| {
        object(&serde_json::json!({
            "metadata": {"name": number.to_string()}, "data": {"own": noise(number, 40), "same": &template},
        }))
    };
    let objects: Vec<_> = (0..100).map(|number| compressor.compress(alone(number))).collect();
    assert!(stored_len(&objects[50..]) < 50 * 200, "{}", stored_len(&objects[50..]));
    for (number, object) in (0..).zip(&objects) {
        assert_eq!(object.json(), alone(number).json());
    }
}

#[test]
fn incompressible_bodies_stay_uncompressed() {
    let compressor = Compressor::new();
    let small = compressor.compress(sibling(1, 1, 10));
    assert!(small.json_len() < MIN_LEN && !small.is_compressed());
    let random: String = noise(3, 5000);
    let alone = compressor.compress(object(&serde_json::json!({"metadata": {"name": "a"}, "data": random})));
    assert!(!alone.is_compressed() || alone.stored_len() < alone.json_len() - alone.json_len() / 8);
    let once = compressor.compress(sibling(2, 1, 3000));
    assert!(Arc::ptr_eq(&compressor.compress(Arc::clone(&once)), &once));
}

#[test]
fn a_shared_object_is_not_changed_in_place() {
    let compressor = Compressor::new();
    let mine = sibling(1, 1, 3000);
    let stored = compressor.compress(Arc::clone(&mine));
    assert!(!mine.is_compressed() && !Arc::ptr_eq(&mine, &stored));
    assert_eq!((stored.key(), stored.uid(), stored.json()), (mine.key(), mine.uid(), mine.json()));
}

#[test]
fn an_object_without_its_body_is_small() {
    assert!(size_of::<Object>() <= 104, "{}", size_of::<Object>());
}

#[test]
fn interleaved_compressors_compress_as_well_as_one() {
    let list = || (0..30).map(|number| sibling(7, number, 3000)).collect::<Vec<_>>();
    let alone = Compressor::new();
    let expected = stored_len(&list().into_iter().map(|object| alone.compress(object)).collect::<Vec<_>>());
    let compressors: Vec<Compressor> = (0..40).map(|_| Compressor::new()).collect();
    let mut compressed = vec![Vec::new(); compressors.len()];
    for object in list() {
        for (compressor, compressed) in compressors.iter().zip(&mut compressed) {
            compressed.push(compressor.compress(Arc::clone(&object)));
        }
    }
    drop(compressors);
    for compressed in compressed {
        // Frames differ by a few bytes between plain and digested dictionaries.
        let stored = stored_len(&compressed);
        assert!(stored <= expected + expected / 20, "{stored} instead of {expected}");
        for (compressed, object) in compressed.iter().zip(list()) {
            assert_eq!(compressed.json(), object.json());
        }
    }
}
