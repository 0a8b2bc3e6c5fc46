//! Table layout: converts an object and its row of cells to a line, with its columns and headings.

use std::borrow::Cow;
use std::sync::Arc;

use kdelta::lines::ChangeKind;
use kdelta::object::{ApiResource, Column, Object, human_duration};

use super::age::Age;
use super::escape::escape_cell;
use super::meta;
use super::rows::{DETAILS_HEADING, SHARED_HEADINGS, SharedCells};

/// The columns of a table in addition to the server's.
///
/// In order: CONTEXT, EVENT, NAMESPACE, the server's columns, one per requested label, LABELS. With `shared`, the
/// [shared columns](SharedCells) replace the server's.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub(crate) struct Layout {
    /// Include columns of every priority, not only 0.
    pub(crate) wide: bool,
    /// The CONTEXT column.
    pub(crate) context: bool,
    /// The EVENT column.
    pub(crate) event: bool,
    /// The NAMESPACE column.
    pub(crate) namespace: NamespaceColumn,
    /// Names as `pod/x` or `deployment.apps/x`.
    pub(crate) kind: KindPrefix,
    /// One header for rows of all kinds, in place of the server's columns of each kind.
    pub(crate) shared: bool,
    /// Labels with a separate column.
    pub(crate) labels: Vec<String>,
    /// The LABELS column.
    pub(crate) show_labels: bool,
}

/// The condition for a NAMESPACE column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NamespaceColumn {
    #[default]
    Never,
    /// For namespaced types; empty for others under a shared header. (With `-w`, kubectl prints an empty column for
    /// others.)
    Namespaced,
    /// For all types; empty for cluster-scoped ones.
    Always,
}

/// The condition for names with their kind, such as `pod/x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum KindPrefix {
    #[default]
    Never,
    Always,
    /// If several types were listed: the table adds it when that is known.
    IfSeveral,
}

/// A line of a table: escaped cells, and the columns that decide its heading.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) resource: Arc<ApiResource>,
    /// The server's columns of every priority.
    pub(crate) columns: Arc<[Column]>,
    /// One cell per heading of [`Layout::headings`], or fewer if the server sent fewer.
    pub(crate) cells: Cells,
}

/// The capacity that cleared cells keep: more than a usual line needs.
const MAX_KEPT_TEXT: usize = 4096;
const KEPT_CELLS: usize = 64;

/// The cells of a line in a single string, because a large table has many small cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    text: String,
    /// The end of each cell in the text.
    ends: Vec<usize>,
    /// The index of the name, if it may still get a prefix.
    name: Option<usize>,
}

impl Cells {
    /// Returns the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the cells in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| &self.text[std::mem::replace(&mut start, *end)..*end])
    }

    /// Marks a cell as a name that may still get a prefix.
    #[cfg(test)]
    pub(crate) fn set_name(&mut self, cell: usize) {
        self.name = Some(cell);
    }

    /// Returns the index of the name, if it may still get a prefix.
    pub(crate) fn name(&self) -> Option<usize> {
        self.name
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.end();
    }

    /// Appends to a cell that [`Cells::end`] ends.
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Removes all cells but keeps the capacity.
    pub(super) fn cleared(mut self) -> Self {
        self.clear();
        self
    }

    /// Removes all cells but keeps the capacity of a usual line.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(MAX_KEPT_TEXT);
        self.ends.clear();
        self.ends.shrink_to(KEPT_CELLS);
        self.name = None;
    }
}

impl<S: AsRef<str>> FromIterator<S> for Cells {
    fn from_iter<I: IntoIterator<Item = S>>(cells: I) -> Self {
        let mut all = Self::default();
        cells.into_iter().for_each(|cell| all.push(cell.as_ref()));
        all
    }
}

impl Layout {
    /// Returns the headings for these columns.
    pub(crate) fn headings(&self, columns: &[Column], resource: &ApiResource) -> Vec<String> {
        let mut headings = Vec::with_capacity(columns.len() + self.labels.len() + 4);
        headings.extend(self.context.then(|| "CONTEXT".to_owned()));
        headings.extend(self.event.then(|| "EVENT".to_owned()));
        headings.extend(self.shows_namespace(resource).then(|| "NAMESPACE".to_owned()));
        if self.shared {
            headings.extend(SHARED_HEADINGS.map(str::to_owned));
        } else {
            let shown = columns.iter().filter(|column| self.shows(column));
            headings.extend(shown.map(|column| escape_cell(&column.name).to_uppercase()));
        }
        headings.extend(self.labels.iter().map(|key| key.rsplit('/').next().unwrap_or(key).to_uppercase()));
        headings.extend(self.show_labels.then(|| "LABELS".to_owned()));
        headings.extend(self.shared.then(|| DETAILS_HEADING.to_owned()));
        headings
    }

