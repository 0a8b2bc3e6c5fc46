//! One call of the program under limits, and a table of such calls.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use wait4::Wait4 as _;

use super::server::HostileServer;
use crate::support::TestEnv;

/// The number of scenarios that run at once. Most of them wait for a server.
const AT_A_TIME: usize = 8;

/// The kept part of each output stream: a hostile server may make the program print endlessly.
const OUTPUT_LIMIT: usize = 4 << 20;

/// The interval between checks of a running child.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The limits of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The wall-clock time of the child.
    pub(crate) time: Duration,
    /// The resident memory of the child, in bytes.
    pub(crate) memory: u64,
}

impl Default for Limits {
    /// Generous for a machine under load, and far below "never" and "all".
    fn default() -> Self {
        Self { time: Duration::from_secs(40), memory: 256 << 20 }
    }
}

type Check = Box<dyn Fn(&Outcome) + Send>;

/// One call of the program.
pub(crate) struct Scenario {
    name: String,
    env: TestEnv,
    command: Command,
    stdin: Option<Stdio>,
    is_at_terminal: bool,
    limits: Limits,
    check: Check,
}

/// The result of a call within its limits.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// The first 4 MiB of standard output.
    pub(crate) stdout: String,
    /// The first 4 MiB of standard error.
    pub(crate) stderr: String,
    /// The wall-clock time of the child.
    pub(crate) elapsed: Duration,
    /// The peak of its resident memory, in bytes.
    pub(crate) memory: u64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, elapsed, memory) = (self.code, self.elapsed, self.memory >> 20);
        let [out, err] = [&self.stdout, &self.stderr].map(|text| text.chars().take(2000).collect::<String>());
        write!(f, "exit {code:?} after {elapsed:.1?} with {memory} MiB\n--- stdout\n{out}\n--- stderr\n{err}")
    }
}

impl Scenario {
    /// Creates a call of the program with these arguments and an environment with only an empty home folder. The
    /// default check is that it ends within the default limits.
    pub(crate) fn new(name: impl Into<String>, arguments: &[&str]) -> Self {
        Self::within(TestEnv::new(), name, arguments)
    }

    /// The same with a prepared home folder.
    pub(crate) fn within(env: TestEnv, name: impl Into<String>, arguments: &[&str]) -> Self {
        let command = env.kdelta(arguments).into_command();
        Self {
            name: name.into(),
            env,
            command,
            stdin: None,
            is_at_terminal: false,
            limits: Limits::default(),
            check: Box::new(|_| {}),
        }
    }

    /// Connects to the server. The caller keeps the server alive while the scenario runs.
    pub(crate) fn on(mut self, server: &HostileServer) -> Self {
        // A file rather than a flag: a completed line takes no flags after it.
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "hostile",
            "clusters": [{"name": "hostile", "cluster": {"server": server.url()}}],
            "users": [{"name": "hostile", "user": {"token": "s3cr3t-t0k3n"}}],
            "contexts": [{"name": "hostile", "context": {"cluster": "hostile", "user": "hostile"}}],
        });
        let file = self.env.file("hostile.kubeconfig", &config.to_string());
        self.command.env("KUBECONFIG", file);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets its standard input.
    pub(crate) fn stdin(mut self, from: impl Into<Stdio>) -> Self {
        self.stdin = Some(from.into());
        self
    }

    /// Connects both output streams to a terminal. Its output is [`Outcome::stdout`], with newlines as line ends.
    pub(crate) fn at_terminal(mut self) -> Self {
        self.is_at_terminal = true;
        self
    }

    /// Replaces the time limit.
    pub(crate) fn within_seconds(mut self, seconds: u64) -> Self {
        self.limits.time = Duration::from_secs(seconds);
        self
    }

    /// Replaces the memory limit.
    pub(crate) fn within_mebibytes(mut self, mebibytes: u64) -> Self {
        self.limits.memory = mebibytes << 20;
        self
    }

    /// Sets the assertions on the outcome. Called once.
    pub(crate) fn check(mut self, check: impl Fn(&Outcome) + Send + 'static) -> Self {
        self.check = Box::new(check);
        self
    }

    /// Runs the call.
    ///
    /// # Errors
    ///
    /// It exceeded its limits, panicked, was ended by a signal, or failed its check.
    fn run(mut self) -> Result<(), String> {
        let name = &self.name;
        self.command.stdin(self.stdin.take().unwrap_or_else(Stdio::null));
        let mut terminal = None;
        if self.is_at_terminal {
            let (shown, end) = open_terminal();
            self.command.stdout(end.try_clone().expect("a second handle")).stderr(end);
            terminal = Some(shown);
        } else {
            self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let child = self.command.spawn();
        // The command holds the terminal's other end, which is read until all copies are closed.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = child.map_err(|error| format!("{name}: {error}"))?;
        let (outcome, exceeded) = outcome(child, terminal, self.limits);
        if let Some(exceeded) = exceeded {
            return Err(format!("{name}: killed after {exceeded}: {outcome}"));
        }
        if outcome.code.is_none() || outcome.code == Some(101) || outcome.stderr.contains("panicked at") {
            return Err(format!("{name}: it broke down: {outcome}"));
        }
        let checked = panic::catch_unwind(AssertUnwindSafe(|| (self.check)(&outcome)));
        checked.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("its check failed");
            format!("{name}: {text}\n{outcome}")
        })
    }
}

