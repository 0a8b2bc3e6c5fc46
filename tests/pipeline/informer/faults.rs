//! Property tests of the whole informer on a source with random changes and failures.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::sleep;

use kdelta::informer::{HandlerOptions, OnSlow, SharedIndexInformer, Subscription};
use kdelta::listwatch::{Error, Status};
use kdelta::reflector::{BackoffOptions, ReflectorOptions};
use kdelta::testing::{FakeSource, InitialEvents, pod};

use super::{KINDS, Replay, Running, source_state, stored, until};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Debug, Clone)]
enum Step {
    /// One object is added, modified or deleted, visibly or silently for open watches.
    Change {
        name: usize,
        deletes: bool,
        aloud: bool,
    },
    /// Every watch ends cleanly.
    EndWatches,
    /// Every watch ends, and the source loses its history.
    Forget,
    BreakWatches(usize),
    FailList {
        after: Option<usize>,
        error: usize,
    },
    FailWatch(usize),
    ExpireTokens,
    Bookmark,
    Pass(u64),
    Subscribe(OnSlow),
}

fn error(kind: usize) -> Error {
    let status = || Status { message: "at random".into(), ..Status::default() };
    match kind {
        0 => Error::Expired(status()),
        1 => Error::TooLargeResourceVersion(status()),
        2 => Error::TooManyRequests { status: status(), retry_after: Some(Duration::from_secs(1)) },
        3 => Error::Internal(status()),
        4 => Error::Forbidden(status()),
        5 => Error::Refused("at random".into()),
        6 => Error::Decode("at random".into()),
        7 => Error::Timeout("at random".into()),
        _ => Error::Transport("at random".into()),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let kind = || 0..9_usize;
    let change = (0..NAMES.len(), any::<bool>(), prop::bool::weighted(0.8))
        .prop_map(|(name, deletes, aloud)| Step::Change { name, deletes, aloud });
    let fail_list =
        (prop::option::of(0..3_usize), kind()).prop_map(|(after, error)| Step::FailList { after, error });
    prop_oneof![
        8 => change,
        1 => Just(Step::EndWatches),
        1 => Just(Step::Forget),
        1 => kind().prop_map(Step::BreakWatches),
        1 => fail_list,
        1 => kind().prop_map(Step::FailWatch),
        1 => Just(Step::ExpireTokens),
        1 => Just(Step::Bookmark),
        3 => (0..4000_u64).prop_map(Step::Pass),
        1 => prop_oneof![Just(blocking()), Just(OnSlow::Coalesce)]
            .prop_map(Step::Subscribe),
    ]
}

/// Returns a policy with capacity for all notifications of a test.
fn blocking() -> OnSlow {
    OnSlow::Block { capacity: 10_000, bytes: usize::MAX }
}

fn initial_events() -> impl Strategy<Value = InitialEvents> {
    prop_oneof![
        Just(InitialEvents::Sent),
        Just(InitialEvents::WithoutEnd),
        Just(InitialEvents::Ignored),
        Just(InitialEvents::Unsupported),
        Just(InitialEvents::Refused(error(3))),
    ]
}

fn subscribe(informer: &SharedIndexInformer, on_slow: OnSlow) -> Subscription {
    informer.subscribe_with_options(HandlerOptions::default().on_slow(on_slow)).expect("not stopped")
}

fn change(source: &FakeSource, name: &str, deletes: bool, aloud: bool) {
    let is_there = source.objects().iter().any(|object| object.name() == name);
    match (is_there, deletes, aloud) {
        (false, _, true) => source.add(pod(name)),
        (false, _, false) => source.add_silently(pod(name)),
        (true, false, true) => source.modify(pod(name)),
        (true, false, false) => source.modify_silently(pod(name)),
        (true, true, true) => source.delete(name),
        (true, true, false) => source.delete_silently(name),
    }
}

async fn survives(initial: InitialEvents, at: usize, steps: Vec<Step>) {
    let source = FakeSource::new();
    source.set_initial_events(initial);
    source.set_pages_at_any(true);
    let options = ReflectorOptions::default()
        .page_size(Some(2))
        .backoff(BackoffOptions::default().cap(Duration::from_secs(1)));
    let informer = SharedIndexInformer::builder(source.clone()).queue(KINDS[at]).reflector(options).build();
    let mut notifications = vec![subscribe(&informer, blocking())];
    let running = Running::start(informer.clone());
    for step in steps {
        match step {
            Step::Change { name, deletes, aloud } => change(&source, NAMES[name], deletes, aloud),
            Step::EndWatches => source.drop_watches(),
            Step::Forget => source.reset_watches(),
            Step::BreakWatches(kind) => source.break_watches(&error(kind)),
            Step::FailList { after: None, error: kind } => source.fail_list(error(kind)),
            Step::FailList { after: Some(items), error: kind } => source.fail_list_after(items, error(kind)),
            Step::FailWatch(kind) => source.fail_watch(error(kind)),
            Step::ExpireTokens => source.expire_continue_tokens(),
            Step::Bookmark => source.bookmark(),
            Step::Pass(milliseconds) => sleep(Duration::from_millis(milliseconds)).await,
            Step::Subscribe(on_slow) => notifications.push(subscribe(&informer, on_slow)),
        }
    }
    // A lost history makes the informer list, which finds the silent change.
    change(&source, NAMES[0], false, false);
    source.reset_watches();
    until("the store is the source", || stored(&informer) == source_state(&source)).await;
    running.stop().await;
    for mut subscription in notifications {
        assert_eq!(Replay::replay_to_end(&mut subscription).await, source_state(&source));
    }
    assert_eq!(source.open_watches(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn notifications_replay_to_the_source_under_any_faults(
        initial in initial_events(),
        at in 0..KINDS.len(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(survives(initial, at, steps));
    }
}
