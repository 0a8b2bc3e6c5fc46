//! The output of `get -w`: the objects of the initial list, then the object of each event, as kubectl prints them.
//!
//! kubectl writes every format through one tab writer, which it flushes after the list and after each event: a template
//! with tabs is aligned like a table.

mod rows;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};

use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{JsonValue, Object};
use kdelta::query::{ColumnPrinter, CustomColumns, SortError, TabWriter};

use self::rows::Rows;
use super::json;
use super::name::Names;
use super::table::{MAX_WAITING_BYTES, MAX_WIDTH};
use super::template::{Engine, PrintError, write_text};
use super::yaml::{YamlDocuments, kyaml};
use crate::view::{Layout, escape, escape_json};

/// The options of every format.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(crate) struct GetWatchOptions {
    /// Whether each object is printed with the type of its event.
    pub(crate) events: bool,
    /// Whether the initial list is printed in one piece, once it is complete.
    pub(crate) waits_for_list: bool,
    /// Whether a terminal displays the output.
    pub(crate) for_terminal: bool,
    /// Whether abnormal cells of a table are coloured.
    pub(crate) colour: bool,
}

/// The output of `get -w` in one of the formats.
pub(crate) struct GetWatchOutput {
    format: Format,
    options: GetWatchOptions,
    text: TabWriter<Vec<u8>>,
    /// The text of one object, kept for its capacity.
    object_text: Vec<u8>,
    /// Whether the initial list has been printed.
    is_live: bool,
    /// Whether an object could not be printed. As in kubectl, the text that waits for its alignment is lost then.
    has_failed: bool,
}

enum Format {
    Rows(Box<Rows>),
    Json,
    Yaml(YamlDocuments),
    Kyaml,
    Names(Names),
    Template(Engine),
    Columns(Box<ColumnPrinter<Vec<u8>>>),
}

impl GetWatchOutput {
    fn new(format: Format, options: GetWatchOptions) -> Self {
        let text = TabWriter::new(Vec::new());
        Self { format, options, text, object_text: Vec::new(), is_live: false, has_failed: false }
    }

    /// Creates a table, with a header if `headers`; its initial rows are sorted by `sort_by`, unless they are events.
    pub(crate) fn table(
        layout: Layout,
        headers: bool,
        sort_by: Option<&str>,
        options: GetWatchOptions,
    ) -> Self {
        let sort_by = sort_by.filter(|_| !options.events);
        let output =
            Self::new(Format::Rows(Box::new(Rows::new(layout, headers, options.colour, sort_by))), options);
        Self { text: output.text.max_width(MAX_WIDTH), ..output }
    }

    /// Creates JSON documents, or one line per event.
    pub(crate) fn json(options: GetWatchOptions) -> Self {
        Self::new(Format::Json, options)
    }

    /// Creates YAML documents.
    pub(crate) fn yaml(options: GetWatchOptions) -> Self {
        Self::new(Format::Yaml(YamlDocuments::new(options.for_terminal)), options)
    }

    /// Creates KYAML documents.
    pub(crate) fn kyaml(options: GetWatchOptions) -> Self {
        Self::new(Format::Kyaml, options)
    }

    /// Creates name output.
    pub(crate) fn names(options: GetWatchOptions) -> Self {
        Self::new(Format::Names(Names::default()), options)
    }

    /// Creates output by a template.
    pub(crate) fn template(engine: Engine, options: GetWatchOptions) -> Self {
        Self::new(Format::Template(engine), options)
    }

    /// Creates custom columns.
    pub(crate) fn custom_columns(columns: &CustomColumns, options: GetWatchOptions) -> Self {
        Self::new(Format::Columns(Box::new(ColumnPrinter::new(columns.clone(), Vec::new()))), options)
    }

    /// Prints the object of a change. Before the initial list is complete, aligned text waits.
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn change(&mut self, change: &Change, out: &mut impl Write) -> Result<(), PrintError> {
        let printed = self.print(change);
        self.has_failed = printed.is_err();
        if self.is_live {
            self.flush_text(out)?;
        } else {
            self.pass(out)?;
        }
        printed.map_err(|error| self.in_list(error))
    }

    /// Ends the initial list: its rows are sorted and printed, and each further change is printed at once.
    ///
    /// # Errors
    /// The rows can't be sorted, or `out` failed.
    pub(crate) fn end_list(&mut self, out: &mut impl Write) -> Result<(), PrintError> {
        if let Format::Rows(rows) = &mut self.format {
            let sorted = rows.end_list(&mut self.text);
            sorted.map_err(|error| self.in_list(error.into()))?;
        }
        self.is_live = true;
        Ok(self.flush_text(out)?)
    }

