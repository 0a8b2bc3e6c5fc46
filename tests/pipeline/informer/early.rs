//! Subscriptions created before the first sync and read after it, as in the example on the crate's front page.

use std::time::Duration;

use kdelta::informer::{HandlerOptions, Notification, OnSlow, SharedIndexInformer};
use kdelta::object::Origin;
use kdelta::testing::{FakeSource, pod};

use super::{KINDS, Running, of_kind};

/// Returns a source of this many pods, named in order.
fn source_of_many(count: usize) -> FakeSource {
    let source = FakeSource::new();
    for number in 0..count {
        source.add(pod(&format!("{number:06}")));
    }
    source
}

/// Waits for the first sync; a blocking subscription would block it forever.
async fn synced(informer: &SharedIndexInformer) {
    let synced = tokio::time::timeout(Duration::from_hours(1), informer.synced()).await;
    assert_eq!(synced, Ok(true), "the informer syncs while no subscription is read");
}

#[tokio::test(start_paused = true)]
async fn unread_subscription_does_not_block_the_sync() {
    for kind in KINDS {
        for (count, capacity) in [(3, 1), (18, 16), (40, 39), (2000, 1), (2000, 17), (100_000, 16)] {
            let informer = of_kind(&source_of_many(count), kind);
            let mut subscription = informer.subscribe(capacity, None).expect("not stopped");
            let running = Running::start(informer.clone());
            synced(&informer).await;
            assert!(!subscription.has_synced(), "nothing has been read");
            for number in 0..count {
                let Some(Notification::Added { object, is_in_initial_list: true, origin: Origin::List }) =
                    subscription.recv().await
                else {
                    panic!("{kind:?} {capacity}: no initial object {number} of {count}");
                };
                assert_eq!(object.key().as_ref(), format!("{number:06}"), "in the order of the list");
            }
            assert!(subscription.has_synced(), "{kind:?} {capacity}");
            drop(running);
        }
    }
}

/// The bounds apply again after the initial list.
#[tokio::test(start_paused = true)]
async fn live_events_follow_an_unread_initial_list_and_apply_backpressure() {
    for kind in KINDS {
        let source = source_of_many(50);
        let informer = of_kind(&source, kind);
        let mut subscription = informer.subscribe(2, None).expect("not stopped");
        let running = Running::start(informer.clone());
        synced(&informer).await;
        for number in 0..30 {
            source.modify(pod(&format!("{number:06}")));
        }
        tokio::time::sleep(Duration::from_mins(1)).await;
        let applied = informer.last_store_sync_resource_version();
        assert_ne!(applied, source.version(), "{kind:?}: the informer waits for the reader");
        let mut lines = Vec::new();
        while let Ok(Some(next)) = tokio::time::timeout(Duration::from_secs(1), subscription.recv()).await {
            lines.push(next.to_string());
        }
        lines.retain(|line| !line.starts_with("SYNCED"));
        assert_eq!(lines.iter().filter(|line| line.starts_with('+')).count(), 50, "{kind:?}: {lines:?}");
        assert!(lines[..50].iter().all(|line| line.starts_with('+')), "{kind:?}: {lines:?}");
        assert_eq!(lines.last().map(String::as_str), Some("000029@31>81 watch"), "{kind:?}");
        assert_eq!(informer.last_store_sync_resource_version(), source.version());
        drop(running);
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_or_stopped_subscription_with_an_unread_initial_list_ends() {
    for kind in KINDS {
        let source = source_of_many(100);
        let informer = of_kind(&source, kind);
        let dropped = informer.subscribe(1, None).expect("not stopped");
        let mut unread = informer.subscribe(1, None).expect("not stopped");
        let on_slow = OnSlow::Block { capacity: 1000, bytes: 1 };
        let options = HandlerOptions::default().on_slow(on_slow);
        let mut small = informer.subscribe_with_options(options).expect("not stopped");
        let running = Running::start(informer.clone());
        synced(&informer).await;
        drop(dropped);
        running.stop().await;
        for subscription in [&mut unread, &mut small] {
            let mut count = 0;
            while let Some(notification) = subscription.recv().await {
                count += usize::from(notification.is_initial());
            }
            assert_eq!(count, 100, "{kind:?}");
        }
    }
}
