//! The versions of objects, as `kdelta history` prints them: a row for each, and its changes below.

mod lifetimes;

use std::io::{self, Write};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind, Mark, MarkKind};
use kdelta::object::{ApiResource, Column, Object, Origin};
use kdelta::recording::Author;

use self::lifetimes::{LifetimeStart, Lifetimes};
use super::table::{Extent, RowWidth, Table};
use crate::view::{Cells, Comparer, Comparison, Details, Layout, Line, escape_line};

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
    comparer: Comparer,
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
            comparer: Comparer::new(options.details),
            options,
            lifetimes: Lifetimes::default(),
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
        let comparison = self.comparer.compare(change);
        self.version(change, author, &comparison, out)
    }

    /// Adds the row of a recorded version and its changes. A version without a comparison is compared.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn recorded(
        &mut self,
        change: &Change,
        author: Option<&Author>,
        comparison: Option<Comparison>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let author = author.map(|Author { manager, subresource }| (&**manager, &**subresource));
        let comparison = comparison.unwrap_or_else(|| self.comparer.compare(change));
        self.version(change, author, &comparison, out)
    }

    /// Adds the row of a version whose author is a manager and a subresource, if they are known.
    fn version(
        &mut self,
        change: &Change,
        author: Option<(&str, &str)>,
        comparison: &Comparison,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Change { kind, object, resource, received, .. } = change;
        let birth = self.lifetimes.record(change);
        let what = version_description(change, &birth, comparison);
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
        for line in comparison.fields.split_terminator('\n') {
            self.table.remark(line, None, false);
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
}

/// Returns the description of a version: the creation or deletion of the object, or the changes of its health.
fn version_description(change: &Change, birth: &LifetimeStart, comparison: &Comparison) -> String {
    match change.kind {
        ChangeKind::Added => birth.to_string(),
        ChangeKind::Deleted if change.final_state_unknown => {
            "deleted while it was not observed: the last state may be older".to_owned()
        }
        ChangeKind::Deleted => "deleted".to_owned(),
        ChangeKind::Sync => "unchanged".to_owned(),
        ChangeKind::Modified
            if comparison.health.is_empty() && comparison.fields.is_empty() && change.old.is_some() =>
        {
            "only heartbeats, versions or field managers".to_owned()
        }
        ChangeKind::Modified => comparison.health.join("; "),
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
