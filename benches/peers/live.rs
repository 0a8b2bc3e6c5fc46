//! Live events: curl and one contender beside it read the same changes, and each write says when it was sent.
//!
//! In pairs, because a delay is mostly the server's and no two minutes of a server are the same.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;

use crate::contender::Contender;
use crate::latency::Follower;
use crate::report::{megabytes, milliseconds};
use crate::round::start;
use crate::stand::{NAMESPACE, Stand};
use crate::testbed;

/// A contender that runs, with its reader.
struct Follows {
    child: Child,
    follower: Follower,
    says_when_synced: bool,
}

/// What following cost.
struct Cost {
    /// The shortest first.
    delays: Vec<Duration>,
    cpu: f64,
    /// Bytes, at the end, where it came so far.
    memory: Option<u64>,
}

/// Prints a line for each pair, as soon as it is known: at a high rate a small server takes long.
pub(crate) fn compare(
    contenders: &[Contender<'_>],
    stand: &Stand,
    rate: u32,
    lasting: Duration,
) -> anyhow::Result<()> {
    let (curl, others) = contenders.split_first().context("curl is always there")?;
    println!(
        "live: {rate} changes a second for {} s, from the send of a write to its line; in brackets curl's on the same changes",
        lasting.as_secs()
    );
    for other in others {
        eprintln!("live: {} beside curl", other.name);
        let (limit, cost) = pair(curl, other, stand, rate, lasting).with_context(|| other.name)?;
        println!("{}", row(other.name, &limit, &cost));
    }
    Ok(())
}

fn row(name: &str, limit: &Cost, cost: &Cost) -> String {
    let at = |cost: &Cost, share: f64| milliseconds(quantile(&cost.delays, share));
    let events = cost.delays.len();
    format!(
        "{name:18} p50 {} ({})  p99 {} ({})  {events} events ({})  {:.3} CPU s for 1,000 ({:.3})  {}",
        at(cost, 0.5),
        at(limit, 0.5),
        at(cost, 0.99),
        at(limit, 0.99),
        limit.delays.len(),
        for_a_thousand(cost),
        for_a_thousand(limit),
        cost.memory.map_or("its watch ended early".to_owned(), |memory| format!(
            "{:.0} MB at the end",
            megabytes(memory)
        )),
    )
}

#[expect(clippy::cast_precision_loss, reason = "far fewer events than 2^52")]
fn for_a_thousand(cost: &Cost) -> f64 {
    cost.cpu * 1e3 / cost.delays.len().max(1) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the length"
)]
fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn pair(
    curl: &Contender<'_>,
    other: &Contender<'_>,
    stand: &Stand,
    rate: u32,
    lasting: Duration,
) -> anyhow::Result<(Cost, Cost)> {
    let mut both = [follow(curl, stand)?, follow(other, stand)?];
    for one in &mut both {
        one.wait_for_first_state()?;
    }
    let before = [both[0].cpu()?, both[1].cpu()?];
    let now = Timestamp::now();
    for one in &both {
        one.follower.count_from(now);
    }
    let (rate, lasting) = (rate.to_string(), format!("{}s", lasting.as_secs()));
    let churned = testbed::tool()
        .args([
            "churn",
            "--kubeconfig",
            stand.kubeconfig(),
            "-n",
            NAMESPACE,
            "--rate",
            &rate,
            "--duration",
            &lasting,
        ])
        .output()?;
    ensure!(churned.status.success(), "the pods could not be changed");
    // What is still under way arrives.
    thread::sleep(Duration::from_secs(2));
    let [limit, cost] = both;
    Ok((limit.end(before[0])?, cost.end(before[1])?))
}

fn follow(one: &Contender<'_>, stand: &Stand) -> anyhow::Result<Follows> {
    let mut child = start(&mut (one.command)(stand.server(), stand.kubeconfig()), stand)?;
    let out = child.stdout.take().context("a pipe")?;
    let follower = Follower::of(out, one.until);
    Ok(Follows { child, follower, says_when_synced: one.until.is_some() })
}

impl Follows {
    /// Until it says so, or has printed something and then nothing for three seconds.
    fn wait_for_first_state(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let (synced, last) = self.follower.look(|seen| (seen.synced, seen.last));
            let silent = last.is_some_and(|last| last.elapsed() > Duration::from_secs(3));
            if synced || (!self.says_when_synced && silent) {
                return Ok(());
            }
            ensure!(self.child.try_wait()?.is_none(), "it ended");
            ensure!(began.elapsed() < Duration::from_mins(3), "it has no first state after three minutes");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The CPU seconds it has used.
    fn cpu(&self) -> anyhow::Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // After the name, which may hold spaces: utime and stime are the 14th and 15th field, in hundredths of a second.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks =
            |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).context("a field of stat");
        Ok((ticks(11)? + ticks(12)?) / 100.0)
    }

    /// Nothing where it has ended: a busy server gives up a watch that is behind, and not everyone asks again.
    fn memory(&self) -> anyhow::Result<Option<u64>> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmRSS:")) else { return Ok(None) };
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok(Some(kilobytes * 1024))
    }

    fn end(mut self, cpu_before: f64) -> anyhow::Result<Cost> {
        let (cpu, memory) = (self.cpu()? - cpu_before, self.memory()?);
        self.child.kill()?;
        self.child.wait()?;
        Ok(Cost { delays: self.follower.delays(), cpu, memory })
    }
}
