//! Handlers that do not keep up, by their policy.

use tokio::time::{Duration, sleep};

use kdelta::informer::{HandlerOptions, OnSlow, QueueKind, SharedIndexInformer};
use kdelta::testing::pod;

use super::{KINDS, Recorder, Replay, Running, held, of_kind, pass, source_of, stored, told, until};

const COALESCE: HandlerOptions = HandlerOptions { resync: None, on_slow: OnSlow::Coalesce };

#[tokio::test(start_paused = true)]
async fn who_coalesces_holds_nobody_up_and_comes_to_the_same_state() {
    for kind in KINDS {
        let source = source_of(&["a", "b"]);
        let informer = SharedIndexInformer::builder(source.clone()).queue(kind).queue_capacity(4).build();
        let mut slow = informer.subscribe_with_options(COALESCE).expect("not stopped");
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
        until("stored", || stored(&informer) == held(&source)).await;
        assert!(quick.len() >= 200, "only the slow one is told less");
        let mut late = informer.subscribe_with_options(COALESCE).expect("not stopped");
        source.modify(pod("a"));
        until("stored", || stored(&informer) == held(&source)).await;
        pass(1).await;
        assert!(!slow.has_synced());
        running.stop().await;
        let mut replay = Replay::default();
        let mut notifications = 0;
        while let Some(notification) = slow.recv().await {
            replay.read(&notification);
            notifications += 1;
        }
        assert!(notifications <= 6, "{notifications}");
        assert!(slow.coalesced() > 200, "{}", slow.coalesced());
        assert_eq!(replay.0.into_values().collect::<Vec<_>>(), held(&source));
        assert!(slow.has_synced());
        let late_told = told(&mut late).await;
        assert_eq!(late.coalesced(), 0);
        assert!(late_told.iter().any(|line| line.contains("! list")), "{late_told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_coalesces_is_told_what_waits_when_the_informer_stops() {
    let source = source_of(&["a"]);
    let informer = SharedIndexInformer::builder(source.clone()).build();
    let recorder = Recorder::default();
    let registration =
        informer.add_event_handler_with_options(recorder.clone(), COALESCE).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    assert!(registration.synced().await);
    source.delete("a");
    until("applied", || stored(&informer).is_empty()).await;
    running.stop().await;
    assert_eq!(recorder.take(), ["+a@2! list", "-a@3 watch"]);
    assert_eq!(registration.coalesced(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_reader_may_let_as_much_wait_as_there_are_numbers() {
    let source = source_of(&["a", "b"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let on_slow = OnSlow::Block { capacity: usize::MAX, bytes: usize::MAX };
    let options = HandlerOptions { on_slow, ..HandlerOptions::default() };
    let recorder = Recorder::default();
    let handler = informer.add_event_handler_with_options(recorder.clone(), options).expect("not stopped");
    let mut subscription = informer.subscribe(usize::MAX, None).expect("not stopped");
    let running = Running::synced(informer).await;
    assert!(handler.synced().await);
    running.stop().await;
    let wanted = ["+a@2! list", "+b@3! list"];
    assert_eq!(recorder.take(), wanted);
    assert_eq!(told(&mut subscription).await, wanted);
}
