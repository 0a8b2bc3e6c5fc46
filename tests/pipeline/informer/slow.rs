//! Handlers that can't keep up, by their policy.

use tokio::time::{Duration, sleep};

use kdelta::informer::{HandlerOptions, OnSlow, QueueKind, SharedIndexInformer};
use kdelta::testing::pod;

use super::{
    KINDS, Recorder, Replay, Running, advance, notifications, of_kind, source_of, source_state, stored, until,
};

fn coalesce() -> HandlerOptions {
    HandlerOptions::default().on_slow(OnSlow::Coalesce)
}

#[tokio::test(start_paused = true)]
async fn coalescing_handler_does_not_block_others_and_reaches_the_same_state() {
    for kind in KINDS {
        let source = source_of(&["a", "b"]);
        let informer = SharedIndexInformer::builder(source.clone()).queue(kind).queue_capacity(4).build();
        let mut slow = informer.subscribe_with_options(coalesce()).expect("not stopped");
        let quick = Recorder::default();
        informer.add_event_handler(quick.clone()).expect("not stopped");
        let running = Running::synced(informer.clone()).await;
        for round in 0..200 {
            source.modify(pod("a"));
            source.add(pod("short"));
            source.delete("short");
            if round == 100 {
                source.delete_silently("b");
                source.reset_watches();
            }
            sleep(Duration::from_millis(10)).await;
        }
        until("stored", || stored(&informer) == source_state(&source)).await;
        assert!(quick.len() >= 200, "only the slow one receives fewer");
        let mut late = informer.subscribe_with_options(coalesce()).expect("not stopped");
        source.modify(pod("a"));
        until("stored", || stored(&informer) == source_state(&source)).await;
        advance(1).await;
        assert!(!slow.has_synced());
        running.stop().await;
        let mut replay = Replay::default();
        let mut count = 0;
        while let Some(notification) = slow.recv().await {
            replay.read(&notification);
            count += 1;
        }
        assert!(count <= 6, "{count}");
        assert!(slow.coalesced() > 200, "{}", slow.coalesced());
        assert_eq!(replay.0.into_values().collect::<Vec<_>>(), source_state(&source));
        assert!(slow.has_synced());
        let late_notifications = notifications(&mut late).await;
        assert_eq!(late.coalesced(), 0);
        assert!(late_notifications.iter().any(|line| line.contains("! list")), "{late_notifications:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn coalescing_handler_gets_queued_notifications_at_stop() {
    let source = source_of(&["a"]);
    let informer = SharedIndexInformer::builder(source.clone()).build();
    let recorder = Recorder::default();
    let registration =
        informer.add_event_handler_with_options(recorder.clone(), coalesce()).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    assert!(registration.synced().await);
    source.delete("a");
    until("applied", || stored(&informer).is_empty()).await;
    running.stop().await;
    assert_eq!(recorder.take(), ["+a@2! list", "-a@3 watch"]);
    assert_eq!(registration.coalesced(), 0);
}

#[tokio::test(start_paused = true)]
async fn channel_capacity_may_be_usize_max() {
    let source = source_of(&["a", "b"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let on_slow = OnSlow::Block { capacity: usize::MAX, bytes: usize::MAX };
    let options = HandlerOptions::default().on_slow(on_slow);
    let recorder = Recorder::default();
    let handler = informer.add_event_handler_with_options(recorder.clone(), options).expect("not stopped");
    let mut subscription = informer.subscribe(usize::MAX, None).expect("not stopped");
    let running = Running::synced(informer).await;
    assert!(handler.synced().await);
    running.stop().await;
    let expected = ["+a@2! list", "+b@3! list"];
    assert_eq!(recorder.take(), expected);
    assert_eq!(notifications(&mut subscription).await, expected);
}