    /// Returns the line of an object of that context. An object without cells, because the server sent no table, shows
    /// its name and age. Without metadata, the cells that need it are empty. `cells` are reused for their capacity.
    pub(crate) fn line(
        &self,
        object: &Object,
        (resource, context): (&Arc<ApiResource>, &str),
        kind: Option<ChangeKind>,
        age: Age,
        mut cells: Cells,
    ) -> Line {
        let columns = object.row().map_or_else(name_and_age, |row| Arc::clone(row.columns()));

        cells.clear();
        if self.context {
            cells.push(&escape_cell(context));
        }
        if self.event {
            cells.push(kind.map_or("", padded));
        }
        if self.shows_namespace(resource) {
            cells.push(&escape_cell(object.namespace()));
        }
        if self.shared {
            let mut shared = SharedCells::new(resource, object.name());
            self.for_each_cell(object, &columns, age, |column, is_name, cell| {
                shared.add(column, is_name, cell);
            });
            let shared = shared.with_desired();
            shared.before_labels().for_each(|cell| cells.push(cell));
            self.label_cells(object, &mut cells);
            cells.push(shared.details());
        } else {
            self.server_cells(object, resource, &columns, age, &mut cells);
            self.label_cells(object, &mut cells);
        }
        Line { resource: Arc::clone(resource), columns, cells }
    }

    /// Returns the text before the names of a resource: `pod/`.
    pub(crate) fn kind_prefix(resource: &ApiResource) -> String {
        format!("{}/", escape_cell(&resource.group_kind_lower()))
    }

    /// Writes the cells of the server's columns.
    fn server_cells(
        &self,
        object: &Object,
        resource: &ApiResource,
        columns: &[Column],
        age: Age,
        cells: &mut Cells,
    ) {
        self.for_each_cell(object, columns, age, |_, is_name, cell| {
            match self.kind {
                KindPrefix::Always if is_name => cells.add(&Self::kind_prefix(resource)),
                KindPrefix::IfSeveral if is_name => cells.name = Some(cells.len()),
                _ => {}
            }
            cells.push(cell);
        });
    }

    /// Calls `visit` with each shown column of the server, whether it is the name, and its escaped cell.
    fn for_each_cell(
        &self,
        object: &Object,
        columns: &[Column],
        age: Age,
        mut visit: impl FnMut(&Column, bool, &str),
    ) {
        // Unknown without a body.
        let shows_age = matches!(age, Age::Fresh { .. }) || object.row().is_none();
        let seconds = (shows_age && object.json_len() > 0).then(|| meta::age(object, age.now())).flatten();
        let mut name_found = false;
        for (column, cell) in columns.iter().zip(sent_cells(object, seconds)) {
            // Only the first column of that format is the name.
            let is_name =
                column.format == "name" && !std::mem::replace(&mut name_found, column.format == "name");
            if !self.shows(column) {
                continue;
            }
            match fresh_age(column, seconds, age) {
                Some(fresh) => visit(column, is_name, &escape_cell(&fresh)),
                None => visit(column, is_name, &escape_cell(&cell)),
            }
        }
    }

    /// Writes the cells of labels; empty without a body.
    fn label_cells(&self, object: &Object, cells: &mut Cells) {
        if self.labels.is_empty() && !self.show_labels {
            return;
        }
        if object.json_len() == 0 {
            return (0..self.labels.len() + usize::from(self.show_labels)).for_each(|_| cells.push(""));
        }
        meta::labels(object, |labels| {
            self.labels.iter().for_each(|key| cells.push(&escape_cell(labels.get(key))));
            if self.show_labels {
                cells.push(&escape_cell(&labels.text()));
            }
        });
    }

    /// Whether lines of this resource have a NAMESPACE column.
    pub(crate) fn shows_namespace(&self, resource: &ApiResource) -> bool {
        match self.namespace {
            NamespaceColumn::Never => false,
            NamespaceColumn::Namespaced => self.shared || resource.namespaced,
            NamespaceColumn::Always => true,
        }
    }

