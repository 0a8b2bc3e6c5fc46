//! The library's log for `-v`: requests and states, on standard error.

use std::fmt::{Debug, Write};
use std::sync::Arc;

use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::{Level, Messages};

/// The targets of requests, each with the level from which it is printed, as in kubectl.
const REQUESTS: [(&str, u8); 4] = [
    ("kdelta::http", 6),
    ("kdelta::http::request", 7),
    ("kdelta::http::response", 8),
    ("kdelta::http::body", 9),
];

/// The level from which states of the library are printed.
const STATES: u8 = 6;

/// Prints the library's log from the level that the verbosity selects. To be called once.
///
/// Only the library's own events are printed: it never logs credentials, but HTTP libraries may trace them.
pub(crate) fn show(messages: &Arc<Messages>, verbosity: u8) {
    let lines = Lines(Arc::clone(messages));
    // Fails if a subscriber is already set, which then prints the log.
    let _ = tracing_subscriber::registry().with(shown(verbosity)).with(lines).try_init();
}

fn shown(verbosity: u8) -> Targets {
    let from = |level: u8, shown, otherwise| if verbosity >= level { shown } else { otherwise };
    let states = from(STATES, LevelFilter::DEBUG, LevelFilter::WARN);
    let targets = Targets::new().with_target("kdelta", states);
    let requests =
        REQUESTS.map(|(target, level)| (target, from(level, LevelFilter::TRACE, LevelFilter::OFF)));
    targets.with_targets(requests)
}

/// Forwards events to the only writer of standard error.
struct Lines(Arc<Messages>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let is_warning = *event.metadata().level() <= tracing::Level::WARN;
        if !self.0.is_json() && !is_warning {
            return self.0.notice(&line(event, Timestamp::now()));
        }
        let mut fields = EventFields::default();
        event.record(&mut fields);
        if !self.0.is_json() {
            return self.0.warning(&fields.warning());
        }
        let target = ("target", event.metadata().target());
        let others = fields.fields.iter().map(|(name, value)| (*name, value.as_str()));
        let all: Vec<_> = [target].into_iter().chain(others).collect();
        self.0.event(level(event), &fields.message, &all);
    }
}

/// Returns the level of an event.
fn level(event: &Event<'_>) -> Level {
    match *event.metadata().level() {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warning,
        tracing::Level::INFO => Level::Info,
        _ => Level::Debug,
    }
}

/// The message of an event and its fields, for JSON.
#[derive(Default)]
struct EventFields {
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl EventFields {
    /// Returns the text of a warning: the message, then the fields. The name of an error adds nothing to its text.
    fn warning(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| match *name {
            "error" | "damage" => value.clone(),
            name => format!("{name} {value}"),
        });
        [self.message.clone()].into_iter().chain(fields).collect::<Vec<_>>().join(": ")
    }
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.fields.push((name, format!("{value:?}"))),
        }
    }
}

/// Returns the text of an event: its time, its message and its fields. Requests are the common case and need no name of
/// their source.
fn line(event: &Event<'_>, now: Timestamp) -> String {
    let mut text = Text { line: format!("{now:.3} "), fields: String::new() };
    let target = event.metadata().target();
    if !target.starts_with(REQUESTS[0].0) {
        text.line.push_str(target);
        text.line.push_str(": ");
    }
    event.record(&mut text);
    text.line + &text.fields
}

/// The text of an event as its fields are visited.
struct Text {
    line: String,
    fields: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a String can't fail.
        let _ = match field.name() {
            "message" => write!(self.line, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tracing::Level;

    use super::*;

    #[test]
    fn each_verbosity_adds_a_target() {
        let targets = REQUESTS.map(|(target, _)| target);
        for (verbosity, expected) in [(0, 0), (5, 0), (6, 1), (7, 2), (8, 3), (9, 4), (255, 4)] {
            let shown = shown(verbosity);
            let count = targets.iter().filter(|target| shown.would_enable(target, &Level::TRACE)).count();
            assert_eq!(count, expected, "{verbosity}");
            assert_eq!(shown.would_enable("kdelta::api::client", &Level::DEBUG), verbosity >= 6);
            assert!(shown.would_enable("kdelta::store", &Level::WARN));
            assert!(!shown.would_enable("h2", &Level::ERROR));
        }
    }

    #[test]
    fn warning_has_neither_time_nor_source() {
        let fields = vec![("error", "damaged at byte 7".to_owned()), ("journal", "rec/1.journal".to_owned())];
        let fields = EventFields { message: "a journal can't be read back".to_owned(), fields };
        assert_eq!(
            fields.warning(),
            "a journal can't be read back: damaged at byte 7: journal rec/1.journal"
        );
    }

    #[test]
    fn line_has_time_message_and_fields() {
        struct Collected(Arc<Mutex<Vec<String>>>);
        impl<S: Subscriber> Layer<S> for Collected {
            fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
                let now = "2026-11-21T09:00:00.1234Z".parse().expect("a time");
                self.0.lock().expect("no panic").push(line(event, now));
            }
        }
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let subscriber = tracing_subscriber::registry().with(Collected(Arc::clone(&lines)));
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!(target: "kdelta::http", "GET {} 200 OK in 3 milliseconds", "https://h/api");
            tracing::debug!(target: "kdelta::api", count = 7, name = "x", ok = true, "discovery");
        });
        assert_eq!(
            *lines.lock().expect("no panic"),
            [
                "2026-11-21T09:00:00.123Z GET https://h/api 200 OK in 3 milliseconds",
                "2026-11-21T09:00:00.123Z kdelta::api: discovery count=7 name=x ok=true"
            ]
        );
    }
}
