//! Runs a credential plugin: collects its stdout and forwards its stderr line by line.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::process_tree::{CredentialPlugins, Placement, ProcessGuard};

/// The limit for a plugin's stdout: a token or certificate has a few kilobytes.
const STDOUT_LIMIT: u64 = 1024 * 1024;
/// The limits for forwarding one line, and one run.
const LINE_LIMIT: usize = 4096;
const WORDS_LIMIT: usize = 64 * 1024;

/// The output of a completed run. It has no `Debug`: stdout holds a credential.
pub(super) struct ProcessOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
}

/// Why a run did not complete.
#[derive(Debug)]
pub(super) enum RunError {
    /// The program could not be started.
    Start(io::Error),
    /// It wrote too much to stdout.
    TooLong,
    /// Its pipes failed.
    Io(io::Error),
}

/// Runs a command to its end. At the terminal it uses this process's standard input and standard error; otherwise it
/// has no input, and each line of its stderr is forwarded as it arrives. Dropping the future ends the command, and in
/// a process group of its own all processes that it started.
///
/// # Errors
/// [`RunError`]; a failing exit status is not an error.
pub(super) async fn run(
    mut command: Command,
    placement: Placement,
    plugins: &CredentialPlugins,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<ProcessOutput, RunError> {
    placement.prepare(&mut command);
    command.stdout(Stdio::piped());
    if placement == Placement::Terminal {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
    }
    let mut child = command.spawn().map_err(RunError::Start)?;
    let guard = ProcessGuard::on(&child, placement, plugins);
    let Some(stderr) = child.stderr.take() else { return to_its_end(&mut child, guard).await };
    let mut words = LineForwarder { stderr, line: Vec::new(), reported: 0, tell };
    let ended = {
        let mut ending = std::pin::pin!(to_its_end(&mut child, guard));
        tokio::select! {
            biased;
            () = words.pass_on() => ending.await,
            ended = &mut ending => ended,
        }
    };
    // A process that it left running may hold the pipe open forever: only what is buffered is still read.
    words.rest().await;
    ended
}

async fn to_its_end(child: &mut Child, guard: ProcessGuard) -> Result<ProcessOutput, RunError> {
    let ended = said_and_ended(child).await;
    if guard.is_shut_down() {
        // The program is exiting and has reported why; the failure of a plugin that it has ended itself is not
        // reported.
        std::future::pending::<()>().await;
    }
    if ended.is_ok() {
        guard.release();
    }
    ended
}

async fn said_and_ended(child: &mut Child) -> Result<ProcessOutput, RunError> {
    let mut stdout = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take(STDOUT_LIMIT + 1).read_to_end(&mut stdout).await.map_err(RunError::Io)?;
    }
    if stdout.len() as u64 > STDOUT_LIMIT {
        return Err(RunError::TooLong);
    }
    let status = child.wait().await.map_err(RunError::Io)?;
    Ok(ProcessOutput { status, stdout })
}

/// Forwards the lines of a plugin.
struct LineForwarder<'a, R> {
    stderr: R,
    line: Vec<u8>,
    reported: usize,
    tell: &'a mut (dyn FnMut(&str) + Send),
}

