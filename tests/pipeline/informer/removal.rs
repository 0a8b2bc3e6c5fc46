//! Removal of handlers during a call, and waiting for their end.

use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use kdelta::informer::{Notification, NotificationFn, ResourceEventHandler};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{KINDS, Recorder, Running, of_kind, source_of};

/// A handler that reports each call and blocks in it until it is released.
struct Blocking {
    entered: UnboundedSender<()>,
    release: Mutex<Receiver<()>>,
}

/// Returns such a handler, the receiver of its reports, and the sender that releases a call.
fn blocking() -> (Blocking, UnboundedReceiver<()>, Sender<()>) {
    let (entered, reports) = unbounded_channel();
    let (releaser, release) = channel();
    (Blocking { entered, release: Mutex::new(release) }, reports, releaser)
}

impl ResourceEventHandler for Blocking {
    fn on_notification(&self, _: Notification) {
        self.entered.send(()).expect("the test listens");
        self.release.lock().expect("one call at a time").recv().expect("the test releases");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn removing_a_blocked_handler_unblocks_the_stop() {
    for kind in KINDS {
        let informer = of_kind(&source_of(&["a"]), kind);
        let (handler, mut entered, release) = blocking();
        let registration = informer.add_event_handler(handler).expect("not stopped");
        let other = Arc::new(Recorder::default());
        informer.add_event_handler(Arc::clone(&other)).expect("not stopped");
        let running = Running::synced(informer.clone()).await;
        entered.recv().await.expect("the handler is called");
        running.stop.cancel();
        while !informer.is_stopped() {
            tokio::task::yield_now().await;
        }
        assert!(!running.run.is_finished(), "the end waits for the call");
        informer.remove_event_handler(&registration);
        running.run.await.expect("no panic").expect("no error");
        assert!(!other.take().is_empty(), "{kind:?}: the other handler was not cut short");
        release.send(()).expect("the call is still in progress");
        registration.ended().await;
    }
}

// I21, I22
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn handler_shutdown_waits_for_its_last_call() {
    for kind in KINDS {
        let informer = of_kind(&source_of(&["a", "b"]), kind);
        let (handler, mut entered, release) = blocking();
        let registration = informer.add_event_handler(handler).expect("not stopped");
        let running = Running::synced(informer.clone()).await;
        entered.recv().await.expect("the handler is called");
        let mut shut_down = pin!(informer.shut_down_event_handler(&registration));
        tokio::select! {
            biased;
            () = &mut shut_down => panic!("the call is in progress"),
            () = std::future::ready(()) => {}
        }
        release.send(()).expect("the call is in progress");
        shut_down.await;
        assert!(entered.recv().await.is_none(), "{kind:?}: the handler is gone, b was never delivered");
        // A second time it returns at once, as it does for a handler that never ran.
        informer.shut_down_event_handler(&registration).await;
        running.stop().await;
    }
    let unstarted = of_kind(&source_of(&[]), KINDS[0]);
    let registration = unstarted.add_event_handler(NotificationFn(|_| ())).expect("not stopped");
    unstarted.shut_down_event_handler(&registration).await;
}

#[tokio::test(start_paused = true)]
async fn registration_ends_with_its_informer() {
    let informer = of_kind(&source_of(&["a"]), KINDS[0]);
    let recorder = Arc::new(Recorder::default());
    let registration = informer.add_event_handler(Arc::clone(&recorder)).expect("not stopped");
    let subscription = informer.subscribe(1, None).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    running.stop().await;
    registration.ended().await;
    assert_eq!(Arc::strong_count(&recorder), 1, "the handler is dropped before its end is reported");
    let reader = subscription.registration();
    drop(subscription);
    reader.ended().await;
}
