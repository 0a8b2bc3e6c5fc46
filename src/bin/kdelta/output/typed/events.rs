//! Events as `kubectl events` prints them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Write};

use jiff::Timestamp;
use kdelta::object::{JsonValue, Object, human_duration};
use kdelta::query::{TabWriter, go_sort};

use super::documents::{TypedDocuments, TypedFormat};
use super::event_fields;
use crate::output::table::TabRows;
use crate::output::template::{Engine, PrintError, write_text};
use crate::view::{escape, escape_cell, severity};

/// The format of events.
#[derive(Clone, Copy, Default)]
pub(crate) enum EventFormat {
    #[default]
    Rows,
    Names,
    Documents(TypedFormat),
    /// A template, executed on each event of a watch, or on a whole list.
    Template(Engine),
}

/// Which events are printed, and how.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct EventOptions {
    /// The printed types in any case; empty for all.
    pub(crate) types: Vec<String>,
    pub(crate) format: EventFormat,
    pub(crate) headers: bool,
    /// Whether rows have a column for the namespace.
    pub(crate) namespaces: bool,
    /// Whether a terminal displays the output.
    pub(crate) for_terminal: bool,
    /// Whether the type of abnormal events is coloured.
    pub(crate) colour: bool,
}

/// Events that are printed one by one, as they arrive.
pub(crate) struct EventStream {
    options: EventOptions,
    rows: TabRows,
    needs_header: bool,
    documents: TypedDocuments,
    /// As in kubectl, tabs in documents are aligned too.
    aligned: TabWriter<Vec<u8>>,
}

impl EventStream {
    /// Creates a stream.
    pub(crate) fn new(options: EventOptions) -> Self {
        let documents = match options.format {
            EventFormat::Documents(format) => format,
            EventFormat::Rows | EventFormat::Names | EventFormat::Template(_) => TypedFormat::Json,
        };
        Self {
            rows: TabRows::default(),
            needs_header: options.headers,
            documents: TypedDocuments::new(documents, options.for_terminal),
            aligned: TabWriter::new(Vec::new()),
            options,
        }
    }

    /// Prints an event. Returns `false` if its type is not among the requested ones.
    ///
    /// # Errors
    /// The template does not fit the event, or `out` failed.
    pub(crate) fn event(
        &mut self,
        event: &Object,
        now: Timestamp,
        out: &mut impl Write,
    ) -> Result<bool, PrintError> {
        let json = event.json_or_names();
        let tree = JsonValue::parse(&json);
        if !is_requested(&self.options, &tree) {
            return Ok(false);
        }
        match self.options.format {
            EventFormat::Names => name(event, out)?,
            EventFormat::Rows => {
                self.row(&tree, now);
                self.rows.flush(out)?;
            }
            EventFormat::Documents(_) => self.document(&event_fields::event(tree), out)?,
            EventFormat::Template(engine) => self.execute(engine, &event_fields::event(tree), out)?,
        }
        out.flush()?;
        Ok(true)
    }

    fn document(&mut self, value: &JsonValue<'_>, out: &mut impl Write) -> io::Result<()> {
        let mut text = Vec::new();
        self.documents.document(value, &mut text)?;
        self.write_aligned(&text, out)
    }

    /// Prints the output of a template, also if it fails.
    fn execute(
        &mut self,
        engine: Engine,
        value: &JsonValue<'_>,
        out: &mut impl Write,
    ) -> Result<(), PrintError> {
        // A template looks members up in their order, which is not that of the type.
        let mut json = Vec::new();
        value.write_compact(&mut json);
        let mut text = Vec::new();
        let executed = engine.execute(&JsonValue::parse(&json), &mut text);
        let mut shown = Vec::new();
        write_text(&text, self.options.for_terminal, &mut shown)?;
        self.write_aligned(&shown, out)?;
        out.flush()?;
        executed
    }

    fn write_aligned(&mut self, text: &[u8], out: &mut impl Write) -> io::Result<()> {
        self.aligned.write(&String::from_utf8_lossy(text))?;
        self.aligned.flush()?;
        out.write_all(self.aligned.get_ref())?;
        self.aligned.get_mut().clear();
        Ok(())
    }

    /// Adds a row, with the header before the first.
    fn row(&mut self, event: &JsonValue<'_>, now: Timestamp) {
        if std::mem::take(&mut self.needs_header) {
            let all = ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];
            self.rows.push(&all[usize::from(!self.options.namespaces)..]);
        }
        let mut cells: Vec<Cow<'_, str>> = Vec::with_capacity(6);
        if self.options.namespaces {
            cells.push(escape(text(event, &["metadata", "namespace"])));
        }
        let (kind, name) =
            (text(event, &["involvedObject", "kind"]), text(event, &["involvedObject", "name"]));
        cells.extend([
            interval(event, now).into(),
            escape(text(event, &["type"])),
            escape(text(event, &["reason"])),
            format!("{}/{}", escape(kind), escape(name)).into(),
            escape(text(event, &["message"]).trim()),
        ]);
        let at = usize::from(self.options.namespaces) + 1;
        let severity = severity("TYPE", &cells[at]).filter(|_| self.options.colour);
        self.rows.push_coloured(cells, severity.map(|severity| (at, severity.colour())));
    }
}

