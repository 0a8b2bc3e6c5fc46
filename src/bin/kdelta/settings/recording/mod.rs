//! The recording that is read in place of a cluster, and the moment in it.

mod keys;

use std::path::PathBuf;

use jiff::Zoned;

use super::environment::Environment;
use super::past::{Range, RequestedMoment};
use super::set_wait::SetWait;
use super::{Task, UsageError, Watch};
use crate::args::{Cli, Command};

pub(crate) use keys::Keys;

/// A directory of recordings, or of one, and the moment to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) dir: PathBuf,
    pub(crate) at: RequestedMoment,
}

impl Recording {
    /// Returns the recording of the flags, if requested. `now` is the local time.
    pub(super) fn read(cli: &Cli, now: &Zoned) -> Result<Option<Self>, UsageError> {
        let args = &cli.recording;
        let Some(dir) = args.from.clone() else {
            return if args.at.is_some() { Err(UsageError::NeedsRecording("at")) } else { Ok(None) };
        };
        let connection = &cli.connection;
        let elsewhere = [
            (connection.server.is_some(), "server"),
            (connection.kubeconfig.is_some(), "kubeconfig"),
            (connection.cluster.is_some(), "cluster"),
            (cli.demo.demo, "demo"),
        ];
        if let Some((_, flag)) = elsewhere.into_iter().find(|(given, _)| *given) {
            return Err(UsageError::RecordingElsewhere(flag));
        }
        if matches!(&cli.command, Command::Serve(args) if args.move_to.is_some()) {
            return Err(UsageError::MoveAndServe("from"));
        }
        if matches!(
            cli.command,
            Command::Rollout(_)
                | Command::Run(_)
                | Command::Record(_)
                | Command::Recording(_)
                | Command::Demo(_)
        ) {
            return Err(UsageError::NoRecording(cli.command.name()));
        }
        let at = match args.at.as_deref() {
            Some(text) => RequestedMoment::parse("at", text, now)?,
            None => RequestedMoment::End,
        };
        Ok(Some(Self { dir, at }))
    }
}

impl Task {
    /// Applies the task to a recording. A watch without a range ends once the state of the moment is printed: no change
    /// follows it.
    pub(super) fn of_recording(
        mut self,
        cli: &Cli,
        recording: &Recording,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let is_moment = recording.at != RequestedMoment::End;
        if let Command::Wait(args) = &cli.command {
            if is_moment {
                return Err(UsageError::WaitAtMoment);
            }
            let wait = SetWait::read(args, cli.connection.namespace.as_deref(), environment)?;
            let range = Range::read(&args.range, &Zoned::now())?;
            return Ok(Self::SetWait(Box::new(wait.of_recording(range))));
        }
        if let Some(flag) = self.range().and_then(Range::first_flag).filter(|_| is_moment) {
            return Err(UsageError::MomentAndRange(flag));
        }
        match &mut self {
            Self::Watch(Watch { replay: Some(replay), .. }) => {
                **replay = replay.with_speed(cli.demo.speed)?;
                return Ok(self);
            }
            Self::Watch(watch) if !watch.initial => return Err(UsageError::NothingToPrint),
            Self::Watch(watch) => watch.until.synced = true,
            Self::Index(index) => index.watch = false,
            Self::Tree(tree) => tree.watch = false,
            Self::Events(events) => events.watch = false,
            Self::History(history) => history.watch = false,
            _ => {}
        }
        match cli.demo.speed {
            Some(_) if !matches!(cli.command, Command::Serve(_)) => Err(UsageError::SpeedOfAMoment),
            _ => Ok(self),
        }
    }

    /// Rejects flags and commands that need a recording.
    pub(super) fn checked_live(self, cli: &Cli) -> Result<Self, UsageError> {
        if let Command::Wait(args) = &cli.command
            && let Some(flag) = Range::read(&args.range, &Zoned::now())?.first_flag()
        {
            return Err(UsageError::NeedsRecording(flag));
        }
        match &self {
            Self::History(history) => history.check_live()?,
            Self::Changes(_) => return Err(UsageError::NoLiveChanges),
            Self::Watch(watch) => {
                if let Some(flag) = watch.replay.as_ref().and_then(|replay| replay.range.first_flag()) {
                    return Err(UsageError::NeedsRecording(flag));
                }
            }
            _ => {}
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn read(line: &str) -> Result<Option<Recording>, UsageError> {
        let cli = Cli::try_parse_from(line.split_whitespace()).expect(line);
        Recording::read(&cli, &now())
    }

    /// Two hours ahead of UTC.
    fn now() -> Zoned {
        "2026-11-24T12:00:00+02:00[+02:00]".parse().expect("a time")
    }

    #[test]
    fn recordings_exclude_other_servers_and_commands_that_wait() {
        let expected = Recording { dir: "d".into(), at: RequestedMoment::Version(7) };
        assert_eq!(read("kdelta --from d get po --at rv:7"), Ok(Some(expected)));
        assert_eq!(read("kdelta get po"), Ok(None));
        assert_eq!(read("kdelta get po --at 03:12"), Err(UsageError::NeedsRecording("at")));
        for (line, flag) in [
            ("get po --server x", "server"),
            ("get po --kubeconfig x", "kubeconfig"),
            ("get po --cluster x", "cluster"),
            ("get po --demo", "demo"),
        ] {
            let result = read(&format!("kdelta {line} --from d"));
            assert_eq!(result, Err(UsageError::RecordingElsewhere(flag)), "{line}");
        }
        for (line, name) in [("rollout status deploy/x", "rollout"), ("run po", "run")] {
            let line = if name == "run" {
                format!("kdelta {line} --from d -- x")
            } else {
                format!("kdelta {line} --from d")
            };
            assert_eq!(read(&line), Err(UsageError::NoRecording(name)), "{line}");
        }
    }
}
