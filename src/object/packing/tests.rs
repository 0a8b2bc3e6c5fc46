use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Packer, Prefix, State, WORTHWHILE, Writer, unpack};
use crate::object::{Ingest, Object, TypeMeta};

fn object(json: &serde_json::Value) -> Arc<Object> {
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object"))
}

/// Text without a pattern, the same for the same seed.
fn noise(seed: u64, len: usize) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.alphanumeric()).collect()
}

/// The object of this number of a workload: a template of the workload's own, and a little of the object's.
fn sibling(workload: u64, number: u64, len: usize) -> Arc<Object> {
    object(&serde_json::json!({
        "metadata": {"name": format!("{workload}-{number}"), "labels": {"app": workload.to_string()}},
        "spec": {"template": noise(workload, len)},
        "status": {"ip": noise(workload << 32 | number, 12)},
    }))
}

fn held(objects: &[Arc<Object>]) -> usize {
    objects.iter().map(|object| object.held_len()).sum()
}

#[derive(Debug, Clone)]
struct Made {
    workload: Option<u64>,
    template: u64,
    len: usize,
    own: Vec<u8>,
}

fn made() -> impl Strategy<Value = Made> {
    let len = prop_oneof![0..300usize, 300..6000usize, 120_000..140_000usize];
    (proptest::option::of(0..4u64), 0..3u64, len, proptest::collection::vec(any::<u8>(), 0..200))
        .prop_map(|(workload, template, len, own)| Made { workload, template, len, own })
}

fn make(number: usize, made: &Made) -> Arc<Object> {
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
    fn whatever_was_packed_reads_as_before(all in proptest::collection::vec(made(), 1..60), dropped: Vec<bool>) {
        let packer = Packer::new();
        let mut kept = Vec::new();
        for (number, made) in all.iter().enumerate() {
            let object = make(number, made);
            let text = object.json().into_owned();
            let packed = packer.pack(object);
            prop_assert_eq!(&*packed.json(), &text);
            prop_assert_eq!(packed.json_len(), text.len());
            prop_assert!(packed.held_len() <= text.len());
            // Some leave at once, and with them the base of others.
            if !dropped.get(number).copied().unwrap_or_default() {
                kept.push((packed, text));
            }
        }
        drop(packer);
        for (packed, text) in &kept {
            prop_assert_eq!(&*packed.json(), text);
            let unpacked = packed.unpacked();
            prop_assert_eq!(unpacked.is_some(), packed.is_packed());
            prop_assert_eq!(unpacked.map_or(text.clone(), |object| object.json().into_owned()), text.clone());
        }
    }
}

#[test]
fn a_sibling_takes_a_fraction_of_its_text() {
    let packer = Packer::new();
    let objects: Vec<_> =
        (0..50).flat_map(|workload| (0..20).map(move |number| (workload, number))).collect();
    let objects: Vec<_> =
        objects.into_iter().map(|(workload, number)| packer.pack(sibling(workload, number, 3000))).collect();
    assert!(objects.iter().all(|object| object.is_packed()));
    let siblings: Vec<_> = objects.chunks(20).flat_map(|workload| workload[1..].to_vec()).collect();
    assert!(held(&siblings) < siblings.len() * 120, "{} bytes each", held(&siblings) / siblings.len());
}

#[test]
fn an_object_stays_readable_when_its_base_has_left() {
    let packer = Packer::new();
    let base = packer.pack(sibling(1, 1, 2000));
    let other = packer.pack(sibling(1, 2, 2000));
    assert!(other.held_len() < 300);
    drop((base, packer));
    assert_eq!(other.json(), sibling(1, 2, 2000).json());
    // On a thread that has read nothing yet, too.
    let read = std::thread::spawn(move || other.json().into_owned()).join().expect("no panic");
    assert_eq!(read, sibling(1, 2, 2000).json().into_owned());
}

