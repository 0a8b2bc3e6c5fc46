//! Tests of the counters, the gauges and the health, on a clock that does not pass by itself.

use std::sync::Arc;
use std::time::Duration;

use kdelta::informer::Notification;
use kdelta::lines::ChangeKind;
use kdelta::listwatch::Error;
use kdelta::object::{ApiResource, DeletedObject, Ingest, Object, Origin};
use kdelta::queue::{Mark, QueueSize};
use kdelta::reflector::{Phase, ReflectorEvent};
use kdelta::testing::{FakeClock, pod};

use super::*;

/// Returns metrics with their clock.
fn metrics() -> (Metrics, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::new());
    (Metrics::new(Arc::<FakeClock>::clone(&clock)), clock)
}

fn resource(group: &str, resource: &str) -> ApiResource {
    ApiResource {
        group: group.into(),
        version: "v1".into(),
        resource: resource.into(),
        kind: resource.into(),
        namespaced: true,
    }
}

/// Returns the value of a sample, `NAME{LABELS}` as in the text; `None` if it is not there.
fn value(metrics: &Metrics, sample: &str) -> Option<f64> {
    let text = metrics.text();
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '))?;
    Some(line.parse().expect("a number"))
}

fn added(origin: Origin) -> Notification {
    Notification::Added { object: web(), is_in_initial_list: origin == Origin::List, origin }
}

fn web() -> Arc<Object> {
    let ingest = Ingest::of(resource("", "pods").type_meta());
    Arc::new(Object::from_json(pod("shop/web").to_string().as_bytes(), &ingest).expect("an object"))
}

fn synced() -> Notification {
    Notification::Mark(Mark::Synced { resource_version: "7".into() })
}

fn lost() -> ReflectorEvent {
    ReflectorEvent::Lost { phase: Phase::Watch, error: Error::Transport("connection reset".into()) }
}

fn recovered(seconds: u64) -> ReflectorEvent {
    ReflectorEvent::Recovered { version: "8".into(), lasted: Duration::from_secs(seconds) }
}

#[test]
fn deltas_are_counted_by_type_and_origin() {
    let (metrics, _) = metrics();
    let part = metrics.add_part("prod", &resource("apps", "deployments"));
    let labels = |kind: &str, origin: &str| {
        format!(
            "kdelta_deltas_total{{context=\"prod\",group=\"apps\",resource=\"deployments\",type=\"{kind}\",origin=\"{origin}\"}}"
        )
    };
    assert_eq!(value(&metrics, &labels("deleted", "watch")), Some(0.0), "a rate needs a first value");
    assert_eq!(value(&metrics, &labels("added", "list")), None);
    part.count(&added(Origin::List));
    part.count(&added(Origin::List));
    part.count(&added(Origin::Watch));
    let updated = |origin| Notification::Updated { old: web(), new: web(), origin };
    part.count(&updated(Origin::Relist));
    part.count(&updated(Origin::Resync));
    part.count(&Notification::Deleted { object: DeletedObject::Known(web()), origin: Origin::Watch });
    part.count_resumed(ChangeKind::Modified);
    for (kind, origin, count) in [
        ("added", "list", 2.0),
        ("added", "watch", 1.0),
        ("modified", "watch", 1.0),
        ("modified", "relist", 1.0),
        ("sync", "resync", 1.0),
        ("deleted", "watch", 1.0),
    ] {
        assert_eq!(value(&metrics, &labels(kind, origin)), Some(count), "{kind} {origin}");
    }
    assert!(!metrics.text().contains("web") && !metrics.text().contains("shop"), "no names, no namespaces");
}

