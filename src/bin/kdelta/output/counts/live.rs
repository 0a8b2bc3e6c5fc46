//! The groups of an index kept up to date: a table that is drawn again on a terminal, or a line for each changed group.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Key, Object};
use kdelta::query::{GroupKey, Groups, Member};
use tokio::time::Instant;

use super::group_count::{CountFormat, CountOptions, GroupColumns, GroupCount};
use super::order;
use super::rows::GroupRows;
use super::write::write_counts;
use crate::output::region::{LiveRegion, fitted};

/// The shortest time between two drawings of the table.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// The time after which a table is drawn again that a message has erased.
const REPAIR_INTERVAL: Duration = Duration::from_secs(1);

/// Reads the values and numbers of an object in a scope; `None` leaves it out.
pub(crate) type ReadMember = Box<dyn Fn(usize, &ApiResource, &Object) -> Option<Member> + Send>;

/// The size of a terminal in columns and lines.
pub(crate) type TerminalSize = fn() -> Option<(usize, usize)>;

/// Groups that follow the changes of their objects.
pub(crate) struct LiveCounts {
    columns: GroupColumns,
    options: CountOptions,
    read: ReadMember,
    /// The positions of the paths of the aggregates among the numbers of a member.
    paths: Vec<usize>,
    groups: Groups<(Arc<str>, Arc<ApiResource>, Key)>,
    is_complete: bool,
    form: Form,
}

/// The form of the output.
enum Form {
    /// A table that is drawn again in place.
    Screen(Screen),
    /// A line, row or document for each changed group.
    Rows {
        rows: GroupRows,
        /// The printed groups.
        printed: BTreeMap<GroupKey, GroupCount>,
    },
}

/// The state of a table on a terminal.
struct Screen {
    region: Arc<LiveRegion>,
    size: TerminalSize,
    drawn: Option<Instant>,
    /// The time at which the drawn table was last found to be current.
    checked: Option<Instant>,
    has_changes: bool,
}

impl LiveCounts {
    /// Creates groups that print a line for each changed group.
    pub(crate) fn rows(
        columns: GroupColumns,
        options: CountOptions,
        read: ReadMember,
        paths: Vec<usize>,
    ) -> Self {
        let rows = GroupRows::new(&options);
        let form = Form::Rows { rows, printed: BTreeMap::new() };
        Self { columns, options, read, paths, groups: Groups::default(), is_complete: false, form }
    }

    /// Draws a table in this region of a terminal instead of lines.
    pub(crate) fn on_screen(self, region: Arc<LiveRegion>, size: TerminalSize) -> Self {
        let screen = Screen { region, size, drawn: None, checked: None, has_changes: false };
        Self { form: Form::Screen(screen), ..self }
    }

    /// Applies a change of an object.
    pub(crate) fn change(&mut self, change: &Change) {
        let key = (Arc::clone(&change.context), Arc::clone(&change.resource), change.object.key().clone());
        let member = match change.kind {
            ChangeKind::Deleted => None,
            _ => (self.read)(self.scope(&change.context), &change.resource, &change.object),
        };
        self.groups.set(key, member);
    }

    fn scope(&self, context: &str) -> usize {
        let contexts = self.columns.contexts.iter().flatten();
        contexts.enumerate().find(|(_, name)| **name == *context).map_or(0, |(at, _)| at)
    }

    /// Starts printing: the initial state is complete.
    pub(crate) fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Returns the time at which the table is to be drawn again.
    pub(crate) fn redraw_at(&self) -> Option<Instant> {
        let Form::Screen(screen) = &self.form else { return None };
        let drawn = screen.drawn?;
        Some(if screen.has_changes {
            drawn + REDRAW_INTERVAL
        } else {
            screen.checked.map_or(drawn, |checked| checked.max(drawn)) + REPAIR_INTERVAL
        })
    }

