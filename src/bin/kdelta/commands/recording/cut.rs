//! `kdelta recording cut`: an excerpt as a recording.

use std::collections::BTreeSet;

use anyhow::Context;
use kdelta::recording::{CutOptions, Moment, Recording, Writer, cut};

use super::excerpts::{SelectedExcerpt, selected_excerpts};
use super::known_names::alternatives;
use super::report::{prefix, report};
use super::selected::Selected;
use super::target::Target;
use crate::commands::record::redaction;
use crate::exit::ExitCode;
use crate::output::Messages;
use crate::settings::{RecordingExcerpt, Redacted};

/// Copies the excerpt of each context. Contexts without an object of the excerpt are left out.
///
/// # Errors
/// No context has an object of the excerpt, a recording can't be read, or the new one can't be written.
pub(super) fn run(
    excerpt: &RecordingExcerpt,
    redacted: &Redacted,
    contexts: &Selected<'_>,
    target: &Target<'_>,
    messages: &Messages,
) -> anyhow::Result<ExitCode> {
    let excerpts = selected_excerpts(excerpt, contexts, messages)?;
    let mut has_objects = Vec::new();
    for excerpt in &excerpts {
        target.check(&excerpt.recording)?;
        has_objects.push(excerpt.has_objects()?);
    }
    if !has_objects.contains(&true) {
        return Err(nothing_selected(&excerpts, excerpt)?);
    }
    let redaction = redaction(redacted, target.dir)?;
    for (SelectedExcerpt { recording, since, until, filter }, has_objects) in
        excerpts.into_iter().zip(has_objects)
    {
        if !has_objects {
            messages.notice(&format!("{}nothing of the excerpt was recorded", prefix(recording.context())));
            continue;
        }
        let dir = Writer::directory(target.dir, recording.context());
        let options = CutOptions::default()
            .since(since)
            .until(until)
            .filter(filter)
            .redaction(redaction.clone())
            .redacted_paths(redacted.path_texts.clone())
            .encryption(target.encryption.clone());
        cut(&recording, &dir, &options)?;
        report(&dir, contexts, messages)?;
    }
    Ok(ExitCode::Ok)
}

/// Returns the error of a selection without an object.
///
/// # Errors
/// A recording can't be read.
fn nothing_selected(
    excerpts: &[SelectedExcerpt],
    requested: &RecordingExcerpt,
) -> anyhow::Result<anyhow::Error> {
    let range = if requested.since.is_some() || requested.until.is_some() { " in this range" } else { "" };
    let types: Vec<String> = requested.types.iter().map(|word| word.text().to_owned()).collect();
    let what = if types.is_empty() { "object".to_owned() } else { format!("object of {}", types.join(", ")) };
    let Some(namespaces) = &requested.namespaces else {
        return Ok(anyhow::anyhow!("no {what} was recorded{range}"));
    };
    let mut known = BTreeSet::new();
    for SelectedExcerpt { recording, .. } in excerpts {
        known.extend(recorded_namespaces(recording)?);
    }
    let missing = namespaces.iter().find(|name| !known.contains(*name));
    let alternatives = missing.map(|name| alternatives(name, known.clone(), &known)).unwrap_or_default();
    let names: Vec<String> = namespaces.iter().map(|name| format!("{name:?}")).collect();
    let noun = if names.len() == 1 { "namespace" } else { "namespaces" };
    Ok(anyhow::anyhow!("no {what} in the {noun} {} was recorded{range}{alternatives}", names.join(", ")))
}

/// Returns the namespaces that have objects at the end of a recording.
fn recorded_namespaces(recording: &Recording) -> anyhow::Result<BTreeSet<String>> {
    let state = recording.state(Moment::End).context("the namespaces of the recording")?;
    let mut names = BTreeSet::new();
    for resource in state.resources()?.into_iter().filter(|resource| resource.namespaced) {
        names.extend(state.objects(&resource, None)?.iter().map(|object| object.namespace().to_owned()));
    }
    Ok(names)
}
