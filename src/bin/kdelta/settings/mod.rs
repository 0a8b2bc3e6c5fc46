//! Validated settings, computed from arguments, their defaults, environment and terminal. Nothing below this module uses
//! clap or reads the environment.

mod by;
mod connection;
mod defaults;
mod demo;
mod duration;
mod environment;
mod filter;
mod get;
mod index;
mod kubectl;
mod lines;
mod namespaces;
mod pattern;
mod print;
mod record;
mod recording;
mod recording_tool;
mod run;
mod selection;
mod serve;
mod set_wait;
mod targets;
mod task;
mod tree;
mod until;
mod usage;
mod wait;
mod watch;
mod word_list;

pub(crate) use by::{By, CelIndex, Condition, IndexName};
pub(crate) use connection::{Connection, Contexts};
pub(crate) use defaults::{
    CONFIG_EXAMPLE, CONFIG_RULES, ResolveError, ResolvedArguments, TypedWords, keys, output_formats, refusals,
};
pub(crate) use demo::Demo;
pub(crate) use environment::{ConfigFile, Environment, VARIABLES};
#[cfg(test)]
pub(crate) use filter::tests::filter_of;
pub(crate) use filter::{Expression, FilterCondition, FilterNeeds, Names, ObjectContent, ObjectFilter};
pub(crate) use get::Get;
#[cfg(test)]
pub(crate) use index::tests::read as index_of;
pub(crate) use index::{Index, IndexFormat};
pub(crate) use kubectl::{
    ApiResources, EventOutput, Events, Explain, ExplainFormat, Files, GetWatch, RawPath, ResourceColumn,
    Version, VersionFormat, WatchForm,
};
pub(crate) use lines::{ChangedBy, Flow, Lines, ListenAddress};
pub(crate) use namespaces::Namespaces;
pub(crate) use pattern::Pattern;
pub(crate) use print::{Format, Jq, Print, TableStyle, Template};
pub(crate) use record::{Record, Redacted};
pub(crate) use recording::{
    Changes, ChangesFormat, History, Keys, Range, Recording, Replay, RequestedMoment,
};
pub(crate) use recording_tool::{
    CopyEncryption, ImportInput, RECORDING_TOOLS, RecordingExcerpt, RecordingTool,
};
pub(crate) use run::{CheckpointFile, Run};
pub(crate) use selection::{ListMode, Selection};
pub(crate) use serve::{Mirror, Serve};
pub(crate) use set_wait::{SetCondition, SetWait};
pub(crate) use targets::{Target, Types};
pub(crate) use task::Task;
pub(crate) use tree::{Tree, TreeFormat};
pub(crate) use usage::UsageError;
pub(crate) use wait::{RequestedObjects, Rollout, Wait};
pub(crate) use watch::Watch;

pub(crate) use crate::args::{ChangesArg, CountOrder, LogFormat, PlanForm, Shell, TsArg};
use crate::args::{Cli, ColorWhen, Command};
use jiff::Zoned;

/// The validated request of the user.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) connection: Connection,
    /// The embedded demo cluster, if requested. It replaces the server and user of the connection.
    pub(crate) demo: Option<Demo>,
    /// The recording that replaces the clusters of the connection, if requested.
    pub(crate) recording: Option<Recording>,
    /// The keys of encrypted recordings.
    pub(crate) recording_keys: Keys,
    /// The server of the recording or the mirror, if requested.
    pub(crate) serve: Option<Serve>,
    pub(crate) terminal: Terminal,
    /// kubectl's verbosity level; 0 prints only what the user must know.
    pub(crate) verbosity: u8,
    /// The form of messages on stderr.
    pub(crate) log_format: LogFormat,
    /// Whether cached objects are checked for mutations.
    pub(crate) mutation_detector: bool,
    /// Whether servers of another release are an error.
    pub(crate) match_server_version: bool,
    /// Whether the warnings of servers make the command fail.
    pub(crate) warnings_as_errors: bool,
    /// The address of the metrics of a watch.
    pub(crate) metrics: Option<ListenAddress>,
    pub(crate) task: Task,
}

