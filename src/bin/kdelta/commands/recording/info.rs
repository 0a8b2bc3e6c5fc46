//! `kdelta recording info`: the range, gaps, counts and sizes of recordings.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use kdelta::object::{JsonValue, human_duration};
use kdelta::recording::{Gap, RecordingError, TypeUsage, Usage};
use serde::Serialize;

use super::report::report_unreadable;
use super::selected::Selected;
use crate::commands::format::of_documents;
use crate::exit::{ExitCode, Hint};
use crate::output::{Messages, TabRows, TypedDocuments};
use crate::settings::{Format, OutputStream};
use crate::view::{counted, escape_cell, escape_line, human_size};

/// The number of namespaces of a type in the text.
const MAX_NAMESPACES: usize = 5;

/// The number of gaps in the text.
const MAX_GAPS: usize = 10;

/// The figures of one context.
struct ContextUsage {
    context: String,
    directory: String,
    usage: Usage,
}

/// Prints the figures of each context. Contexts that can't be read are reported.
///
/// # Errors
/// No context can be read, or the output can't be written.
pub(super) fn run(
    dir: &Path,
    contexts: &Selected<'_>,
    format: Format,
    stdout: OutputStream,
    messages: &Messages,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let selected = contexts.paths(dir)?;
    let is_only = selected.len() == 1;
    let (mut all, mut code) = (Vec::new(), ExitCode::Ok);
    for (context, path) in selected {
        match contexts.open(&path).and_then(|recording| recording.usage()) {
            Ok(usage) => all.push(ContextUsage { context, directory: path.display().to_string(), usage }),
            Err(error) if is_only => return Err(with_advice(error, dir)),
            Err(error) => {
                report_unreadable(&context, &with_advice(error, dir), messages);
                code = ExitCode::Partial;
            }
        }
    }
    if all.is_empty() {
        return Ok(ExitCode::Error);
    }
    if let Some(format) = of_documents(format) {
        let document = Document { contexts: all.iter().map(ContextDocument::of).collect() };
        let json = serde_json::to_vec(&document)?;
        TypedDocuments::new(format, stdout.is_terminal).document(&JsonValue::parse(&json), &mut out)?;
    } else {
        for (number, of_context) in all.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            of_context.write(&mut out)?;
        }
    }
    out.flush()?;
    Ok(code)
}

fn with_advice(error: RecordingError, dir: &Path) -> anyhow::Error {
    let is_damage = matches!(error, RecordingError::Damaged(_));
    let advice = format!("`kdelta recording verify {}` lists all damages", dir.display());
    let error = anyhow::Error::new(error);
    if is_damage { error.context(Hint(advice)) } else { error }
}

impl ContextUsage {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let usage = &self.usage;
        writeln!(out, "Context:  {}", escape_line(&self.context))?;
        if let (Some(first), Some(last)) = (usage.first, usage.last) {
            writeln!(out, "Range:    {first} to {last} ({})", length(first, last))?;
        }
        let journal = if usage.journal_bytes > 0 {
            format!("{} in the journal, ", human_size(usage.journal_bytes))
        } else {
            String::new()
        };
        writeln!(
            out,
            "Size:     {} in {}, of which {journal}{} of marks, documents and indices",
            human_size(usage.bytes),
            counted(usage.files, "file"),
            human_size(usage.other_bytes),
        )?;
        writeln!(out, "Entries:  {}", usage.entries)?;
        writeln!(out, "Gaps:     {}", usage.gaps.len())?;
        for gap in usage.gaps.iter().take(MAX_GAPS) {
            let Gap { from, to, .. } = gap;
            writeln!(out, "  {from} to {to} ({}): {}", length(*from, *to), escape_line(&subject(gap)))?;
        }
        if let Some(more) = usage.gaps.len().checked_sub(MAX_GAPS).filter(|more| *more > 0) {
            writeln!(out, "  and {more} more, which -o json prints")?;
        }
        if usage.types.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let mut rows = TabRows::default();
        let is_limited = usage.types.iter().any(|of_type| !namespaces(of_type).is_empty());
        let header = ["TYPE", "OBJECTS", "VERSIONS", "BODIES", "ROWS", "COLUMNS", "KEYFRAMES", "JOURNAL"];
        rows.push(header.into_iter().chain(is_limited.then_some("NAMESPACES")));
        for of_type in &usage.types {
            let TypeUsage { body_bytes, row_bytes, column_bytes, keyframe_bytes, journal_bytes, .. } =
                of_type;
            let sizes = [body_bytes, row_bytes, column_bytes, keyframe_bytes, journal_bytes];
            let name = escape_cell(&of_type.resource.group_resource()).into_owned();
            let counts = [of_type.objects.to_string(), of_type.versions.to_string()];
            let limit = is_limited.then(|| escape_cell(&namespaces(of_type)).into_owned());
            let sizes = sizes.map(|bytes| human_size(*bytes));
            rows.push([name].into_iter().chain(counts).chain(sizes).chain(limit));
        }
        rows.flush(out)
    }
}

