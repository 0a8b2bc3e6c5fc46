//! kdelta beside its peers on one real kube-apiserver in one run: `cargo bench --bench peers -- [--pods N] [--live SECONDS]`.
//!
//! The contenders of a task take turns, so that a slow minute of the machine is everybody's; what counts is the ratio of
//! medians. curl of the same request is in each task: nothing that reads an answer can be faster than reading it.

mod audit;
mod bars;
mod contender;
mod follower;
mod live;
mod peers;
mod picture;
mod report;
mod round;
mod scan;
mod stand;
#[path = "../../tests/support/testbed.rs"]
#[allow(dead_code, reason = "the tests ask it for more")]
mod testbed;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;

use contender::Task;
use report::Table;
use stand::Stand;

/// Puts kdelta beside curl, kubectl, client-go and kube-rs on one real server.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many pods the server holds
    #[arg(long, default_value_t = 20_000)]
    pods: usize,
    /// How often each contender runs
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// For how many seconds the contenders follow live events, and a fifth of that a second time; 0 leaves that part out
    #[arg(long, default_value_t = 300)]
    live: u64,
    /// How many changes a second the live part makes
    #[arg(long, default_value_t = 1000)]
    rate: u32,
    /// How many it makes the second time: so few that a small server tells of them at once
    #[arg(long, default_value_t = 100)]
    calm_rate: u32,
    /// A kubectl to compare with, in place of one that is built of the server's version
    #[arg(long, value_name = "PROGRAM")]
    kubectl: Option<PathBuf>,
    /// Only tasks whose name contains one of these
    #[arg(long)]
    only: Vec<String>,
    /// Only contenders whose name contains one of these; curl stays
    #[arg(long)]
    contender: Vec<String>,
    /// Where to draw the result
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
    /// What cargo says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let peers = peers::find(arguments.kubectl.as_deref())?;
    let stand = Stand::set_up(arguments.pods)?;
    println!("{}; on {}, {} processors", peers.versions, stand.version(), processors());
    let mut tables = Vec::new();
    for task in Task::ALL.into_iter().filter(|task| arguments.wants(task.name())) {
        let contenders = contender::of(task, &stand, &peers);
        let contenders: Vec<_> = contenders.into_iter().filter(|one| arguments.lets(one.name)).collect();
        let table = Table::of(task, &round::compare(task, &contenders, arguments.rounds, &stand)?);
        println!("{table}");
        tables.push(table);
    }
    let mut verdicts = bars::of(&tables, stand.json_bytes());
    let mut live = Vec::new();
    if arguments.live > 0 && arguments.wants("live") {
        let contenders = contender::following(&stand, &peers);
        let contenders: Vec<_> = contenders.into_iter().filter(|one| arguments.lets(one.name)).collect();
        live = live::compare(&contenders, &stand, &arguments.phases())?;
        for phase in &live {
            println!("{phase}");
            verdicts.extend(bars::of_live(phase));
        }
    }
    for verdict in &verdicts {
        println!("{verdict}");
    }
    if let Some(file) = &arguments.picture {
        let drawn = picture::draw(&tables, &live, arguments.pods);
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
    /// How many changes a second, and for how long.
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
