//! From an object and its row of cells to a line of a table: which columns, in which order, under which headings.

use std::borrow::Cow;
use std::sync::Arc;

use kdelta::object::{ApiResource, Column, Object, human_duration};

use super::age::Age;
use super::change::ChangeKind;
use super::escape::escape_cell;
use super::meta;

/// Which columns a table has beside the server's own.
///
/// In order: CONTEXT, EVENT, NAMESPACE, the server's columns, one for each label asked for, LABELS.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub(crate) struct Layout {
    /// Columns of every priority, not only those of priority 0.
    pub(crate) wide: bool,
    /// The CONTEXT column.
    pub(crate) context: bool,
    /// The EVENT column.
    pub(crate) event: bool,
    /// The NAMESPACE column.
    pub(crate) namespace: NamespaceColumn,
    /// Names as `pod/x` or `deployment.apps/x`.
    pub(crate) kind: bool,
    /// Labels with a column of their own.
    pub(crate) labels: Vec<String>,
    /// The LABELS column.
    pub(crate) show_labels: bool,
}

/// When there is a NAMESPACE column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NamespaceColumn {
    #[default]
    Never,
    /// For what lives in namespaces. (kubectl shows an empty one for the rest under `-w`.)
    Namespaced,
    /// For all; it is empty for what lives in none.
    Always,
}

/// One line of a table: cleaned cells, and the columns that decide its heading.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) resource: Arc<ApiResource>,
    /// The server's columns, of every priority.
    pub(crate) columns: Arc<[Column]>,
    /// As many as [`Layout::headings`] has, or fewer where the server sent fewer.
    pub(crate) cells: Cells,
    /// What colours the line.
    pub(crate) kind: Option<ChangeKind>,
}

/// How much room cells keep that are cleared: more than any line of a usual table.
const KEPT_TEXT: usize = 4096;
const KEPT_CELLS: usize = 64;

/// The cells of a line, their text in one piece: a large table is many small cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    text: String,
    /// Where each cell ends in the text.
    ends: Vec<usize>,
}

impl Cells {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// They in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| &self.text[std::mem::replace(&mut start, *end)..*end])
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.end();
    }

    /// Adds to a cell that [`Cells::end`] will end.
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// The same with nothing in it, for the room that it has.
    pub(super) fn cleared(mut self) -> Self {
        self.clear();
        self
    }

    /// Takes all away, but for the room that a line needs.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(KEPT_TEXT);
        self.ends.clear();
        self.ends.shrink_to(KEPT_CELLS);
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
    /// The headings over lines of these columns.
    pub(crate) fn headings(&self, columns: &[Column], resource: &ApiResource) -> Vec<String> {
        let mut headings = Vec::with_capacity(columns.len() + self.labels.len() + 4);
        headings.extend(self.context.then(|| "CONTEXT".to_owned()));
        headings.extend(self.event.then(|| "EVENT".to_owned()));
        headings.extend(self.shows_namespace(resource).then(|| "NAMESPACE".to_owned()));
        let shown = columns.iter().filter(|column| self.shows(column));
        headings.extend(shown.map(|column| escape_cell(&column.name).to_uppercase()));
        headings.extend(self.labels.iter().map(|key| key.rsplit('/').next().unwrap_or(key).to_uppercase()));
        headings.extend(self.show_labels.then(|| "LABELS".to_owned()));
        headings
    }

    /// The line of an object of that context. One that came without cells, because the server gave no table, shows its
    /// name and age. Without metadata the cells that show it are empty. `cells` are those of a line that is not needed
    /// any more, for the room they have.
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
        self.own_cells(object, resource, &columns, age, &mut cells);
        self.label_cells(object, &mut cells);
        Line { resource: Arc::clone(resource), columns, cells, kind }
    }

    /// The cells under the server's columns.
    fn own_cells(
        &self,
        object: &Object,
        resource: &ApiResource,
        columns: &[Column],
        age: Age,
        cells: &mut Cells,
    ) {
        // One whose body did not come says nothing of it.
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
            if self.kind && is_name {
                cells.add(&escape_cell(&resource.group_kind_lower()));
                cells.add("/");
            }
            match fresh_age(column, seconds, age) {
                Some(fresh) => cells.push(&escape_cell(&fresh)),
                None => cells.push(&escape_cell(&cell)),
            }
        }
    }

    /// The cells of labels; empty where the body did not come.
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
            NamespaceColumn::Namespaced => resource.namespaced,
            NamespaceColumn::Always => true,
        }
    }

    pub(super) fn shows(&self, column: &Column) -> bool {
        self.wide || column.priority == 0
    }
}

