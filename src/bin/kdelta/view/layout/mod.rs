//! Table layout: converts an object and its row of cells to a line, with its columns and headings.

mod cells;
#[cfg(test)]
mod tests;

pub(crate) use cells::Cells;

use std::sync::Arc;

use kdelta::lines::ChangeKind;
use kdelta::object::{ApiResource, Column, Object, human_duration};

use crate::view::age::Age;
use crate::view::escape::escape_cell;
use crate::view::meta;
use crate::view::rows::{DETAILS_HEADING, SHARED_HEADINGS, SharedCells};

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
                KindPrefix::IfSeveral if is_name => cells.set_name(cells.len()),
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
        if let Some(row) = object.row() {
            return self.visit_cells(columns, row.cells(), seconds, age, &mut visit);
        }
        let age_cell = seconds.map_or_else(|| "<unknown>".to_owned(), human_duration);
        self.visit_cells(columns, [object.name(), &age_cell].into_iter(), seconds, age, &mut visit);
    }

    /// Calls `visit` as [`Layout::for_each_cell`] does with these cells.
    fn visit_cells<'a>(
        &self,
        columns: &[Column],
        cells: impl Iterator<Item = &'a str>,
        seconds: Option<i64>,
        age: Age,
        visit: &mut impl FnMut(&Column, bool, &str),
    ) {
        let mut name_found = false;
        for (column, cell) in columns.iter().zip(cells) {
            // Only the first column of that format is the name.
            let is_name =
                column.format == "name" && !std::mem::replace(&mut name_found, column.format == "name");
            if !self.shows(column) {
                continue;
            }
            match fresh_age(column, seconds, age) {
                Some(fresh) => visit(column, is_name, &escape_cell(&fresh)),
                None => visit(column, is_name, &escape_cell(cell)),
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

    pub(in crate::view) fn shows(&self, column: &Column) -> bool {
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

/// Returns the AGE cell if it is computed from the creation time; `None` for all other cells.
fn fresh_age(column: &Column, seconds: Option<i64>, age: Age) -> Option<String> {
    match age {
        Age::Fresh { .. } if column.name.eq_ignore_ascii_case("age") => seconds.map(human_duration),
        _ => None,
    }
}
