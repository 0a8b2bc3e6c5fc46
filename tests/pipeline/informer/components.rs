//! The components without a shared informer: a controller over a queue, an informer with one handler, a plain store.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use kdelta::informer::{
    Config, Controller, HandlerPanic, Informer, Notification, NotificationFn, ResourceEventHandler,
    new_informer, process_loop,
};
use kdelta::object::{Key, KeyError, Object, Origin, meta_namespace_key};
use kdelta::queue::{
    DeltaFifo, DeltaFifoOptions, Fifo, Item, KnownObjects, OrderedFifo, PoppedItem, Queue, QueueOptions,
};
use kdelta::reflector::{Reflector, ReflectorOptions};
use kdelta::store::{Cache, Store, index_funcs};
use kdelta::testing::pod;

use super::{Recorder, advance, source_of, source_state, state, until};

/// Returns the newest delta of a pop as text.
fn text(popped: &PoppedItem) -> String {
    let Item::Deltas(deltas) = &popped.item else { return "no delta".into() };
    let newest = deltas.newest().expect("a delta");
    let object = newest.object().map_or_else(String::new, |object| state(object));
    format!("{:?} {object}", newest.delta_type())
}

fn queues() -> [Arc<dyn Queue>; 3] {
    let known: KnownObjects = Arc::new(Cache::new());
    [
        Arc::new(DeltaFifo::new(DeltaFifoOptions::default())),
        Arc::new(OrderedFifo::new(known, QueueOptions::default())),
        Arc::new(Fifo::new(meta_namespace_key)),
    ]
}

#[tokio::test(start_paused = true)]
async fn controller_processes_every_queue_type() {
    for queue in queues() {
        let source = source_of(&["a", "b"]);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let process = Box::new({
            let lines = Arc::clone(&lines);
            move |popped: &PoppedItem| {
                lines.lock().expect("lines").push(text(popped));
                Ok(())
            }
        });
        let controller = Controller::new(Config::new(queue, source.clone(), process));
        assert!(!controller.has_synced());
        assert!(controller.last_sync_resource_version().is_unset());
        let stop = CancellationToken::new();
        let run = tokio::spawn(controller.run(stop.clone()));
        until("synced", || controller.has_synced() && source.open_watches() == 1).await;
        source.modify(pod("a"));
        until("notified", || controller.last_sync_resource_version() == "4".into()).await;
        stop.cancel();
        run.await.expect("no panic").expect("no error");
        let mut lines = std::mem::take(&mut *lines.lock().expect("lines"));
        lines.retain(|line| line != "no delta");
        assert_eq!(lines, ["Replaced a@2", "Replaced b@3", "Updated a@4"]);
        assert_eq!(source.open_watches(), 0);
        let before = source.requests();
        controller.run(CancellationToken::new()).await.expect("a second run ends at once");
        assert_eq!(source.requests(), before);
    }
}

/// A custom key function that fails for some objects.
fn custom_key(object: &Object) -> Result<Key, KeyError> {
    let no_key = || KeyError::NoKey { object: object.key().to_string(), reason: "it is odd".into() };
    if object.name() == "odd" { Err(no_key()) } else { meta_namespace_key(object) }
}

#[tokio::test(start_paused = true)]
async fn list_with_a_key_error_is_retried() {
    let known = || Arc::new(Cache::new()) as KnownObjects;
    let (key_func, known_objects) = (custom_key as _, Some(known()));
    let queues: [Arc<dyn Queue>; 3] = [
        Arc::new(DeltaFifo::new(
            DeltaFifoOptions::default()
                .known_objects(known_objects)
                .queue(QueueOptions::default().key_func(key_func)),
        )),
        Arc::new(OrderedFifo::new(known(), QueueOptions::default().key_func(key_func))),
        Arc::new(Fifo::new(key_func)),
    ];
    for queue in queues {
        let source = source_of(&["a", "odd"]);
        let process = Box::new(|_: &PoppedItem| Ok(()));
        let controller = Controller::new(Config::new(queue, source.clone(), process));
        let stop = CancellationToken::new();
        let run = tokio::spawn(controller.run(stop.clone()));
        advance(600).await;
        assert!(!controller.has_synced() && controller.last_sync_resource_version().is_unset());
        source.delete("odd");
        advance(60).await;
        assert!(controller.has_synced());
        assert_eq!(controller.last_sync_resource_version(), source.version());
        stop.cancel();
        run.await.expect("no panic").expect("no error");
    }
}

