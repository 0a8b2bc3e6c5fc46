//! Runs a credential plugin: its stdout is kept, its stderr is passed on line by line.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::process_tree::{Leash, Place};

/// What is taken of a plugin's stdout: a token or certificate is some kilobytes.
const STDOUT_LIMIT: u64 = 1024 * 1024;
/// What is passed on of a line, and of a run.
const LINE_LIMIT: usize = 4096;
const WORDS_LIMIT: usize = 64 * 1024;

/// How a run ended. Without `Debug`: stdout holds a credential.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
}

/// Why there is no end to tell of.
#[derive(Debug)]
pub(super) enum Failure {
    /// It could not be started.
    Start(io::Error),
    /// It went on writing to stdout.
    TooLong,
    /// Its pipes broke.
    Io(io::Error),
}

/// Runs a command to its end. At the terminal it has our standard input and standard error; else it has no input, and
/// each line of its stderr is told as it comes. Dropping the future ends it, and apart from us all that it has started.
///
/// # Errors
/// [`Failure`]; a failing exit status is none.
pub(super) async fn run(
    mut command: Command,
    place: Place,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<Ended, Failure> {
    place.prepare(&mut command);
    command.stdout(Stdio::piped());
    if place == Place::Terminal {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().map_err(Failure::Start)?;
    let leash = Leash::on(&child, place);
    let Some(stderr) = child.stderr.take() else { return to_its_end(&mut child, leash).await };
    let mut words = Words { stderr, line: Vec::new(), told: 0, tell };
    let ended = {
        let mut ending = std::pin::pin!(to_its_end(&mut child, leash));
        tokio::select! {
            biased;
            () = words.pass_on() => ending.await,
            ended = &mut ending => ended,
        }
    };
    // What it left running may hold the pipe open for ever: only what is there by now is still read.
    words.rest().await;
    ended
}

async fn to_its_end(child: &mut Child, leash: Leash) -> Result<Ended, Failure> {
    let ended = said_and_ended(child).await;
    if leash.is_cut() {
        // The program ends, and has said why: what becomes of a plugin that it has ended itself is no failure to tell of.
        std::future::pending::<()>().await;
    }
    if ended.is_ok() {
        leash.release();
    }
    ended
}

async fn said_and_ended(child: &mut Child) -> Result<Ended, Failure> {
    let mut stdout = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take(STDOUT_LIMIT + 1).read_to_end(&mut stdout).await.map_err(Failure::Io)?;
    }
    if stdout.len() as u64 > STDOUT_LIMIT {
        return Err(Failure::TooLong);
    }
    let status = child.wait().await.map_err(Failure::Io)?;
    Ok(Ended { status, stdout })
}

/// Somebody else's lines on their way.
struct Words<'a, R> {
    stderr: R,
    line: Vec<u8>,
    told: usize,
    tell: &'a mut (dyn FnMut(&str) + Send),
}

impl<R: AsyncRead + Unpin + Send> Words<'_, R> {
    /// Passes on until the end. Dropping the future loses nothing.
    async fn pass_on(&mut self) {
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = self.stderr.read(&mut buffer).await {
            self.take(&buffer[..read]);
        }
    }

    /// Passes on what is there without waiting for more, and what is left of the last line.
    async fn rest(mut self) {
        tokio::select! {
            biased;
            () = self.pass_on() => {}
            () = tokio::task::yield_now() => {}
        }
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.end_line();
            } else if self.line.len() < LINE_LIMIT {
                self.line.push(*byte);
            }
        }
    }

    fn end_line(&mut self) {
        self.told += self.line.len();
        if self.told <= WORDS_LIMIT {
            (self.tell)(String::from_utf8_lossy(&self.line).trim_end());
        }
        self.line.clear();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::client::test_server::eventually;

    async fn shell(script: &str) -> (Result<Ended, Failure>, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut told = Vec::new();
        let ended = run(command, Place::Apart, &mut |line| told.push(line.to_owned())).await;
        (ended, told)
    }

    #[tokio::test]
    async fn stdout_is_kept_and_stderr_is_told_line_by_line() {
        let (ended, told) = shell("echo out; echo one >&2; printf 'two\\r\\nthree' >&2; exit 3").await;
        let ended = ended.ok().unwrap();
        assert_eq!((ended.stdout.as_slice(), ended.status.code()), (&b"out\n"[..], Some(3)));
        assert_eq!(told, ["one", "two", "three"]);
    }

    #[tokio::test]
    async fn a_plugin_without_a_user_has_no_input() {
        let (ended, _) = shell("cat; echo end").await;
        assert_eq!(ended.ok().unwrap().stdout, b"end\n");
    }

    #[tokio::test]
    async fn what_it_leaves_running_is_not_waited_for() {
        let (ended, told) = shell("sleep 600 >/dev/null & echo $! ; echo done >&2").await;
        let pid = String::from_utf8(ended.ok().unwrap().stdout).unwrap();
        assert_eq!(told, ["done"]);
        shell(&format!("kill {pid}")).await.0.ok().unwrap();
    }

    #[tokio::test]
    async fn neither_stream_is_read_for_ever() {
        let (ended, told) = shell("yes >&2 2>/dev/null & yes; wait").await;
        assert!(matches!(ended, Err(Failure::TooLong)), "{told:?}");
        let script = "i=0; while [ $i -lt 3000 ]; do echo 'some of the many words that nobody wants' >&2; i=$((i+1)); done";
        let (ended, told) = shell(script).await;
        assert!(ended.is_ok_and(|ended| ended.status.success()));
        assert_eq!(told.len(), WORDS_LIMIT / "some of the many words that nobody wants".len());
    }

    /// Runs a script in that folder until it has written that file there, and gives up. Answers what stands in it.
    async fn given_up_at(folder: &Path, file: &str, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        let mut unheard = |_: &str| {};
        tokio::select! {
            _ = run(command, Place::Apart, &mut unheard) => panic!("it waits"),
            text = eventually("it has begun", || std::fs::read_to_string(folder.join(file)).ok()) => text,
        }
    }

    /// Waits until a process has gone, or is dead and not yet buried by whoever inherited it.
    async fn ends(pid: &str) {
        let gone = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            (!state.is_ok_and(|state| !state.contains(") Z "))).then_some(())
        };
        eventually("it is gone", gone).await;
    }

    #[tokio::test]
    async fn what_a_plugin_has_started_is_ended_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 600 & echo $! > child.new && mv child.new child; wait";
        ends(&given_up_at(folder.path(), "child", script).await).await;
    }

    #[tokio::test]
    async fn a_plugin_that_is_given_up_may_put_away_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        // It waits in a builtin: some shells lose a signal that comes while they start a command.
        let script = "trap 'echo kept > cache; exit' TERM\nsleep 600 &\n: > begun\nwait";
        given_up_at(folder.path(), "begun", script).await;
        eventually("it is kept", || std::fs::read_to_string(folder.path().join("cache")).ok()).await;
    }

    #[tokio::test]
    async fn a_plugin_that_does_not_end_when_asked_is_killed_after_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; echo $$ > pid.new && mv pid.new pid; while :; do sleep 0.1; done";
        let begun = std::time::Instant::now();
        ends(&given_up_at(folder.path(), "pid", script).await).await;
        assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}
