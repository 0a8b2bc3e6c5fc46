//! The output of `watch`: an endless sequence of changes, or of the states that follow from them, in one of the formats.

mod change_rows;
#[cfg(test)]
mod tests;

pub(crate) use change_rows::RowOptions;

use std::io::{self, Write};

use kdelta::lines::{Change, ChangeKind, LineOptions, Mark};
use kdelta::object::ResourceVersion;
use kdelta::query::CustomColumns;
use tokio::time::Instant;

use super::counts::LiveCounts;
use super::delimited::{DelimitedChanges, DelimitedFormat};
use super::get_watch::GetWatchOutput;
use super::history::HistoryRows;
use super::jq::JqResults;
use super::json_lines::JsonLines;
use super::name::Names;
use super::template::{ColumnRows, Engine, PrintError, TemplateChanges};
use super::typed::EventStream;
use super::yaml::{YamlDocuments, kyaml};
use crate::view::Layout;
use change_rows::ChangeRows;

/// A stream of changes in one of the formats.
pub(crate) enum WatchOutput {
    /// The server's cells after an EVENT column.
    Table(Box<ChangeRows>),
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

impl WatchOutput {
    /// Creates a table, with a header if `headers`, marks of changes dim and abnormal cells coloured if `colour`.
    pub(crate) fn table(layout: Layout, headers: bool, colour: bool, options: RowOptions) -> Self {
        Self::Table(Box::new(ChangeRows::new(layout, headers, colour, options)))
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
        if let Self::Table(rows) = self {
            rows.mark_initial_state(objects, ends);
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
            Self::Table(rows) => rows.flush(out),
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
