//! A list after the initial one is applied in one step.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};

use kdelta::informer::{Informer, Notification, NotificationFn, SharedIndexInformer};
use kdelta::object::Object;
use kdelta::store::{IndexFunc, Indexer, Indexers};
use kdelta::testing::{FakeSource, pod};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{KINDS, Running, source_of, until};

/// A reader that looks into the store whenever an index function or a handler runs.
#[derive(Clone, Default)]
struct Reader {
    store: Arc<OnceLock<Arc<dyn Indexer>>>,
    /// Each different content that it has seen: the generations of the stored objects and of the index.
    seen: Arc<Mutex<BTreeSet<Vec<String>>>>,
}

impl Reader {
    fn read(&self) {
        let Some(store) = self.store.get() else { return };
        let objects = store.list();
        let generations: BTreeSet<_> = objects.iter().filter_map(|object| generation_of(object)).collect();
        let counts = store.index_counts("generation").expect("an index");
        let indexed = counts.into_iter().map(|(value, count)| format!("{count} of {value}"));
        let content = generations.into_iter().chain(indexed).collect();
        self.seen.lock().expect("no panic").insert(content);
    }

    /// Returns an index by generation, whose function reads the store.
    fn index(&self) -> Indexers {
        let reader = self.clone();
        let func = IndexFunc::returning(move |object| {
            reader.read();
            Ok(generation_of(object).into_iter().collect())
        });
        [("generation".to_owned(), func)].into()
    }

    fn assert_never_saw_a_mix(&self) {
        let seen = self.seen.lock().expect("no panic").clone();
        let expected = [vec!["1", "3 of 1"], vec!["2", "3 of 2"]]
            .map(|content| content.into_iter().map(str::to_owned).collect());
        assert_eq!(seen, BTreeSet::<Vec<String>>::from(expected));
    }
}

fn generation_of(object: &Object) -> Option<String> {
    let value: Value = object.parse().expect("JSON");
    value["metadata"]["labels"]["generation"].as_str().map(str::to_owned)
}

fn generation(name: &str, generation: &str) -> Value {
    let mut pod = pod(name);
    pod["metadata"]["labels"] = serde_json::json!({"generation": generation});
    pod
}

fn first_generation() -> FakeSource {
    let source = source_of(&[]);
    for name in ["a", "b", "c"] {
        source.add(generation(name, "1"));
    }
    source
}

/// Changes every object while the watch is down, then makes the informer list again.
fn relist_second_generation(source: &FakeSource) {
    source.delete_silently("a");
    for name in ["b", "c"] {
        source.modify_silently(generation(name, "2"));
    }
    source.add_silently(generation("d", "2"));
    source.reset_watches();
}

#[tokio::test(start_paused = true)]
async fn reader_sees_the_state_before_or_after_a_relist() {
    for kind in KINDS {
        let (source, reader) = (first_generation(), Reader::default());
        let informer =
            SharedIndexInformer::builder(source.clone()).queue(kind).indexers(reader.index()).build();
        let store = informer.get_indexer();
        let in_handler = reader.clone();
        let handler = NotificationFn(move |_: Notification| in_handler.read());
        let _registration = informer.add_event_handler(handler).expect("not stopped");
        let running = Running::synced(informer).await;
        assert!(reader.store.set(Arc::clone(&store)).is_ok());
        relist_second_generation(&source);
        until("relisted", || store.get_by_key("d").is_some()).await;
        running.stop().await;
        reader.read();
        reader.assert_never_saw_a_mix();
    }
}

#[tokio::test(start_paused = true)]
async fn informer_with_one_handler_applies_a_relist_in_one_step() {
    let (source, reader) = (first_generation(), Reader::default());
    let in_handler = reader.clone();
    let handler = NotificationFn(move |_: Notification| in_handler.read());
    let (store, controller) = Informer::new(source.clone(), handler).indexers(reader.index()).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(controller.run(stop.clone()));
    until("synced", || controller.has_synced()).await;
    assert!(reader.store.set(Arc::clone(&store)).is_ok());
    relist_second_generation(&source);
    until("relisted", || store.get_by_key("d").is_some()).await;
    stop.cancel();
    running.await.expect("no panic").expect("no error");
    reader.read();
    reader.assert_never_saw_a_mix();
}
