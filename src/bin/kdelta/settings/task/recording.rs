//! The changes of a task that reads a recording, and the tasks that need one.

use jiff::Zoned;

use super::Task;
use crate::args::{Cli, Command};
use crate::settings::UsageError;
use crate::settings::environment::Environment;
use crate::settings::recording::{Range, Recording, RequestedMoment};
use crate::settings::set_wait::SetWait;
use crate::settings::watch::Watch;

impl Task {
    /// Applies the task to a recording. A watch without a range ends once the state of the moment is printed: no change
    /// follows it.
    pub(in crate::settings) fn of_recording(
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
            let range = Range::read(&args.range, Zoned::now)?;
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
    pub(in crate::settings) fn checked_live(self, cli: &Cli) -> Result<Self, UsageError> {
        if let Command::Wait(args) = &cli.command
            && let Some(flag) = Range::read(&args.range, Zoned::now)?.first_flag()
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
