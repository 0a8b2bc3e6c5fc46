//! One measured run of a contender, and rounds of runs in turn.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use wait4::Wait4 as _;

use crate::contender::{Contender, Task};
use crate::scan::Finder;
use crate::test_server::BenchServer;
use crate::wire::Relay;

/// The cost of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// From the start of the process to its first byte on stdout.
    pub(crate) first: Duration,
    /// To its end, or to the text that marks the end of the task.
    pub(crate) done: Duration,
    /// User and system time.
    pub(crate) cpu: Duration,
    /// The peak of its memory, in bytes.
    pub(crate) peak: u64,
}

/// All runs of one contender.
pub(crate) struct Runs {
    pub(crate) name: &'static str,
    pub(crate) samples: Vec<Sample>,
    /// The bytes received from the server, in a separate run.
    pub(crate) wire: u64,
}

/// Runs the contenders of a task in turn.
pub(crate) fn compare(
    task: Task,
    contenders: &[Contender<'_>],
    rounds: usize,
    server: &BenchServer,
) -> anyhow::Result<Vec<Runs>> {
    let mut runs = Vec::new();
    for contender in contenders {
        eprintln!("{}: {}, the bytes on the wire", task.name(), contender.name);
        runs.push(Runs {
            name: contender.name,
            samples: Vec::new(),
            wire: count_wire_bytes(contender, server)?,
        });
    }
    for round in 1..=rounds {
        eprintln!("{}: round {round} of {rounds}", task.name());
        for at in order(contenders.len(), round) {
            let contender = &contenders[at];
            // The same requests before each run, some of which need them: what the server allocated before a run decides
            // whether its garbage collection falls into the run.
            server.pages(server.server())?;
            let command = (contender.command)(server.server(), server.kubeconfig())?;
            runs[at].samples.push(run(contender, command, server).with_context(|| contender.name)?);
        }
    }
    Ok(runs)
}

/// Returns the order of a round: over the rounds each contender follows each other one equally often, since a contender
/// affects the server for its successor (the rows of a Williams square, and for an odd count of their mirror images too).
fn order(count: usize, round: usize) -> Vec<usize> {
    let zigzag =
        move |place: usize| if place.is_multiple_of(2) { place / 2 } else { count - place.div_ceil(2) };
    let mut row: Vec<usize> = (0..count).map(|place| (zigzag(place) + round) % count).collect();
    if !count.is_multiple_of(2) && !(round / count).is_multiple_of(2) {
        row.reverse();
    }
    row
}

/// Counts the received bytes of a run through a relay. Before it one run through the relay and one without fill the
/// caches that a contender keeps per server.
fn count_wire_bytes(contender: &Contender<'_>, server: &BenchServer) -> anyhow::Result<u64> {
    let relay = Relay::start(server.port())?;
    let relay_url = format!("https://127.0.0.1:{}", relay.port());
    let kubeconfig = server.folder().join("relayed");
    let text = std::fs::read_to_string(server.kubeconfig())?.replace(server.server(), &relay_url);
    std::fs::write(&kubeconfig, text)?;
    let relayed = kubeconfig.to_string_lossy();
    run(contender, (contender.command)(server.server(), server.kubeconfig())?, server)
        .with_context(|| contender.name)?;
    run(contender, (contender.command)(&relay_url, &relayed)?, server).with_context(|| contender.name)?;
    let command = (contender.command)(&relay_url, &relayed)?;
    let before = relay.received();
    run(contender, command, server).with_context(|| contender.name)?;
    Ok(relay.received() - before)
}

fn run(contender: &Contender<'_>, mut command: Command, server: &BenchServer) -> anyhow::Result<Sample> {
    let started = Instant::now();
    let mut child = start(&mut command, server)?;
    let mut out = child.stdout.take().context("a pipe")?;
    let mut finder = contender.until.map(Finder::new);
    let (mut first, mut done) = (None, None);
    let mut printed = Vec::new();
    // The capacity of a Linux pipe: one read returns everything available.
    let mut chunk = vec![0; 64 << 10];
    loop {
        let length = out.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        first.get_or_insert_with(|| started.elapsed());
        if contender.discards_output {
            printed.extend_from_slice(&chunk[..length]);
        }
        if finder.as_mut().is_some_and(|finder| finder.sees(&chunk[..length])) {
            done = Some(started.elapsed());
            child.kill()?;
            break;
        }
    }
    let ended = child.wait4()?;
    ensure!(done.is_some() || ended.status.success(), "ended with {}", ended.status);
    ensure!(done.is_some() || finder.is_none(), "ended before it was done");
    // Without the start of the process, which curl can't measure.
    let first = if contender.discards_output { first_byte_time(&printed) } else { first };
    Ok(Sample {
        first: first.context("it printed nothing")?,
        done: done.unwrap_or_else(|| started.elapsed()),
        cpu: ended.rusage.utime + ended.rusage.stime,
        peak: ended.rusage.maxrss,
    })
}

/// Returns the time of the first byte of the first address, from lines with an address's number and the seconds since
/// its request.
fn first_byte_time(printed: &[u8]) -> Option<Duration> {
    let mut lines = std::str::from_utf8(printed).ok()?.lines();
    let seconds = lines.find_map(|line| line.strip_prefix("0 "))?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// Starts a contender with captured stdout and a home of its own for its caches.
pub(crate) fn start(command: &mut Command, server: &BenchServer) -> anyhow::Result<Child> {
    forget_own_peak()?;
    let child = command.env("HOME", server.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    child.with_context(|| format!("can't start {}", command.get_program().to_string_lossy()))
}

/// Sets this process's peak memory to what it uses now. Linux counts the peak of the process that calls `exec` as memory of the
/// program that it starts, so that without this no program takes less than the benchmark ever did.
fn forget_own_peak() -> anyhow::Result<()> {
    if cfg!(target_os = "linux") {
        std::fs::write("/proc/self/clear_refs", "5")
            .context("can't reset the peak memory of the benchmark")?;
    }
    Ok(())
}
