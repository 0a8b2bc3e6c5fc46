//! The last events of an object, which often say why a wait did not end well.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::object::{ApiResource, Object, human_duration};
use kdelta::store::Indexers;
use kdelta::wire::Representation;
use serde::Deserialize;
use tokio::time::Instant;

use crate::commands::Reporter;
use crate::commands::synced::synced_indexer;
use crate::commands::watch::deadline;
use crate::output::ResultObject;
use crate::session::{Filter, Part, Session};
use crate::settings::{ObjectFilter, Print, Selection};

/// The number of events of an object that are printed.
const MAX_EVENTS: usize = 5;
/// The time that their request may take.
const LIMIT: Duration = Duration::from_secs(3);

/// The fields of an event.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    count: Option<u64>,
    last_timestamp: Option<String>,
    #[serde(rename = "eventTime")]
    time: Option<String>,
    series: Option<Series>,
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    count: Option<u64>,
    last_observed_time: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    creation_timestamp: Option<String>,
}

impl Event {
    fn time(&self) -> Option<Timestamp> {
        let of_series = self.series.as_ref().and_then(|series| series.last_observed_time.as_ref());
        let times = [of_series, self.last_timestamp.as_ref(), self.time.as_ref()];
        let created = self.metadata.creation_timestamp.as_ref();
        times.into_iter().flatten().chain(created).find_map(|time| time.parse().ok())
    }

    /// Returns a line: `3m   Warning  Failed  Error: ErrImagePull (4 times)`.
    fn line(&self, now: Timestamp) -> String {
        let age = self.time().map(|time| human_duration(now.duration_since(time).as_secs().max(0)));
        let count = self.series.as_ref().and_then(|series| series.count).or(self.count).unwrap_or(1);
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let message = text(&self.message).trim().replace('\n', " ");
        let (age, kind, reason) = (age.unwrap_or_default(), text(&self.kind), text(&self.reason));
        format!("    {age:<5} {kind:<8} {reason}: {message}{times}")
    }
}

/// Returns the lines of the last events of an object, the latest last; empty if they can't be read in time.
pub(super) async fn lines(
    session: &Session,
    selection: &Selection,
    reporter: &Reporter,
    part: &Part,
    object: &ResultObject,
) -> Vec<String> {
    let Some(name) = &object.name else { return Vec::new() };
    let namespace = object.namespace.as_deref().unwrap_or("default");
    let uid = object.uid.as_ref().map(|uid| format!(",involvedObject.uid={uid}")).unwrap_or_default();
    let fields = format!("involvedObject.name={name},involvedObject.kind={}{uid}", part.resource.kind);
    let selection = Selection {
        label_selector: None,
        field_selector: Some(fields),
        filter: ObjectFilter::default(),
        ..selection.clone()
    };
    let events = Part {
        resource: events(),
        namespace: Arc::from(namespace),
        name: None,
        patterns: None,
        repetition: 0,
        ..part.clone()
    };
    let print = Print::default();
    let source = session.source(&events, &selection, &print, Representation::Objects, Filter::default());
    let read = synced_indexer(session, source, Indexers::default(), &selection, &events, reporter);
    let indexer = tokio::select! {
        read = read => read.ok(),
        () = deadline::reached(Some(Instant::now() + LIMIT)) => None,
    };
    indexer.map(|indexer| last(&indexer.list(), Timestamp::now())).unwrap_or_default()
}

/// Returns the lines of the last events.
fn last(objects: &[Arc<Object>], now: Timestamp) -> Vec<String> {
    let mut events: Vec<Event> = objects.iter().filter_map(|object| object.parse().ok()).collect();
    events.sort_by_key(Event::time);
    let first = events.len().saturating_sub(MAX_EVENTS);
    events[first..].iter().map(|event| event.line(now)).collect()
}

fn events() -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "events".into(),
        kind: "Event".into(),
        namespaced: true,
    })
}

#[cfg(test)]
mod tests {
    use kdelta::testing::FakeSource;

    use super::*;

    #[test]
    fn last_events_are_printed_in_order() {
        let source = FakeSource::new();
        for minute in [9, 3, 7, 1, 5, 8] {
            let time = format!("2026-11-25T10:0{minute}:00Z");
            source.add(serde_json::json!({"metadata": {"name": format!("e{minute}"), "namespace": "shop"}, "type": "Warning",
                "reason": "Failed", "message": format!("minute {minute}\n"), "count": minute, "lastTimestamp": time}));
        }
        let now = "2026-11-25T10:10:00Z".parse().expect("a time");
        let lines = last(&source.objects(), now);
        assert_eq!(lines.len(), MAX_EVENTS);
        assert_eq!(lines[0], "    7m    Warning  Failed: minute 3 (3 times)");
        assert_eq!(lines[4], "    60s   Warning  Failed: minute 9 (9 times)");
    }

    #[test]
    fn time_of_a_series_counts() {
        let event: Event = serde_json::from_value(serde_json::json!({
            "metadata": {"creationTimestamp": "2026-11-25T10:00:00Z"}, "eventTime": "2026-11-25T10:00:00.000001Z",
            "series": {"count": 4, "lastObservedTime": "2026-11-25T10:09:00.000000Z"}, "reason": "R", "lastTimestamp": null,
        }))
        .expect("an event");
        let now = "2026-11-25T10:10:00Z".parse().expect("a time");
        assert_eq!(event.line(now), "    60s            R:  (4 times)");
    }
}
