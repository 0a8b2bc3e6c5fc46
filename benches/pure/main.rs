//! The cost of the pure components, per object and per byte of its text as a server sends it.
//!
//! `cargo bench --bench pure`; `-- WORD` runs those whose name contains the word. The best of several rounds is
//! reported: other load on the machine only makes a round slower.

#[path = "../synthetic/mod.rs"]
mod synthetic;

mod lookup;
mod protobuf_metadata;
mod table;
mod wire;

#[path = "../../src/bin/kdelta/view/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the program has more to show than a table")]
mod view;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kdelta::object::{self, Compressor, FieldPath, Ingest, KeyGetter, Object, Origin, TypeMeta};
use kdelta::queue::{DeltaFifo, DeltaFifoOptions, OrderedFifo, Queue, QueueOptions};
use kdelta::store::{Cache, Indexer, Store, ThreadSafeStore, index_funcs};
use kdelta::wire::{Limits, ListSplitter, Piece, WatchSplitter};
use synthetic::Workload;

const WORKLOADS: u32 = 50;
const PODS_PER_WORKLOAD: u32 = 40;
const ROUNDS: usize = 15;
/// The size of chunks from a connection.
const CHUNK: usize = 16 << 10;

/// Runs the selected benchmarks and prints a line for each.
#[derive(Clone)]
struct Bench {
    expected: Option<String>,
    objects: u32,
    bytes: usize,
}

impl Bench {
    /// Times the work on all objects, with new input for each round.
    fn run<T>(&self, name: &str, mut input: impl FnMut() -> T, mut work: impl FnMut(T)) {
        if self.expected.as_ref().is_some_and(|expected| !name.contains(expected.as_str())) {
            return;
        }
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let input = input();
            let started = Instant::now();
            work(input);
            best = best.min(started.elapsed());
        }
        let nanos = best.as_secs_f64() * 1e9;
        let bytes = u32::try_from(self.bytes).map_or(f64::NAN, f64::from);
        println!(
            "{name:<34} {:>9.0} ns/object {:>7.3} ns/byte",
            nanos / f64::from(self.objects),
            nanos / bytes
        );
    }
}

fn main() {
    let expected = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let workloads: Vec<Workload> = (0..WORKLOADS).map(Workload::new).collect();
    let texts = pods(&workloads, 1000);
    let bench = Bench {
        expected,
        objects: WORKLOADS * PODS_PER_WORKLOAD,
        bytes: texts.iter().map(String::len).sum(),
    };
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    let read = |text: &String| Arc::new(Object::from_json(text.as_bytes(), &ingest).expect("a pod"));
    let all = || texts.iter().map(read).collect::<Vec<_>>();

    splitting(&bench, &texts);
    bench.run(
        "metadata read, body cut out",
        || (),
        |()| texts.iter().for_each(|text| drop(black_box(read(text)))),
    );
    let recording = Ingest { record_manager: true, ..ingest.clone() };
    let record = |text: &String| Object::from_json(text.as_bytes(), &recording).expect("a pod");
    bench.run(
        "metadata read, manager recorded",
        || (),
        |()| texts.iter().for_each(|text| drop(black_box(Arc::new(record(text))))),
    );
    // Items of a typed list have no kind.
    let kind = r#""kind":"Pod","apiVersion":"v1","#;
    let typed: Vec<String> = texts.iter().map(|text| text.replacen(kind, "", 1)).collect();
    bench.run(
        "the same, and the kind added",
        || (),
        |()| typed.iter().for_each(|text| drop(black_box(read(text)))),
    );
    protobuf_metadata::run(&bench, &texts, &ingest);
    compression(&bench, &all);
    let numbered =
        |workload: &Workload| (0..PODS_PER_WORKLOAD).map(|number| workload.key(number)).collect::<Vec<_>>();
    let keys: Vec<String> = workloads.iter().flat_map(numbered).collect();
    indexing(&bench, &keys, &all);
    lookup::run(&bench, &read);
    updating(&bench, &workloads, &read);
    queueing(&bench, &all);
    wire::rows(&bench);
    table::rows(&bench);
}

/// Returns the texts of all pods, with versions from this one on.
fn pods(workloads: &[Workload], version: u32) -> Vec<String> {
    let each =
        workloads.iter().flat_map(|workload| (0..PODS_PER_WORKLOAD).map(move |number| (workload, number)));
    let text = |(workload, number): (&Workload, u32)| {
        let mut text = String::new();
        workload.pod(number, number + version, &mut text);
        text
    };
    each.map(text).collect()
}