#[test]
fn counters_of_a_type_outlive_its_parts_and_are_shared() {
    let (metrics, _) = metrics();
    for _ in 0..3 {
        metrics.add_part("", &resource("", "pods")).count(&added(Origin::Watch));
    }
    let labels = "context=\"\",group=\"\",resource=\"pods\"";
    let deltas = format!("kdelta_deltas_total{{{labels},type=\"added\",origin=\"watch\"}}");
    assert_eq!(value(&metrics, &deltas), Some(3.0));
    assert_eq!(value(&metrics, &format!("kdelta_collections{{{labels}}}")), None, "no part runs");
}

#[test]
fn losses_and_gaps_are_counted_with_their_seconds() {
    let (metrics, _) = metrics();
    let part = metrics.add_part("", &resource("", "pods"));
    let status = part.status();
    let of = |name: &str| value(&metrics, &format!("{name}{{context=\"\",group=\"\",resource=\"pods\"}}"));
    status.observe(&lost());
    status.observe(&recovered(3));
    status.observe(&lost());
    status.observe(&ReflectorEvent::Relisting { from: "8".into() });
    let (origin, lasted) = (Origin::Relist, Duration::from_millis(1500));
    status.observe(&ReflectorEvent::Listed {
        phase: Phase::List,
        origin,
        version: "9".into(),
        items: 1,
        lasted,
    });
    part.count(&Notification::Mark(Mark::Gap { from: "8".into(), to: "9".into(), lasted }));
    assert_eq!(of("kdelta_reconnects_total"), Some(1.0));
    assert_eq!(of("kdelta_relists_total"), Some(1.0));
    assert_eq!(of("kdelta_gaps_total"), Some(1.0));
    assert_eq!(of("kdelta_gap_seconds_total"), Some(1.5));
    assert_eq!(of("kdelta_disconnected_seconds_total"), Some(4.5));
    let failures = "kdelta_failures_total{context=\"\",group=\"\",resource=\"pods\",phase=\"watch\",reason=\"connection\"}";
    assert_eq!(value(&metrics, failures), Some(2.0));
}

/// Readings with fixed values.
struct Fixed {
    deltas: usize,
    is_resumed: bool,
}

impl PartReadings for Fixed {
    fn queued(&self) -> QueueSize {
        QueueSize { deltas: self.deltas, bytes: self.deltas * 100 }
    }

    fn last_message(&self) -> Option<Duration> {
        Some(Duration::from_millis(1_700_000_000_500))
    }

    fn is_resumed(&self) -> bool {
        self.is_resumed
    }
}

#[test]
fn gauges_add_up_the_parts_of_a_type_until_they_end() {
    let (metrics, clock) = metrics();
    let pods = resource("", "pods");
    let (one, other) = (metrics.add_part("", &pods), metrics.add_part("", &pods));
    one.set_readings(Fixed { deltas: 3, is_resumed: false });
    other.set_readings(Fixed { deltas: 4, is_resumed: false });
    one.count(&synced());
    let of = |name: &str| value(&metrics, &format!("{name}{{context=\"\",group=\"\",resource=\"pods\"}}"));
    clock.advance(Duration::from_secs(2));
    assert_eq!(of("kdelta_collections"), Some(2.0));
    assert_eq!(of("kdelta_queue_items"), Some(7.0));
    assert_eq!(of("kdelta_queue_bytes"), Some(700.0));
    assert_eq!(of("kdelta_last_message_timestamp_seconds"), Some(1_700_000_000.5));
    assert_eq!((of("kdelta_synced"), of("kdelta_behind_seconds")), (Some(0.0), Some(2.0)));
    other.count(&synced());
    assert_eq!((of("kdelta_synced"), of("kdelta_behind_seconds")), (Some(1.0), Some(0.0)));
    one.status().observe(&lost());
    clock.advance(Duration::from_secs(5));
    one.status().observe(&lost());
    assert_eq!(of("kdelta_behind_seconds"), Some(5.0), "since the first failure of the loss");
    one.status().observe(&recovered(5));
    assert_eq!(of("kdelta_behind_seconds"), Some(0.0));
    drop(one);
    assert_eq!((of("kdelta_collections"), of("kdelta_queue_items")), (Some(1.0), Some(4.0)));
    // A reader that does not take an event for a minute.
    metrics.output_delay().begin(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(60));
    assert!(of("kdelta_behind_seconds").is_some_and(|behind| (60.0..120.0).contains(&behind)));
    metrics.output_delay().end();
    assert_eq!(of("kdelta_behind_seconds"), Some(0.0));
}

