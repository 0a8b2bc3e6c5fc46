//! One measured run of a contender, and rounds of runs in turn.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use wait4::Wait4 as _;

use crate::contender::{Contender, Task};
use crate::scan::Finder;
use crate::test_server::Stand;
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
    stand: &Stand,
) -> anyhow::Result<Vec<Runs>> {
    let mut runs = Vec::new();
    for one in contenders {
        eprintln!("{}: {}, the bytes on the wire", task.name(), one.name);
        runs.push(Runs { name: one.name, samples: Vec::new(), wire: bytes_on_the_wire(one, stand)? });
    }
    for round in 1..=rounds {
        eprintln!("{}: round {round} of {rounds}", task.name());
        for at in order(contenders.len(), round) {
            let one = &contenders[at];
            let command = (one.command)(stand.server(), stand.kubeconfig())?;
            runs[at].samples.push(run(one, command, stand).with_context(|| one.name)?);
        }
    }
    Ok(runs)
}

/// Returns the order of a round: over the rounds each contender follows each other one, since a contender affects the
/// server for its successor (the rows of a Williams square).
fn order(count: usize, round: usize) -> impl Iterator<Item = usize> {
    let zigzag =
        move |place: usize| if place.is_multiple_of(2) { place / 2 } else { count - place.div_ceil(2) };
    (0..count).map(move |place| (zigzag(place) + round) % count)
}

/// Counts the received bytes of a run through a relay. Before it one run through the relay and one without fill the
/// caches that a contender keeps per server.
fn bytes_on_the_wire(one: &Contender<'_>, stand: &Stand) -> anyhow::Result<u64> {
    let relay = Relay::start(stand.port())?;
    let server = format!("https://127.0.0.1:{}", relay.port());
    let kubeconfig = stand.folder().join("relayed");
    let text = std::fs::read_to_string(stand.kubeconfig())?.replace(stand.server(), &server);
    std::fs::write(&kubeconfig, text)?;
    let relayed = kubeconfig.to_string_lossy();
    run(one, (one.command)(stand.server(), stand.kubeconfig())?, stand).with_context(|| one.name)?;
    run(one, (one.command)(&server, &relayed)?, stand).with_context(|| one.name)?;
    let command = (one.command)(&server, &relayed)?;
    let before = relay.received();
    run(one, command, stand).with_context(|| one.name)?;
    Ok(relay.received() - before)
}

fn run(one: &Contender<'_>, mut command: Command, stand: &Stand) -> anyhow::Result<Sample> {
    let started = Instant::now();
    let mut child = start(&mut command, stand)?;
    let mut out = child.stdout.take().context("a pipe")?;
    let mut finder = one.until.map(Finder::new);
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
        if one.discards_output {
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
    let first = if one.discards_output { soonest(&printed) } else { first };
    Ok(Sample {
        first: first.context("it printed nothing")?,
        done: done.unwrap_or_else(|| started.elapsed()),
        cpu: ended.rusage.utime + ended.rusage.stime,
        peak: ended.rusage.maxrss,
    })
}

/// Returns the time of the first byte of the first address, from lines with an address's number and the seconds since
/// its request.
fn soonest(printed: &[u8]) -> Option<Duration> {
    let mut lines = std::str::from_utf8(printed).ok()?.lines();
    let seconds = lines.find_map(|line| line.strip_prefix("0 "))?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

/// Starts a contender with captured stdout and a home of its own for its caches.
pub(crate) fn start(command: &mut Command, stand: &Stand) -> anyhow::Result<Child> {
    let child = command.env("HOME", stand.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    child.with_context(|| format!("can't start {}", command.get_program().to_string_lossy()))
}
