//! The output of `watch`: an endless sequence of changes, or of the states that follow from them.

use std::io::{self, Write};

use kdelta::lines::{Change, ChangeKind, LineOptions, Mark};
use kdelta::object::ResourceVersion;
use kdelta::query::CustomColumns;

use tokio::time::Instant;

use super::changes::{ChangeLine, ChangeOptions};
use super::counts::LiveCounts;
use super::delimited::{DelimitedChanges, DelimitedFormat};
use super::get_watch::GetWatchOutput;
use super::history::HistoryRows;
use super::jq::JqResults;
use super::json_lines::JsonLines;
use super::name::Names;
use super::table::{Extent, RowWidth, Table};
use super::template::{ColumnRows, Engine, PrintError, TemplateChanges};
use super::typed::EventStream;
use super::yaml::{YamlDocuments, kyaml};
use crate::view::{Age, Cells, Layout, RowTimes};

/// A stream of changes in one of the formats.
pub(crate) enum WatchOutput {
    /// The server's cells after an EVENT column.
    Table(Box<Rows>),
    /// One JSON line per change and mark.
    JsonLines(JsonLines),
    /// One document `{object, type}` per change, as kubectl's `--output-watch-events -o yaml`.
    Yaml(YamlDocuments),
    /// One document `{type, object}` per change, as kubectl's `--output-watch-events -o kyaml`.
    Kyaml,
    /// `pod/x` per change.
    Names(Names),
    /// By a template of the user, for the object of each change.
    Template(TemplateChanges),
    /// The columns of the user.
    Columns(Box<ColumnRows>),
    /// The rows of the table as CSV or Markdown.
    Delimited(Box<DelimitedChanges>),
    /// The results of an expression for the object of each change.
    Jq(Box<JqResults>),
    /// New and changed events, as `kubectl events --watch` prints them.
    Events(Box<EventStream>),
    /// As `kubectl get -w` prints it.
    Get(Box<GetWatchOutput>),
    /// The groups of an index.
    Counts(Box<LiveCounts>),
    /// The versions of objects, as `kdelta history` prints them.
    History(Box<HistoryRows>),
    /// No output: the changes are passed to a receiver.
    Receiver(Box<dyn ChangeReceiver>),
}

/// Receives the changes that a watch would print.
pub(crate) trait ChangeReceiver {
    /// Receives a change. Returns `false` if it is suppressed.
    fn change(&mut self, change: &Change, resume: Option<&ResourceVersion>) -> bool;
}

/// Table rows of changes.
pub(crate) struct Rows {
    table: Table,
    options: RowOptions,
    /// The cells of the last two compared states, reused for their capacity.
    compared: [Cells; 2],
}

/// The rows to print, their form, and the details below them.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowOptions {
    /// Whether to print rows of updates that are not visible in the table.
    pub(crate) all: bool,
    /// The options of the changes below each row; `None` prints none.
    pub(crate) changes: Option<ChangeOptions>,
    /// The width to which rows and changes are clipped.
    pub(crate) width: RowWidth,
    /// The times in front of rows.
    pub(crate) times: Option<RowTimes>,
    /// Whether a line marks the end of the initial state.
    pub(crate) marks_sync: bool,
}

impl WatchOutput {
    /// Creates a table, with a header if `headers`, marks of changes dim and abnormal cells coloured if `colour`.
    pub(crate) fn table(layout: Layout, headers: bool, colour: bool, options: RowOptions) -> Self {
        let table = Table::new(layout, headers, Extent::Endless, colour)
            .clipped(options.width)
            .with_front(options.times.as_ref().map(RowTimes::heading));
        Self::Table(Box::new(Rows { table, options, compared: Default::default() }))
    }

    /// Creates CSV or Markdown, with headers if `headers`. Of the options only `all` applies.
    pub(crate) fn delimited(
        format: DelimitedFormat,
        layout: Layout,
        headers: bool,
        options: &RowOptions,
    ) -> Self {
        Self::Delimited(Box::new(DelimitedChanges::new(format, layout, headers, options.all)))
    }

