//! A contender that follows the pods: the delay of changes until its reader sees them, and its cost meanwhile.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::process::{Child, ChildStdout};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use wait4::Wait4 as _;

use crate::contender::Contender;
use crate::round::start;
use crate::scan::{Finder, Values};
use crate::test_server::BenchServer;

/// The cost of following.
pub(crate) struct Cost {
    /// In ascending order.
    pub(crate) delays: Vec<Duration>,
    /// CPU seconds.
    pub(crate) cpu: f64,
    /// Bytes, at the end; `None` if the process had ended.
    pub(crate) memory: Option<u64>,
}

impl Cost {
    /// Returns the delay that this share of the changes did not exceed.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the length"
    )]
    pub(crate) fn delay(&self, share: f64) -> Duration {
        let at = (self.delays.len() as f64 * share) as usize;
        self.delays.get(at.min(self.delays.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// Returns the CPU seconds per 1,000 changes.
    #[expect(clippy::cast_precision_loss, reason = "far fewer events than 2^52")]
    pub(crate) fn for_a_thousand(&self) -> f64 {
        self.cpu * 1e3 / self.delays.len().max(1) as f64
    }
}

/// A process and the thread that reads its output. Both end on drop.
pub(crate) struct Follower<'scope> {
    // A std mutex, locked once per chunk; the bench reads the state a few times per second.
    state: Arc<Mutex<State>>,
    thread: Option<ScopedJoinHandle<'scope, anyhow::Result<()>>>,
    /// Whether the output marks the end of the initial state.
    marks_sync: bool,
}

struct State {
    /// `None` after it has ended.
    child: Option<Child>,
    /// True if it must not be started again.
    stopped: bool,
    /// The CPU time of earlier processes that have ended.
    spent: Duration,
    seen: Seen,
}

/// The state of the reader.
#[derive(Default)]
struct Seen {
    synced: bool,
    /// The time of the last byte.
    last: Option<Instant>,
    /// The version of the last object.
    version: String,
    /// The delays of the changes sent since `from`.
    delays: Vec<Duration>,
    /// Changes already counted: a delete repeats the annotation of the last write.
    counted: HashSet<Timestamp>,
    from: Option<Timestamp>,
}

impl<'scope> Follower<'scope> {
    pub(crate) fn start<'a>(
        scope: &'scope Scope<'scope, '_>,
        one: &'scope Contender<'a>,
        server: &'scope BenchServer,
    ) -> anyhow::Result<Self>
    where
        'a: 'scope,
    {
        let child = start(&mut (one.command)(server.server(), server.kubeconfig())?, server)?;
        let state =
            State { child: Some(child), stopped: false, spent: Duration::ZERO, seen: Seen::default() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let thread = scope.spawn(move || follow(one, server, &shared));
        Ok(Self { state, thread: Some(thread), marks_sync: one.until.is_some() })
    }

    /// Waits for the text that marks the end of the initial state, or for three seconds without output after the first.
    pub(crate) fn wait_for_first_state(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let (synced, last, ended) =
                self.look(|state| (state.seen.synced, state.seen.last, state.child.is_none()));
            let silent = last.is_some_and(|last| last.elapsed() > Duration::from_secs(3));
            if synced || (!self.marks_sync && silent) {
                return Ok(());
            }
            ensure!(!ended, "the process has ended");
            ensure!(
                began.elapsed() < Duration::from_mins(3),
                "the process has no first state after three minutes"
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Counts changes sent from now on, and discards earlier ones.
    pub(crate) fn count_from(&self, now: Timestamp) {
        self.look(|state| {
            state.seen.from = Some(now);
            state.seen.delays.clear();
        });
    }

    /// Returns the number of changes seen since then.
    pub(crate) fn changes_seen(&self) -> usize {
        self.look(|state| state.seen.delays.len())
    }

    /// Ends the process and its thread.
    ///
    /// # Errors
    ///
    /// The process had ended earlier.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        self.stop()
    }

    /// Returns the CPU seconds used so far.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        self.look(|state| state.cpu())
    }

    /// Returns the cost since `cpu_before`, and the delays of the counted changes.
    pub(crate) fn cost_since(&self, cpu_before: f64) -> anyhow::Result<Cost> {
        self.look(|state| {
            let mut delays = state.seen.delays.clone();
            delays.sort();
            Ok(Cost { delays, cpu: state.cpu()? - cpu_before, memory: state.memory()? })
        })
    }

    fn look<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().expect("no reader panics"))
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        self.look(|state| {
            state.stopped = true;
            state.child.as_mut().map_or(Ok(()), Child::kill)
        })?;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().expect("no reader panics")
    }
}

