//! Body storage of an informer: compressed by default, or as text.

use kdelta::informer::{BodyStorage, Notification, SharedIndexInformer};
use serde_json::{Value, json};

use super::{KINDS, Running};
use kdelta::testing::FakeSource;

fn large(name: &str, state: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"template": "large enough that it pays to compress it ".repeat(20)},
        "status": {"state": state},
    })
}

#[tokio::test(start_paused = true)]
async fn notifications_have_text_bodies_and_the_store_compressed_ones() {
    for kind in KINDS {
        let source = FakeSource::new();
        for number in 0..30 {
            source.add(large(&format!("web-{number}"), "old"));
        }
        let informer = SharedIndexInformer::builder(source.clone()).queue(kind).build();
        let mut notifications = informer.subscribe(100, None).expect("not stopped");
        let running = Running::synced(informer).await;
        for _ in 0..30 {
            notifications.recv().await.expect("an addition");
        }
        let indexer = running.informer.get_indexer();
        assert_eq!(indexer.memory().bodies.compressed, 30);
        source.modify(large("web-7", "new"));
        let (old, new) = loop {
            // The ordered queue delivers a sync notification first.
            if let Notification::Updated { old, new, .. } = notifications.recv().await.expect("an update") {
                break (old, new);
            }
        };
        assert!(old.is_compressed() && !new.is_compressed());
        let stored = indexer.get_by_key("shop/web-7").expect("stored");
        assert!(stored.is_compressed());
        assert_eq!(stored.json(), new.json());
        let state = |object: &kdelta::object::Object| {
            object.parse::<Value>().expect("JSON")["status"]["state"].clone()
        };
        assert_eq!((state(&old), state(&stored)), (json!("old"), json!("new")));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn relist_shares_equal_stored_objects() {
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
async fn text_storage_compresses_nothing() {
    for kind in KINDS {
        let source = FakeSource::new();
        source.add(large("web", "old"));
        let informer =
            SharedIndexInformer::builder(source).queue(kind).body_storage(BodyStorage::Text).build();
        let running = Running::synced(informer).await;
        let bodies = running.informer.get_indexer().memory().bodies;
        assert_eq!((bodies.objects, bodies.compressed, bodies.stored_bytes()), (1, 0, bodies.text_bytes));
        running.stop().await;
    }
}