    /// Creates JSON lines; `for_terminal` is whether a terminal displays them.
    pub(crate) fn json_lines(options: LineOptions, for_terminal: bool) -> Self {
        Self::JsonLines(JsonLines::new(options, for_terminal))
    }

    /// Creates YAML documents; `for_terminal` is whether a terminal displays them.
    pub(crate) fn yaml(for_terminal: bool) -> Self {
        Self::Yaml(YamlDocuments::new(for_terminal))
    }

    /// Creates KYAML documents.
    pub(crate) fn kyaml() -> Self {
        Self::Kyaml
    }

    /// Creates name output.
    pub(crate) fn names() -> Self {
        Self::Names(Names::default())
    }

    /// Creates output by a template; `for_terminal` is whether a terminal displays it.
    pub(crate) fn template(engine: Engine, for_terminal: bool) -> Self {
        Self::Template(TemplateChanges::new(engine, for_terminal))
    }

    /// Creates custom columns; `for_terminal` is whether a terminal displays them.
    pub(crate) fn custom_columns(columns: &CustomColumns, for_terminal: bool) -> Self {
        Self::Columns(Box::new(ColumnRows::new(columns, for_terminal)))
    }

    /// Creates the output of `events`.
    pub(crate) fn events(stream: EventStream) -> Self {
        Self::Events(Box::new(stream))
    }

    /// Creates the output of `index -w`.
    pub(crate) fn counts(counts: LiveCounts) -> Self {
        Self::Counts(Box::new(counts))
    }

    /// Creates the output of `history`.
    pub(crate) fn history(rows: HistoryRows) -> Self {
        Self::History(Box::new(rows))
    }

    /// Creates the output of `get -w`.
    pub(crate) fn get(output: GetWatchOutput) -> Self {
        Self::Get(Box::new(output))
    }

    /// Creates an output that hands changes on.
    pub(crate) fn receiver(receiver: impl ChangeReceiver + 'static) -> Self {
        Self::Receiver(Box::new(receiver))
    }

    /// Whether every change is printed before [`WatchOutput::change`] returns.
    pub(crate) fn writes_at_once(&self) -> bool {
        !matches!(
            self,
            Self::Table(_)
                | Self::Columns(_)
                | Self::Events(_)
                | Self::Counts(_)
                | Self::History(_)
                | Self::Receiver(_)
        )
    }

