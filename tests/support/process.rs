//! The program as a child process: run to its end, or running with its lines read as they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Contract, PATIENCE};

/// A call of the program that has not begun.
#[derive(Debug)]
pub(crate) struct Kdelta {
    command: Command,
    /// What its lines are held to.
    contract: Option<Contract>,
}

/// How a call ended.
#[derive(Debug)]
#[must_use = "a call is for its output or for its status"]
pub(crate) struct Finished {
    /// The exit code; -1 after a signal.
    pub(crate) code: i32,
    /// What it wrote to stdout.
    pub(crate) stdout: String,
    /// What it wrote to stderr.
    pub(crate) stderr: String,
}

impl Kdelta {
    pub(super) fn new(home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdelta"));
        command.env_clear().env("HOME", home).current_dir(home).args(arguments).stdin(Stdio::null());
        Self { command, contract: Contract::of(arguments) }
    }

    /// Any other program, treated alike.
    pub(crate) fn other(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self { command, contract: None }
    }

    /// Sets one variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end; the test fails when that takes longer than [`PATIENCE`].
    #[track_caller]
    pub(crate) fn finish(self) -> Finished {
        let mut running = self.start();
        let code = running.wait();
        let stdout = running.stdout.drain();
        let stderr = running.stderr.drain();
        Finished { code, stdout, stderr }
    }

    /// Starts it, reading both its streams.
    pub(crate) fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let stdout = Lines::of(child.stdout.take().expect("a pipe"), self.contract);
        let stderr = Lines::of(child.stderr.take().expect("a pipe"), None);
        Running { child, stdout, stderr }
    }

    /// The same at a terminal of its own, by util-linux' `script`: what it writes to either stream comes as stdout, with
    /// the terminal's line ends, and [`Running::type_line`] types there. Nothing on a machine that has no `script`.
    pub(crate) fn at_a_terminal(self) -> Option<Self> {
        let has_script = Command::new("script").arg("--version").output().is_ok();
        if !has_script {
            super::tell("SKIPPED: there is no `script` to run the program at a terminal");
            return None;
        }
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"));
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let line = words.map(quoted).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("script");
        command.args(["-qefc", &line, "/dev/null"]).env_clear().stdin(Stdio::piped());
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.command.get_current_dir().expect("a folder"));
        Some(Self { command, contract: None })
    }

    /// What it shows at a terminal until its end, which is a good one.
    #[track_caller]
    pub(crate) fn finish_at_a_terminal(self) -> String {
        let mut running = self.start();
        let code = running.wait();
        let shown = running.stdout.drain();
        assert_eq!(code, 0, "{shown}");
        shown
    }

    /// Gives it something to read.
    pub(crate) fn stdin(mut self, from: impl Into<Stdio>) -> Self {
        self.command.stdin(from);
        self
    }

    /// The command as the standard library has it, for what a test wants to do itself.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }
}

impl Finished {
    /// Its stdout, when it ended well and said nothing on stderr.
    #[track_caller]
    pub(crate) fn quiet_success(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "stdout: {}", self.stdout);
        self.stdout
    }

    /// Its stderr, when it failed with that code and printed no data.
    #[track_caller]
    pub(crate) fn failure(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "stderr: {}", self.stderr);
        self.stderr
    }
}

/// A running call. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    /// The lines of its stdout.
    pub(crate) stdout: Lines,
    /// The lines of its stderr.
    pub(crate) stderr: Lines,
}

impl Running {
    /// Waits for its end; answers the exit code, or -1 after a signal.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> i32 {
        let status = super::eventually("the program ends", || self.child.try_wait().expect("a child"));
        status.code().unwrap_or(-1)
    }

    /// Types a line, where it is at a terminal.
    pub(crate) fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("a terminal");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("somebody reads");
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by name, as `kill` does.
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

/// The lines of a stream, read by a thread that ends with the stream. Unbounded: a test reads what it started.
#[derive(Debug)]
pub(crate) struct Lines {
    receiver: Receiver<String>,
    contract: Option<Contract>,
}

/// Whether a line of stderr reports a long wait. These lines depend on chance and on the load of the machine, so tests do not
/// see them; `tests/hostile` checks them.
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

    /// The next line, with its newline; nothing when none comes within that time or the stream ended.
    #[track_caller]
    pub(crate) fn within(&self, time: Duration) -> Option<String> {
        self.receiver.recv_timeout(time).ok().map(|line| self.kept(line))
    }

    /// The lines that have come by now.
    #[track_caller]
    pub(crate) fn at_hand(&self) -> Vec<String> {
        self.receiver.try_iter().map(|line| self.kept(line)).collect()
    }

    /// The line, which keeps its contract. One that was cut off in the middle, with its process, has none.
    #[track_caller]
    fn kept(&self, line: String) -> String {
        if let Some(contract) = self.contract.filter(|_| line.ends_with('\n')) {
            contract.check(&line);
        }
        line
    }

    /// The next line that passes the test, skipping others; the test fails when none comes.
    #[track_caller]
    pub(crate) fn find(&self, what: &str, mut wanted: impl FnMut(&str) -> bool) -> String {
        let start = Instant::now();
        let mut skipped = Vec::new();
        while let Some(line) = self.within(PATIENCE.saturating_sub(start.elapsed())) {
            if wanted(&line) {
                return line;
            }
            skipped.push(line);
        }
        panic!("no line for: {what}; there were\n{}", skipped.concat());
    }

    /// The lines up to the first that passes the test, that one included, as JSON.
    #[track_caller]
    pub(crate) fn json_until(&self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let start = Instant::now();
        while let Some(line) = self.within(PATIENCE.saturating_sub(start.elapsed())) {
            values.push(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}")));
            if values.last().is_some_and(&mut wanted) {
                return values;
            }
        }
        panic!("no line for: {what}; there were {values:#?}");
    }

    /// What is left, to the end of the stream.
    pub(crate) fn drain(&self) -> String {
        self.receiver.iter().map(|line| self.kept(line)).collect()
    }
}
