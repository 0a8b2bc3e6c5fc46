//! The recording that is read in place of a cluster, and the moment in it.

use std::path::PathBuf;

use jiff::Zoned;

use super::RequestedMoment;
use crate::args::{Cli, Command};
use crate::settings::UsageError;

/// A directory of recordings, or of one, and the moment to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) dir: PathBuf,
    pub(crate) at: RequestedMoment,
}

impl Recording {
    /// Returns the recording of the flags, if requested. `now` is the local time.
    pub(in crate::settings) fn read(cli: &Cli, now: fn() -> Zoned) -> Result<Option<Self>, UsageError> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn read(line: &str) -> Result<Option<Recording>, UsageError> {
        let cli = Cli::try_parse_from(line.split_whitespace()).expect(line);
        Recording::read(&cli, now)
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