/// The columns of what the server printed no table for.
fn name_and_age() -> Arc<[Column]> {
    let column = |name: &str, format: &str| Column { name: name.into(), format: format.into(), priority: 0 };
    Arc::new([column("Name", "name"), column("Age", "")])
}

/// What happened, in a cell that is as wide as the widest of them.
fn padded(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "ADDED   ",
        ChangeKind::Modified => "MODIFIED",
        ChangeKind::Deleted => "DELETED ",
        ChangeKind::Sync => "SYNC    ",
    }
}

/// The server's cells, or those under [`name_and_age`], of an object of that age.
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

/// The cell of an age that is computed anew; none for every other cell.
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
    fn the_servers_columns_of_priority_0_are_shown() {
        let (headings, cells) = shown(&Layout::default(), &pod(), as_sent());
        assert_eq!(headings, ["NAME", "STATUS", "AGE"]);
        assert_eq!(cells, ["web-1", "Running", "5m"]);
    }

    #[test]
    fn every_other_column_has_its_place() {
        let layout = Layout {
            wide: true,
            context: false,
            event: true,
            namespace: NamespaceColumn::Namespaced,
            kind: true,
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
    fn what_happened_is_padded_to_one_width() {
        for kind in [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Sync] {
            assert_eq!(padded(kind), format!("{:<8}", kind.as_str()));
        }
    }

    #[test]
    fn the_context_comes_first() {
        let layout = Layout { context: true, event: true, ..Layout::default() };
        let used = ["of", "another", "line"].into_iter().collect();
        let line = layout.line(&pod(), (&pods(), "prod"), Some(ChangeKind::Added), as_sent(), used);
        assert_eq!(layout.headings(&line.columns, &pods())[..3], ["CONTEXT", "EVENT", "NAME"]);
        assert_eq!(line.cells.iter().take(3).collect::<Vec<_>>(), ["prod", "ADDED   ", "web-1"]);
    }

    #[test]
    fn without_metadata_its_cells_are_empty() {
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
    fn an_age_that_has_lain_is_computed_anew() {
        let noon: jiff::Timestamp = "2026-11-21T12:30:00Z".parse().expect("a time");
        assert_eq!(
            shown(&Layout::default(), &pod(), Age::Fresh { now: noon }).1,
            ["web-1", "Running", "150m"]
        );
        let bare = Object::named(pods().type_meta(), "", "x").with_row(Row::new(columns(), ["x", "", "5m"]));
        assert_eq!(shown(&Layout::default(), &bare, Age::Fresh { now: noon }).1, ["x", "", "5m"]);
    }

    #[test]
    fn what_came_without_cells_shows_its_name_and_age() {
        let json = br#"{"metadata":{"name":"x","creationTimestamp":"2026-11-21T10:00:00Z"}}"#;
        let object = Object::from_json(json, &Ingest::of(pods().type_meta())).expect("an object");
        let noon: jiff::Timestamp = "2026-11-21T12:00:00Z".parse().expect("a time");
        let (headings, cells) = shown(&Layout::default(), &object, Age::Fresh { now: noon });
        assert_eq!((headings, cells), (vec!["NAME".into(), "AGE".into()], vec!["x".into(), "120m".into()]));
    }

    #[test]
    fn cells_beyond_the_columns_are_ignored_and_missing_ones_stay_missing() {
        let long = pod().with_row(Row::new(columns(), ["a", "b", "c", "d", "e", "f"]));
        assert_eq!(shown(&Layout::default(), &long, as_sent()).1, ["a", "b", "c"]);
        let short = pod().with_row(Row::new(columns(), ["a"]));
        assert_eq!(shown(&Layout::default(), &short, as_sent()).1, ["a"]);
    }

    #[test]
    fn cells_are_cleaned() {
        let evil = pod().with_row(Row::new(columns(), ["\x1b[2Jx", "first\nsecond", "1d"]));
        assert_eq!(shown(&Layout::default(), &evil, as_sent()).1, ["^[[2Jx", "first...", "1d"]);
    }
}
