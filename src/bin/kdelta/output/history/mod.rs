//! The versions of objects, as `kdelta history` prints them: a row for each, and its changes below.

mod compared_state;
mod lifetimes;

use std::io::{self, Write};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind, Mark, MarkKind};
use kdelta::object::{ApiResource, Column, Object, Origin};
use kdelta::recording::Author;

use self::compared_state::ComparedState;
use self::lifetimes::{LifetimeStart, Lifetimes};
use super::table::{Extent, RowWidth, Table};
use crate::view::{Cells, Details, Layout, Line, escape_line};

/// The format of times: that of JSON lines.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.3fZ";

/// The form of the rows of versions.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct HistoryOptions {
    /// Whether rows name their objects, because there are several.
    pub(crate) names: bool,
    /// Whether rows name the contexts of their objects.
    pub(crate) contexts: bool,
    pub(crate) headers: bool,
    pub(crate) colour: bool,
    pub(crate) details: Details,
    pub(crate) width: RowWidth,
}

/// The rows of versions.
pub(crate) struct HistoryRows {
    table: Table,
    columns: Arc<[Column]>,
    options: HistoryOptions,
    lifetimes: Lifetimes,
    /// The last state that was compared: the next version is compared with it.
    last_state: Option<ComparedState>,
}

impl HistoryRows {
    pub(crate) fn new(options: HistoryOptions) -> Self {
        let optional = [(options.contexts, "Context"), (options.names, "Name")];
        let optional = optional.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name);
        let names = ["Time"].into_iter().chain(optional).chain(["Event", "Author", "What"]);
        let column = |name: &str| Column { name: name.into(), format: String::new(), priority: 0 };
        let table = Table::new(Layout::default(), options.headers, Extent::Endless, options.colour)
            .clipped(options.width);
        Self {
            table,
            columns: names.map(column).collect(),
            options,
            lifetimes: Lifetimes::default(),
            last_state: None,
        }
    }

    /// Adds the row of a live version and its changes. The author follows from two consecutive states.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn change(&mut self, change: &Change, out: &mut impl Write) -> io::Result<()> {
        let Change { kind, object, old, origin, .. } = change;
        let author = match kind {
            ChangeKind::Added if *origin == Origin::Watch => object.author_since(None),
            ChangeKind::Modified => old.as_ref().and_then(|old| object.author_since(Some(old))),
            _ => None,
        };
        let author = author.as_ref().map(|(manager, subresource)| (&**manager, &**subresource));
        self.version(change, author, out)
    }

    /// Adds the row of a recorded version and its changes.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn recorded(
        &mut self,
        change: &Change,
        author: Option<&Author>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let author = author.map(|Author { manager, subresource }| (&**manager, &**subresource));
        self.version(change, author, out)
    }

    /// Adds the row of a version whose author is a manager and a subresource, if they are known.
    fn version(
        &mut self,
        change: &Change,
        author: Option<(&str, &str)>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Change { kind, object, resource, received, .. } = change;
        let birth = self.lifetimes.record(change);
        let (below, health_changes) = self.compare(change);
        let what = version_description(change, &birth, below.is_empty(), &health_changes);
        let mut cells = Cells::default();
        cells.push(&received.strftime(TIME).to_string());
        if self.options.contexts {
            cells.push(&escape_line(&change.context));
        }
        if self.options.names {
            cells.push(&escape_line(&title(resource, object)));
        }
        cells.push(kind.as_str());
        cells.push(&escape_line(&author_text(author)));
        cells.push(&escape_line(&what));
        let line = Line { resource: Arc::clone(resource), columns: Arc::clone(&self.columns), cells };
        self.table.line(line, out)?;
        for text in &below {
            self.table.remark(text, None, false);
        }
        Ok(())
    }

    /// Adds a line for a mark that reports missing versions.
    pub(crate) fn mark(&mut self, mark: &Mark) {
        match &mark.kind {
            MarkKind::Gap { lasted, .. } => {
                let lasted = SignedDuration::try_from(*lasted).unwrap_or(SignedDuration::MAX);
                let from = mark.received.checked_sub(lasted).unwrap_or(Timestamp::MIN);
                self.gap(Some(&mark.resource), from, mark.received);
            }
            MarkKind::Error(status) => {
                self.table.note(&format!("── the watch ended: {} ──", escape_line(&status.message)));
            }
            _ => {}
        }
    }

    /// Adds a line for a time without observation. Without `resource`, it applies to all types.
    pub(crate) fn gap(&mut self, resource: Option<&ApiResource>, from: Timestamp, to: Timestamp) {
        let what = match resource {
            Some(resource) => format!("{} were not observed", escape_line(&resource.group_resource())),
            None => "nothing was recorded".to_owned(),
        };
        let [from, to] = [from, to].map(|time| time.strftime(TIME).to_string());
        self.table.note(&format!("── {what} from {from} to {to} ──"));
    }

    /// Writes the waiting rows.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.table.flush(out)
    }

    /// Compares an update with the state before. Returns the lines of the changed fields, without that of the author, who has
    /// a cell of the row, and the changes of the health as texts.
    fn compare(&mut self, change: &Change) -> (Vec<String>, Vec<String>) {
        let Some(old) = change.old.as_ref().filter(|_| change.kind == ChangeKind::Modified) else {
            return Default::default();
        };
        let last = self.last_state.take().filter(|last| last.is_of(old));
        let before = last.unwrap_or_else(|| ComparedState::of(old, None));
        let after = ComparedState::of(&change.object, Some(&before));
        let [old, new] = [&before, &after].map(ComparedState::document);
        let lines = self.options.details.lines_between(old, new, &change.resource);
        let health_changes = after.health_changes(&before);
        self.last_state = Some(after);
        (lines, health_changes)
    }
}

/// Returns the description of a version: the creation or deletion of the object, or the changes of its health.
fn version_description(
    change: &Change,
    birth: &LifetimeStart,
    has_no_changed_fields: bool,
    health_changes: &[String],
) -> String {
    match change.kind {
        ChangeKind::Added => birth.to_string(),
        ChangeKind::Deleted if change.final_state_unknown => {
            "deleted while it was not observed: the last state may be older".to_owned()
        }
        ChangeKind::Deleted => "deleted".to_owned(),
        ChangeKind::Sync => "unchanged".to_owned(),
        ChangeKind::Modified
            if health_changes.is_empty() && has_no_changed_fields && change.old.is_some() =>
        {
            "only heartbeats, versions or field managers".to_owned()
        }
        ChangeKind::Modified => health_changes.join("; "),
    }
}

/// Returns the manager and the subresource; `-` if they are unknown, as in every deletion.
fn author_text(author: Option<(&str, &str)>) -> String {
    match author {
        None => "-".to_owned(),
        Some((manager, "")) => manager.to_owned(),
        Some((manager, subresource)) => format!("{manager} ({subresource})"),
    }
}

/// Returns the name of an object with its type and, of a namespaced one, its namespace.
fn title(resource: &ApiResource, object: &Object) -> String {
    let name = format!("{}/{}", resource.group_kind_lower(), object.name());
    if object.namespace().is_empty() { name } else { format!("{name} in {}", object.namespace()) }
}

#[cfg(test)]
mod tests;
