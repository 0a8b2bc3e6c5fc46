//! Recordings in place of clusters: each is served inside the process at one moment.

mod compared_versions;
mod coverage;
mod early_history;
mod gap_notice;
mod recorded_types;
mod requested_types;

pub(crate) use coverage::Coverage;
pub(super) use early_history::EarlyHistory;
pub(super) use gap_notice::GapNotice;
pub(super) use recorded_types::RecordedTypes;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use jiff::Timestamp;
use kdelta::client::Connector;
use kdelta::kubeconfig::Config;
use kdelta::kubeconfig::Contexts as Known;
use kdelta::object::{ApiResource, FieldSelector, LabelSelector};
use kdelta::recording::{Entry, Keyring, Moment, RecordedServer, Recording, RecordingError};

use self::early_history::RecordedVersions;
use super::cluster::{Cluster, InProcess, NoticeHandlers};
use super::{Filter, Part, ServedRecording, Session, contexts};
use crate::settings::{self, By, Connection, Contexts, Range, RequestedMoment, Selection, Settings};
use crate::view::Comparison;

impl Session {
    /// Opens the selected contexts of a directory of recordings.
    pub(super) fn open_recordings(
        mut self,
        requested: &settings::Recording,
        settings: &Settings,
        handlers: &NoticeHandlers,
    ) -> anyhow::Result<Self> {
        // Discovery is not cached: all recordings have the same URL, and each moment may have other types.
        let connection = Connection { cache_dir: None, ..settings.connection.clone() };
        let selected = selected(&requested.dir, &connection, &self.keyring)?;
        let has_several = selected.len() > 1;
        for (context, path) in selected {
            let index = self.clusters.len();
            let recording = Recording::open_with(&path, &self.keyring).map_err(anyhow::Error::from);
            let started = recording.and_then(|recording| {
                let history = EarlyHistory::start(&recording, &settings.task);
                recording.read_ahead(match requested.at {
                    RequestedMoment::Time(time) => Moment::Time(time),
                    _ => Moment::End,
                });
                let (moment, notice) = moment_of(&recording, requested.at, settings.task.range())?;
                let (cluster, server) =
                    serve(index, &context, recording.clone(), moment, &connection, has_several, handlers)?;
                let is_earlier = requested.at != RequestedMoment::End;
                let search = GapNotice::of(&recording, moment, &settings.task, &cluster);
                let history = Mutex::new(history);
                let recording =
                    ServedRecording { server, recording, is_earlier, history, _gap_notice: search };
                Ok((cluster, recording, notice))
            });
            match started {
                Ok((cluster, recording, notice)) => {
                    if let Some(notice) = notice {
                        cluster.warn()(&notice);
                    }
                    self.moment = self.moment.max(recording.server.time());
                    self.clusters.push(Arc::new(cluster));
                    self.recordings.push(recording);
                }
                Err(error) if has_several => self.unusable.push((context, error)),
                Err(error) => return Err(error),
            }
        }
        self.with_usable_clusters()
    }

    /// Returns the recording that is served in place of a cluster, to read more of it than one moment.
    ///
    /// # Errors
    /// No recording is served.
    pub(crate) fn recording(&self, cluster: usize) -> anyhow::Result<&Recording> {
        let served = self.recordings.get(cluster).context("there is no recording: --from selects one")?;
        Ok(&served.recording)
    }

    /// Returns the recorded versions of an object, without rows. They may be partly read already. Those that are compared already
    /// have a comparison, and no bodies.
    ///
    /// # Errors
    /// No recording is served.
    pub(crate) fn recorded_versions(
        &self,
        cluster: usize,
        resource: &ApiResource,
        (namespace, name): (&str, &str),
    ) -> anyhow::Result<impl Iterator<Item = (Result<Entry, RecordingError>, Option<Comparison>)>> {
        let early = self.recordings.get(cluster).and_then(|served| {
            let mut history = served.history.lock().unwrap_or_else(PoisonError::into_inner);
            history.take_if(|history| history.is_of(resource, namespace, name))
        });
        if let Some(history) = early {
            return Ok(history.versions);
        }
        let versions = self.recording(cluster)?.versions(resource, namespace, name);
        Ok(RecordedVersions::Whole(Box::new(versions.without_rows())))
    }

