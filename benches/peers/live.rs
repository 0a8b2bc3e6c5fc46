//! Live events: curl and one contender beside it read the same changes, and each write says when it was sent.
//!
//! In pairs, because a delay is mostly the server's and no two minutes of a server are the same.

use std::fmt;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use serde_json::Value;

use crate::contender::Contender;
use crate::follower::{Cost, Follower};
use crate::report::{megabytes, milliseconds};
use crate::stand::{NAMESPACE, Stand};
use crate::testbed;

/// A server gives a watch room for a second of the changes that it has seen in the last 75, and ends one that has none
/// left: the first contender would stand alone with a server that has seen nothing.
const WARM_UP: Duration = Duration::from_secs(75);

/// A contender and the curl beside it.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) limit: Cost,
    pub(crate) cost: Cost,
    /// Changes a second: a small server does not keep up with every rate.
    reached: f64,
}

/// Prints a line for each pair, as soon as it is known.
pub(crate) fn compare(
    contenders: &[Contender<'_>],
    stand: &Stand,
    rate: u32,
    lasting: Duration,
) -> anyhow::Result<Vec<Pair>> {
    let (curl, others) = contenders.split_first().context("curl is always there")?;
    println!(
        "live: {rate} changes a second were asked for, for {} s; from the send of a write to its line, curl's on the same changes in brackets",
        lasting.as_secs()
    );
    eprintln!("live: changes for {} s that nobody follows", WARM_UP.as_secs());
    churn(stand, rate, WARM_UP)?;
    let mut pairs = Vec::new();
    for other in others {
        eprintln!("live: {} beside curl", other.name);
        let pair = pair(curl, other, stand, rate, lasting).with_context(|| other.name)?;
        println!("{pair}");
        pairs.push(pair);
    }
    Ok(pairs)
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limit, cost, reached } = self;
        write!(f, "{name:18} {reached:.0}/s")?;
        for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
            let at = |cost: &Cost| milliseconds(cost.delay(share));
            write!(f, "  {what} {} ({})", at(cost), at(limit))?;
        }
        write!(f, "  {} events ({})", cost.delays.len(), limit.delays.len())?;
        write!(f, "  {:.3} CPU s for 1,000 ({:.3})", cost.for_a_thousand(), limit.for_a_thousand())?;
        match cost.memory {
            Some(memory) => write!(f, "  {:.0} MB at the end", megabytes(memory))?,
            None => f.write_str("  its watch ended early")?,
        }
        if limit.again > 0 {
            write!(f, "  (the server ended curl's watch {} times)", limit.again)?;
        }
        Ok(())
    }
}

fn pair(
    curl: &Contender<'_>,
    other: &Contender<'_>,
    stand: &Stand,
    rate: u32,
    lasting: Duration,
) -> anyhow::Result<Pair> {
    thread::scope(|scope| {
        let both = [Follower::start(scope, curl, stand)?, Follower::start(scope, other, stand)?];
        for one in &both {
            one.wait_for_first_state()?;
        }
        let before = [both[0].cpu()?, both[1].cpu()?];
        let now = Timestamp::now();
        for one in &both {
            one.count_from(now);
        }
        let reached = churn(stand, rate, lasting)?;
        // What is still under way arrives.
        thread::sleep(Duration::from_secs(2));
        let [limit, cost] = both;
        Ok(Pair { name: other.name, limit: limit.end(before[0])?, cost: cost.end(before[1])?, reached })
    })
}

/// Changes the pods; answers how many changes a second there were.
fn churn(stand: &Stand, rate: u32, lasting: Duration) -> anyhow::Result<f64> {
    let (rate, lasting) = (rate.to_string(), format!("{}s", lasting.as_secs()));
    let mut command = testbed::tool();
    command.args(["churn", "--kubeconfig", stand.kubeconfig(), "-n", NAMESPACE]);
    command.args(["--rate", &rate, "--duration", &lasting]);
    let output = command.output()?;
    ensure!(output.status.success(), "the pods could not be changed");
    let report: Value = serde_json::from_slice(&output.stdout).context("the report of the changes")?;
    let operations = report["operations"].as_object().context("counts of the changes")?;
    let changes: f64 = operations.values().filter_map(Value::as_f64).sum();
    Ok(changes / report["seconds"].as_f64().context("the seconds of the changes")?)
}
