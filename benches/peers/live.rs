//! Live events: all contenders follow the same changes at once, and each write carries its sending time.
//!
//! They run at once rather than in turn: most of a delay is the server's, and it varies from minute to minute, so rows
//! measured at different times would not be comparable. The server load that one contender causes delays all of them.

use std::fmt;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use comfy_table::{CellAlignment, Table as Drawn, presets};
use jiff::Timestamp;
use serde_json::Value;

use crate::contender::Contender;
use crate::follower::{Cost, Follower};
use crate::report::{megabytes, milliseconds};
use crate::test_server::{BenchServer, NAMESPACE};
use crate::testbed;

/// A server gives a watch a buffer for one second of the changes in the last 75, and ends a watch whose buffer is
/// full: contenders that follow from the first change on would find a server without a history.
const WARM_UP: Duration = Duration::from_secs(75);

/// The cost for each contender of following the same changes.
pub(crate) struct Live {
    pub(crate) target_rate: u32,
    /// Changes per second: a small server does not keep up with every rate.
    reached: f64,
    lasting: Duration,
    /// curl first.
    pub(crate) rows: Vec<Row>,
}

/// The cost for one contender.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) cost: Cost,
    /// The number of additional watches, requested because the server had ended one.
    again: usize,
}

/// Makes all contenders follow the pods while these change at each rate for its duration, one phase after the other.
pub(crate) fn compare(
    contenders: &[Contender<'_>],
    server: &BenchServer,
    phases: &[(u32, Duration)],
) -> anyhow::Result<Vec<Live>> {
    eprintln!("live: changes for {} s without a contender", WARM_UP.as_secs());
    churn(server, phases.iter().map(|phase| phase.0).max().unwrap_or_default(), WARM_UP)?;
    thread::scope(|scope| {
        let mut followers = Vec::new();
        for one in contenders {
            eprintln!("live: {} lists", one.name);
            let started = Timestamp::now();
            let follower = Follower::start(scope, one, server)?;
            follower.wait_for_first_state().with_context(|| one.name)?;
            let watches = server.audit.watches(&one.agent, started)?;
            ensure!(watches > 0, "the server knows nothing of the watch of {}", one.name);
            followers.push(follower);
        }
        let changes_seen: anyhow::Result<Vec<_>> = phases
            .iter()
            .map(|(target_rate, lasting)| phase(contenders, &followers, server, *target_rate, *lasting))
            .collect();
        for (one, follower) in contenders.iter().zip(followers) {
            if let Err(error) = follower.end() {
                eprintln!("live: {}: {error:#}", one.name);
            }
        }
        changes_seen
    })
}

/// Changes the pods while the contenders follow them.
fn phase(
    contenders: &[Contender<'_>],
    followers: &[Follower<'_>],
    server: &BenchServer,
    target_rate: u32,
    lasting: Duration,
) -> anyhow::Result<Live> {
    eprintln!(
        "live: {} follow the same changes, {target_rate} a second, for {} s",
        followers.len(),
        lasting.as_secs()
    );
    let before = followers.iter().map(Follower::cpu).collect::<anyhow::Result<Vec<_>>>()?;
    let now = Timestamp::now();
    for one in followers {
        one.count_from(now);
    }
    let reached = churn(server, target_rate, lasting)?;
    wait_for_the_rest(followers);
    let mut rows = Vec::new();
    for ((one, follower), before) in contenders.iter().zip(followers).zip(before) {
        let cost = follower.cost_since(before)?;
        rows.push(Row { name: one.name, cost, again: server.audit.watches(&one.agent, now)? });
    }
    Ok(Live { target_rate, reached, lasting, rows })
}

impl Live {
    /// Returns its share of the changes that any contender saw.
    #[expect(clippy::cast_precision_loss, reason = "far fewer events than 2^52")]
    pub(crate) fn share_of_events(&self, cost: &Cost) -> f64 {
        let all = self.rows.iter().map(|row| row.cost.delays.len()).max().unwrap_or_default();
        cost.delays.len() as f64 / all.max(1) as f64
    }

    /// Returns the changes per second.
    pub(crate) fn rate(&self) -> String {
        format!("{:.0}", self.reached)
    }

    pub(crate) fn cost(&self, name: &str) -> Option<&Cost> {
        self.rows.iter().find(|row| row.name == name).map(|row| &row.cost)
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "live events: all follow the same {} changes a second ({} were requested) for {} s; p50 and p99 are from the send of a write to its line",
            self.rate(),
            self.target_rate,
            self.lasting.as_secs()
        )?;
        let mut drawn = Drawn::new();
        drawn.load_style(presets::NOTHING);
        drawn.set_header(["", "p50", "p99", "events", "CPU for 1,000", "memory at the end", "more watches"]);
        for Row { name, cost, again } in &self.rows {
            drawn.add_row([
                (*name).to_owned(),
                milliseconds(cost.delay(0.5)),
                milliseconds(cost.delay(0.99)),
                cost.delays.len().to_string(),
                format!("{:.3} s", cost.for_a_thousand()),
                cost.memory.map_or("ended".to_owned(), |bytes| format!("{:.0} MB", megabytes(bytes))),
                again.to_string(),
            ]);
        }
        for column in drawn.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{}", drawn.trim_fmt())
    }
}

/// Waits until no contender receives further changes.
fn wait_for_the_rest(followers: &[Follower<'_>]) {
    let mut before = Vec::new();
    for _ in 0..12 {
        thread::sleep(Duration::from_secs(5));
        let now: Vec<_> = followers.iter().map(Follower::changes_seen).collect();
        if now == before {
            return;
        }
        before = now;
    }
}

/// Changes the pods and returns the number of changes per second.
fn churn(server: &BenchServer, rate: u32, lasting: Duration) -> anyhow::Result<f64> {
    let (rate, lasting) = (rate.to_string(), format!("{}s", lasting.as_secs()));
    let mut command = testbed::tool();
    command.args(["churn", "--kubeconfig", server.kubeconfig(), "-n", NAMESPACE]);
    command.args(["--rate", &rate, "--duration", &lasting]);
    let output = command.output()?;
    ensure!(output.status.success(), "the pods could not be changed");
    let report: Value = serde_json::from_slice(&output.stdout).context("the report of the changes")?;
    let operations = report["operations"].as_object().context("counts of the changes")?;
    let changes: f64 = operations.values().filter_map(Value::as_f64).sum();
    Ok(changes / report["seconds"].as_f64().context("the seconds of the changes")?)
}