    /// Returns the filter for the recorded objects of a part: all conditions and selectors, including those that a
    /// server would evaluate.
    ///
    /// # Errors
    /// A selector or a path can't be parsed.
    pub(crate) fn recorded_filter(
        &self,
        part: &Part,
        selection: &Selection,
        by: &[By],
    ) -> anyhow::Result<Filter> {
        let mut filter = Filter::by(by, &self.expression_errors)?.and_conditions(&selection.filter);
        if let Some(labels) = &selection.label_selector {
            filter = filter.and_labels(LabelSelector::parse(labels)?);
        }
        if let Some(fields) = &selection.field_selector {
            filter = filter.and_fields(FieldSelector::parse(fields)?);
        }
        if let Some(patterns) = &part.patterns {
            filter = filter.and_names(Arc::clone(patterns), Arc::clone(&self.matched_patterns));
        }
        Ok(filter)
    }

    /// Returns the time of the requested moment of a cluster's recording; `None` for the end.
    pub(crate) fn requested_time(&self, cluster: usize) -> Option<Timestamp> {
        let served = self.recordings.get(cluster).filter(|served| served.is_earlier)?;
        served.server.time()
    }
}

/// Returns the requested moment of a recording, which must have the end of the range too. If the range begins before the
/// recording, the result has a notice for the user.
fn moment_of(
    recording: &Recording,
    at: RequestedMoment,
    range: Option<&Range>,
) -> anyhow::Result<(Moment, Option<String>)> {
    let has_ends = range.is_some_and(|range| range.ends().next().is_some());
    // A time before the newest entries need not wait for the time of the last one.
    if let RequestedMoment::Time(time) = at
        && !has_ends
        && recording.includes(time)
    {
        return Ok((Moment::Time(time), None));
    }
    let coverage = Coverage::of(recording)?;
    let moment = coverage.moment(recording, "at", at)?;
    let notice = range.map_or(Ok(None), |range| coverage.check(range))?;
    Ok((moment, notice))
}

/// Serves a recording and returns it as a cluster.
fn serve(
    index: usize,
    context: &str,
    recording: Recording,
    moment: Moment,
    connection: &Connection,
    has_several: bool,
    handlers: &NoticeHandlers,
) -> anyhow::Result<(Cluster, RecordedServer)> {
    let described = coverage::described(recording.context());
    let server = RecordedServer::start(recording, moment)?;
    let config = Config::for_server(&server.url())?;
    let opener = server.opener();
    let connector = Connector::new(move || {
        let opener = opener.clone();
        async move { opener.open().await }
    });
    let in_process = InProcess { connector, lists: Some(server.direct_lists()) };
    let cluster =
        Cluster::open(index, context, &config, Some(in_process), connection, has_several, handlers)?;
    // Without this warning, each type would only be unknown.
    if !server.has_types() {
        let at = if moment == Moment::End { "" } else { " at this moment" };
        cluster.warn()(&format!("{described} has no objects{at}"));
    }
    Ok((cluster, server))
}

/// A recorded context.
pub(crate) struct SelectedRecording {
    pub(crate) context: String,
    pub(crate) dir: PathBuf,
}

/// Returns the selected contexts of a directory of recordings, which are all unless some are selected, and the current
/// context of the kubeconfig.
///
/// # Errors
/// A selected context was not recorded, or the directory can't be read.
pub(crate) fn select_recordings(
    dir: &Path,
    connection: &Connection,
    keyring: &Keyring,
) -> anyhow::Result<(Vec<SelectedRecording>, Option<String>)> {
    let contexts = match &connection.contexts {
        Contexts::Current => Contexts::All,
        contexts => contexts.clone(),
    };
    let selected = selected(dir, &Connection { contexts, ..connection.clone() }, keyring)?;
    let selected = selected.into_iter().map(|(context, dir)| SelectedRecording { context, dir }).collect();
    Ok((selected, current_context(connection)))
}

