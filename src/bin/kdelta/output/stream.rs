//! What `watch` prints: changes as they come, without an end.

use std::io::{self, Write};

use kdelta::object::ResourceVersion;

use super::json_lines::{JsonLines, LineOptions};
use super::name::Names;
use super::table::{Extent, Table};
use super::yaml::YamlDocuments;
use crate::view::{Age, Cells, Change, ChangeKind, Details, Layout, Mark};

/// A stream of changes in one of the formats.
pub(crate) enum WatchOutput {
    /// The server's cells behind an EVENT column.
    Table(Box<Rows>),
    /// One JSON line for each change and mark.
    JsonLines(JsonLines),
    /// One document `{object, type}` for each change, as kubectl's `--output-watch-events -o yaml`.
    Yaml(YamlDocuments),
    /// `pod/x` for each change.
    Names(Names),
}

/// Rows as they change.
pub(crate) struct Rows {
    table: Table,
    options: RowOptions,
    /// The cells of the two states compared last, for the room they have.
    compared: [Cells; 2],
}

/// Which rows are written, and what under them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowOptions {
    /// Also those of updates that show nothing new.
    pub(crate) all: bool,
    /// What changed, under each row.
    pub(crate) details: Option<Details>,
}

impl WatchOutput {
    /// A table; `headers` unless no header is wanted, `colour` to paint lines by their change.
    pub(crate) fn table(layout: Layout, headers: bool, colour: bool, options: RowOptions) -> Self {
        let table = Table::new(layout, headers, Extent::Endless, colour);
        Self::Table(Box::new(Rows { table, options, compared: Default::default() }))
    }

    /// JSON lines.
    pub(crate) fn json_lines(options: LineOptions) -> Self {
        Self::JsonLines(JsonLines::new(options))
    }

    /// YAML documents; `for_terminal` where a terminal shows them.
    pub(crate) fn yaml(for_terminal: bool) -> Self {
        Self::Yaml(YamlDocuments::new(for_terminal))
    }

    /// Names.
    pub(crate) fn names() -> Self {
        Self::Names(Names::default())
    }

    /// Whether each change is printed, and before [`WatchOutput::change`] answers.
    pub(crate) fn writes_at_once(&self) -> bool {
        !matches!(self, Self::Table(_))
    }

    /// Takes one change; answers whether it is printed: a row that would show nothing new is not. Lines of a table wait
    /// until [`WatchOutput::flush`], so that those that come together share their widths; all else is written at once.
    /// `resume` is for JSON lines only.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn change(
        &mut self,
        change: &Change,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        match self {
            Self::Table(rows) => return rows.change(change, out),
            Self::JsonLines(lines) => lines.change(change, resume, out)?,
            Self::Yaml(documents) => documents.event(&change.object, change.kind, out)?,
            Self::Names(names) => {
                names.name(&change.object, &change.resource, out)?;
                out.flush()?;
            }
        }
        Ok(true)
    }

    /// Takes a mark; only JSON lines show it.
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
            Self::Table(_) | Self::Yaml(_) | Self::Names(_) => Ok(()),
        }
    }

    /// Writes what waits: to be called whenever nothing more is there at the moment.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Table(rows) => rows.table.flush(out),
            Self::JsonLines(_) | Self::Yaml(_) | Self::Names(_) => Ok(()),
        }
    }
}

impl Rows {
    fn change(&mut self, change: &Change, out: &mut impl Write) -> io::Result<bool> {
        let Change { object, resource, received: now, .. } = change;
        let layout = self.table.layout();
        let mut details = Vec::new();
        if let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) {
            if let Some(asked) = self.options.details {
                details = asked.lines(old, object, resource);
            }
            if !self.options.all
                && details.is_empty()
                && layout.looks_same(old, object, resource, *now, &mut self.compared)
            {
                return Ok(false);
            }
        }
        // A state that lay in the index since it was sent, perhaps for hours.
        let is_old = change.final_state_unknown || change.kind == ChangeKind::Sync;
        let age = if is_old { Age::Fresh { now: *now } } else { Age::AsSent { now: *now } };
        let of = (resource, &*change.context);
        let cells = self.table.spare_cells();
        let line = self.table.layout().line(object, of, Some(change.kind), age, cells);
        self.table.line(line, out)?;
        for detail in &details {
            self.table.remark(detail);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{ApiResource, Column, Ingest, Object, Origin, Row};

    use super::*;

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
    fn the_event_column_comes_first_and_widths_are_kept() {
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
    fn an_inferred_delete_shows_the_age_of_now() {
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
    fn a_row_that_shows_nothing_new_is_not_printed_unless_all_are() {
        let beat = update(&["a", "Ready", "1s"], &["a", "Ready", "9s"]);
        assert_eq!(rows(RowOptions::default(), &beat), (false, String::new()));
        let all = RowOptions { all: true, details: None };
        assert_eq!(rows(all, &beat), (true, "a     Ready   9s\n".into()));
        let unknown = Change { old: None, ..beat };
        assert!(rows(RowOptions::default(), &unknown).0, "nobody knows what it looked like");
        assert!(rows(RowOptions::default(), &update(&["a", "Ready", "1s"], &["a", "Gone", "9s"])).0);
    }

    #[test]
    fn what_changed_stands_under_the_row_and_makes_it_worth_printing() {
        let ingest = Ingest::of(change(ChangeKind::Added, "pods", &[]).resource.type_meta());
        let json = br#"{"metadata":{"name":"a"},"spec":{"x":"a\tb"}}"#;
        let object = Object::from_json(json, &ingest).expect("a pod");
        let shown = update(&["a", "Ready", "1s"], &["a", "Ready", "1s"]);
        let row = shown.object.row().expect("a row").clone();
        let shown = Change { object: Arc::new(object.with_row(row)), ..shown };
        let details = RowOptions { all: false, details: Some(Details { noise: false, secrets: false }) };
        let (printed, text) = rows(details, &shown);
        assert!(printed);
        assert!(text.starts_with("a     Ready   1s\n  - metadata.namespace: shop\n"), "{text}");
        assert!(text.ends_with("\n  + spec: {\"x\":\"a\\tb\"}\n"), "{text}");
    }

    // kubectl get -w --output-watch-events -o yaml
    #[test]
    fn yaml_says_what_happened_to_the_object() {
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
