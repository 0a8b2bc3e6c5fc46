//! The columns of a table that has one header for rows of many kinds: KIND, NAME, READY, STATUS and AGE, then the labels,
//! and DETAILS with all other cells of the server's row as `up-to-date: 3, available: 3`.

use std::fmt::Write;

use kdelta::object::{ApiResource, Column};

use crate::view::escape::escape_cell;

/// The headings before the labels, in the order of [`SharedCells::before_labels`].
pub(in crate::view) const SHARED_HEADINGS: [&str; 5] = ["KIND", "NAME", "READY", "STATUS", "AGE"];
/// The last heading.
pub(in crate::view) const DETAILS_HEADING: &str = "DETAILS";

/// The cells of one row, escaped.
#[derive(Default)]
pub(in crate::view) struct SharedCells {
    kind: String,
    name: String,
    ready: Option<String>,
    /// The number that READY should reach, where the server has a column of its own for it.
    desired: Option<String>,
    status: Option<String>,
    age: Option<String>,
    details: String,
}

impl SharedCells {
    /// Creates the cells of an object of that name, without those of the server.
    pub(in crate::view) fn new(resource: &ApiResource, name: &str) -> Self {
        let [kind, name] = [&*kind_name(resource), name].map(|text| escape_cell(text).into_owned());
        Self { kind, name, ..Self::default() }
    }

    /// Returns the cells below [`SHARED_HEADINGS`].
    pub(in crate::view) fn before_labels(&self) -> impl Iterator<Item = &str> {
        let optional = [&self.ready, &self.status, &self.age];
        [&*self.kind, &*self.name].into_iter().chain(optional.map(|cell| cell.as_deref().unwrap_or_default()))
    }

    /// Returns the cell below [`DETAILS_HEADING`].
    pub(in crate::view) fn details(&self) -> &str {
        &self.details
    }

    /// Adds a cell of the server, which is escaped.
    pub(in crate::view) fn add(&mut self, column: &Column, is_name: bool, cell: &str) {
        if is_name {
            cell.clone_into(&mut self.name);
            return;
        }
        let own = match column.name.to_ascii_lowercase().as_str() {
            "ready" => &mut self.ready,
            "desired" => &mut self.desired,
            "status" => &mut self.status,
            "age" => &mut self.age,
            _ => return self.add_detail(&column.name, cell),
        };
        // A custom resource may have two columns of one name.
        if own.is_some() {
            return self.add_detail(&column.name, cell);
        }
        *own = Some(cell.to_owned());
    }

    fn add_detail(&mut self, name: &str, cell: &str) {
        if matches!(cell, "" | "<none>") {
            return;
        }
        let comma = if self.details.is_empty() { "" } else { ", " };
        // Writing to a String can't fail.
        let _ = write!(self.details, "{comma}{}: {cell}", escape_cell(name).to_lowercase());
    }

    /// Returns the cells with READY as `2/3` where the server has the second number in DESIRED.
    pub(in crate::view) fn with_desired(mut self) -> Self {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match (&mut self.ready, self.desired.take()) {
            (Some(ready), Some(desired)) if is_number(ready) && is_number(&desired) => {
                let _ = write!(ready, "/{desired}");
            }
            (_, Some(desired)) => self.add_detail("desired", &desired),
            (_, None) => {}
        }
        self
    }
}

/// Returns the kind, with its group unless that is one of Kubernetes itself: `Pod`, `Certificate.cert-manager.io`.
fn kind_name(resource: &ApiResource) -> String {
    let ApiResource { group, kind, .. } = resource;
    if group.ends_with(".k8s.io") || !group.contains('.') { kind.clone() } else { format!("{kind}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, kind: &str) -> ApiResource {
        ApiResource {
            group: group.into(),
            version: "v1".into(),
            resource: format!("{}s", kind.to_lowercase()),
            kind: kind.into(),
            namespaced: true,
        }
    }

    /// Returns the cells of a row with these columns and cells after the name.
    fn shown(group: &str, kind: &str, row: &[(&str, &str)]) -> Vec<String> {
        let mut cells = SharedCells::new(&resource(group, kind), "web");
        for (name, cell) in row {
            let column = Column { name: (*name).into(), format: String::new(), priority: 0 };
            cells.add(&column, false, cell);
        }
        let cells = cells.with_desired();
        cells.before_labels().chain([cells.details()]).map(str::to_owned).collect()
    }

    #[test]
    fn cells_of_each_kind_are_assigned_to_shared_columns() {
        let pod = [("Ready", "1/1"), ("Status", "Running"), ("Restarts", "3 (1m ago)"), ("Age", "5m")];
        let replica_set = [("Desired", "3"), ("Current", "2"), ("Ready", "1"), ("Age", "5m")];
        let service =
            [("Type", "ClusterIP"), ("External-IP", "<none>"), ("Port(s)", "80/TCP"), ("Age", "5m")];
        let source = [("Ready", "True"), ("Status", "stored"), ("Status", "again")];
        let claim = [("Desired", "x"), ("Ready", "1"), ("No\u{1b}te", "y")];
        for (group, kind, row, expected) in [
            ("", "Pod", &pod[..], ["Pod", "web", "1/1", "Running", "5m", "restarts: 3 (1m ago)"]),
            ("apps", "ReplicaSet", &replica_set, ["ReplicaSet", "web", "1/3", "", "5m", "current: 2"]),
            ("", "Service", &service, ["Service", "web", "", "", "5m", "type: ClusterIP, port(s): 80/TCP"]),
            ("flux.io", "Source", &source, ["Source.flux.io", "web", "True", "stored", "", "status: again"]),
            ("a.k8s.io", "Claim", &claim, ["Claim", "web", "1", "", "", "no^[te: y, desired: x"]),
        ] {
            assert_eq!(shown(group, kind, row), expected);
        }
    }

    #[test]
    fn cell_of_the_name_column_is_the_name() {
        let mut cells = SharedCells::new(&resource("", "Pod"), "web");
        let column = Column { name: "Ready".into(), format: "name".into(), priority: 0 };
        cells.add(&column, true, "other");
        assert_eq!(cells.before_labels().collect::<Vec<_>>(), ["Pod", "other", "", "", ""]);
    }
}
