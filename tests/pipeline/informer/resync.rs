//! The recipients and times of resyncs.

use std::time::Duration;

use kdelta::informer::{Registration, SharedIndexInformer};
use kdelta::testing::{FakeSource, pod};

use super::{Recorder, Running, advance, source_of, until};

fn resyncing(source: &FakeSource) -> SharedIndexInformer {
    let second = Some(Duration::from_secs(1));
    SharedIndexInformer::builder(source.clone()).resync_check_period(second).build()
}

fn every(informer: &SharedIndexInformer, seconds: u64) -> (Recorder, Registration) {
    let recorder = Recorder::default();
    let period = (seconds > 0).then(|| Duration::from_secs(seconds));
    let added = informer.add_event_handler_with_resync_period(recorder.clone(), period);
    (recorder, added.expect("not stopped"))
}

// I1
#[tokio::test(start_paused = true)]
async fn each_handler_has_its_own_resync_period() {
    let informer = resyncing(&source_of(&["pod1", "pod2"]));
    let handlers = [0, 2, 3].map(|seconds| every(&informer, seconds));
    let running = Running::synced(informer).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let notifications = || handlers.each_ref().map(|(recorder, _)| recorder.take().len());
    assert_eq!(notifications(), [2, 2, 2]);
    for expected in [[0, 0, 0], [0, 2, 0], [0, 0, 2], [0, 2, 0], [0, 0, 0], [0, 2, 2]] {
        advance(1).await;
        assert_eq!(notifications(), expected);
    }
    running.stop().await;
}

// I4
#[tokio::test(start_paused = true)]
async fn relist_repeats_unchanged_objects_only_to_handlers_due_a_resync() {
    let source = source_of(&["pod1", "pod2"]);
    let informer = resyncing(&source);
    let (quiet, _) = every(&informer, 0);
    let (eager, _) = every(&informer, 1);
    let running = Running::synced(informer).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    quiet.take();
    eager.take();
    source.add_silently(pod("pod3"));
    source.modify_silently(pod("pod2"));
    source.reset_watches();
    until("listed again", || quiet.len() == 2).await;
    let mut lines = quiet.take();
    lines.sort();
    assert_eq!(lines, ["+pod3@4 relist", "pod2@3>5 relist"]);
    until("notified again", || eager.len() >= 3).await;
    let lines = eager.take();
    for line in ["+pod3@4 relist", "pod2@3>5 relist", "pod1@2>2 resync"] {
        assert!(lines.iter().any(|notifications| notifications == line), "{line} in {lines:?}");
    }
    running.stop().await;
}