fn splitting(bench: &Bench, texts: &[String]) {
    let list = format!(r#"{{"kind":"PodList","items":[{}]}}"#, texts.join(","));
    let watch: String = texts.iter().flat_map(|text| [r#"{"type":"ADDED","object":"#, text, "}\n"]).collect();
    bench.run(
        "split a list",
        || ListSplitter::new(Limits::default()),
        |mut splitter| {
            let mut items = 0;
            for mut chunk in list.as_bytes().chunks(CHUNK) {
                while let Some(piece) = splitter.next(&mut chunk).expect("a list") {
                    items += u32::from(matches!(piece, Piece::Item(_)));
                }
            }
            assert_eq!(items, bench.objects);
        },
    );
    bench.run(
        "split a watch",
        || WatchSplitter::new(Limits::default()),
        |mut splitter| {
            let mut frames = 0;
            for mut chunk in watch.as_bytes().chunks(CHUNK) {
                while splitter.next(&mut chunk).expect("frames").is_some() {
                    frames += 1;
                }
            }
            assert_eq!(frames, bench.objects);
        },
    );
}

fn compression(bench: &Bench, all: &dyn Fn() -> Vec<Arc<Object>>) {
    let compress = |(compressor, objects): (Compressor, Vec<Arc<Object>>)| -> Vec<_> {
        objects.into_iter().map(|object| compressor.compress(object)).collect()
    };
    let new = || (Compressor::new(), all());
    bench.run("compress, siblings in runs", new, |input| drop(black_box(compress(input))));
    let interleaved = || {
        let (compressor, objects) = new();
        let mut mixed: Vec<_> = objects.into_iter().enumerate().collect();
        mixed.sort_by_key(|(at, _)| at % PODS_PER_WORKLOAD as usize);
        (compressor, mixed.into_iter().map(|(_, object)| object).collect())
    };
    bench.run("compress, siblings far apart", interleaved, |input| drop(black_box(compress(input))));
    let compressed = compress(new());
    bench.run(
        "decompress, siblings in runs",
        || (),
        |()| compressed.iter().for_each(|object| drop(black_box(object.json()))),
    );
}

fn indexing(bench: &Bench, keys: &[String], all: &dyn Fn() -> Vec<Arc<Object>>) {
    let field = |path: &str| index_funcs::field(FieldPath::parse(path).expect("a path"));
    for (name, path) in [("early in the text", "metadata.namespace"), ("at its end", "status.qosClass")] {
        let store = || ThreadSafeStore::new([("field".to_owned(), field(path))].into());
        bench.run(
            &format!("store and index a field {name}"),
            || (store(), all()),
            |(store, objects)| {
                for object in objects {
                    store.add(object.key().clone(), object).expect("room");
                }
            },
        );
    }
    bench.run(
        "store, compressed, three indices",
        || {
            let indexers = [
                ("namespace".to_owned(), index_funcs::namespace()),
                ("node".to_owned(), index_funcs::node()),
                ("phase".to_owned(), field("status.phase")),
            ];
            (Cache::with_indexers(indexers.into()).with_compressor(Arc::default()), all())
        },
        |(store, objects)| {
            for object in objects {
                store.add(object).expect("a key");
            }
        },
    );
    let store = Cache::with_indexers([("node".to_owned(), index_funcs::node())].into());
    store.replace(all(), &"1".into()).expect("keys");
    bench.run(
        "get by key",
        || (),
        |()| {
            for key in keys {
                black_box(store.get_by_key(key).expect("a pod"));
            }
        },
    );
    bench.run(
        "keys of an indexed value",
        || (),
        |()| {
            for number in 0..bench.objects {
                black_box(store.index_keys("node", &format!("node-{}", number % 500)).expect("an index"));
            }
        },
    );
}

/// Each round delivers a later state of every object, usually on another node.
fn updating(bench: &Bench, workloads: &[Workload], read: &dyn Fn(&String) -> Arc<Object>) {
    let store = ThreadSafeStore::new([("node".to_owned(), index_funcs::node())].into());
    let mut version = 0;
    let mut states = || -> Vec<Arc<Object>> {
        version += 1;
        pods(workloads, version).iter().map(read).collect()
    };
    let put = |objects: Vec<Arc<Object>>| {
        for object in objects {
            store.update(object.key().clone(), object).expect("room");
        }
    };
    put(states());
    bench.run("update, the indexed value changed", states, put);
}

fn queueing(bench: &Bench, all: &dyn Fn() -> Vec<Arc<Object>>) {
    let pop_all =
        |queue: &dyn Queue| while queue.try_pop(&mut |popped| drop(black_box(popped))) == Ok(true) {};
    bench.run(
        "DeltaFifo: one event in and out",
        || (DeltaFifo::new(DeltaFifoOptions::default()), all()),
        |(queue, objects)| {
            for object in objects {
                queue.update(object, Origin::Watch).expect("a key");
                pop_all(&queue);
            }
        },
    );
    bench.run(
        "DeltaFifo: a list in and out",
        || (DeltaFifo::new(DeltaFifoOptions::default()), all()),
        |(queue, objects)| {
            queue.replace(objects, &"1".into(), Origin::List).expect("keys");
            pop_all(&queue);
        },
    );
    let ordered = || OrderedFifo::new(Arc::new(Cache::new()), QueueOptions::default());
    bench.run(
        "OrderedFifo: one event in and out",
        || (ordered(), all()),
        |(queue, objects)| {
            for object in objects {
                queue.update(object, Origin::Watch).expect("a key");
                pop_all(&queue);
            }
        },
    );
}
