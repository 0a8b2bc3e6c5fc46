//! kdelta compared with other clients on one real kube-apiserver in one run: `cargo bench --bench peers -- [--pods N]
//! [--live SECONDS]`.
//!
//! The contenders of a task take turns, so a slow minute of the machine affects all of them; the result is the ratio
//! of medians. Each task includes curl with the same request: no program that reads a response is faster than reading
//! it.

mod audit;
mod chart;
mod contender;
mod follower;
mod live;
mod peers;
#[path = "../../tests/support/pod_queries.rs"]
mod pod_queries;
mod queries;
mod report;
mod round;
mod scan;
mod targets;
mod test_server;
#[path = "../../tests/support/testbed.rs"]
#[allow(dead_code, reason = "the tests ask it for more")]
mod testbed;
mod tree;
mod waits;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;

use contender::Task;
use report::Table;
use test_server::BenchServer;

/// Compares kdelta with curl, kubectl, client-go and kube-rs on one real server.
#[derive(Debug, Parser)]
struct Arguments {
    /// The number of pods on the server
    #[arg(long, default_value_t = 20_000)]
    pods: usize,
    /// The number of runs of each contender
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of following live events, and a fifth of that at the second rate; 0 skips this part
    #[arg(long, default_value_t = 300)]
    live: u64,
    /// Changes per second in the live part
    #[arg(long, default_value_t = 1000)]
    rate: u32,
    /// Changes per second in the second phase: few enough that a small server reports them at once
    #[arg(long, default_value_t = 100)]
    calm_rate: u32,
    /// The kubectl to compare with, instead of one built for the server's version
    #[arg(long, value_name = "PROGRAM")]
    kubectl: Option<PathBuf>,
    /// Run only tasks whose name contains one of these
    #[arg(long)]
    only: Vec<String>,
    /// Run only contenders whose name contains one of these; curl stays
    #[arg(long)]
    contender: Vec<String>,
    /// Write the results as an SVG chart to this file
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
    /// Passed by cargo to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let peers = peers::find(arguments.kubectl.as_deref())?;
    let server = BenchServer::set_up(arguments.pods)?;
    println!("{}; on {}, {} processors", peers.versions, server.version(), processors());
    let mut tables = Vec::new();
    for task in Task::ALL.into_iter().filter(|task| arguments.wants(task.name())) {
        let contenders = contender::of(task, &server, &peers);
        let contenders: Vec<_> = contenders.into_iter().filter(|one| arguments.lets(one.name)).collect();
        let table = Table::of(task, &round::compare(task, &contenders, arguments.rounds, &server)?);
        println!("{table}");
        tables.push(table);
    }
    let mut verdicts = targets::of(&tables, server.json_bytes());
    if arguments.wants("queries") {
        verdicts.push(queries::compare(&server)?);
    }
    if arguments.wants("wait") {
        verdicts.extend(waits::compare(&server)?);
    }
    let mut live = Vec::new();
    if arguments.live > 0 && arguments.wants("live") {
        let contenders = contender::following(&server, &peers);
        let contenders: Vec<_> = contenders.into_iter().filter(|one| arguments.lets(one.name)).collect();
        live = live::compare(&contenders, &server, &arguments.phases())?;
        for phase in &live {
            println!("{phase}");
            verdicts.extend(targets::of_live(phase));
        }
    }
    // The last one, because it creates pods.
    if arguments.wants("tree") {
        verdicts.extend(tree::compare(&server, &peers.tree_by_lists, arguments.rounds)?);
    }
    for verdict in &verdicts {
        println!("{verdict}");
    }
    if let Some(file) = &arguments.picture {
        let drawn = chart::draw(&tables, &live, arguments.pods);
        std::fs::write(file, drawn).with_context(|| format!("can't write {}", file.display()))?;
    }
    let held = verdicts.iter().filter(|verdict| verdict.holds).count();
    println!("{held} of {} bars hold", verdicts.len());
    Ok(())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

impl Arguments {
    /// Returns the changes per second and the duration of each phase.
    fn phases(&self) -> [(u32, Duration); 2] {
        let lasting = Duration::from_secs(self.live);
        [(self.rate, lasting), (self.calm_rate, (lasting / 5).max(Duration::from_secs(1)))]
    }

    fn wants(&self, task: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| task.contains(part.as_str()))
    }

    fn lets(&self, contender: &str) -> bool {
        self.contender.is_empty()
            || contender.starts_with("curl")
            || self.contender.iter().any(|part| contender.contains(part.as_str()))
    }
}