impl<R: AsyncRead + Unpin + Send> LineForwarder<'_, R> {
    /// Forwards lines until the end. Dropping the future loses nothing.
    async fn pass_on(&mut self) {
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = self.stderr.read(&mut buffer).await {
            self.take(&buffer[..read]);
        }
    }

    /// Forwards buffered lines without waiting, and the rest of the last line.
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
        self.reported += self.line.len();
        if self.reported <= WORDS_LIMIT {
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

    async fn shell(script: &str) -> (Result<ProcessOutput, RunError>, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut reported = Vec::new();
        let ended = run(command, Placement::OwnGroup, &CredentialPlugins::default(), &mut |line| {
            reported.push(line.to_owned());
        })
        .await;
        (ended, reported)
    }

    #[tokio::test]
    async fn stdout_is_collected_and_stderr_forwarded_by_line() {
        let (ended, reported) = shell("echo out; echo one >&2; printf 'two\\r\\nthree' >&2; exit 3").await;
        let ended = ended.ok().unwrap();
        assert_eq!((ended.stdout.as_slice(), ended.status.code()), (&b"out\n"[..], Some(3)));
        assert_eq!(reported, ["one", "two", "three"]);
    }

    #[tokio::test]
    async fn plugin_without_terminal_has_no_input() {
        let (ended, _) = shell("cat; echo end").await;
        assert_eq!(ended.ok().unwrap().stdout, b"end\n");
    }

    #[tokio::test]
    async fn background_processes_of_a_plugin_are_not_awaited() {
        let (ended, reported) = shell("sleep 600 >/dev/null & echo $! ; echo done >&2").await;
        let pid = String::from_utf8(ended.ok().unwrap().stdout).unwrap();
        assert_eq!(reported, ["done"]);
        shell(&format!("kill {pid}")).await.0.ok().unwrap();
    }

    #[tokio::test]
    async fn neither_stream_is_read_forever() {
        let (ended, reported) = shell("yes >&2 2>/dev/null & yes; wait").await;
        assert!(matches!(ended, Err(RunError::TooLong)), "{reported:?}");
        let script =
            "i=0; while [ $i -lt 3000 ]; do echo 'one of many lines on stderr' >&2; i=$((i+1)); done";
        let (ended, reported) = shell(script).await;
        assert!(ended.is_ok_and(|ended| ended.status.success()));
        assert_eq!(reported.len(), WORDS_LIMIT / "one of many lines on stderr".len());
    }

    /// Runs a script in that folder until it has written that file, then drops the run. Returns the file's content.
    async fn given_up_at(folder: &Path, file: &str, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder);
        let mut unheard = |_: &str| {};
        let plugins = CredentialPlugins::default();
        tokio::select! {
            _ = run(command, Placement::OwnGroup, &plugins, &mut unheard) => panic!("it waits"),
            text = eventually("it has started", || std::fs::read_to_string(folder.join(file)).ok()) => text,
        }
    }

    /// Waits until a process is gone, or is a zombie of its inheritor.
    async fn ends(pid: &str) {
        let gone = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            (!state.is_ok_and(|state| !state.contains(") Z "))).then_some(())
        };
        eventually("it is gone", gone).await;
    }

    #[tokio::test]
    async fn processes_started_by_a_plugin_end_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = "sleep 600 & echo $! > child.new && mv child.new child; wait";
        ends(&given_up_at(folder.path(), "child", script).await).await;
    }

    #[tokio::test]
    async fn dropped_plugin_may_save_its_state() {
        let folder = tempfile::tempdir().unwrap();
        // It waits in a builtin: some shells lose a signal that arrives while they start a command.
        let script = "trap 'echo kept > cache; exit' TERM\nsleep 600 &\n: > started\nwait";
        given_up_at(folder.path(), "started", script).await;
        eventually("it is kept", || std::fs::read_to_string(folder.path().join("cache")).ok()).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn plugins_of_other_clients_keep_running() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [ended, kept] = [CredentialPlugins::default(), CredentialPlugins::default()];
        let runs = [&ended, &kept].into_iter().zip(&folders).map(|(plugins, folder)| {
            let (mut command, plugins) = (Command::new("sh"), plugins.clone());
            command
                .args(["-c", "echo $$ > pid.new && mv pid.new pid; exec sleep 600"])
                .current_dir(folder.path());
            tokio::spawn(
                async move { run(command, Placement::OwnGroup, &plugins, &mut |_| {}).await.is_ok() },
            )
        });
        let runs: Vec<_> = runs.collect();
        let mut pids = Vec::new();
        for folder in &folders {
            let pid = || std::fs::read_to_string(folder.path().join("pid")).ok();
            pids.push(eventually("it has started", pid).await);
        }
        let plugins = ended.clone();
        tokio::task::spawn_blocking(move || plugins.end_processes()).await.unwrap();
        ends(&pids[0]).await;
        assert_eq!((ended.is_running(), kept.is_running()), (false, true));
        runs.iter().for_each(tokio::task::JoinHandle::abort);
        ends(&pids[1]).await;
    }

    #[tokio::test]
    async fn plugin_that_ignores_sigterm_is_killed_after_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; echo $$ > pid.new && mv pid.new pid; while :; do sleep 0.1; done";
        let started = std::time::Instant::now();
        ends(&given_up_at(folder.path(), "pid", script).await).await;
        assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    }
}
