//! Back-offs: waits between lists and between watches, reset only by the lifetimes of watches.

use super::*;
use kdelta::reflector::BackoffOptions;
use kdelta::testing::pod;

/// Returns the waits so far, in seconds.
fn waits(run: &Running) -> Vec<String> {
    let events = run.events.all();
    let seconds = events.iter().filter_map(|line| line.strip_prefix("retrying in ")?.strip_suffix('s'));
    seconds.map(str::to_owned).collect()
}

fn lists(source: &FakeSource) -> usize {
    source.requests().iter().filter(|request| matches!(request, Request::List(_))).count()
}

fn watches(source: &FakeSource) -> usize {
    source.requests().len() - lists(source)
}

/// Ends each watch by `end` within 50 ms, for an hour.
async fn hour_of(source: &FakeSource, end: impl Fn(&FakeSource)) {
    let over = tokio::time::Instant::now() + Duration::from_hours(1);
    while tokio::time::Instant::now() < over {
        if source.open_watches() == 1 {
            end(source);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn bookmark_and_then_410_is_listed_with_growing_waits() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    hour_of(&source, |source| {
        source.bookmark();
        source.break_watches(&expired());
    })
    .await;
    assert_eq!(waits(&run)[..7], ["0.8", "1.6", "3.2", "6.4", "12.8", "25.6", "30"]);
    assert!(lists(&source) < 130, "{} lists", lists(&source));
}

#[tokio::test(start_paused = true)]
async fn event_and_then_an_error_is_retried_with_growing_waits() {
    let errors =
        [Error::Internal(status_with("broken")), Error::Decode("garbage".into()), too_many(None), cut()];
    for error in errors.into_iter().chain([Error::Timeout("silent".into())]) {
        let source = FakeSource::new();
        source.add(pod("a"));
        let run = start(&source, plain());
        run.caught_up().await;
        hour_of(&source, |source| {
            source.modify(pod("a"));
            source.break_watches(&error);
        })
        .await;
        assert_eq!(waits(&run)[..7], ["0.8", "1.6", "3.2", "6.4", "12.8", "25.6", "30"], "{error:?}");
        assert!(source.requests().len() < 260, "{error:?}: {} requests", source.requests().len());
    }
}

/// Each watch that ends early costs one version check.
#[tokio::test(start_paused = true)]
async fn event_and_then_a_clean_end_is_watched_with_growing_waits() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, plain());
    run.caught_up().await;
    hour_of(&source, |source| {
        source.modify(pod("a"));
        source.drop_watches();
    })
    .await;
    assert_eq!(waits(&run)[..7], ["0.8", "1.6", "3.2", "6.4", "12.8", "25.6", "30"]);
    assert!(watches(&source) < 130, "{} watches", watches(&source));
    // The first list is the initial one, the others are version checks.
    assert!(lists(&source) <= watches(&source), "{} of {}", lists(&source), watches(&source));
}

#[tokio::test(start_paused = true)]
async fn watch_of_thirty_seconds_resets_the_waits_between_watches_only() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for _ in 0..3 {
        run.caught_up().await;
        source.break_watches(&cut());
        run.caught_up().await;
        source.break_watches(&expired());
    }
    run.caught_up().await;
    assert_eq!(waits(&run), ["0.8", "0.8", "1.6", "1.6", "3.2", "3.2"]);
    advance(29).await;
    source.break_watches(&cut());
    run.caught_up().await;
    assert_eq!(waits(&run).last().expect("a wait"), "6.4", "not yet");
    advance(31).await;
    source.break_watches(&cut());
    run.caught_up().await;
    assert_eq!(waits(&run).last().expect("a wait"), "0.8");
    advance(100).await;
    source.break_watches(&expired());
    run.caught_up().await;
    assert_eq!(waits(&run).last().expect("a wait"), "6.4", "lists go on");
}

#[tokio::test(start_paused = true)]
async fn first_list_after_a_watch_of_two_minutes_is_sent_at_once() {
    let failures: [fn(&FakeSource); 4] = [
        |source| source.break_watches(&expired()),
        |source| source.break_watches(&Error::Internal(status_with("broken"))),
        |source| source.break_watches(&Error::Decode("garbage".into())),
        |source| {
            source.fail_watch(expired());
            source.drop_watches();
        },
    ];
    for fail in failures {
        let source = FakeSource::new();
        let run = start(&source, plain());
        run.caught_up().await;
        source.break_watches(&expired());
        run.caught_up().await;
        let before = waits(&run).len();
        advance(60).await;
        source.bookmark();
        advance(61).await;
        let listed = lists(&source);
        fail(&source);
        until(|| lists(&source) > listed).await;
        run.caught_up().await;
        assert_eq!(waits(&run).len(), before, "{:?}", run.events.all());
        source.break_watches(&expired());
        run.caught_up().await;
        assert_eq!(waits(&run).last().expect("a wait"), "1.6", "the second waits");
    }
}

/// The wait applies to short watches: a server that ends each watch after half a minute or more is followed without a
/// gap.
#[tokio::test(start_paused = true)]
async fn clean_end_of_a_longer_watch_is_followed_by_the_next_at_once() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for seconds in [30, 31, 290] {
        run.caught_up().await;
        advance(seconds).await;
        let before = tokio::time::Instant::now();
        let watched = watches(&source);
        source.drop_watches();
        until(|| watches(&source) > watched).await;
        assert!(before.elapsed() < Duration::from_millis(50));
    }
    assert!(waits(&run).is_empty());
}

/// Recovery from a plain cut: the connection breaks after a long watch, and the source is reachable.
#[tokio::test(start_paused = true)]
async fn cut_watch_resumes_after_the_first_wait() {
    for (jitter, longest) in [(0.0, 810), (0.999, 1610)] {
        let source = FakeSource::new();
        source.add(pod("a"));
        let run = start(&source, plain().jitter(Arc::new(move || jitter)));
        for _ in 0..3 {
            run.caught_up().await;
            source.modify(pod("a"));
            advance(40).await;
            source.add_silently(pod("b"));
            let before = tokio::time::Instant::now();
            source.break_watches(&cut());
            run.caught_up().await;
            assert!(before.elapsed().as_millis() <= longest, "{:?}", before.elapsed());
            source.delete("b");
        }
    }
}

/// The program's settings: a cap of 2.5 s and jitter of up to the same again.
#[tokio::test(start_paused = true)]
async fn waits_at_a_cap_are_spread_up_to_twice_it() {
    for (jitter, last) in [(0.0, "2.5"), (0.5, "3.75")] {
        let source = FakeSource::new();
        (0..6).for_each(|_| source.fail_list(refused()));
        let backoff = BackoffOptions::default().cap(Duration::from_millis(2500));
        let run = start(&source, plain().backoff(backoff).jitter(Arc::new(move || jitter)));
        run.caught_up().await;
        assert_eq!(waits(&run)[2..], [last; 4]);
    }
}
