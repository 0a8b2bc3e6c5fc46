//! `kdelta recording import`: recordings of JSON lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use anyhow::{Context, bail};
use kdelta::recording::{Importer, Writer};

use super::report::report;
use super::selected::Selected;
use super::target::Target;
use crate::commands::record::redaction;
use crate::exit::ExitCode;
use crate::output::Messages;
use crate::settings::{ImportInput, Redacted};

/// The longest line. Servers refuse much smaller objects.
const MAX_LINE: u64 = 64 << 20;

/// Imports all lines. After an error, nothing is left of the new recordings.
pub(super) fn run(
    input: &ImportInput,
    redacted: &Redacted,
    target: &Target<'_>,
    selected: &Selected<'_>,
    messages: &Messages,
) -> anyhow::Result<ExitCode> {
    let mut importer = Importer::new(target.dir)
        .encryption(target.encryption.clone())
        .redaction(redaction(redacted, target.dir)?, redacted.path_texts.clone());
    match input {
        ImportInput::StandardInput => {
            import(io::stdin().lock(), &mut importer).context("standard input")?;
        }
        ImportInput::File(path) => {
            let name = || path.display().to_string();
            let file = File::open(path).with_context(name)?;
            import(BufReader::new(file), &mut importer).with_context(name)?;
        }
    }
    let imports = importer.finish()?;
    if imports.contexts.is_empty() {
        bail!("there are no lines to import");
    }
    for context in &imports.contexts {
        report(&Writer::directory(target.dir, context), selected, messages)?;
    }
    if imports.skipped > 0 {
        messages.notice(&format!(
            "{} lines were left out: resyncs, or types that this version does not know",
            imports.skipped
        ));
    }
    if imports.raised > 0 {
        messages.notice(&format!(
            "{} lines have an earlier time than a line before them: they are recorded at its time",
            imports.raised
        ));
    }
    Ok(ExitCode::Ok)
}

fn import(mut input: impl BufRead, importer: &mut Importer) -> anyhow::Result<()> {
    let mut line = Vec::new();
    let mut number = 1u64;
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == MAX_LINE {
            bail!("line {number}: it is longer than {} MiB", MAX_LINE >> 20);
        }
        importer.line(&line)?;
        number += 1;
    }
}
