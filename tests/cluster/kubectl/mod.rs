//! Equal arguments to kdelta and kubectl: equal output, equal errors, and success or failure alike.
//!
//! `invocations.txt` is the table of invocations; `drawn` adds combinations of flags, formats and objects from a fixed
//! seed. Known differences are listed in `deliberate.txt`, each with its reason, and in `open.txt`, by cause. A listed
//! invocation that has become equal fails the test, so the lists stay current.

mod comparison;
mod differences;
mod documented;
mod drawn;
mod fixtures;
mod invocations;
mod kuberc_files;
mod manifests;
mod watch;
mod words;

use std::fs;
use std::path::Path;
use std::time::Instant;

use comparison::compare_all;
use differences::{Known, deliberate_cause, verify};
use fixtures::Cluster;
use invocations::Invocation;

use crate::support::print_line;

/// The number of invocations that the comparison must at least contain.
const AT_LEAST: usize = 400;

/// The invocations with every API available.
const TABLE: &str = include_str!("invocations.txt");
/// The invocations while the server behind one `APIService` is unavailable.
const UNAVAILABLE: &str = include_str!("unavailable.txt");
/// Differences that remain, each with its reason.
const DELIBERATE: &str = include_str!("deliberate.txt");
/// Differences that are to be removed, by cause.
const OPEN: &str = include_str!("open.txt");

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn output_and_errors_equal_kubectls() {
    let start = Instant::now();
    let cluster = Cluster::start();
    let mut invocations = Invocation::table(TABLE);
    invocations.extend(drawn::combinations(&invocations, 19, 120));
    invocations.extend(drawn::waits(21, 40));
    let known = Known::read(DELIBERATE, OPEN);
    let mut pairs = compare_all(&cluster, &invocations, &known);
    cluster.break_an_api_service();
    let unavailable = Invocation::table(UNAVAILABLE).into_iter().map(Invocation::without_an_api);
    pairs.extend(compare_all(&cluster, &unavailable.collect::<Vec<_>>(), &known));
    assert!(pairs.len() >= AT_LEAST, "{} invocations", pairs.len());
    let mut report = verify(&pairs, &known);
    report.problems.extend(documented::count_problem("invocations", pairs.len()));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-differences.txt");
    fs::write(&file, &report.differences).expect("the file of all differences");
    let summary = format!("{} after {:?}; {} has all", report.summary, start.elapsed(), file.display());
    print_line(&summary);
    assert!(report.problems.is_empty(), "{summary}\n{}", report.problems.join("\n"));
}

#[test]
#[ignore = "minutes: cargo test --test integration -- --ignored drawn_invocations"]
fn drawn_invocations_equal_kubectls() {
    let cluster = Cluster::start();
    let mut drawn = drawn::combinations(&Invocation::table(TABLE), 2026, 2500);
    drawn.extend(drawn::waits(2026, 500));
    let none = Known::read("", "");
    let pairs = compare_all(&cluster, &drawn, &none);
    let (deliberate, pairs): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|pair| !pair.is_equal() && deliberate_cause(pair).is_some());
    let report = verify(&pairs, &none);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl-drawn-differences.txt");
    fs::write(&file, &report.differences).expect("the file of all differences");
    print_line(&format!(
        "{}; {} more differ deliberately; {} has all",
        report.summary,
        deliberate.len(),
        file.display()
    ));
    assert!(report.problems.is_empty(), "{} of {} differ", report.problems.len(), drawn.len());
}
