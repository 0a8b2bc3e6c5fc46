//! How an informer holds bodies, and that nobody can tell but by asking.

use kdelta::informer::{Bodies, Notification, SharedIndexInformer};
use serde_json::{Value, json};

use super::{KINDS, Running};
use kdelta::testing::FakeSource;

fn large(name: &str, state: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"template": "large enough that it pays to pack it ".repeat(20)},
        "status": {"state": state},
    })
}

#[tokio::test(start_paused = true)]
async fn what_is_told_live_has_its_text_at_hand_and_what_is_stored_is_packed() {
    for kind in KINDS {
        let source = FakeSource::new();
        for number in 0..30 {
            source.add(large(&format!("web-{number}"), "old"));
        }
        let informer = SharedIndexInformer::builder(source.clone()).queue(kind).build();
        let mut told = informer.subscribe(100, None).expect("not stopped");
        let running = Running::synced(informer).await;
        for _ in 0..30 {
            told.recv().await.expect("an addition");
        }
        let indexer = running.informer.get_indexer();
        assert_eq!(indexer.memory().bodies.packed, 30);
        source.modify(large("web-7", "new"));
        let (old, new) = loop {
            // The ordered queue tells of the sync before.
            if let Notification::Updated { old, new, .. } = told.recv().await.expect("an update") {
                break (old, new);
            }
        };
        assert!(old.is_packed() && !new.is_packed());
        let stored = indexer.get_by_key("shop/web-7").expect("stored");
        assert!(stored.is_packed());
        assert_eq!(stored.json(), new.json());
        let state = |object: &kdelta::object::Object| {
            object.parse::<Value>().expect("JSON")["status"]["state"].clone()
        };
        assert_eq!((state(&old), state(&stored)), (json!("old"), json!("new")));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_list_of_the_same_shares_what_is_stored() {
    for kind in KINDS {
        let source = FakeSource::new();
        for number in 0..30 {
            source.add(large(&format!("web-{number}"), "old"));
        }
        let running = Running::synced(SharedIndexInformer::builder(source.clone()).queue(kind).build()).await;
        let indexer = running.informer.get_indexer();
        let before = indexer.get_by_key("shop/web-3").expect("stored");
        source.delete_silently("shop/web-29");
        source.reset_watches();
        while indexer.get_by_key("shop/web-29").is_some() {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        let after = indexer.get_by_key("shop/web-3").expect("stored");
        assert!(std::sync::Arc::ptr_eq(&before, &after));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_is_asked_for_texts_packs_nothing() {
    for kind in KINDS {
        let source = FakeSource::new();
        source.add(large("web", "old"));
        let informer = SharedIndexInformer::builder(source).queue(kind).bodies(Bodies::Text).build();
        let running = Running::synced(informer).await;
        let bodies = running.informer.get_indexer().memory().bodies;
        assert_eq!((bodies.objects, bodies.packed, bodies.held_bytes()), (1, 0, bodies.text_bytes));
        running.stop().await;
    }
}