/// Returns the current context of the kubeconfig; `None` without one, which a recording does not need.
fn current_context(connection: &Connection) -> Option<String> {
    Known::load(&connection.options).ok().and_then(|known| known.current)
}

/// Returns the directories of the selected contexts.
fn selected(
    dir: &Path,
    connection: &Connection,
    keyring: &Keyring,
) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let recorded = recorded(dir, keyring)?;
    let names: Vec<String> = recorded.iter().map(|(name, _)| name.clone()).collect();
    let wanted = match &connection.contexts {
        Contexts::All => names.clone(),
        Contexts::Named(name) => vec![name.clone()],
        Contexts::Matching { text, patterns } => contexts::matching(text, patterns, &names)?,
        Contexts::Current if names.len() == 1 => names.clone(),
        Contexts::Current => match current_context(connection).filter(|current| names.contains(current)) {
            Some(current) => vec![current],
            None => {
                bail!("the recording has several contexts, select one with --context: {}", names.join(", "))
            }
        },
    };
    wanted.iter().map(|name| find(&recorded, name)).collect()
}

/// Returns the directory of a context.
fn find(recorded: &[(String, PathBuf)], name: &str) -> anyhow::Result<(String, PathBuf)> {
    let found = recorded.iter().find(|(own, _)| own == name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = recorded.iter().map(|(own, _)| own.as_str()).collect();
        if names == [""] {
            return anyhow::anyhow!(
                "the context {name:?} was not recorded, the recording has no context: omit --context"
            );
        }
        anyhow::anyhow!("the context {name:?} was not recorded, the recording has: {}", names.join(", "))
    })
}

/// Returns the contexts of a directory of recordings with their directories: all, unless contexts are selected.
///
/// # Errors
/// The directory has no recording or can't be read, or a selected context was not recorded.
pub(crate) fn selected_recordings(
    dir: &Path,
    selected: &Contexts,
    keyring: &Keyring,
) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let recorded = recorded(dir, keyring)?;
    let names: Vec<String> = recorded.iter().map(|(name, _)| name.clone()).collect();
    let wanted = match selected {
        Contexts::Current | Contexts::All => return Ok(recorded),
        Contexts::Named(name) => vec![name.clone()],
        Contexts::Matching { text, patterns } => contexts::matching(text, patterns, &names)?,
    };
    wanted.iter().map(|name| find(&recorded, name)).collect()
}

/// Returns the names of the contexts in a directory of recordings.
///
/// # Errors
/// The directory has no recording, or can't be read.
pub(crate) fn recorded_contexts(dir: &Path, keyring: &Keyring) -> anyhow::Result<Vec<String>> {
    Ok(recorded(dir, keyring)?.into_iter().map(|(name, _)| name).collect())
}

/// Returns the contexts in a directory of recordings, or the one whose directory this is. Recordings of the same context,
/// such as copies of other days, are named `CONTEXT@DIRECTORY`.
fn recorded(dir: &Path, keyring: &Keyring) -> Result<Vec<(String, PathBuf)>, RecordingError> {
    let contexts = Recording::contexts_with(dir, keyring)?;
    if contexts.is_empty() {
        return Ok(vec![(Recording::context_with(dir, keyring)?, dir.to_owned())]);
    }
    Ok(with_distinct_names(&contexts))
}

fn with_distinct_names(contexts: &[(String, PathBuf)]) -> Vec<(String, PathBuf)> {
    let name = |(context, path): &(String, PathBuf)| {
        let is_only = contexts.iter().filter(|(other, _)| other == context).count() == 1;
        let directory = path.file_name().unwrap_or_default().to_string_lossy();
        if is_only { context.clone() } else { format!("{context}@{directory}") }
    };
    contexts.iter().map(|entry| (name(entry), entry.1.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_the_same_context_are_named_after_their_directories() {
        let all = [("dev", "rec/dev"), ("prod", "rec/monday"), ("prod", "rec/prod")];
        let all = all.map(|(context, path)| (context.to_owned(), PathBuf::from(path)));
        let names: Vec<String> = with_distinct_names(&all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["dev", "prod@monday", "prod@prod"]);
    }
}
