//! The task of a command line, with the validated arguments of its command.

mod read;
mod recording;
#[cfg(test)]
mod tests;

use super::get::Get;
use super::index::Index;
use super::kubectl::{ApiResources, Events, Explain, Files, RawPath, Version};
use super::record::Record;
use super::recording::{Changes, History, Range, RequestedMoment};
use super::recording_tool::RecordingTool;
use super::run::Run;
use super::serve::Mirror;
use super::set_wait::SetWait;
use super::tree::Tree;
use super::wait::{Rollout, Wait};
use super::watch::Watch;
use crate::args::Shell;

/// The task to perform; `get -w` is a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    Watch(Watch),
    Get(Get),
    Raw(RawPath),
    Index(Index),
    Tree(Tree),
    Wait(Box<Wait>),
    Rollout(Box<Rollout>),
    Run(Box<Run>),
    Record(Box<Record>),
    RecordingTool(RecordingTool),
    SetWait(Box<SetWait>),
    History(Box<History>),
    Changes(Box<Changes>),
    Events(Events),
    ApiResources(ApiResources),
    ApiVersions,
    Version(Version),
    Explain(Explain),
    /// Serve a recording, as the settings describe.
    Serve,
    /// Serve a live mirror, as the settings describe.
    Mirror(Box<Mirror>),
    /// Move the moment of a server of a recording.
    MoveServed(RequestedMoment),
    /// Serve the demo, whose options are in the settings of every task.
    Demo,
    /// Print the completion script of a shell.
    Completions(Shell),
    /// Print the manual page of a command, or of the program.
    Man(Option<String>),
    /// Print the flags that every command takes.
    Options,
}

impl Task {
    /// Returns the range of a recording that the task reads, if it reads one.
    pub(crate) fn range(&self) -> Option<&Range> {
        match self {
            Self::Watch(watch) => watch.replay.as_ref().map(|replay| &replay.range),
            Self::SetWait(wait) => wait.replay.as_ref().map(|replay| &replay.range),
            Self::History(history) => Some(&history.range),
            Self::Changes(changes) => Some(&changes.range),
            _ => None,
        }
    }

    /// Whether standard input is a manifest.
    pub(super) fn reads_standard_input(&self) -> bool {
        let files = match self {
            Self::Watch(watch) => &watch.files,
            Self::Get(get) => &get.files,
            Self::Wait(wait) => &wait.objects.files,
            Self::Rollout(rollout) => &rollout.objects.files,
            Self::SetWait(wait) => &wait.files,
            Self::Run(run) => &run.files,
            _ => &None,
        };
        files.as_ref().is_some_and(Files::has_standard_input)
    }
}