    /// Prints a change. Returns `false` if it is suppressed because its row is unchanged. Lines of a table wait until
    /// [`WatchOutput::flush`], so that lines of a batch share their widths; other formats write at once. Only JSON
    /// lines use `resume`.
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn change(
        &mut self,
        change: &Change,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> Result<bool, PrintError> {
        match self {
            Self::Table(rows) => return Ok(rows.change(change, out)?),
            Self::Template(changes) => changes.change(&change.object, out)?,
            Self::Columns(rows) => rows.row(&change.object, out)?,
            Self::Delimited(rows) => return Ok(rows.change(change, out)?),
            Self::Jq(results) => {
                results.object(&change.object, &change.resource, out)?;
                out.flush()?;
            }
            Self::JsonLines(lines) => lines.change(change, resume, out)?,
            Self::Yaml(documents) => documents.event(&change.object, change.kind, out)?,
            Self::Kyaml => kyaml::event(&change.object, change.kind, out)?,
            Self::Names(names) => {
                names.name(&change.object, &change.resource, out)?;
                out.flush()?;
            }
            Self::Events(stream) => {
                return match change.kind {
                    ChangeKind::Added | ChangeKind::Modified => {
                        Ok(stream.event(&change.object, change.received, out)?)
                    }
                    _ => Ok(false),
                };
            }
            Self::Get(output) => output.change(change, out)?,
            Self::Counts(counts) => counts.change(change),
            Self::History(rows) => rows.change(change, out)?,
            Self::Receiver(receiver) => return Ok(receiver.change(change, resume)),
        }
        Ok(true)
    }

    /// Prints a mark, in JSON lines and histories only.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn mark(
        &mut self,
        mark: &Mark,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Self::JsonLines(lines) => lines.mark(mark, resume, out),
            Self::History(rows) => {
                rows.mark(mark);
                Ok(())
            }
            Self::Table(_)
            | Self::Yaml(_)
            | Self::Kyaml
            | Self::Names(_)
            | Self::Template(_)
            | Self::Columns(_)
            | Self::Delimited(_)
            | Self::Jq(_)
            | Self::Events(_)
            | Self::Get(_)
            | Self::Counts(_)
            | Self::Receiver(_) => Ok(()),
        }
    }

    /// Ends the initial state, which `get -w` may hold back until it is complete.
    ///
    /// # Errors
    /// The initial state can't be printed, or `out` failed.
    pub(crate) fn end_initial(&mut self, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Get(output) => output.end_list(out),
            Self::Counts(counts) => {
                counts.complete();
                Ok(counts.flush(Instant::now(), out)?)
            }
            _ => Ok(()),
        }
    }

    /// Marks the end of an initial state of that many objects, in a table that has such a mark. `ends` is whether
    /// nothing follows; then only an empty state is marked.
    pub(crate) fn mark_initial_state(&mut self, objects: u64, ends: bool) {
        if let Self::Table(rows) = self
            && rows.options.marks_sync
            && (objects == 0 || !ends)
        {
            let noun = if objects == 1 { "object" } else { "objects" };
            let line = format!("synced, {objects} {noun}");
            rows.table.note(&if objects == 0 { line } else { format!("── {line} ──") });
        }
    }

    /// Returns the time at which a table that is drawn in place is to be flushed again.
    pub(crate) fn redraw_at(&self) -> Option<Instant> {
        match self {
            Self::Counts(counts) => counts.redraw_at(),
            _ => None,
        }
    }

    /// Leaves the last state of a table that is drawn in place on the screen.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn end_screen(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Counts(counts) => counts.finish(Instant::now(), out),
            _ => Ok(()),
        }
    }

    /// Writes buffered lines; to be called when no further change is available.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Table(rows) => rows.table.flush(out),
            Self::Columns(rows) => rows.flush(out),
            Self::Get(output) => output.flush(out),
            Self::Counts(counts) => counts.flush(Instant::now(), out),
            Self::History(rows) => rows.flush(out),
            Self::JsonLines(_)
            | Self::Yaml(_)
            | Self::Kyaml
            | Self::Names(_)
            | Self::Template(_)
            | Self::Delimited(_)
            | Self::Jq(_)
            | Self::Events(_)
            | Self::Receiver(_) => Ok(()),
        }
    }
}