/// Returns the namespaces to which the recording of a type is limited; an empty text without a limit.
fn namespaces(of_type: &TypeUsage) -> String {
    let names: Vec<&str> = of_type.namespaces.iter().map(|name| &**name).collect();
    let more = names.len().saturating_sub(MAX_NAMESPACES);
    let text = names[..names.len() - more].join(",");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// Returns what was not observed during a gap.
fn subject(gap: &Gap) -> String {
    match &gap.resource {
        None => "no recorder was running".to_owned(),
        Some(_) => gap.subject(),
    }
}

fn length(from: Timestamp, to: Timestamp) -> String {
    human_duration(to.as_second() - from.as_second())
}

#[derive(Serialize)]
struct Document<'a> {
    contexts: Vec<ContextDocument<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContextDocument<'a> {
    context: &'a str,
    directory: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    entries: u64,
    files: u64,
    bytes: u64,
    journal_bytes: u64,
    other_bytes: u64,
    gaps: Vec<GapDocument<'a>>,
    types: Vec<TypeDocument<'a>>,
}

#[derive(Serialize)]
struct GapDocument<'a> {
    from: String,
    to: String,
    /// The type that was not observed; absent if no recorder was running.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TypeDocument<'a> {
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    kind: &'a str,
    /// The namespaces to which the recording is limited; absent without a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    namespaces: Vec<&'a str>,
    objects: u64,
    versions: u64,
    body_bytes: u64,
    row_bytes: u64,
    column_bytes: u64,
    keyframe_bytes: u64,
    journal_bytes: u64,
}

impl<'a> ContextDocument<'a> {
    fn of(of_context: &'a ContextUsage) -> Self {
        let ContextUsage { context, directory, usage } = of_context;
        let gaps = usage.gaps.iter().map(|gap| GapDocument {
            from: gap.from.to_string(),
            to: gap.to.to_string(),
            resource: gap.resource.as_ref().map(|resource| resource.group_resource()),
            namespace: &gap.namespace,
        });
        Self {
            context,
            directory,
            from: usage.first.map(|time| time.to_string()),
            to: usage.last.map(|time| time.to_string()),
            entries: usage.entries,
            files: usage.files,
            bytes: usage.bytes,
            journal_bytes: usage.journal_bytes,
            other_bytes: usage.other_bytes,
            gaps: gaps.collect(),
            types: usage.types.iter().map(TypeDocument::of).collect(),
        }
    }
}

impl<'a> TypeDocument<'a> {
    fn of(usage: &'a TypeUsage) -> Self {
        Self {
            group: &usage.resource.group,
            version: &usage.resource.version,
            resource: &usage.resource.resource,
            kind: &usage.resource.kind,
            namespaces: usage.namespaces.iter().map(|name| &**name).filter(|name| !name.is_empty()).collect(),
            objects: usage.objects,
            versions: usage.versions,
            body_bytes: usage.body_bytes,
            row_bytes: usage.row_bytes,
            column_bytes: usage.column_bytes,
            keyframe_bytes: usage.keyframe_bytes,
            journal_bytes: usage.journal_bytes,
        }
    }
}