#[test]
fn another_base_is_noticed() {
    let text =
        |digit: &str| format!(r#"{{"a":"{}","b":"{}"}}"#, digit.repeat(300), noise(1, 300)).into_bytes();
    let nothing = Arc::new(Prefix::text(Box::default()));
    Writer::with(|writer| {
        let mut base = |text: &[u8]| {
            let frame = writer.write(text, &nothing).expect("a frame").into();
            Arc::new(Prefix::packed(frame, Arc::clone(&nothing)))
        };
        let (right, wrong) = (base(&text("1")), base(&text("2")));
        let mut own = text("1");
        own[100] = b'7';
        let frame = writer.write_sibling(&own, &right).expect("a sibling");
        assert_eq!(unpack(frame, &right), Ok(own));
        assert_eq!(unpack(frame, &wrong), Err("a text has another sum"));
    });
}

#[test]
fn a_base_goes_with_its_last_reader() {
    let packer = Packer::new();
    let base = packer.pack(sibling(1, 1, 2000));
    let other = packer.pack(sibling(1, 2, 2000));
    let prefix = Arc::downgrade(other.body.prefix().expect("packed"));
    assert!(Arc::ptr_eq(base.body.prefix().expect("packed"), other.body.prefix().expect("packed")));
    let _read = other.json();
    drop(base);
    assert_eq!(prefix.strong_count(), 1);
    drop(other);
    assert_eq!(prefix.strong_count(), 0, "neither the packer nor a reader keeps it");
    assert!(packer.pack(sibling(1, 3, 2000)).is_packed());
}

#[test]
fn bases_that_are_gone_are_forgotten() {
    let packer = Packer::new();
    for workload in 0..20_000 {
        let _ = packer.pack(sibling(workload, 1, 300));
    }
    let State { bases, .. } = &*packer.state();
    assert!(bases.chosen() < 2500, "{}", bases.chosen());
}

#[test]
fn a_base_that_no_longer_fits_is_given_up() {
    let packer = Packer::new();
    let rolled_out = |number: u64, template| {
        object(&serde_json::json!({
            "metadata": {"name": number.to_string(), "labels": {"app": "web"}},
            "spec": noise(template, 3000),
        }))
    };
    let first: Vec<_> = (0..10).map(|number| packer.pack(rolled_out(number, 1))).collect();
    let second: Vec<_> = (0..20).map(|number| packer.pack(rolled_out(number, 2))).collect();
    assert!(held(&first[1..]) < 9 * 200);
    assert!(held(&second[10..]) < 10 * 200, "{}", held(&second[10..]));
}

/// The object of this number of one workload, in this state of it.
fn in_state(state: u64, number: usize) -> Arc<Object> {
    object(&serde_json::json!({
        "metadata": {"name": number.to_string(), "labels": {"app": "web"}},
        "status": noise(state, 2000 + 500 * usize::try_from(state).expect("a small number")),
    }))
}

#[test]
fn objects_of_a_workload_are_siblings_of_those_in_the_same_state() {
    let packer = Packer::new();
    let objects: Vec<_> =
        (0..60).map(|number| packer.pack(in_state([0, 1, 0, 0, 2][number % 5], number))).collect();
    assert!(held(&objects[5..]) < 55 * 60, "{} bytes each", held(&objects[5..]) / 55);
    let bases: HashSet<_> =
        objects.iter().map(|object| Arc::as_ptr(object.body.prefix().expect("packed"))).collect();
    assert_eq!(bases.len(), 3);
}

#[test]
fn a_workload_in_more_states_than_it_has_bases_comes_to_its_last() {
    let packer = Packer::new();
    let mut before: Vec<_> = (0..4).map(|state| packer.pack(in_state(state, 0))).collect();
    let after: Vec<_> = (1..40).map(|number| packer.pack(in_state(9, number))).collect();
    assert!(held(&after[20..]) < 19 * 60, "{} bytes each", held(&after[20..]) / 19);
    before.extend(after);
    for (number, object) in before.iter().enumerate() {
        let wanted = if number < 4 { in_state(number as u64, 0) } else { in_state(9, number - 3) };
        assert_eq!(object.json(), wanted.json());
    }
}

#[test]
fn objects_that_nothing_is_known_to_be_like_share_a_dictionary() {
    let packer = Packer::new();
    let template = noise(7, 2000);
    let alone = |number: u64| {
        object(&serde_json::json!({
            "metadata": {"name": number.to_string()}, "data": {"own": noise(number, 40), "same": &template},
        }))
    };
    let objects: Vec<_> = (0..100).map(|number| packer.pack(alone(number))).collect();
    assert!(held(&objects[50..]) < 50 * 200, "{}", held(&objects[50..]));
    for (number, object) in (0..).zip(&objects) {
        assert_eq!(object.json(), alone(number).json());
    }
}

#[test]
fn what_gains_nothing_stays_as_it_is() {
    let packer = Packer::new();
    let small = packer.pack(sibling(1, 1, 10));
    assert!(small.json_len() < WORTHWHILE && !small.is_packed());
    let random: String = noise(3, 5000);
    let alone = packer.pack(object(&serde_json::json!({"metadata": {"name": "a"}, "data": random})));
    assert!(!alone.is_packed() || alone.held_len() < alone.json_len() - alone.json_len() / 8);
    let once = packer.pack(sibling(2, 1, 3000));
    assert!(Arc::ptr_eq(&packer.pack(Arc::clone(&once)), &once));
}

#[test]
fn an_object_that_others_hold_stays_as_they_see_it() {
    let packer = Packer::new();
    let mine = sibling(1, 1, 3000);
    let stored = packer.pack(Arc::clone(&mine));
    assert!(!mine.is_packed() && !Arc::ptr_eq(&mine, &stored));
    assert_eq!((stored.key(), stored.uid(), stored.json()), (mine.key(), mine.uid(), mine.json()));
}

#[test]
fn an_object_is_small_around_its_body() {
    assert!(size_of::<Object>() <= 104, "{}", size_of::<Object>());
}

#[test]
fn packers_that_take_turns_pack_as_well_as_one_alone() {
    let list = || (0..30).map(|number| sibling(7, number, 3000)).collect::<Vec<_>>();
    let alone = Packer::new();
    let wanted = held(&list().into_iter().map(|object| alone.pack(object)).collect::<Vec<_>>());
    let packers: Vec<Packer> = (0..40).map(|_| Packer::new()).collect();
    let mut packed = vec![Vec::new(); packers.len()];
    for object in list() {
        for (packer, packed) in packers.iter().zip(&mut packed) {
            packed.push(packer.pack(Arc::clone(&object)));
        }
    }
    drop(packers);
    for packed in packed {
        // What is at hand as it is and what is made ready give frames that differ by a few bytes.
        let held = held(&packed);
        assert!(held <= wanted + wanted / 20, "{held} instead of {wanted}");
        for (packed, object) in packed.iter().zip(list()) {
            assert_eq!(packed.json(), object.json());
        }
    }
}