impl Rows {
    fn change(&mut self, change: &Change, out: &mut impl Write) -> io::Result<bool> {
        let Change { object, resource, received: now, .. } = change;
        let layout = self.table.layout();
        let mut below = Vec::new();
        if let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) {
            if let Some(options) = self.options.changes {
                below = options.lines(old, object, resource);
            }
            if !self.options.all
                && below.is_empty()
                && layout.looks_same(old, object, resource, *now, &mut self.compared)
            {
                return Ok(false);
            }
        }
        // The state has been in the index since it was received, perhaps for hours.
        let is_old = change.final_state_unknown || change.kind == ChangeKind::Sync;
        let age = if is_old { Age::Fresh { now: *now } } else { Age::AsSent { now: *now } };
        let of = (resource, &*change.context);
        let cells = self.table.spare_cells();
        if let Some(times) = &mut self.options.times {
            let time = times.cell(*now);
            self.table.set_front(time);
        }
        let line = self.table.layout().line(object, of, Some(change.kind), age, cells);
        self.table.line(line, out)?;
        for ChangeLine { text, colour, is_whole } in &below {
            self.table.remark(text, *colour, *is_whole);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::tz::TimeZone;
    use kdelta::object::{ApiResource, Column, Ingest, Object, Origin, Row};

    use super::*;
    use crate::output::ChangeForm;
    use crate::view::{Details, TimeForm};

    fn change(kind: ChangeKind, plural: &str, cells: &[&str]) -> Change {
        let resource = Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: "Pod".into(),
            namespaced: true,
        });
        let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
        let columns: Arc<[Column]> = ["Name", "Status", "Age"].into_iter().map(column).collect();
        let json =
            br#"{"metadata":{"name":"a","namespace":"shop","creationTimestamp":"2026-11-21T09:00:00Z"}}"#;
        let object = Object::from_json(json, &Ingest::of(resource.type_meta())).expect("a pod");
        Change {
            kind,
            object: Arc::new(object.with_row(Row::new(columns, cells))),
            old: None,
            origin: Origin::Watch,
            final_state_unknown: false,
            resource,
            context: "".into(),
            received: "2026-11-21T10:30:00Z".parse().expect("a time"),
        }
    }

    #[test]
    fn event_column_is_first_and_widths_are_kept() {
        let layout = Layout { event: true, ..Layout::default() };
        let (mut stream, mut out) =
            (WatchOutput::table(layout, true, false, RowOptions::default()), Vec::new());
        for (kind, name) in [(ChangeKind::Added, "web-1"), (ChangeKind::Modified, "web-1")] {
            stream.change(&change(kind, "pods", &[name, "Pending", "1s"]), None, &mut out).expect("fine");
        }
        assert_eq!(out, b"");
        stream.flush(&mut out).expect("fine");
        stream
            .change(&change(ChangeKind::Deleted, "pods", &["x", "Running", "3s"]), None, &mut out)
            .expect("fine");
        stream.flush(&mut out).expect("fine");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "EVENT      NAME    STATUS    AGE\n\
             ADDED      web-1   Pending   1s\n\
             MODIFIED   web-1   Pending   1s\n\
             DELETED    x       Running   3s\n"
        );
    }

    #[test]
    fn inferred_delete_shows_current_age() {
        let gone = Change {
            final_state_unknown: true,
            ..change(ChangeKind::Deleted, "pods", &["a", "Running", "3s"])
        };
        let mut stream = WatchOutput::table(Layout::default(), false, false, RowOptions::default());
        let mut out = Vec::new();
        stream.change(&gone, None, &mut out).expect("fine");
        stream.flush(&mut out).expect("fine");
        assert_eq!(String::from_utf8(out).expect("text"), "a     Running   90m\n");
    }

    fn update(from: &[&str], to: &[&str]) -> Change {
        Change {
            old: Some(change(ChangeKind::Added, "pods", from).object),
            ..change(ChangeKind::Modified, "pods", to)
        }
    }

    fn rows(options: RowOptions, change: &Change) -> (bool, String) {
        let (mut stream, mut out) =
            (WatchOutput::table(Layout::default(), false, false, options), Vec::new());
        let printed = stream.change(change, None, &mut out).expect("fine");
        stream.flush(&mut out).expect("fine");
        (printed, String::from_utf8(out).expect("text"))
    }

    #[test]
    fn unchanged_row_is_suppressed_by_default() {
        let beat = update(&["a", "Ready", "1s"], &["a", "Ready", "9s"]);
        assert_eq!(rows(RowOptions::default(), &beat), (false, String::new()));
        let all = RowOptions { all: true, ..RowOptions::default() };
        assert_eq!(rows(all, &beat), (true, "a     Ready   9s\n".into()));
        let unknown = Change { old: None, ..beat };
        assert!(rows(RowOptions::default(), &unknown).0, "the old row is unknown");
        assert!(rows(RowOptions::default(), &update(&["a", "Ready", "1s"], &["a", "Gone", "9s"])).0);
    }

    #[test]
    fn changed_fields_are_printed_below_row() {
        let ingest = Ingest::of(change(ChangeKind::Added, "pods", &[]).resource.type_meta());
        let json = br#"{"metadata":{"name":"a"},"spec":{"x":"a\tb"}}"#;
        let object = Object::from_json(json, &ingest).expect("a pod");
        let shown = update(&["a", "Ready", "1s"], &["a", "Ready", "1s"]);
        let row = shown.object.row().expect("a row").clone();
        let shown = Change { object: Arc::new(object.with_row(row)), ..shown };
        let details = Details { noise: false, secrets: false };
        let changes = Some(ChangeOptions { form: ChangeForm::Inline, details });
        let (printed, text) = rows(RowOptions { changes, ..RowOptions::default() }, &shown);
        assert!(printed);
        assert!(text.starts_with("a     Ready   1s\n  - metadata.namespace: shop\n"), "{text}");
        assert!(text.ends_with("\n  + spec: {\"x\":\"a\\tb\"}\n"), "{text}");
    }

    #[test]
    fn times_of_printed_rows_are_in_front() {
        let started = "2026-11-21T10:29:59Z".parse().expect("a time");
        let times = RowTimes::new(TimeForm::Delta, TimeZone::UTC, started);
        let options = RowOptions { times: Some(times), ..RowOptions::default() };
        let mut stream = WatchOutput::table(Layout::default(), true, false, options);
        let mut out = Vec::new();
        let beat = update(&["a", "Ready", "1s"], &["a", "Ready", "9s"]);
        let later = beat.received + jiff::SignedDuration::from_secs(2);
        for change in [
            change(ChangeKind::Added, "pods", &["a", "Ready", "1s"]),
            Change { received: later, ..beat },
            Change { received: later, ..change(ChangeKind::Deleted, "pods", &["a", "Ready", "9s"]) },
        ] {
            stream.change(&change, None, &mut out).expect("fine");
        }
        stream.flush(&mut out).expect("fine");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "DELTA     NAME   STATUS   AGE\n+1.000s   a      Ready    1s\n+2.000s   a      Ready    9s\n"
        );
    }

    #[test]
    fn end_of_initial_state_is_marked_once_there_is_more_or_nothing() {
        for (marks_sync, objects, ends, expected) in [
            (true, 3, false, "── synced, 3 objects ──\n"),
            (true, 1, false, "── synced, 1 object ──\n"),
            (true, 0, false, "synced, 0 objects\n"),
            (true, 0, true, "synced, 0 objects\n"),
            (true, 3, true, ""),
            (false, 0, false, ""),
        ] {
            let options = RowOptions { marks_sync, ..RowOptions::default() };
            let mut stream = WatchOutput::table(Layout::default(), true, false, options);
            let mut out = Vec::new();
            stream.mark_initial_state(objects, ends);
            stream.flush(&mut out).expect("fine");
            assert_eq!(String::from_utf8(out).expect("text"), expected, "{marks_sync} {objects} {ends}");
        }
    }

    // kubectl get -w --output-watch-events -o yaml
    #[test]
    fn yaml_document_has_event_type() {
        let (mut stream, mut out) = (WatchOutput::yaml(false), Vec::new());
        for kind in [ChangeKind::Added, ChangeKind::Deleted] {
            stream.change(&change(kind, "pods", &[]), None, &mut out).expect("fine");
        }
        let document = |kind| {
            format!(
                "object:\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    creationTimestamp: \"2026-11-21T09:00:00Z\"\n    name: a\n    namespace: shop\ntype: {kind}\n"
            )
        };
        assert_eq!(
            String::from_utf8(out).expect("text"),
            format!("{}---\n{}", document("ADDED"), document("DELETED"))
        );
    }
}