    /// Writes the text that waits, unless it waits for the rest of the list.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.is_live || !self.options.waits_for_list { self.flush_text(out) } else { Ok(()) }
    }

    /// Marks an error of the initial list, which kubectl reports in other words.
    fn in_list(&self, error: PrintError) -> PrintError {
        match error {
            // kubectl's comparison ends the program itself.
            PrintError::Write(_) | PrintError::Sort(SortError::Incomparable { .. }) => error,
            _ if self.is_live => error,
            error => PrintError::InList(Box::new(error)),
        }
    }

    fn print(&mut self, change: &Change) -> Result<(), PrintError> {
        let Change { object, kind, resource, .. } = change;
        let (events, for_terminal) = (self.options.events, self.options.for_terminal);
        self.object_text.clear();
        self.object_text.shrink_to(KEPT_TEXT);
        let mut executed = Ok(());
        match &mut self.format {
            Format::Rows(rows) => rows.change(change, &mut self.text)?,
            Format::Json if events => event_line(object, *kind, &mut self.object_text),
            Format::Json => json::document(object, false, &mut self.object_text)?,
            Format::Yaml(documents) if events => documents.event(object, *kind, &mut self.object_text)?,
            Format::Yaml(documents) => documents.document(object, &mut self.object_text)?,
            Format::Kyaml if events => kyaml::event(object, *kind, &mut self.object_text)?,
            Format::Kyaml => kyaml::document(object, &mut self.object_text)?,
            Format::Names(names) => names.name(object, resource, &mut self.object_text)?,
            Format::Template(engine) => {
                executed = execute(*engine, object, events.then_some(*kind), &mut self.object_text);
            }
            Format::Columns(printer) => {
                let json = object.json_or_names();
                let value = JsonValue::parse(&json);
                return Ok(printer.print(&if events { event(value, *kind) } else { value })?);
            }
        }
        let text = String::from_utf8_lossy(&self.object_text);
        self.text.write(&match self.format {
            Format::Json if for_terminal => escape_json(&text),
            Format::Template(_) if for_terminal => escape(&text),
            _ => text,
        })?;
        if self.text.waiting() > MAX_WAITING_BYTES {
            self.text.flush()?;
        }
        executed
    }

    fn flush_text(&mut self, out: &mut impl Write) -> io::Result<()> {
        match &mut self.format {
            _ if self.has_failed => {}
            Format::Columns(printer) => printer.flush()?,
            _ => self.text.flush()?,
        }
        self.pass(out)?;
        out.flush()
    }

    /// Writes the aligned text.
    fn pass(&mut self, out: &mut impl Write) -> io::Result<()> {
        let (aligned, for_terminal) = match &mut self.format {
            Format::Columns(printer) => (printer.get_mut(), self.options.for_terminal),
            // Safe already.
            _ => (self.text.get_mut(), false),
        };
        write_text(aligned, for_terminal, out)?;
        aligned.clear();
        aligned.shrink_to(KEPT_TEXT);
        Ok(())
    }
}

/// The capacity that stays allocated for the text of later changes.
const KEPT_TEXT: usize = 1 << 16;

/// Appends the output of a template for an object, or for its event. A Go template also prints its failure.
fn execute(
    engine: Engine,
    object: &Object,
    kind: Option<ChangeKind>,
    out: &mut Vec<u8>,
) -> Result<(), PrintError> {
    let json = object.json_or_names();
    let value = JsonValue::parse(&json);
    let value = match (kind, engine) {
        (None, _) => value,
        // kubectl reads the event with an ordinary JSON parser here.
        (Some(kind), Engine::JsonPath(..) | Engine::JsonPathAsJson(..)) => with_floats(event(value, kind)),
        (Some(kind), Engine::Go(_)) => event(value, kind),
    };
    engine.execute(&value, out)
}

/// Appends the line `{"type":…,"object":…}`.
fn event_line(object: &Object, kind: ChangeKind, line: &mut Vec<u8>) {
    line.extend_from_slice(format!("{{\"type\":\"{}\",\"object\":", kind.as_str()).as_bytes());
    JsonValue::parse(&object.json_or_names()).write_compact(line);
    line.extend_from_slice(b"}\n");
}

/// Returns the event of an object.
fn event(object: JsonValue<'_>, kind: ChangeKind) -> JsonValue<'_> {
    JsonValue::Object(vec![
        (Cow::Borrowed("object"), object),
        (Cow::Borrowed("type"), JsonValue::Text(Cow::Borrowed(kind.as_str()))),
    ])
}

/// Returns the value with every number as a float, as Go reads JSON of an unknown type.
#[expect(clippy::cast_precision_loss, reason = "Go loses it too")]
fn with_floats(value: JsonValue<'_>) -> JsonValue<'_> {
    match value {
        JsonValue::Int(number) => JsonValue::Float(number as f64),
        JsonValue::Array(items) => JsonValue::Array(items.into_iter().map(with_floats).collect()),
        JsonValue::Object(members) => {
            JsonValue::Object(members.into_iter().map(|(key, value)| (key, with_floats(value))).collect())
        }
        other => other,
    }
}