#[tokio::test(start_paused = true)]
async fn failed_delta_is_requeued_behind_the_others() {
    for (retry, expected) in [(true, &["a", "b", "a", "a"][..]), (false, &["a", "b"])] {
        for queue in queues() {
            let source = source_of(&["a", "b"]);
            let lines = Arc::new(Mutex::new(Vec::new()));
            let mut failures = 2;
            let process = Box::new({
                let lines = Arc::clone(&lines);
                move |popped: &PoppedItem| {
                    let Item::Deltas(deltas) = &popped.item else { return Ok(()) };
                    let name = deltas[0].object().expect("an object").name().to_owned();
                    let fails = name == "a" && failures > 0;
                    lines.lock().expect("lines").push(name);
                    failures -= usize::from(fails);
                    if fails { Err("not now".into()) } else { Ok(()) }
                }
            });
            let config = Config::new(queue, source, process).retry_on_error(retry);
            let stop = CancellationToken::new();
            let run = tokio::spawn(Controller::new(config).run(stop.clone()));
            advance(1).await;
            stop.cancel();
            run.await.expect("no panic").expect("no error");
            assert_eq!(*lines.lock().expect("lines"), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn failing_object_is_retried_with_backoff() {
    for queue in queues() {
        let calls = Arc::new(Mutex::new(0));
        let process = Box::new({
            let calls = Arc::clone(&calls);
            move |popped: &PoppedItem| {
                let is_object = matches!(popped.item, Item::Deltas(_));
                *calls.lock().expect("no panic") += u32::from(is_object);
                if is_object { Err("never".into()) } else { Ok(()) }
            }
        });
        let config = Config::new(queue, source_of(&["a"]), process).retry_on_error(true);
        let stop = CancellationToken::new();
        let run = tokio::spawn(Controller::new(config).run(stop.clone()));
        // 5 ms doubled up to one second takes 1.275 s and 9 calls; then there is one call per second.
        advance(60).await;
        let calls = *calls.lock().expect("no panic");
        assert!((60..=75).contains(&calls), "{calls} calls in a minute");
        stop.cancel();
        run.await.expect("no panic").expect("no error");
    }
}

#[tokio::test(start_paused = true)]
async fn newer_delta_replaces_a_failed_one() {
    let again = ["Updated a@3", "Updated a@3"];
    for (queue, expected) in queues().into_iter().zip([again, ["Added a@2", "Updated a@3"], again]) {
        let source = source_of(&["a"]);
        queue.add(source.objects().remove(0), Origin::Watch).expect("a key");
        source.modify(pod("a"));
        queue.update(source.objects().remove(0), Origin::Watch).expect("a key");
        let mut lines = Vec::new();
        let popped = queue.try_pop_or_requeue(&mut |popped| {
            lines.push(text(&popped));
            let Item::Deltas(deltas) = popped.item else { panic!("a delta") };
            vec![deltas]
        });
        assert_eq!(popped, Ok(true));
        queue.close();
        let lines = Arc::new(Mutex::new(lines));
        let process = Box::new({
            let lines = Arc::clone(&lines);
            move |popped: &PoppedItem| {
                lines.lock().expect("lines").push(text(popped));
                Err("always".into())
            }
        });
        // A closed queue accepts no requeues, so the loop ends.
        process_loop(&*queue, process, true).await;
        assert_eq!(*lines.lock().expect("lines"), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn single_handler_informer_reports_store_changes() {
    let source = source_of(&["shop/a", "bank/b"]);
    let recorder = Recorder::default();
    let (store, controller) = Informer::new(source.clone(), recorder.clone())
        .indexers([("namespace".to_owned(), index_funcs::namespace())].into())
        .resync_period(Some(Duration::from_mins(1)))
        .build();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    until("synced", || controller.has_synced() && recorder.len() == 2).await;
    assert_eq!(recorder.take(), ["+bank/b@3! list", "+shop/a@2! list"]);
    assert_eq!(store.index_keys("namespace", "shop"), Ok(vec!["shop/a".into()]));
    source.modify(pod("shop/a"));
    source.delete("bank/b");
    until("notified", || recorder.len() == 2).await;
    assert_eq!(recorder.take(), ["shop/a@2>4 watch", "-bank/b@5 watch"]);
    advance(60).await;
    assert_eq!(recorder.take(), ["shop/a@4>4 resync"]);
    source.add_silently(pod("bank/c"));
    source.reset_watches();
    until("notified", || recorder.len() == 1).await;
    // The list does not report unchanged objects again.
    assert_eq!(recorder.take(), ["+bank/c@6 relist"]);
    assert_eq!(store.last_store_sync_resource_version(), source.version());
    stop.cancel();
    run.await.expect("no panic").expect("no error");
    assert_eq!(source.open_watches(), 0);
}

#[tokio::test(start_paused = true)]
async fn single_handler_informer_syncs_after_its_last_callback() {
    let source = source_of(&["a", "b"]);
    let informer = Arc::new(OnceLock::<Controller>::new());
    let (sent_requests, synced) = (Arc::clone(&informer), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&synced);
    let handler = NotificationFn(move |_: Notification| {
        let has_synced = sent_requests.get().expect("it runs").has_synced();
        seen.lock().expect("no panic").push(has_synced);
    });
    let (_, controller) = new_informer(source.clone(), None, handler);
    assert!(informer.set(controller.clone()).is_ok());
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    until("synced", || controller.has_synced()).await;
    assert_eq!(*synced.lock().expect("no panic"), [false, false]);
    // Later notifications do not revoke the sync.
    source.modify(pod("a"));
    until("notified", || synced.lock().expect("no panic").len() == 3).await;
    assert_eq!(*synced.lock().expect("no panic"), [false, false, true]);
    stop.cancel();
    run.await.expect("no panic").expect("no error");
}

// F8 has the panic end the run.
#[tokio::test(start_paused = true)]
async fn single_handler_continues_after_a_panic() {
    let source = source_of(&["a", "b"]);
    let (recorder, panics) = (Recorder::default(), Recorder::default());
    let (notifications, hook) = (recorder.clone(), panics.clone());
    let clumsy = NotificationFn(move |notification: Notification| {
        let is_first = notifications.len() == 0;
        notifications.on_notification(notification);
        assert!(!is_first, "oh");
    });
    let hook = move |panic: &HandlerPanic| hook.0.lock().expect("lines").push(panic.message.clone());
    let (_, controller) = Informer::new(source.clone(), clumsy).on_handler_panic(Arc::new(hook)).build();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    until("synced", || controller.has_synced()).await;
    source.delete("a");
    until("notified", || recorder.len() == 3).await;
    assert_eq!(recorder.take(), ["+a@2! list", "+b@3! list", "-a@4 watch"]);
    assert_eq!(panics.take(), ["oh"]);
    stop.cancel();
    run.await.expect("no panic").expect("no error");
}

#[tokio::test(start_paused = true)]
async fn plain_store_follows_its_source() {
    let source = source_of(&["a", "b"]);
    let store = Arc::new(Cache::new());
    let stop = CancellationToken::new();
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), ReflectorOptions::default());
    let run = tokio::spawn(reflector.run(stop.clone()));
    let stored = || {
        let mut objects: Vec<_> = store.list().iter().map(|object| state(object)).collect();
        objects.sort();
        objects
    };
    until("listed", || stored() == source_state(&source) && source.open_watches() == 1).await;
    let unchanged = store.list().into_iter().find(|object| object.name() == "b").expect("listed");
    source.add(pod("c"));
    source.modify(pod("a"));
    until("watched", || stored() == source_state(&source)).await;
    source.delete_silently("a");
    source.add_silently(pod("d"));
    source.reset_watches();
    until("relisted", || stored() == source_state(&source)).await;
    assert_eq!(store.last_store_sync_resource_version(), source.version());
    let still = store.list().into_iter().find(|object| object.name() == "b").expect("listed");
    assert!(Arc::ptr_eq(&unchanged, &still), "held twice while it is listed");
    stop.cancel();
    run.await.expect("no panic").expect("no error");
}

// G27: an object is a piece of memory of its own, and not a part of the page it came with.
#[tokio::test(start_paused = true)]
async fn deleted_object_frees_its_memory_while_its_page_mates_stay() {
    let store = Arc::new(Cache::new());
    let objects: Vec<_> = {
        let source = source_of(&["a", "b", "c", "d", "e", "f"]);
        let options = ReflectorOptions::default().page_size(Some(3));
        Reflector::new(source, Arc::clone(&store), options).list_once().await.expect("a list");
        store.list().iter().map(|object| (object.key().clone(), Arc::downgrade(object))).collect()
    };
    for (key, object) in objects {
        let keeps = ["a", "d"].contains(&&*key);
        if !keeps {
            store.delete_by_key(&key);
        }
        assert_eq!(object.strong_count(), usize::from(keeps), "{key}");
    }
}