/// The standard streams for output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) stdout: OutputStream,
    pub(crate) stderr: OutputStream,
}

/// One standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputStream {
    pub(crate) is_terminal: bool,
    pub(crate) colour: bool,
}

impl Settings {
    /// Validates the arguments in this environment.
    pub(crate) fn read(cli: &Cli, environment: &Environment) -> Result<Self, UsageError> {
        let stream = |is_terminal| OutputStream {
            is_terminal,
            colour: colour(cli.terminal.color, is_terminal, environment),
        };
        check_profile(&cli.kubectl_options.profile)?;
        let task = Task::read(&cli.command, cli.connection.namespace.as_deref(), environment)?;
        let recording = Recording::read(cli, Zoned::now)?;
        let task = match &recording {
            Some(recording) => task.of_recording(cli, recording, environment)?,
            None => task.checked_live(cli)?,
        };
        let mut connection = Connection::read(&cli.connection, environment)?;
        // A credential plugin must not read the manifest.
        connection.options.stdin_is_terminal &= !task.reads_standard_input();
        let is_one = matches!(connection.contexts, Contexts::Current | Contexts::Named(_));
        if !is_one
            && matches!(
                cli.command,
                Command::ApiResources(_)
                    | Command::ApiVersions(_)
                    | Command::Demo(_)
                    | Command::Explain(_)
                    | Command::Rollout(_)
                    | Command::Tree(_)
                    | Command::Version(_)
                    | Command::Wait(_)
            )
        {
            return Err(UsageError::OneContext(cli.command.name()));
        }
        Ok(Self {
            demo: Demo::read(cli, environment)?,
            recording,
            recording_keys: Keys::read(cli, environment)?,
            serve: Serve::read(cli, Zoned::now)?,
            connection,
            terminal: Terminal {
                stdout: stream(environment.stdout_is_terminal),
                stderr: stream(environment.stderr_is_terminal),
            },
            verbosity: cli.terminal.level(),
            log_format: cli.terminal.log_format,
            mutation_detector: environment.mutation_detector,
            match_server_version: cli.kubectl_options.match_server_version,
            warnings_as_errors: cli.kubectl_options.warnings_as_errors,
            metrics: ListenAddress::of_metrics(&cli.command)?,
            task,
        })
    }
}

/// Rejects every `--profile` but `none`, the default.
fn check_profile(name: &str) -> Result<(), UsageError> {
    match name {
        "none" => Ok(()),
        "cpu" | "heap" | "allocs" | "goroutine" | "threadcreate" | "block" | "mutex" | "trace" => {
            Err(UsageError::Profile)
        }
        name => Err(UsageError::UnknownProfile(name.to_owned())),
    }
}

/// Returns whether to use colour. The flag overrides the environment, forcing overrides disabling, and each stream is
/// decided separately.
fn colour(when: ColorWhen, is_terminal: bool, environment: &Environment) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if environment.force_color => true,
        ColorWhen::Auto => {
            is_terminal && !environment.no_color && !environment.dumb_terminal && !environment.clicolor_off
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_unless_overridden() {
        let plain = Environment::default();
        let no_color = Environment { no_color: true, ..Environment::default() };
        let forced = Environment { force_color: true, ..Environment::default() };
        for (when, is_terminal, environment, expected) in [
            (ColorWhen::Auto, true, &plain, true),
            (ColorWhen::Auto, false, &plain, false),
            (ColorWhen::Auto, true, &no_color, false),
            (ColorWhen::Auto, false, &forced, true),
            (ColorWhen::Auto, false, &Environment { force_color: true, ..no_color.clone() }, true),
            (ColorWhen::Always, false, &no_color, true),
            (ColorWhen::Never, true, &forced, false),
            (ColorWhen::Auto, true, &Environment { dumb_terminal: true, ..Environment::default() }, false),
            (ColorWhen::Auto, true, &Environment { clicolor_off: true, ..Environment::default() }, false),
        ] {
            assert_eq!(
                colour(when, is_terminal, environment),
                expected,
                "{when:?} {is_terminal} {environment:?}"
            );
        }
    }
}
