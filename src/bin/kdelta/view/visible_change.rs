//! Detection of updates that do not change the row of a table.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::object::{ApiResource, Column, Object};

use super::age::Age;
use super::layout::{Cells, Layout, Line};

/// Server columns that show an age or duration. Custom resources declare such columns by type.
const TIMES: [&str; 5] = ["age", "duration", "last schedule", "last seen", "first seen"];

impl Layout {
    /// Whether both states have the same row except for elapsed time: `5s` and `7s`, `3 (1m ago)` and `3 (2m ago)`.
    /// `spare` are cells reused for their capacity.
    pub(crate) fn looks_same(
        &self,
        old: &Object,
        new: &Object,
        resource: &Arc<ApiResource>,
        now: Timestamp,
        spare: &mut [Cells; 2],
    ) -> bool {
        // An updated event has occurred again, which its row shows only as an age close to zero, as before.
        if resource.resource == "events" {
            return false;
        }
        // Compared by the server's columns, which say where the times are.
        let compared = if self.shared { &Self { shared: false, ..self.clone() } } else { self };
        let line = |object, cells| compared.line(object, (resource, ""), None, Age::AsSent { now }, cells);
        let [first, second] = std::mem::take(spare);
        let (old, new) = (line(old, first), line(new, second));
        let is_same = compared.shows_same(&old, &new);
        *spare = [old.cells, new.cells].map(Cells::cleared);
        is_same
    }

    fn shows_same(&self, old: &Line, new: &Line) -> bool {
        if old.columns != new.columns || old.cells.len() != new.cells.len() {
            return false;
        }
        let before = [self.context, self.event, self.shows_namespace(&new.resource)];
        let before = before.into_iter().filter(|has| *has).count();
        let mut columns = new.columns.iter().filter(|column| self.shows(column));
        old.cells.iter().zip(new.cells.iter()).enumerate().all(|(at, (old, new))| {
            let column = if at < before { None } else { columns.next() };
            old == new
                || without_ago(old) == without_ago(new)
                || column.is_some_and(is_time) && has_passed(old, new)
        })
    }
}

fn is_time(column: &Column) -> bool {
    column.format == "date" || TIMES.iter().any(|name| column.name.eq_ignore_ascii_case(name))
}

/// Returns the cell without the age that kubectl's printers add in parentheses.
fn without_ago(cell: &str) -> &str {
    match cell.strip_suffix(" ago)").and_then(|rest| rest.rsplit_once(" (")) {
        Some((text, time)) if seconds(time).is_some() => text,
        _ => cell,
    }
}

/// Whether the new time is the old one, later. A reset time is a visible change.
fn has_passed(old: &str, new: &str) -> bool {
    seconds(old).zip(seconds(new)).is_some_and(|(old, new)| old <= new)
}

/// Parses the output of [`kdelta::object::human_duration`].
fn seconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..end].parse().ok()?;
        let unit = match rest.as_bytes()[end] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            b'y' => 365 * 86_400,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[end + 1..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use kdelta::object::{Ingest, Row};

    use super::*;

    fn resource(plural: &str) -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: "X".into(),
            namespaced: true,
        })
    }

    fn object(labels: &str, cells: [&str; 6]) -> Object {
        let column = |(name, format, priority): (&str, &str, i32)| Column {
            name: name.into(),
            format: format.into(),
            priority,
        };
        let columns = [
            ("Name", "name", 0),
            ("Status", "", 0),
            ("Restarts", "", 0),
            ("Age", "", 0),
            ("Renewed", "date", 0),
            ("IP", "", 1),
        ];
        let json = format!(r#"{{"metadata":{{"name":"x","namespace":"n","labels":{{{labels}}}}}}}"#);
        let object = Object::from_json(json.as_bytes(), &Ingest::of(resource("pods").type_meta()));
        object.expect("an object").with_row(Row::new(columns.map(column).into(), cells))
    }

    fn same(layout: &Layout, plural: &str, new: &Object) -> bool {
        let old = object("", ["x", "Running", "3 (1m ago)", "59s", "5m", "10.0.0.1"]);
        let mut spare = [["of", "other"], ["lines", "here"]].map(|cells| cells.into_iter().collect());
        layout.looks_same(&old, new, &resource(plural), Timestamp::UNIX_EPOCH, &mut spare)
    }

    #[test]
    fn elapsed_time_is_no_visible_change() {
        let plain = Layout { event: true, ..Layout::default() };
        for (cells, expected) in [
            (["x", "Running", "3 (1m ago)", "59s", "5m", "10.0.0.1"], true),
            (["x", "Running", "3 (2d ago)", "60s", "5m10s", "10.0.0.1"], true),
            (["x", "Running", "4 (1s ago)", "60s", "5m", "10.0.0.1"], false),
            (["x", "Pending", "3 (1m ago)", "60s", "5m", "10.0.0.1"], false),
            (["x", "Running", "3 (1m ago)", "60s", "3s", "10.0.0.1"], false),
            (["x", "Running", "3 (1m ago)", "60s", "<unknown>", "10.0.0.1"], false),
            (["x", "Running", "3 (1m ago)", "60s", "5m", "10.0.0.2"], true),
        ] {
            assert_eq!(same(&plain, "pods", &object("", cells)), expected, "{cells:?}");
        }
    }

    #[test]
    fn additional_columns_are_visible_changes() {
        let cells = ["x", "Running", "3 (1m ago)", "59s", "5m", "10.0.0.2"];
        let wide = Layout { wide: true, ..Layout::default() };
        assert!(!same(&wide, "pods", &object("", cells)));
        let labelled = object(r#""a":"1""#, cells);
        assert!(same(&Layout::default(), "pods", &labelled));
        assert!(!same(&Layout { labels: vec!["a".into()], ..Layout::default() }, "pods", &labelled));
        assert!(!same(&Layout { show_labels: true, ..Layout::default() }, "pods", &labelled));
        assert!(!same(&Layout::default(), "events", &labelled), "an event that is repeated looks as before");
    }

    #[test]
    fn durations_round_trip() {
        for (text, expected) in [
            ("0s", Some(0)),
            ("5d3h", Some(442_800)),
            ("2y10d", Some(63_936_000)),
            ("", None),
            ("5", None),
            ("x", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        for seconds_ago in [0, 59, 119, 600, 3600, 86_400 * 9, 86_400 * 800] {
            assert!(seconds(&kdelta::object::human_duration(seconds_ago)).is_some());
        }
    }
}