    pub(super) fn shows(&self, column: &Column) -> bool {
        self.wide || column.priority == 0
    }
}

/// Returns the columns for objects without a server table.
fn name_and_age() -> Arc<[Column]> {
    let column = |name: &str, format: &str| Column { name: name.into(), format: format.into(), priority: 0 };
    Arc::new([column("Name", "name"), column("Age", "")])
}

/// Returns the kind of change, padded to the width of the widest.
fn padded(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "ADDED   ",
        ChangeKind::Modified => "MODIFIED",
        ChangeKind::Deleted => "DELETED ",
        ChangeKind::Sync => "SYNC    ",
    }
}

/// Returns the server's cells, or those for [`name_and_age`], of an object of that age.
fn sent_cells(object: &Object, seconds: Option<i64>) -> impl Iterator<Item = Cow<'_, str>> {
    let plain = if object.row().is_some() {
        None
    } else {
        let age = seconds.map_or_else(|| "<unknown>".to_owned(), human_duration);
        Some([Cow::Borrowed(object.name()), Cow::Owned(age)])
    };
    let row = object.row().into_iter().flat_map(|row| row.cells().map(Cow::Borrowed));
    row.chain(plain.into_iter().flatten())
}

/// Returns the AGE cell if it is computed from the creation time; `None` for all other cells.
fn fresh_age(column: &Column, seconds: Option<i64>, age: Age) -> Option<String> {
    match age {
        Age::Fresh { .. } if column.name.eq_ignore_ascii_case("age") => seconds.map(human_duration),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::{Ingest, Row};

    use super::*;

    fn pods() -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        })
    }

    fn as_sent() -> Age {
        Age::AsSent { now: jiff::Timestamp::UNIX_EPOCH }
    }

    fn columns() -> Arc<[Column]> {
        let column = |name: &str, format: &str, priority| Column {
            name: name.into(),
            format: format.into(),
            priority,
        };
        Arc::new([
            column("Name", "name", 0),
            column("Status", "", 0),
            column("Age", "", 0),
            column("IP", "", 1),
        ])
    }

    fn pod() -> Object {
        let json = br#"{"metadata":{"name":"web-1","namespace":"shop","creationTimestamp":"2026-11-21T10:00:00Z","labels":{"tier":"front","app.x/name":"web"}}}"#;
        let object = Object::from_json(json, &Ingest::of(pods().type_meta())).expect("a pod");
        object.with_row(Row::new(columns(), ["web-1", "Running", "5m", "10.0.0.7"]))
    }

    fn shown(layout: &Layout, object: &Object, age: Age) -> (Vec<String>, Vec<String>) {
        let line = layout.line(object, (&pods(), ""), Some(ChangeKind::Added), age, Cells::default());
        let headings = layout.headings(&line.columns, &line.resource);
        (headings, line.cells.iter().map(str::to_owned).collect())
    }

    #[test]
    fn server_columns_of_priority_0_are_shown() {
        let (headings, cells) = shown(&Layout::default(), &pod(), as_sent());
        assert_eq!(headings, ["NAME", "STATUS", "AGE"]);
        assert_eq!(cells, ["web-1", "Running", "5m"]);
    }

    #[test]
    fn optional_columns_are_in_order() {
        let layout = Layout {
            wide: true,
            context: false,
            event: true,
            namespace: NamespaceColumn::Namespaced,
            kind: KindPrefix::Always,
            shared: false,
            labels: vec!["app.x/name".into(), "none".into()],
            show_labels: true,
        };
        let (headings, cells) = shown(&layout, &pod(), as_sent());
        assert_eq!(headings, ["EVENT", "NAMESPACE", "NAME", "STATUS", "AGE", "IP", "NAME", "NONE", "LABELS"]);
        assert_eq!(
            cells,
            [
                "ADDED   ",
                "shop",
                "pod/web-1",
                "Running",
                "5m",
                "10.0.0.7",
                "web",
                "",
                "app.x/name=web,tier=front"
            ]
        );
    }

    #[test]
    fn event_column_has_fixed_width() {
        for kind in [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Sync] {
            assert_eq!(padded(kind), format!("{:<8}", kind.as_str()));
        }
    }

    #[test]
    fn context_column_is_first() {
        let layout = Layout { context: true, event: true, ..Layout::default() };
        let used = ["of", "another", "line"].into_iter().collect();
        let line = layout.line(&pod(), (&pods(), "prod"), Some(ChangeKind::Added), as_sent(), used);
        assert_eq!(layout.headings(&line.columns, &pods())[..3], ["CONTEXT", "EVENT", "NAME"]);
        assert_eq!(line.cells.iter().take(3).collect::<Vec<_>>(), ["prod", "ADDED   ", "web-1"]);
    }

    #[test]
    fn cells_are_empty_without_metadata() {
        let layout = Layout {
            namespace: NamespaceColumn::Namespaced,
            labels: vec!["a".into()],
            show_labels: true,
            ..Layout::default()
        };
        let bare = Object::named(pods().type_meta(), "", "web-1")
            .with_row(Row::new(columns(), ["web-1", "Running", "5m", "10.0.0.7"]));
        assert_eq!(shown(&layout, &bare, as_sent()).1, ["", "web-1", "Running", "5m", "", ""]);
        let unlabelled = Object::from_json(br#"{"metadata":{"name":"x"}}"#, &Ingest::of(pods().type_meta()));
        let unlabelled = unlabelled.expect("a pod").with_row(Row::new(columns(), ["x", "", "", ""]));
        assert_eq!(shown(&layout, &unlabelled, as_sent()).1, ["", "x", "", "", "", "<none>"]);
    }

    #[test]
    fn kept_age_is_recomputed() {
        let noon: jiff::Timestamp = "2026-11-21T12:30:00Z".parse().expect("a time");
        assert_eq!(
            shown(&Layout::default(), &pod(), Age::Fresh { now: noon }).1,
            ["web-1", "Running", "150m"]
        );
        let bare = Object::named(pods().type_meta(), "", "x").with_row(Row::new(columns(), ["x", "", "5m"]));
        assert_eq!(shown(&Layout::default(), &bare, Age::Fresh { now: noon }).1, ["x", "", "5m"]);
    }

    #[test]
    fn object_without_cells_shows_name_and_age() {
        let json = br#"{"metadata":{"name":"x","creationTimestamp":"2026-11-21T10:00:00Z"}}"#;
        let object = Object::from_json(json, &Ingest::of(pods().type_meta())).expect("an object");
        let noon: jiff::Timestamp = "2026-11-21T12:00:00Z".parse().expect("a time");
        let (headings, cells) = shown(&Layout::default(), &object, Age::Fresh { now: noon });
        assert_eq!((headings, cells), (vec!["NAME".into(), "AGE".into()], vec!["x".into(), "120m".into()]));
    }

    #[test]
    fn extra_cells_are_ignored_and_missing_cells_stay_missing() {
        let long = pod().with_row(Row::new(columns(), ["a", "b", "c", "d", "e", "f"]));
        assert_eq!(shown(&Layout::default(), &long, as_sent()).1, ["a", "b", "c"]);
        let short = pod().with_row(Row::new(columns(), ["a"]));
        assert_eq!(shown(&Layout::default(), &short, as_sent()).1, ["a"]);
    }

    #[test]
    fn rows_of_several_kinds_share_one_header() {
        let layout = Layout {
            shared: true,
            event: true,
            namespace: NamespaceColumn::Namespaced,
            labels: vec!["app".into()],
            show_labels: true,
            ..Layout::default()
        };
        let node = ApiResource { kind: "Node".into(), namespaced: false, ..(*pods()).clone() };
        let headings =
            ["EVENT", "NAMESPACE", "KIND", "NAME", "READY", "STATUS", "AGE", "APP", "LABELS", "DETAILS"];
        assert_eq!(shown(&layout, &pod(), as_sent()).0, headings);
        assert_eq!(layout.headings(&columns(), &node), headings);
        let cells = shown(&Layout { wide: true, ..layout }, &pod(), as_sent()).1;
        assert_eq!(cells[2..7], ["Pod", "web-1", "", "Running", "5m"]);
        assert_eq!(cells.last().map(String::as_str), Some("ip: 10.0.0.7"));
    }

    #[test]
    fn cells_are_escaped() {
        let evil = pod().with_row(Row::new(columns(), ["\x1b[2Jx", "first\nsecond", "1d"]));
        assert_eq!(shown(&Layout::default(), &evil, as_sent()).1, ["^[[2Jx", "first...", "1d"]);
    }
}