    /// Prints the changes, if the initial state is complete and a table was not drawn just before.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, now: Instant, out: &mut impl Write) -> io::Result<()> {
        if !self.is_complete {
            return Ok(());
        }
        let changed = self.groups.take_changed();
        match &mut self.form {
            Form::Rows { .. } => self.print_rows(&changed, out),
            Form::Screen(screen) => {
                screen.has_changes |= !changed.is_empty();
                let is_due = screen.drawn.is_none_or(|drawn| now >= drawn + REDRAW_INTERVAL);
                if is_due && (screen.drawn.is_none() || screen.has_changes || screen.region.is_erased()) {
                    self.draw(now, out)?;
                } else if is_due {
                    screen.checked = Some(now);
                }
                Ok(())
            }
        }
    }

    /// Draws the last state, below which messages can follow.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn finish(&mut self, now: Instant, out: &mut impl Write) -> io::Result<()> {
        if !self.is_complete || !matches!(self.form, Form::Screen(_)) {
            return Ok(());
        }
        self.draw(now, out)?;
        if let Form::Screen(screen) = &self.form {
            screen.region.release();
        }
        Ok(())
    }

    fn counts(&self) -> Vec<GroupCount> {
        let count = |(key, group)| GroupCount::of(key, group, &self.columns, &self.paths);
        self.groups.iter().map(count).collect()
    }

    fn draw(&mut self, now: Instant, out: &mut impl Write) -> io::Result<()> {
        let Form::Screen(screen) = &self.form else { return Ok(()) };
        let (width, height) = (screen.size)().unwrap_or((80, 24));
        let mut options = self.options.clone();
        if let CountFormat::Table { bars_to, .. } = &mut options.format {
            *bars_to = Some(width);
        }
        let mut text = Vec::new();
        write_counts(&self.columns, self.counts(), &options, &mut text)?;
        let lines = fitted(&String::from_utf8_lossy(&text), width, height);
        let region = Arc::clone(&screen.region);
        region.redraw(lines.len(), || {
            for line in &lines {
                writeln!(out, "{line}")?;
            }
            out.flush()
        })?;
        if let Form::Screen(screen) = &mut self.form {
            (screen.drawn, screen.has_changes) = (Some(now), false);
        }
        Ok(())
    }

    /// Prints the groups of all indices that differ from what was printed.
    fn print_rows(&mut self, changed: &BTreeSet<GroupKey>, out: &mut impl Write) -> io::Result<()> {
        let is_first = matches!(&self.form, Form::Rows { printed, .. } if printed.is_empty());
        let current: Vec<GroupCount> = if is_first || self.options.top.is_some() {
            order::order_groups(self.counts(), &self.options).groups
        } else {
            let group =
                |key: &GroupKey| Some(GroupCount::of(key, self.groups.get(key)?, &self.columns, &self.paths));
            changed.iter().filter_map(group).collect()
        };
        let Form::Rows { rows, printed } = &mut self.form else { return Ok(()) };
        let mut lines = Vec::new();
        for group in current {
            let is_cell = group.key.values.iter().all(Option::is_some);
            if is_cell && printed.get(&group.key) != Some(&group) {
                printed.insert(group.key.clone(), group.clone());
                lines.push(group);
            }
        }
        let removed = changed.iter().filter(|key| self.groups.get(key).is_none());
        for key in removed {
            if let Some(group) = printed.remove(key) {
                let results = vec![None; group.results.len()];
                lines.push(GroupCount { count: 0, results, ..group });
            }
        }
        rows.write(&self.columns, &lines, out)
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::{Ingest, Origin};
    use kdelta::query::{Aggregate, Number};

    use super::*;
    use crate::output::typed::TypedFormat;
    use crate::output::{AggregateHeading, DelimitedFormat, GroupOrder};

    fn resource() -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        })
    }

    /// Returns a change of a pod with its node and its memory.
    fn change(kind: ChangeKind, name: &str, node: &str, memory: &str) -> Change {
        let json =
            serde_json::json!({"metadata": {"name": name}, "node": node, "memory": memory}).to_string();
        let object = Object::from_json(json.as_bytes(), &Ingest::of(resource().type_meta())).expect("a pod");
        Change {
            kind,
            object: Arc::new(object),
            old: None,
            origin: Origin::Watch,
            final_state_unknown: false,
            resource: resource(),
            context: "".into(),
            received: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn live(format: CountFormat, top: Option<usize>) -> LiveCounts {
        let heading = AggregateHeading { aggregate: Aggregate::Sum, path: "memory".into() };
        let columns =
            GroupColumns { indices: vec!["node".into()], aggregates: vec![heading], contexts: None };
        let order = GroupOrder::Value;
        let options = CountOptions { order, top, format, headers: true };
        let read: ReadMember = Box::new(|scope, _, object| {
            let value: serde_json::Value = serde_json::from_slice(&object.json()).expect("JSON");
            let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
            let numbers = vec![Number::parse(&text("memory")).into_iter().collect()];
            Member::new(scope, vec![vec![text("node").into()]], numbers).ok()
        });
        LiveCounts::rows(columns, options, read, vec![0])
    }

    fn flushed(live: &mut LiveCounts, now: Instant) -> String {
        let mut out = Vec::new();
        live.flush(now, &mut out).expect("a Vec takes all");
        String::from_utf8(out).expect("text")
    }

    const ADDED: ChangeKind = ChangeKind::Added;
    const MODIFIED: ChangeKind = ChangeKind::Modified;
    const DELETED: ChangeKind = ChangeKind::Deleted;

    #[test]
    fn each_changed_group_is_a_line() {
        let now = Instant::now();
        let mut live = live(CountFormat::Table { bars_to: None, meaning: None }, None);
        live.change(&change(ADDED, "a", "n1", "1Gi"));
        live.change(&change(ADDED, "b", "n2", "1Gi"));
        assert_eq!(flushed(&mut live, now), "", "the initial state is not complete");
        live.complete();
        let first = "VALUE   COUNT   SUM(MEMORY)\nn1          1           1Gi\nn2          1           1Gi\n";
        assert_eq!(flushed(&mut live, now), first);
        live.change(&change(MODIFIED, "a", "n1", "1Gi"));
        assert_eq!(flushed(&mut live, now), "", "nothing has changed");
        live.change(&change(MODIFIED, "a", "n2", "512Mi"));
        assert_eq!(flushed(&mut live, now), "n2          2        1536Mi\nn1          0\n");
        live.change(&change(DELETED, "b", "n2", "1Gi"));
        live.change(&change(ADDED, "b", "n2", "1Gi"));
        assert_eq!(flushed(&mut live, now), "", "the result is the same");
    }

    #[test]
    fn changed_groups_are_json_lines_and_rows() {
        let now = Instant::now();
        let json = CountFormat::Documents { format: TypedFormat::Json, for_terminal: false };
        for (format, first, second) in [
            (
                json,
                r#"{"count":1,"index":"node","sum":{"memory":1073741824},"value":"n1"}"#,
                r#"{"count":0,"index":"node","sum":{},"value":"n1"}"#,
            ),
            (
                CountFormat::Delimited(DelimitedFormat::Csv),
                "VALUE,COUNT,sum(memory)\nn1,1,1073741824",
                "n1,0,",
            ),
            (CountFormat::Names, "n1", "n1"),
        ] {
            let mut live = live(format, None);
            live.change(&change(ADDED, "a", "n1", "1Gi"));
            live.complete();
            assert_eq!(flushed(&mut live, now).trim_end(), first);
            live.change(&change(DELETED, "a", "n1", "1Gi"));
            assert_eq!(flushed(&mut live, now).trim_end(), second);
        }
    }

    #[test]
    fn only_the_largest_groups_are_lines() {
        let now = Instant::now();
        let mut live = live(CountFormat::Names, Some(1));
        live.complete();
        for (name, node) in [("a", "n1"), ("b", "n2"), ("c", "n2")] {
            live.change(&change(ADDED, name, node, ""));
        }
        assert_eq!(flushed(&mut live, now), "n2\n");
        live.change(&change(ADDED, "d", "n1", ""));
        live.change(&change(ADDED, "e", "n1", ""));
        assert_eq!(flushed(&mut live, now), "n1\n");
    }

    #[test]
    fn table_is_drawn_at_most_once_per_interval() {
        let start = Instant::now();
        let region = Arc::new(LiveRegion::recording());
        let table = CountFormat::Table { bars_to: None, meaning: None };
        let mut live = live(table, None).on_screen(Arc::clone(&region), || Some((40, 4)));
        live.change(&change(ADDED, "a", "n1", "1Gi"));
        live.complete();
        assert_eq!(live.redraw_at(), None);
        assert!(flushed(&mut live, start).starts_with("VALUE "));
        live.change(&change(ADDED, "b", "n2", "1Gi"));
        assert_eq!(flushed(&mut live, start + REDRAW_INTERVAL / 2), "");
        assert_eq!(live.redraw_at(), Some(start + REDRAW_INTERVAL));
        let drawn = flushed(&mut live, start + REDRAW_INTERVAL);
        assert_eq!(drawn.lines().count(), 3, "{drawn}");
        assert_eq!(region.erased(), [2], "the first table has two lines");
        assert_eq!(flushed(&mut live, start + 3 * REDRAW_INTERVAL), "", "nothing has changed");
        assert_eq!(live.redraw_at(), Some(start + 3 * REDRAW_INTERVAL + REPAIR_INTERVAL), "not at once");
        region.hide();
        assert!(!flushed(&mut live, start + 4 * REDRAW_INTERVAL).is_empty(), "a message erased it");
        for node in ["n3", "n4"] {
            live.change(&change(ADDED, node, node, "1Gi"));
        }
        let drawn = flushed(&mut live, start + 8 * REDRAW_INTERVAL);
        assert_eq!(drawn.lines().last(), Some("… 3 more"), "{drawn}");
    }
}