/// Waits for the end of a child, or kills it beyond its limits; returns the outcome and the exceeded limit.
fn outcome(mut child: Child, terminal: Option<File>, limits: Limits) -> (Outcome, Option<String>) {
    let began = Instant::now();
    let is_at_terminal = terminal.is_some();
    let (stdout, stderr) = match terminal {
        Some(shown) => (kept(shown), kept(std::io::empty())),
        None => (kept(child.stdout.take().expect("a pipe")), kept(child.stderr.take().expect("a pipe"))),
    };
    let (mut exceeded, mut sampled) = (None, 0);
    let used = loop {
        // The child is reaped only here, so that it can be killed until then.
        if let Some(used) = child.try_wait4().expect("a child") {
            break used;
        }
        let memory = child_peak(child.id());
        sampled = memory.max(sampled);
        if exceeded.is_none() && (began.elapsed() > limits.time || memory > limits.memory) {
            exceeded = Some(format!("{:.0?} with {} MiB", began.elapsed(), memory >> 20));
            child.kill().expect("a running child");
        }
        // The interval of polling; the limits are checked with each.
        thread::sleep(CHECK_INTERVAL);
    };
    // The kernel counts the parent's peak as the child's, from the moment between fork and exec.
    let is_own = used.rusage.maxrss > peak(std::process::id());
    let memory = if is_own { used.rusage.maxrss } else { sampled };
    if memory > limits.memory {
        exceeded.get_or_insert_with(|| format!("its end with {} MiB", memory >> 20));
    }
    let [stdout, stderr] = [stdout, stderr].map(|reading| {
        let kept = reading.join().expect("a thread that only reads");
        let text = String::from_utf8_lossy(&kept);
        if is_at_terminal { text.replace("\r\n", "\n") } else { text.into_owned() }
    });
    (Outcome { code: used.status.code(), stdout, stderr, elapsed: began.elapsed(), memory }, exceeded)
}

/// Opens a terminal; returns its output and the end for the child.
fn open_terminal() -> (File, File) {
    let shown = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&shown).and_then(|()| unlockpt(&shown)).expect("access to it");
    let name = ptsname(&shown, Vec::new()).expect("its name");
    let path = name.to_str().expect("a path of the system");
    let end = OpenOptions::new().read(true).write(true).open(path).expect("its other end");
    (File::from(shown), end)
}

/// Returns the peak memory of a running child in bytes, or 0 on systems without the file.
///
/// Until a child has replaced its memory with the program's, it shares the parent's memory and its executable, so the
/// executable is read first.
fn child_peak(pid: u32) -> u64 {
    let executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let parent = std::fs::read_link("/proc/self/exe").ok();
    if executable == parent { 0 } else { peak(pid) }
}

/// Returns the peak memory of a process in bytes, or 0 on systems without the file.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or_default() << 10
}

/// Reads a stream to its end and keeps the first part.
fn kept(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut piece = vec![0; 64 << 10];
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            kept.extend_from_slice(&piece[..length.min(OUTPUT_LIMIT - kept.len())]);
        }
        kept
    })
}

/// Runs all scenarios of a table and fails with all that failed.
#[track_caller]
pub(crate) fn run_all(scenarios: Vec<Scenario>) {
    let count = scenarios.len();
    let queue = Arc::new(Mutex::new(scenarios.into_iter()));
    let (failures, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME.min(count) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(scenario) = next else { return };
                    if let Err(failure) = scenario.run() {
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), count, "every scenario ran");
    let failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(failures.is_empty(), "{} of {count} failed:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::Reply;

    /// Returns the failure of a scenario with an endless watch.
    fn failure(limit: impl Fn(Scenario) -> Scenario) -> String {
        let server = HostileServer::start(HostileServer::honest);
        let scenario = Scenario::new("goes on", &["watch", "pods"]).on(&server);
        limit(scenario).run().expect_err("it exceeds its limit")
    }

    #[test]
    fn child_is_killed_beyond_its_limits() {
        let message = failure(|scenario| scenario.within_seconds(1));
        assert!(message.starts_with("goes on: killed after "), "{message}");
        let message = failure(|scenario| scenario.within_mebibytes(1));
        assert!(message.starts_with("goes on: killed after "), "{message}");
    }

    #[test]
    fn failed_check_is_reported_with_the_output() {
        let server = HostileServer::start(|_| Reply::status(403, "Forbidden", "not you"));
        let scenario = Scenario::new("forbidden", &["get", "pods"]).on(&server);
        let message = scenario.check(|outcome| assert_eq!(outcome.code, Some(7))).run().expect_err("it is 1");
        assert!(message.contains("right: Some(7)") && message.contains("not you"), "{message}");
    }
}
