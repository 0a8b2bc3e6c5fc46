//! The output of templates and custom columns: one object, a list item by item where the template allows it, or a whole
//! list.

use std::io::{self, Write};

use kdelta::object::{ItemStream, JsonPath, JsonPathError, JsonValue, Object};
use kdelta::query::{
    ColumnPrintError, ColumnPrinter, CustomColumns, GoTemplate, ListExecution, SortError, TemplateError,
};

use super::jq::JqFailure;
use super::json::CollectedList;
use crate::view::escape;

/// A template that does not fit an object, or output that can't be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrintError {
    /// A `JSONPath` template failed.
    #[error(transparent)]
    JsonPath(#[from] JsonPathFailure),
    /// A Go template failed.
    #[error(transparent)]
    GoTemplate(#[from] TemplateError),
    /// An expression of a column or of `--sort-by` failed.
    #[error(transparent)]
    Expression(#[from] JsonPathError),
    /// A jq expression failed.
    #[error(transparent)]
    Jq(#[from] JqFailure),
    /// The list can't be sorted.
    #[error(transparent)]
    Sort(#[from] SortError),
    /// An object of the initial list of `get -w` can't be printed.
    #[error("unable to output the provided object: {0}")]
    InList(Box<PrintError>),
    /// The output can't be written. Its error is a source, which decides the exit code.
    #[error("{0}")]
    Write(#[from] io::Error),
}

impl PrintError {
    /// Whether the text has line breaks of its own, in the description of a failed template.
    pub(crate) fn has_own_lines(&self) -> bool {
        match self {
            Self::JsonPath(_) => true,
            Self::InList(error) => error.has_own_lines(),
            Self::GoTemplate(_) | Self::Expression(_) | Self::Jq(_) | Self::Sort(_) | Self::Write(_) => false,
        }
    }
}

impl From<ColumnPrintError> for PrintError {
    fn from(error: ColumnPrintError) -> Self {
        match error {
            ColumnPrintError::Write(error) => Self::Write(error),
            ColumnPrintError::Expression(error) => Self::Expression(error),
            other => Self::Write(io::Error::other(other)),
        }
    }
}

/// A failed execution, with kubectl's description of template and object.
#[derive(Debug, thiserror::Error)]
#[error(
    "error executing jsonpath {quoted}: Error executing template: {error}. Printing more information for debugging the template:\n\ttemplate was:\n\t\t{text}\n\tobject given to jsonpath engine was:\n\t\t{object}\n\n\n"
)]
pub(crate) struct JsonPathFailure {
    quoted: String,
    text: &'static str,
    error: JsonPathError,
    object: String,
}

/// A template, which lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) enum Engine {
    /// A `JSONPath` template and its text.
    JsonPath(&'static JsonPath, &'static str),
    /// The same, with the results as a JSON array.
    JsonPathAsJson(&'static JsonPath, &'static str),
    /// A Go template.
    Go(&'static GoTemplate),
}

impl Engine {
    /// Appends the output for a value.
    ///
    /// # Errors
    /// The template does not fit the value. A Go template has appended a description then.
    pub(super) fn execute(self, value: &JsonValue<'_>, out: &mut Vec<u8>) -> Result<(), PrintError> {
        let failure = |text| move |error| JsonPathFailure::new(text, error, value);
        match self {
            Self::JsonPath(path, text) => path.execute(value, out).map_err(failure(text))?,
            Self::JsonPathAsJson(path, text) => path.execute_json(value, out).map_err(failure(text))?,
            Self::Go(template) => template.execute(value, out)?,
        }
        Ok(())
    }
}

impl JsonPathFailure {
    fn new(text: &'static str, error: JsonPathError, object: &JsonValue<'_>) -> Self {
        let quoted = go_syntax(&JsonValue::Text(text.into()));
        Self { quoted, text, error, object: go_syntax(object) }
    }
}

fn go_syntax(value: &JsonValue<'_>) -> String {
    let mut text = Vec::new();
    value.write_go_syntax(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A listing by a template.
pub(crate) struct TemplateListing {
    execution: Execution,
    has_begun: bool,
    for_terminal: bool,
    /// The output that is not written yet; kept for its capacity.
    text: Vec<u8>,
}

enum Execution {
    /// A single object, requested by name.
    Single(Engine),
    /// Each item of a list is printed as it arrives. An execution that can fail later holds its output back.
    JsonPathItems {
        stream: ItemStream<'static>,
        text: &'static str,
    },
    GoItems(ListExecution<'static>),
    /// The template needs the whole list, whose JSON is collected.
    Whole {
        engine: Engine,
        list: CollectedList,
    },
}

impl TemplateListing {
    /// Creates a listing; `single` is whether exactly one type and name were requested, `for_terminal` whether a terminal
    /// displays it.
    pub(crate) fn new(engine: Engine, single: bool, for_terminal: bool) -> Self {
        let whole = || Execution::Whole { engine, list: CollectedList::default() };
        let execution = match engine {
            _ if single => Execution::Single(engine),
            Engine::JsonPath(path, text) => {
                path.streaming().map_or_else(whole, |stream| Execution::JsonPathItems { stream, text })
            }
            Engine::JsonPathAsJson(..) => whole(),
            Engine::Go(template) => template.list_execution().map_or_else(whole, Execution::GoItems),
        };
        Self { execution, has_begun: false, for_terminal, text: Vec::new() }
    }

    /// Writes one object, or keeps it until [`TemplateListing::finish`].
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn item(&mut self, object: &Object, out: &mut impl Write) -> Result<(), PrintError> {
        let json = object.json_or_names();
        if let Execution::Whole { list, .. } = &mut self.execution {
            list.push(&json);
            return Ok(());
        }
        self.begin()?;
        let value = JsonValue::parse(&json);
        match &mut self.execution {
            Execution::Single(engine) => {
                let executed = engine.execute(&value, &mut self.text);
                if !matches!(engine, Engine::Go(_)) {
                    executed?;
                } else if executed.is_err() {
                    self.write(out)?;
                    return executed;
                }
            }
            Execution::JsonPathItems { stream, text, .. } => {
                let executed = stream.item(&value, &mut self.text);
                executed.map_err(|error| JsonPathFailure::new(text, error, &value))?;
                if stream.may_fail() {
                    return Ok(());
                }
            }
            Execution::GoItems(execution) => {
                if let Err(error) = execution.item(&value, &mut self.text) {
                    self.write(out)?;
                    return Err(error.into());
                }
            }
            Execution::Whole { .. } => {}
        }
        self.write(out)
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// As [`TemplateListing::item`].
    pub(crate) fn finish(mut self, out: &mut impl Write) -> Result<(), PrintError> {
        self.begin()?;
        let executed = match self.execution {
            Execution::Single(_) => Ok(()),
            Execution::JsonPathItems { mut stream, text, .. } => {
                let empty = JsonValue::parse(b"{}");
                let ended = stream.end(&mut self.text);
                ended.map_err(|error| JsonPathFailure::new(text, error, &empty).into())
            }
            Execution::GoItems(execution) => {
                execution.end(&mut self.text);
                Ok(())
            }
            Execution::Whole { engine, list } => {
                engine.execute(&JsonValue::parse(&list.finish()), &mut self.text)
            }
        };
        // A Go template has printed a description of its failure.
        write_text(&self.text, self.for_terminal, out)?;
        out.flush()?;
        executed
    }

    /// Executes the part of a streamed template before the first item, once.
    fn begin(&mut self) -> Result<(), PrintError> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        match &mut self.execution {
            Execution::JsonPathItems { stream, text } => {
                let empty = JsonValue::parse(b"{}");
                let begun = stream.begin(&mut self.text);
                begun.map_err(|error| JsonPathFailure::new(text, error, &empty))?;
            }
            Execution::GoItems(execution) => execution.begin(&mut self.text),
            Execution::Single(_) | Execution::Whole { .. } => {}
        }
        Ok(())
    }

    fn write(&mut self, out: &mut impl Write) -> Result<(), PrintError> {
        write_text(&self.text, self.for_terminal, out)?;
        self.text.clear();
        Ok(())
    }
}

/// Writes text, on a terminal with its unsafe characters escaped.
pub(super) fn write_text(text: &[u8], for_terminal: bool, out: &mut impl Write) -> io::Result<()> {
    if for_terminal {
        out.write_all(escape(&String::from_utf8_lossy(text)).as_bytes())
    } else {
        out.write_all(text)
    }
}

/// The changes of a watch by a template, each executed on its own object.
pub(crate) struct TemplateChanges {
    engine: Engine,
    for_terminal: bool,
    text: Vec<u8>,
}

impl TemplateChanges {
    /// Creates the output; `for_terminal` is whether a terminal displays it.
    pub(crate) fn new(engine: Engine, for_terminal: bool) -> Self {
        Self { engine, for_terminal, text: Vec::new() }
    }

    /// Writes the output for the object of a change.
    ///
    /// # Errors
    /// The template does not fit the object, or `out` failed.
    pub(crate) fn change(&mut self, object: &Object, out: &mut impl Write) -> Result<(), PrintError> {
        self.text.clear();
        let executed = self.engine.execute(&JsonValue::parse(&object.json_or_names()), &mut self.text);
        write_text(&self.text, self.for_terminal, out)?;
        out.flush()?;
        executed
    }
}

/// Custom columns. Lines wait for the widths of later lines until [`ColumnRows::flush`].
pub(crate) struct ColumnRows {
    printer: ColumnPrinter<Vec<u8>>,
    for_terminal: bool,
}

impl ColumnRows {
    /// Creates the rows; `for_terminal` is whether a terminal displays them.
    pub(crate) fn new(columns: &CustomColumns, for_terminal: bool) -> Self {
        Self { printer: ColumnPrinter::new(columns.clone(), Vec::new()), for_terminal }
    }

    /// Adds the row of an object.
    ///
    /// # Errors
    /// An expression fails on the object, or `out` failed. The rows before it are written.
    pub(crate) fn row(&mut self, object: &Object, out: &mut impl Write) -> Result<(), PrintError> {
        let printed = self.printer.print(&JsonValue::parse(&object.json_or_names()));
        if printed.is_err() {
            self.flush(out)?;
        }
        Ok(printed?)
    }

    /// Writes the header if there were no rows.
    ///
    /// # Errors
    /// As [`ColumnRows::row`].
    pub(crate) fn finish(mut self, out: &mut impl Write) -> Result<(), PrintError> {
        let printed = self.printer.print_header();
        self.flush(out)?;
        Ok(printed?)
    }

    /// Writes the rows that wait.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.printer.flush()?;
        write_text(self.printer.get_ref(), self.for_terminal, out)?;
        self.printer.get_mut().clear();
        out.flush()
    }
}