#[test]
fn readiness_follows_sync_loss_and_output() {
    const LIMIT: Duration = Duration::from_secs(30);
    let (metrics, clock) = metrics();
    assert_eq!(metrics.not_ready(LIMIT), ["the initial state is incomplete"]);
    let (pods, deployments) = (resource("", "pods"), resource("apps", "deployments"));
    let part = metrics.add_part("prod", &pods);
    let other = metrics.add_part("", &deployments);
    let incomplete =
        ["deployments.apps: the initial state is incomplete", "prod: pods: the initial state is incomplete"];
    assert_eq!(metrics.not_ready(LIMIT), incomplete);
    part.count(&synced());
    other.count(&synced());
    assert_eq!(metrics.not_ready(LIMIT), ["the initial state is incomplete"], "more types may follow");
    metrics.mark_synced();
    assert!(metrics.not_ready(LIMIT).is_empty());

    part.status().observe(&lost());
    clock.advance(LIMIT);
    assert!(metrics.not_ready(LIMIT).is_empty(), "a short loss");
    clock.advance(Duration::from_secs(1));
    assert_eq!(metrics.not_ready(LIMIT), ["prod: pods: no connection for 31s (connection)"]);
    assert!(metrics.not_ready(LIMIT * 2).is_empty(), "the limit of the request");
    part.status().observe(&recovered(31));
    assert!(metrics.not_ready(LIMIT).is_empty());

    let late = metrics.add_part("", &pods);
    let retried = metrics.add_part("", &deployments).retried();
    assert!(metrics.not_ready(LIMIT).is_empty(), "a type that was added later has some time");
    clock.advance(LIMIT * 2);
    assert_eq!(metrics.not_ready(LIMIT), ["pods: the initial state is incomplete"]);
    drop((late, retried));
    assert!(metrics.not_ready(LIMIT).is_empty());

    metrics.output_delay().begin(jiff::Timestamp::now() - jiff::SignedDuration::from_secs(90));
    assert!(metrics.not_ready(LIMIT)[0].starts_with("the output is 9"), "{:?}", metrics.not_ready(LIMIT));
}

#[test]
fn resumed_watch_is_ready_once_connected() {
    let (metrics, _) = metrics();
    let part = metrics.add_part("", &resource("", "pods"));
    metrics.mark_synced();
    part.set_readings(Fixed { deltas: 0, is_resumed: false });
    assert_eq!(metrics.not_ready(MAX_BEHIND), ["pods: the initial state is incomplete"]);
    part.set_readings(Fixed { deltas: 0, is_resumed: true });
    assert!(metrics.not_ready(MAX_BEHIND).is_empty());
}

#[test]
fn reasons_are_limited() {
    let (metrics, _) = metrics();
    let parts: Vec<_> =
        (0..100).map(|number| metrics.add_part("", &resource("x", &format!("r{number}")))).collect();
    let reasons = metrics.not_ready(MAX_BEHIND);
    assert_eq!((reasons.len(), reasons[MAX_REASONS].as_str()), (MAX_REASONS + 1, "80 more"));
    drop(parts);
}

#[test]
fn label_values_are_escaped() {
    let (metrics, _) = metrics();
    let _part = metrics.add_part("a\"b\\c\nd", &resource("", "pods"));
    assert!(metrics.text().contains(r#"context="a\"b\\c\nd""#), "{}", metrics.text());
    assert!(
        metrics
            .text()
            .lines()
            .all(|line| line.starts_with('#') || line.starts_with("kdelta_") || line.starts_with("process_"))
    );
}
