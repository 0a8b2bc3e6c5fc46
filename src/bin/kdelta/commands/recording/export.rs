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
        let context = recording.context().to_owned();
        sources.push(Source { context, excerpt: recording.excerpt(since, until, filter)?, head: None });
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
        let Some(source) = first else { break };
        line.clear();
        source.take(&mut writer, &mut line);
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(code)
}

/// The entries of one context.
struct Source {
    context: String,
    excerpt: Excerpt,
    head: Option<(Timestamp, Item)>,
}

impl Source {
    /// Takes the next entry and appends its line, if it has one.
    fn take(&mut self, writer: &mut LineWriter, line: &mut Vec<u8>) {
        match self.head.take() {
            Some((_, Item::Change { change, author })) => {
                let author = author.as_ref().map(|author| (&*author.manager, &*author.subresource));
                writer.change_by(author, &change, None, line);
            }
            Some((_, Item::Mark(mark))) => writer.mark(&mark, None, line),
            Some((received, Item::Started)) => {
                // Before the first recorder, nothing was to be observed.
                if let Some(last) = self.excerpt.observed_before(received) {
                    let unobserved = received.duration_since(last).unsigned_abs();
                    writer.started(&self.context, received, unobserved, line);
                }
            }
            // The published lines have neither bookmarks nor documents.
            _ => {}
        }
    }

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
