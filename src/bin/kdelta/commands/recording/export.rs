//! `kdelta recording export`: the entries as JSON lines.

use std::io::Write;

use jiff::Timestamp;
use kdelta::lines::{LineOptions, LineWriter};
use kdelta::recording::{Excerpt, Item, RecordingError};

use super::excerpts::{SelectedExcerpt, selected_excerpts};
use super::selected::Selected;
use crate::exit::ExitCode;
use crate::output::Messages;
use crate::settings::RecordingExcerpt;

/// Prints the lines of all contexts in the order of time. A damaged part is reported, and the lines continue after it.
pub(super) fn run(
    excerpt: &RecordingExcerpt,
    contexts: &Selected<'_>,
    messages: &Messages,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let mut sources = Vec::new();
    for SelectedExcerpt { recording, since, until, filter } in selected_excerpts(excerpt, contexts, messages)?
    {
        sources.push(Source { excerpt: recording.excerpt(since, until, filter)?, head: None });
    }
    let mut code = ExitCode::Ok;
    let mut writer = LineWriter::new(LineOptions::default());
    let mut line = Vec::new();
    loop {
        for source in &mut sources {
            code = if source.advance(messages)? { code } else { ExitCode::Partial };
        }
        let heads = sources.iter_mut().filter(|source| source.head.is_some());
        let first = heads.min_by_key(|source| source.head.as_ref().map(|(received, _)| *received));
        let Some((_, item)) = first.and_then(|source| source.head.take()) else { break };
        line.clear();
        match item {
            Item::Change { change, author } => {
                let manager = author.as_ref().map(|author| &*author.manager);
                writer.change_by(manager, &change, None, &mut line);
            }
            Item::Mark(mark) => writer.mark(&mark, None, &mut line),
            // The published lines have changes and marks only.
            _ => continue,
        }
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(code)
}

/// The entries of one context.
struct Source {
    excerpt: Excerpt,
    head: Option<(Timestamp, Item)>,
}

impl Source {
    /// Reads the next entry if the last one was taken. Returns whether no damage was found.
    fn advance(&mut self, messages: &Messages) -> Result<bool, RecordingError> {
        let mut is_whole = true;
        while self.head.is_none() {
            match self.excerpt.next() {
                None => break,
                Some(Ok(head)) => self.head = Some(head),
                Some(Err(RecordingError::Damaged(damage))) => {
                    is_whole = false;
                    messages.warning(&damage.to_string());
                }
                Some(Err(error)) => return Err(error),
            }
        }
        Ok(is_whole)
    }
}
