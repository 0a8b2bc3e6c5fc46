//! The program as a child process: run to its end, or running while the test reads its lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Contract, PATIENCE};

/// A call of the program that has not started.
#[derive(Debug)]
pub(crate) struct Kdelta {
    command: Command,
    /// The contract of its stdout lines.
    contract: Option<Contract>,
}

/// The result of a finished call.
#[derive(Debug)]
#[must_use = "a call is for its output or for its status"]
pub(crate) struct Finished {
    /// The exit code; -1 after a signal.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Kdelta {
    pub(super) fn new(home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdelta"));
        command.env_clear().env("HOME", home).current_dir(home).args(arguments).stdin(Stdio::null());
        Self { command, contract: Contract::of(arguments) }
    }

    /// Wraps any other program.
    pub(crate) fn other(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self { command, contract: None }
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end; fails the test after [`PATIENCE`].
    #[track_caller]
    pub(crate) fn finish(self) -> Finished {
        let mut running = self.start();
        let code = running.wait();
        let stdout = running.stdout.drain();
        let stderr = running.stderr.drain();
        Finished { code, stdout, stderr }
    }

    /// Starts it and reads both its output streams.
    pub(crate) fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let stdout = Lines::of(child.stdout.take().expect("a pipe"), self.contract);
        let stderr = Lines::of(child.stderr.take().expect("a pipe"), None);
        Running { child, stdout, stderr }
    }

    /// Runs it on a terminal of its own through util-linux' `script`: both output streams arrive on stdout with the
    /// terminal's line ends, and [`Running::type_line`] types.
    pub(crate) fn at_a_terminal(self) -> Self {
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"));
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let line = words.map(quoted).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("script");
        command.args(["-qefc", &line, "/dev/null"]).env_clear().stdin(Stdio::piped());
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.command.get_current_dir().expect("a folder"));
        Self { command, contract: None }
    }

    /// Runs it on a terminal and returns its output; fails the test unless it exits with 0.
    #[track_caller]
    pub(crate) fn finish_at_a_terminal(self) -> String {
        let mut running = self.start();
        let code = running.wait();
        let shown = running.stdout.drain();
        assert_eq!(code, 0, "{shown}");
        shown
    }

    /// Sets its standard input.
    pub(crate) fn stdin(mut self, from: impl Into<Stdio>) -> Self {
        self.command.stdin(from);
        self
    }

    /// Returns the standard library's command.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

impl Finished {
    /// Returns its stdout; fails the test unless it exited with 0 and an empty stderr.
    #[track_caller]
    pub(crate) fn quiet_success(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "stdout: {}", self.stdout);
        self.stdout
    }

    /// Returns its stderr; fails the test unless it exited with this code and printed no data.
    #[track_caller]
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "stderr: {}", self.stderr);
        self.stderr
    }
}

/// A running call, killed on drop.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

impl Running {
    /// Waits for its end and returns the exit code, or -1 after a signal.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> i32 {
        let status = super::eventually("the program ends", || self.child.try_wait().expect("a child"));
        status.code().unwrap_or(-1)
    }

    /// Types a line on its terminal.
    pub(crate) fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("a terminal");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the program reads");
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, as `kill` does.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status().expect("kill");
        assert!(sent.success(), "kill -s {name} {pid}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = (self.child.kill(), self.child.wait());
    }
}

/// The lines of a stream, read by a thread that ends with the stream. Unbounded: a test reads all output of the
/// programs it starts.
#[derive(Debug)]
pub(crate) struct Lines {
    receiver: Receiver<String>,
    contract: Option<Contract>,
}

/// Returns whether a line of stderr reports a long wait. These lines depend on chance and on the load of the machine,
/// so they are hidden from tests; `tests/hostile` checks them.
fn is_wait(line: &str) -> bool {
    line.contains("trying again in ") || line.contains("no response from the server ")
}

impl Lines {
    fn of(stream: impl Read + Send + 'static, contract: Option<Contract>) -> Self {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if !is_wait(&text) && sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self { receiver, contract }
    }

    /// Returns the next line with its newline, or `None` if the stream ended or no line arrived in time.
    #[track_caller]
    pub(crate) fn within(&self, time: Duration) -> Option<String> {
        self.receiver.recv_timeout(time).ok().map(|line| self.kept(line))
    }

    /// Returns the lines received so far.
    #[track_caller]
    pub(crate) fn at_hand(&self) -> Vec<String> {
        self.receiver.try_iter().map(|line| self.kept(line)).collect()
    }

    /// Checks the line against its contract. A partial last line of a killed process is exempt.
    #[track_caller]
    fn kept(&self, line: String) -> String {
        if let Some(contract) = self.contract.filter(|_| line.ends_with('\n')) {
            contract.check(&line);
        }
        line
    }

    /// Returns the next line that matches, skipping others; fails the test if none arrives.
    #[track_caller]
    pub(crate) fn find(&self, what: &str, mut is_match: impl FnMut(&str) -> bool) -> String {
        let start = Instant::now();
        let mut skipped = Vec::new();
        while let Some(line) = self.within(PATIENCE.saturating_sub(start.elapsed())) {
            if is_match(&line) {
                return line;
            }
            skipped.push(line);
        }
        panic!("no line for: {what}; there were\n{}", skipped.concat());
    }

    /// Returns the lines as JSON up to and including the first match.
    #[track_caller]
    pub(crate) fn json_until(&self, what: &str, mut is_match: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let start = Instant::now();
        while let Some(line) = self.within(PATIENCE.saturating_sub(start.elapsed())) {
            values.push(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}")));
            if values.last().is_some_and(&mut is_match) {
                return values;
            }
        }
        panic!("no line for: {what}; there were {values:#?}");
    }

    /// Returns the rest of the stream.
    pub(crate) fn drain(&self) -> String {
        self.receiver.iter().map(|line| self.kept(line)).collect()
    }
}
