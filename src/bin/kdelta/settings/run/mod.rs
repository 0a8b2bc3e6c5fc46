//! The validated arguments of `kdelta run`.

pub(super) mod coverage;

use coverage::CoverageEntry;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kdelta::lines::ChangeKind;

use super::by::By;
use super::duration;
use super::environment::Environment;
use super::kubectl::Files;
use super::lines::Lines;
use super::selection::Selection;
use super::until::Until;
use super::usage::UsageError;
use crate::args::{OnArg, PlanForm, RunArgs, RunEndArgs};

/// `kdelta run`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Run {
    pub(crate) selection: Selection,
    /// The files that name the objects, instead of the selection's types.
    pub(crate) files: Option<Files>,
    pub(crate) by: Vec<By>,
    pub(crate) ignore_not_found: bool,
    /// Whether the command is run for the current objects.
    pub(crate) initial: bool,
    /// The updates that are run.
    pub(crate) lines: Lines,
    pub(crate) until: Until,
    /// The command and its arguments. Never empty.
    pub(crate) command: Vec<OsString>,
    /// The folders of programs, which the command is searched in.
    pub(crate) search_path: OsString,
    /// The types of change that are run; empty selects all.
    pub(crate) on: Vec<ChangeKind>,
    pub(crate) debounce: Option<Duration>,
    /// Whether waiting updates of one object are merged.
    pub(crate) latest: bool,
    pub(crate) mask_secrets: bool,
    /// The number of simultaneous calls, at least 1.
    pub(crate) jobs: usize,
    /// The number of lines of one call, at least 1.
    pub(crate) batch: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retries: u32,
    pub(crate) retry_delay: Duration,
    pub(crate) dead_letters: Option<PathBuf>,
    pub(crate) checkpoint: Option<CheckpointFile>,
    /// The form of the plan to print instead.
    pub(crate) explain: Option<PlanForm>,
}

/// The file that keeps the progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointFile {
    pub(crate) path: PathBuf,
    /// The selected objects, without the clusters.
    pub(crate) coverage: Vec<CoverageEntry>,
}

impl Run {
    pub(super) fn read(
        args: &RunArgs,
        selection: Selection,
        files: Option<Files>,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let explain = Files::plan_form(files.as_ref(), &args.plan)?;
        let (changes, calls) = (&args.changes, &args.calls);
        let time = |flag, text: &Option<String>| text.as_deref().map(|text| positive(flag, text)).transpose();
        let (initial, until) = (!changes.no_initial, end(&args.end)?);
        if !initial && until.synced && args.checkpoint.is_none() {
            return Err(UsageError::NothingToRun);
        }
        let ignore_not_found = args.ignore_not_found || selection.may_exclude(files.as_ref());
        Ok(Self {
            selection,
            files,
            by: By::parse_all(&args.index.by)?,
            ignore_not_found,
            initial,
            lines: Lines::of_updates(&changes.updates)?,
            until,
            command: args.called.clone(),
            search_path: environment.search_path.clone(),
            on: changes.on.iter().map(|on| kind(*on)).collect(),
            debounce: time("debounce", &changes.debounce)?,
            latest: changes.latest,
            mask_secrets: changes.mask_secrets,
            jobs: calls.jobs.into(),
            batch: usize::try_from(calls.batch).unwrap_or(usize::MAX),
            timeout: time("timeout", &calls.timeout)?,
            max_retries: calls.max_retries,
            retry_delay: positive("retry-delay", &calls.retry_delay)?,
            dead_letters: calls.dead_letters.clone(),
            checkpoint: args
                .checkpoint
                .clone()
                .map(|path| CheckpointFile { path, coverage: coverage::read(args, namespace) }),
            explain,
        })
    }
}

fn end(args: &RunEndArgs) -> Result<Until, UsageError> {
    let duration = args.duration.as_deref().map(duration::parse_seconds).transpose()?;
    Ok(Until { count: args.count, duration, synced: args.until_synced })
}

fn positive(flag: &'static str, text: &str) -> Result<Duration, UsageError> {
    let parsed = duration::parse(text).map_err(|error| UsageError::Time { flag, error })?;
    if parsed.is_zero() { Err(UsageError::ZeroTime(flag)) } else { Ok(parsed) }
}

fn kind(on: OnArg) -> ChangeKind {
    match on {
        OnArg::Added => ChangeKind::Added,
        OnArg::Modified => ChangeKind::Modified,
        OnArg::Deleted => ChangeKind::Deleted,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::settings::{Environment, Task};

    fn read(line: &str) -> Result<Run, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        match Task::read(&cli.command, cli.connection.namespace.as_deref(), &Environment::default())? {
            Task::Run(run) => Ok(*run),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn command_follows_two_dashes() {
        let run = read("run pods -n a -- sh -n --jobs 3").expect("a run");
        assert_eq!(run.command, ["sh", "-n", "--jobs", "3"]);
        assert_eq!((run.jobs, run.batch, run.max_retries), (1, 1, 5));
        for line in ["run pods", "run pods --", "run pods --jobs 0 -- x", "run pods --batch 0 -- x"] {
            let words = std::iter::once("kdelta").chain(line.split_whitespace());
            assert!(Cli::try_parse_from(words).is_err(), "{line}");
        }
        assert_eq!(read("run -- x"), Err(UsageError::NoResource));
    }

    #[test]
    fn last_of_initial_and_no_initial_holds() {
        for (flags, initial) in [
            ("", true),
            ("--initial", true),
            ("--no-initial", false),
            ("--no-initial --initial", true),
            ("--initial --no-initial", false),
        ] {
            assert_eq!(read(&format!("run po {flags} -- x")).expect(flags).initial, initial, "{flags}");
        }
        assert_eq!(read("run po --no-initial --until-synced -- x"), Err(UsageError::NothingToRun));
        assert!(read("run po --no-initial --until-synced --checkpoint f -- x").is_ok());
    }

    #[test]
    fn times_are_positive_durations() {
        assert_eq!(read("run po --timeout 90s -- x").expect("a run").timeout, Some(Duration::from_secs(90)));
        for flag in ["timeout", "debounce", "retry-delay"] {
            assert_eq!(read(&format!("run po --{flag} 0 -- x")), Err(UsageError::ZeroTime(flag)));
            assert!(matches!(
                read(&format!("run po --{flag} soon -- x")),
                Err(UsageError::Time { flag: named, .. }) if named == flag
            ));
        }
    }

    #[test]
    fn coverage_is_the_selection_of_objects() {
        let coverage = |line: &str| {
            let run = read(&format!("run {line} --checkpoint f -- x")).expect(line);
            run.checkpoint.expect("a checkpoint").coverage
        };
        let pods = coverage("pods -n shop -l app=web");
        assert_eq!(pods, coverage("pods -n shop -l app=web --jobs 4 --on added --latest --batch 3"));
        for other in ["pods,svc -n shop -l app=web", "pods -n web -l app=web", "pods -A -l app=web"] {
            assert_ne!(pods, coverage(other), "{other}");
        }
        for flag in ["--by node=a", "--where true", "--name a", "--ready", "--status x", "--older-than 1h"] {
            assert_ne!(pods, coverage(&format!("pods -n shop -l app=web {flag}")), "{flag}");
        }
    }
}
