//! One call of the command: its input, its output and its end.

use std::ffi::OsString;
use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use kdelta::clock::{Clock, TokioClock};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::change_line::ChangeLine;
use super::child_output::ChildOutput;
use super::process_groups::{GroupGuard, ProcessGroups};
use super::queue::Call;
use super::start;

/// The time between SIGTERM and SIGKILL for a call whose time is over.
const GRACE: Duration = Duration::from_secs(2);
/// The time for which output is read after the end of a call: a process that left its group may hold it open.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// The command and its limits.
pub(super) struct CallOptions {
    pub(super) command: Vec<OsString>,
    /// The folders of programs, which the command is searched in.
    pub(super) search_path: OsString,
    pub(super) timeout: Option<Duration>,
    pub(super) masks_secrets: bool,
}

/// The result of a call.
#[derive(Debug)]
pub(super) enum CallResult {
    Succeeded,
    /// The call failed, for this reason.
    Failed(String),
    /// The call was killed at its time limit.
    TimedOut(Duration),
    /// The command does not exist or may not be executed: no other call would succeed.
    NotStarted(io::Error),
}

impl CallOptions {
    /// Runs the command with the lines of a call. Dropping the future kills the command and all processes of its group.
    pub(super) async fn run(
        &self,
        call: &Call<ChangeLine>,
        groups: &ProcessGroups,
        output: Option<&ChildOutput<'_>>,
    ) -> CallResult {
        if let Some(command) = self.command.first()
            && let Err(error) = start::check(command, &self.search_path)
        {
            return CallResult::NotStarted(error);
        }
        let mut child = match self.command(call, output.is_some()).and_then(|mut command| command.spawn()) {
            Ok(child) => child,
            // The file of this program is gone.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                return CallResult::NotStarted(error);
            }
            Err(error) => return CallResult::Failed(error.to_string()),
        };
        // A child that has not been waited for has an id.
        let Some(id) = child.id() else { return CallResult::Failed("it has no process id".to_owned()) };
        let group = groups.add(id);
        let mut input = start::GO.to_vec();
        for line in &call.lines {
            line.line.write(self.masks_secrets, &mut input);
        }
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A command need not read its input.
                let _ = stdin.write_all(&input).await;
            }
        };
        let print = async {
            if let Some(output) = output {
                let title = title(call);
                tokio::join!(output.stdout(&title, stdout), output.stderr(&title, stderr));
            }
        };
        let wait = async {
            let result = self.wait(&mut child, &group).await;
            // Its input and output end with the processes that it left.
            drop(group);
            result
        };
        let mut wait = pin!(wait);
        let mut exchange = pin!(async { tokio::join!(feed, print) });
        let mut is_exchanged = false;
        let result = loop {
            tokio::select! {
                result = &mut wait => break result,
                _ = &mut exchange, if !is_exchanged => is_exchanged = true,
            }
        };
        if !is_exchanged {
            tokio::select! {
                _ = exchange => {}
                () = TokioClock.sleep(OUTPUT_GRACE) => {}
            }
        }
        result
    }

    fn command(&self, call: &Call<ChangeLine>, is_output_piped: bool) -> io::Result<Command> {
        let mut command = Command::new(start::own_program()?);
        command.arg(start::START).args(&self.command);
        command.stdin(Stdio::piped()).process_group(0).kill_on_drop(true);
        if is_output_piped {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        command.env("KDELTA_EVENT_COUNT", call.lines.len().to_string());
        if let [line] = call.lines.as_slice() {
            command.envs(line.line.variables());
            command.env("KDELTA_EVENT_ATTEMPT", line.attempt.to_string());
        }
        Ok(command)
    }

    /// Waits for the end of a command, and ends it when its time is over.
    async fn wait(&self, child: &mut Child, group: &GroupGuard) -> CallResult {
        let Some(limit) = self.timeout else { return result(child.wait().await) };
        tokio::select! {
            status = child.wait() => return result(status),
            () = TokioClock.sleep(limit) => {}
        }
        group.terminate();
        tokio::select! {
            // The result does not matter: its time is over.
            _ = child.wait() => {}
            () = TokioClock.sleep(GRACE) => {
                group.kill();
                let _ = child.wait().await;
            }
        }
        CallResult::TimedOut(limit)
    }
}

fn result(status: io::Result<ExitStatus>) -> CallResult {
    match status {
        Ok(status) if status.success() => CallResult::Succeeded,
        Ok(status) if start::was_not_executed(status) => {
            CallResult::NotStarted(io::Error::other("it can't be executed"))
        }
        Ok(status) => CallResult::Failed(status.to_string()),
        Err(error) => CallResult::Failed(error.to_string()),
    }
}

/// Returns the object of a call, as a prefix of its output.
fn title(call: &Call<ChangeLine>) -> String {
    match call.lines.as_slice() {
        [] => String::new(),
        [line] => line.line.change.object.key().to_string(),
        [first, rest @ ..] => format!("{} +{}", first.line.change.object.key(), rest.len()),
    }
}
