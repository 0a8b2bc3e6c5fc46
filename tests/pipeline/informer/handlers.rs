//! Event handlers: late, removed, panicking, filtered.

use std::sync::{Arc, Mutex, mpsc};

use kdelta::informer::{
    FilteringResourceEventHandler, HandlerPanic, Notification, NotificationFn, QueueKind,
    ResourceEventHandler, SharedIndexInformer,
};
use kdelta::object::{DeletedObject, Object, Origin};
use kdelta::testing::{FakeSource, pod};

use super::{Recorder, Running, advance, of_kind, source_of, stored, until};

// I17
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handler_syncs_after_its_initial_callbacks_return() {
    let source = source_of(&["pod1"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let early = Recorder::default();
    let early_registration = informer.add_event_handler(early.clone()).expect("not stopped");
    assert!(!early_registration.has_synced());
    let running = Running::synced(informer.clone()).await;
    assert!(early_registration.synced().await);
    assert_eq!(early.take(), ["+pod1@2! list"]);

    let (enter, entered) = mpsc::channel::<()>();
    let (leave, left) = mpsc::channel::<()>();
    let left = Mutex::new(left);
    let late = Recorder::default();
    let blocked = NotificationFn({
        let late = late.clone();
        move |notification| {
            let _sent = enter.send(());
            left.lock().expect("no panic").recv().expect("a signal");
            late.on_notification(notification);
        }
    });
    let registration = informer.add_event_handler(blocked).expect("not stopped");
    tokio::task::spawn_blocking(move || entered.recv()).await.expect("no panic").expect("called");
    assert!(!registration.has_synced());
    leave.send(()).expect("it waits");
    assert!(registration.synced().await);
    assert!(registration.has_synced());
    source.add(pod("pod2"));
    leave.send(()).expect("it waits");
    while late.len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(late.take(), ["+pod1@2! list", "+pod2@3 watch"]);
    running.stop().await;
}

// I8, I9, I10, I11, I15, I16
#[tokio::test(start_paused = true)]
async fn removed_handler_gets_no_notifications() {
    let source = source_of(&[]);
    let informer = of_kind(&source, QueueKind::Delta);
    let other = of_kind(&source, QueueKind::Delta);
    let recorder = Arc::new(Recorder::default());
    let first = informer.add_event_handler(Arc::clone(&recorder)).expect("not stopped");
    let second = informer.add_event_handler(Arc::clone(&recorder)).expect("not stopped");
    other.remove_event_handler(&first);
    let running = Running::synced(informer.clone()).await;
    source.add(pod("a"));
    until("notified twice", || recorder.len() == 2).await;
    assert_eq!(recorder.take(), ["+a@2 watch", "+a@2 watch"]);
    informer.remove_event_handler(&first);
    informer.remove_event_handler(&first);
    source.add(pod("b"));
    until("notified once", || stored(&informer).len() == 2 && recorder.len() == 1).await;
    informer.remove_event_handler(&second);
    source.add(pod("c"));
    until("stored", || stored(&informer).len() == 3).await;
    advance(1).await;
    assert_eq!(recorder.take(), ["+b@3 watch"]);
    assert_eq!(Arc::strong_count(&recorder), 1, "a task still has its handler");
    running.stop().await;
    informer.remove_event_handler(&second);
}

// I19, without its pauses
#[tokio::test(start_paused = true)]
async fn panicking_handler_is_reported_and_called_again() {
    let source = source_of(&["a", "b", "c"]);
    let panics = Recorder::default();
    let informer = SharedIndexInformer::builder(source)
        .on_handler_panic({
            let panics = panics.clone();
            Arc::new(move |panic| panics.0.lock().expect("lines").push(panic.message.clone()))
        })
        .build();
    let clumsy = NotificationFn(|notification| panic!("oh: {notification}"));
    let registration = informer.add_event_handler(clumsy).expect("not stopped");
    let recorder = Recorder::default();
    informer.add_event_handler(recorder.clone()).expect("not stopped");
    let running = Running::synced(informer).await;
    assert!(registration.synced().await, "a panic must not leave a handler unsynced");
    until("notified", || recorder.len() == 3).await;
    running.stop().await;
    let states = ["a@2", "b@3", "c@4"];
    assert_eq!(recorder.take(), states.map(|state| format!("+{state}! list")));
    assert_eq!(panics.take(), states.map(|state| format!("oh: +{state}! list")));
}

/// A handler that panics in each call and on drop.
struct AlwaysPanics;

impl ResourceEventHandler for AlwaysPanics {
    fn on_notification(&self, _: Notification) {
        panic!("oh");
    }
}

impl Drop for AlwaysPanics {
    fn drop(&mut self) {
        panic!("and oh");
    }
}

#[tokio::test(start_paused = true)]
async fn panics_in_a_handler_and_the_hook_do_not_affect_others() {
    let hook = Arc::new(|_: &HandlerPanic| panic!("the hook too"));
    let informer = SharedIndexInformer::builder(source_of(&["a"])).on_handler_panic(hook).build();
    let registration = informer.add_event_handler(AlwaysPanics).expect("not stopped");
    let recorder = Recorder::default();
    informer.add_event_handler(recorder.clone()).expect("not stopped");
    let running = Running::synced(informer).await;
    assert!(registration.synced().await);
    running.stop().await;
    assert_eq!(recorder.take(), ["+a@2! list"]);
}

// F12
#[test]
fn filter_turns_updates_into_adds_and_deletes() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let low = source.objects().remove(0);
    source.modify(pod("a"));
    let high = source.objects().remove(0);
    let recorder = Recorder::default();
    let passes = |object: &Object| object.resource_version() == &"3".into();
    let filtering = FilteringResourceEventHandler::new(passes, recorder.clone());
    let added = |object: &Arc<Object>| Notification::Added {
        object: Arc::clone(object),
        is_in_initial_list: true,
        origin: Origin::List,
    };
    let updated = |old: &Arc<Object>, new: &Arc<Object>| Notification::Updated {
        old: Arc::clone(old),
        new: Arc::clone(new),
        origin: Origin::Watch,
    };
    let deleted = |object: &Arc<Object>| Notification::Deleted {
        object: DeletedObject::Known(Arc::clone(object)),
        origin: Origin::Watch,
    };
    for (notification, expected) in [
        (added(&high), vec!["+a@3! list"]),
        (added(&low), vec![]),
        (updated(&high, &high), vec!["a@3>3 watch"]),
        (updated(&low, &high), vec!["+a@3 watch"]),
        (updated(&high, &low), vec!["-a@3 watch"]),
        (updated(&low, &low), vec![]),
        (deleted(&high), vec!["-a@3 watch"]),
        (deleted(&low), vec![]),
    ] {
        filtering.on_notification(notification);
        assert_eq!(recorder.take(), expected);
    }
}

/// A handler that records the called callbacks.
#[derive(Default)]
struct Callbacks(Mutex<Vec<&'static str>>);

impl ResourceEventHandler for Callbacks {
    fn on_add(&self, _object: &Arc<Object>, is_in_initial_list: bool) {
        self.0.lock().expect("calls").push(if is_in_initial_list { "initial" } else { "add" });
    }

    fn on_update(&self, _old: &Arc<Object>, _new: &Arc<Object>) {
        self.0.lock().expect("calls").push("update");
    }

    fn on_delete(&self, _object: &DeletedObject) {
        self.0.lock().expect("calls").push("delete");
    }
}

#[tokio::test(start_paused = true)]
async fn filtered_handler_gets_all_three_callbacks() {
    let source = source_of(&["a", "hidden"]);
    let informer = of_kind(&source, QueueKind::Ordered);
    let callbacks = Arc::new(Callbacks::default());
    let filtered =
        FilteringResourceEventHandler::new(|object: &Object| object.name() == "a", Arc::clone(&callbacks));
    informer.add_event_handler(filtered).expect("not stopped");
    let running = Running::synced(informer).await;
    source.modify(pod("a"));
    source.modify(pod("hidden"));
    source.delete("a");
    source.add(pod("a"));
    until("called", || callbacks.0.lock().expect("calls").len() == 4).await;
    running.stop().await;
    assert_eq!(*callbacks.0.lock().expect("calls"), ["initial", "update", "delete", "add"]);
}
