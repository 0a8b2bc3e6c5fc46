//! Watches in both programs at the same time, on one server and over one script of changes: equal output.
//!
//! `table.txt` has the watches. Known differences are listed in `deliberate.txt`, each with its reason.

mod running;
mod script;
mod survival;
mod table;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use self::running::RunningPair;
use super::comparison::compare_all;
use super::differences::{Known, verify};
use super::documented::count_problem;
use super::fixtures::Cluster;
use super::invocations::Invocation;
use crate::support::{Api, eventually, print_line};

/// The number of watches that the comparison must at least contain.
const AT_LEAST: usize = 48;

/// The number of watches that start at a time: a busy server makes kdelta report long waits.
const AT_ONCE: usize = 8;

const TABLE: &str = include_str!("table.txt");
const DELIBERATE: &str = include_str!("deliberate.txt");

/// The time limit for the output of all watches. Only a failing test waits that long.
const LIMIT: Duration = Duration::from_secs(20);

/// Returns the number of watches that the server serves.
fn served(api: &Api) -> usize {
    let metrics = api.request("GET", "/metrics", &[], "").text;
    let counts = metrics.lines().filter(|line| {
        line.starts_with("apiserver_longrunning_requests{") && line.contains("verb=\"WATCH\"")
    });
    let counts = counts.map(|line| line.rsplit(' ').next().and_then(|count| count.parse::<usize>().ok()));
    counts.map(|count| count.expect("a count")).sum()
}

/// Waits until the server serves a watch to every running program, in addition to those before. It counts a watch once
/// the watch is certain to receive every later change.
fn wait_until_served(api: &Api, before: usize, pairs: &mut [RunningPair]) {
    eventually("every program watches", || {
        let running: usize = pairs.iter_mut().map(RunningPair::running).sum();
        (served(api) >= before + running).then_some(())
    });
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watches_equal_kubectls() {
    let start = Instant::now();
    let cluster = Cluster::start();
    let api = cluster.api();
    let known = Known::read(DELIBERATE, "");
    // Fills both caches of discovery.
    compare_all(&cluster, &[Invocation::parse("get widgets")], &known);
    let before = served(&api);
    let watches = table::read(TABLE);
    assert!(watches.len() >= AT_LEAST, "{} watches", watches.len());
    let mut pairs = Vec::new();
    for (number, watch) in watches.into_iter().enumerate() {
        pairs.push(RunningPair::start(&cluster, number, watch));
        if pairs.len().is_multiple_of(AT_ONCE) {
            wait_until_served(&api, before, &mut pairs);
        }
    }
    wait_until_served(&api, before, &mut pairs);
    script::run(&api);
    let changed = Instant::now();
    while changed.elapsed() < LIMIT
        && !pairs.iter_mut().all(|pair| pair.is_complete(known.contains(pair.line())))
    {
        // The interval of polling; no result depends on it.
        thread::sleep(Duration::from_millis(20));
    }
    let is_missing = |pair: &mut RunningPair| !pair.is_complete(known.contains(pair.line()));
    let incomplete: Vec<String> =
        pairs.iter_mut().filter_map(|pair| is_missing(pair).then(|| pair.line().to_owned())).collect();
    RunningPair::interrupt(&pairs);
    let pairs: Vec<_> = pairs.into_iter().map(RunningPair::end).collect();
    let mut report = verify(&pairs, &known);
    report.problems.extend(count_problem("watches", pairs.len()));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-watch-differences.txt");
    fs::write(&file, &report.differences).expect("the file of all differences");
    let summary = format!("{} after {:?}; {} has all", report.summary, start.elapsed(), file.display());
    print_line(&summary);
    assert!(report.problems.is_empty(), "{summary}\n{}", report.problems.join("\n"));
    assert!(incomplete.is_empty(), "the end is missing: {incomplete:#?}");
}