/// Prints all events of a list, the oldest first. Returns the number of those whose type is requested; if there are
/// none, nothing is printed. Events of the same time are in the order of kubectl's sort.
///
/// # Errors
/// The template does not fit the list, or `out` failed.
pub(crate) fn event_list<'a>(
    options: EventOptions,
    events: impl IntoIterator<Item = &'a Object>,
    now: Timestamp,
    out: &mut impl Write,
) -> Result<usize, PrintError> {
    let bodies: Vec<(&Object, Cow<'a, [u8]>)> =
        events.into_iter().map(|event| (event, event.json_or_names())).collect();
    let trees = bodies.iter().map(|(event, json)| (*event, JsonValue::parse(json)));
    let requested = trees.filter(|(_, tree)| is_requested(&options, tree));
    let mut timed: Vec<(Option<Timestamp>, &Object, JsonValue<'_>)> =
        requested.map(|(event, tree)| (event_time(&tree), event, tree)).collect();
    let Ok(()) = go_sort(&mut timed, |a, b| Ok::<_, Infallible>(a.0 < b.0));
    let requested: Vec<(&Object, JsonValue<'_>)> =
        timed.into_iter().map(|(_, event, tree)| (event, tree)).collect();
    let count = requested.len();
    if count == 0 {
        return Ok(0);
    }
    let format = options.format;
    let mut stream = EventStream::new(options);
    match format {
        EventFormat::Names => {
            for (event, _) in &requested {
                name(event, out)?;
            }
        }
        EventFormat::Rows => {
            for (_, tree) in &requested {
                stream.row(tree, now);
            }
            stream.rows.flush(out)?;
        }
        EventFormat::Documents(_) => {
            let items = requested.into_iter().map(|(_, tree)| event_fields::event(tree)).collect();
            stream.document(&list(items), out)?;
        }
        EventFormat::Template(engine) => {
            let items = requested.into_iter().map(|(_, tree)| event_fields::event(tree)).collect();
            stream.execute(engine, &list(items), out)?;
        }
    }
    out.flush()?;
    Ok(count)
}

/// Returns the time by which events are sorted; `None`, which is before any time, if the event has none.
fn event_time(event: &JsonValue<'_>) -> Option<Timestamp> {
    if is_series(event) {
        return time(event, &["series", "lastObservedTime"]);
    }
    time(event, &["lastTimestamp"]).or_else(|| time(event, &["eventTime"]))
}

fn list(items: Vec<JsonValue<'_>>) -> JsonValue<'_> {
    JsonValue::Object(vec![
        (Cow::Borrowed("kind"), JsonValue::Text(Cow::Borrowed("EventList"))),
        (Cow::Borrowed("apiVersion"), JsonValue::Text(Cow::Borrowed("v1"))),
        (Cow::Borrowed("metadata"), JsonValue::Object(Vec::new())),
        (Cow::Borrowed("items"), JsonValue::Array(items)),
    ])
}

fn name(event: &Object, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "event/{}", escape_cell(event.name()))
}

fn is_requested(options: &EventOptions, event: &JsonValue<'_>) -> bool {
    let kind = text(event, &["type"]);
    options.types.is_empty() || options.types.iter().any(|requested| requested.eq_ignore_ascii_case(kind))
}

fn is_series(event: &JsonValue<'_>) -> bool {
    matches!(event.get("series"), Some(JsonValue::Object(_)))
}

/// Returns the value at a path of keys.
fn at<'t, 'a>(event: &'t JsonValue<'a>, path: &[&str]) -> Option<&'t JsonValue<'a>> {
    path.iter().try_fold(event, |value, key| value.get(key))
}

fn text<'t>(event: &'t JsonValue<'_>, path: &[&str]) -> &'t str {
    match at(event, path) {
        Some(JsonValue::Text(text)) => text,
        _ => "",
    }
}

fn number(event: &JsonValue<'_>, path: &[&str]) -> i64 {
    match at(event, path) {
        Some(JsonValue::Int(number)) => *number,
        _ => 0,
    }
}

/// Returns a time; `None` if it is missing or Go's zero time.
fn time(event: &JsonValue<'_>, path: &[&str]) -> Option<Timestamp> {
    let time = text(event, path);
    if time.starts_with("0001-01-01T00:00:00") { None } else { time.parse().ok() }
}

/// Returns the LAST SEEN cell: `5m`, or `10s (x4 over 5m)` for an event that happened several times.
fn interval(event: &JsonValue<'_>, now: Timestamp) -> String {
    let since = |path: &[&str]| match time(event, path) {
        Some(time) => human_duration(now.duration_since(time).as_secs()),
        None => "<unknown>".to_owned(),
    };
    let has_time = time(event, &["eventTime"]).is_some();
    let first = since(if has_time { &["eventTime"] } else { &["firstTimestamp"] });
    let count = number(event, &["count"]);
    if is_series(event) {
        let (last, count) = (since(&["series", "lastObservedTime"]), number(event, &["series", "count"]));
        format!("{last} (x{count} over {first})")
    } else if count > 1 {
        format!("{} (x{count} over {first})", since(&["lastTimestamp"]))
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, JsonPath, TypeMeta};

    use super::*;

    fn event(name: &str, rest: &str) -> Object {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Event".into() });
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop"}},"involvedObject":{{"kind":"Pod","name":"web"}},"reason":"R",{rest}}}"#
        );
        Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an event")
    }

    fn events() -> Vec<Object> {
        let first = r#""firstTimestamp":"2026-11-24T20:00:00Z","lastTimestamp":"2026-11-24T20:10:00Z""#;
        let series = r#""firstTimestamp":null,"lastTimestamp":null,"eventTime":"2026-11-24T20:05:00.123456Z","series":{"count":7,"lastObservedTime":"2026-11-24T20:30:00.500000Z"}"#;
        vec![
            event(
                "a",
                &format!(r#"{first},"type":"Normal","count":5,"message":" one <b> \n two\tthree \n""#),
            ),
            event("b", &format!(r#"{first},"type":"Warning","message":"\u001b[31m red\r x""#)),
            event("c", &format!(r#"{series},"type":"Normal""#)),
            event("d", r#""type":"Normal","firstTimestamp":"0001-01-01T00:00:00Z""#),
        ]
    }

    fn printed(options: &EventOptions) -> String {
        let now = "2026-11-24T21:49:03Z".parse().expect("a time");
        let (events, mut out) = (events(), Vec::new());
        event_list(options.clone(), &events, now, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    // kubectl 1.36's output for these events.
    #[test]
    fn table_matches_kubectl() {
        let options = EventOptions { headers: true, ..EventOptions::default() };
        assert_eq!(
            printed(&options),
            "LAST SEEN            TYPE     REASON   OBJECT    MESSAGE\n\
             <unknown>            Normal   R        Pod/web   \n\
             99m (x5 over 109m)   Normal   R        Pod/web   one <b> \n \
             two                 three\n\
             109m                 Warning   R        Pod/web   ^[[31m red\\r x\n\
             79m (x7 over 104m)   Normal    R        Pod/web   \n"
        );
        let options = EventOptions { types: vec!["warning".into()], namespaces: true, ..options };
        assert_eq!(
            printed(&options),
            "NAMESPACE   LAST SEEN   TYPE      REASON   OBJECT    MESSAGE\n\
             shop        109m        Warning   R        Pod/web   ^[[31m red\\r x\n"
        );
    }

    #[test]
    fn warnings_are_coloured() {
        let options = EventOptions { colour: true, ..EventOptions::default() };
        let text = printed(&options);
        assert_eq!(text.matches("\u{1b}[33mWarning\u{1b}[0m   R ").count(), 1);
        assert_eq!(text.matches('\u{1b}').count(), 2, "{text}");
    }

    #[test]
    fn oldest_come_first_and_equal_times_as_gos_sort_leaves_them() {
        let names = |events: &[Object]| {
            let (options, mut out) =
                (EventOptions { format: EventFormat::Names, ..EventOptions::default() }, Vec::new());
            event_list(options, events, Timestamp::UNIX_EPOCH, &mut out).expect("a Vec takes all");
            String::from_utf8(out).expect("text").replace("event/", "").replace('\n', " ")
        };
        assert_eq!(names(&events()), "d a b c ", "an event without a time comes first");
        let many = (0..16).map(|number| {
            event(
                &format!("e{number}"),
                &format!(r#""lastTimestamp":"2026-11-24T20:0{}:00Z""#, number * 7 % 3),
            )
        });
        // The order of Go's sort.Sort.
        assert_eq!(
            names(&many.collect::<Vec<_>>()),
            "e6 e15 e12 e3 e0 e9 e4 e7 e10 e13 e1 e8 e5 e11 e2 e14 "
        );
    }

    #[test]
    fn template_sees_the_whole_list() {
        let path = Box::leak(Box::new(JsonPath::parse("{.kind}: {.items[*].type}").expect("a template")));
        let format = EventFormat::Template(Engine::JsonPath(path, ""));
        assert_eq!(
            printed(&EventOptions { format, ..EventOptions::default() }),
            "EventList: Normal Normal Warning Normal"
        );
    }

    #[test]
    fn json_is_one_list_and_nothing_without_events() {
        let options = EventOptions {
            format: EventFormat::Documents(TypedFormat::Json),
            types: vec!["warning".into()],
            ..EventOptions::default()
        };
        let text = printed(&options);
        assert!(
            text.starts_with("{\n    \"kind\": \"EventList\",\n    \"apiVersion\": \"v1\",\n    \"metadata\": {},\n    \"items\": [\n        {\n            \"kind\": \"Event\","),
            "{text}"
        );
        assert_eq!(printed(&EventOptions { types: vec!["other".into()], ..options.clone() }), "");
        assert_eq!(printed(&EventOptions { format: EventFormat::Names, ..options }), "event/b\n");
    }
}