impl Drop for Follower<'_> {
    fn drop(&mut self) {
        let _already_failing = self.stop();
    }
}

/// Reads until the process ends, and starts it again from the last version if it supports that.
fn follow(one: &Contender<'_>, server: &BenchServer, shared: &Mutex<State>) -> anyhow::Result<()> {
    let lock = || shared.lock().expect("the bench does not panic with it");
    loop {
        let out = lock().child.as_mut().and_then(|child| child.stdout.take()).context("a pipe")?;
        let versions = one.resume.is_some().then(|| Values::of("\"resourceVersion\":"));
        let before = lock().seen.version.clone();
        read(out, one.until.map(Finder::new), versions, shared);
        let mut state = lock();
        let ended = state.child.take().context("it is waited for here only")?.wait4()?;
        state.spent += ended.rusage.utime + ended.rusage.stime;
        let Some(resume) = one.resume.as_ref().filter(|_| !state.stopped) else { return Ok(()) };
        ensure!(ended.status.success(), "{} ended with {}", one.name, ended.status);
        ensure!(state.seen.version != before, "the server lets {} have nothing more", one.name);
        state.child = Some(start(&mut resume(server.server(), &state.seen.version)?, server)?);
    }
}

fn read(
    mut out: ChildStdout,
    mut synced: Option<Finder>,
    mut versions: Option<Values>,
    shared: &Mutex<State>,
) {
    let mut sent = Values::of("\"testbed/sent\":");
    let mut chunk = vec![0; 64 << 10];
    while let Ok(length @ 1..) = out.read(&mut chunk) {
        let (now, at) = (Timestamp::now(), Instant::now());
        let seen = &mut shared.lock().expect("the bench does not panic with it").seen;
        seen.last = Some(at);
        if synced.as_mut().is_some_and(|finder| finder.sees(&chunk[..length])) {
            seen.synced = true;
        }
        sent.in_chunk(&chunk[..length], |text| seen.note(text, now));
        if let Some(versions) = &mut versions {
            versions.in_chunk(&chunk[..length], |text| text.clone_into(&mut seen.version));
        }
    }
}

impl Seen {
    fn note(&mut self, sent: &str, now: Timestamp) {
        let Some(from) = self.from else { return };
        let Ok(sent) = sent.parse::<Timestamp>() else { return };
        if sent >= from && self.counted.insert(sent) {
            self.delays.push(Duration::try_from(now.duration_since(sent)).unwrap_or_default());
        }
    }
}

impl State {
    fn cpu(&self) -> anyhow::Result<f64> {
        let Some(child) = &self.child else { return Ok(self.spent.as_secs_f64()) };
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        // After the name, which may contain spaces: utime and stime are the 14th and 15th field, in hundredths of a
        // second.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).context("a field of stat");
        Ok(self.spent.as_secs_f64() + (ticks(11)? + ticks(12)?) / 100.0)
    }

    fn memory(&self) -> anyhow::Result<Option<u64>> {
        let Some(child) = &self.child else { return Ok(None) };
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        // A process that has ended and was not waited for has no such line.
        let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmRSS:")) else { return Ok(None) };
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(Some(kilobytes * 1024))
    }
}
