//! `kdelta recording verify`: reads every file of recordings and lists the damaged parts.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use jiff::Timestamp;
use kdelta::object::JsonValue;
use kdelta::recording::{Damage, RecordingError};
use serde::Serialize;

use super::report::{counted_entries, prefix, report_unreadable};
use super::selected::Selected;
use crate::commands::format::of_documents;
use crate::exit::ExitCode;
use crate::output::{Messages, TabRows, TypedDocuments};
use crate::settings::{Format, OutputStream};
use crate::view::{counted, escape_cell, escape_line};

/// The result for one context.
struct Verified {
    context: String,
    files: u64,
    entries: u64,
    damages: Vec<Damage>,
}

/// Verifies each context and prints the damaged parts. Contexts that can't be read are reported.
///
/// # Errors
/// A recording is damaged, the only one can't be read, or the output can't be written.
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
        match verify(&context, &path, contexts) {
            Ok(verified) => all.push(verified),
            Err(error) if is_only => return Err(error.into()),
            Err(error) => {
                report_unreadable(&context, &error.into(), messages);
                code = ExitCode::Error;
            }
        }
    }
    if let Some(format) = of_documents(format) {
        let json = serde_json::to_vec(&Document { contexts: all.iter().map(ContextDocument::of).collect() })?;
        TypedDocuments::new(format, stdout.is_terminal).document(&JsonValue::parse(&json), &mut out)?;
    } else {
        write(&all, &mut out)?;
    }
    out.flush()?;
    match all.iter().map(|verified| verified.damages.len()).sum() {
        0 => Ok(code),
        1usize => bail!("a part of the recording is damaged"),
        count => bail!("{count} parts of the recording are damaged"),
    }
}

fn verify(context: &str, path: &Path, contexts: &Selected<'_>) -> Result<Verified, RecordingError> {
    let recording = contexts.open(path)?;
    let mut damages = recording.verify()?;
    // The end of the journal may be a part that a running recorder was writing.
    if damages.iter().any(is_of_journal) {
        damages = contexts.open(path)?.verify()?;
    }
    let usage = recording.usage().unwrap_or_default();
    let context = context.to_owned();
    Ok(Verified { context, files: usage.files, entries: usage.entries, damages })
}

fn is_of_journal(damage: &Damage) -> bool {
    damage.file.extension().is_some_and(|extension| extension == "journal")
}

fn write(all: &[Verified], out: &mut impl Write) -> io::Result<()> {
    for Verified { context, files, entries, .. } in all.iter().filter(|verified| verified.damages.is_empty())
    {
        let (context, files, entries) =
            (prefix(&escape_line(context)), counted(*files, "file"), counted_entries(*entries));
        writeln!(out, "{context}no damage in {files} with {entries}")?;
    }
    let damages: Vec<&Damage> = all.iter().flat_map(|verified| &verified.damages).collect();
    if damages.is_empty() {
        return Ok(());
    }
    let mut rows = TabRows::default();
    rows.push(["FILE", "OFFSET", "UNREADABLE FROM", "TO", "DAMAGE"]);
    for Damage { file, offset, what, from, until } in damages {
        let file = escape_cell(&file.display().to_string()).into_owned();
        let what = escape_cell(what).into_owned();
        rows.push([file, offset.to_string(), cell(*from), cell(*until), what]);
    }
    rows.flush(out)
}

fn cell(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "<unknown>".to_owned(), |time| time.to_string())
}

#[derive(Serialize)]
struct Document<'a> {
    contexts: Vec<ContextDocument<'a>>,
}

#[derive(Serialize)]
struct ContextDocument<'a> {
    context: &'a str,
    damages: Vec<DamageDocument<'a>>,
}

#[derive(Serialize)]
struct DamageDocument<'a> {
    file: String,
    offset: u64,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

impl<'a> ContextDocument<'a> {
    fn of(verified: &'a Verified) -> Self {
        let damages = verified.damages.iter().map(|damage| DamageDocument {
            file: damage.file.display().to_string(),
            offset: damage.offset,
            what: &damage.what,
            from: damage.from.map(|from| from.to_string()),
            to: damage.until.map(|until| until.to_string()),
        });
        Self { context: &verified.context, damages: damages.collect() }
    }
}
