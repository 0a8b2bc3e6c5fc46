//! Many queries on the loaded pods, whose results must be the sets that jq selects from the server's JSON.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::pod_queries::{DEFINITIONS, PodQuery, queries};
use crate::targets::TargetResult;
use crate::test_server::BenchServer;

/// Runs all queries, and returns the share of them with an equal result.
pub(crate) fn compare(server: &BenchServer) -> anyhow::Result<TargetResult> {
    let all = queries(20);
    let expected = select_with_jq(server, &all)?;
    let mut different = 0_u32;
    for (query, expected) in all.iter().zip(&expected) {
        let found = select_with_kdelta(server, query)?;
        if found != *expected {
            different += 1;
            println!("differs: {:?}: {} pods, jq selects {}", query.flags, found.len(), expected.len());
        }
    }
    let count = all.len();
    Ok(TargetResult::at_most("queries", format!("{count} queries differ from jq"), f64::from(different), 0.0))
}

/// Returns the names that each condition selects, in one pass over the list.
fn select_with_jq(server: &BenchServer, all: &[PodQuery]) -> anyhow::Result<Vec<BTreeSet<String>>> {
    let conditions: Vec<String> = all.iter().map(|query| format!("({})", query.condition)).collect();
    let filter = format!(
        r#"{DEFINITIONS} .items[] | "\(.metadata.name) \([{}] | map(if . then "1" else "0" end) | join(""))""#,
        conditions.join(", ")
    );
    let mut curl = server.curl("application/json");
    let mut curl = curl.arg(format!("{}/api/v1/pods", server.server())).stdout(Stdio::piped()).spawn()?;
    let list = curl.stdout.take().context("a pipe")?;
    let selected = Command::new("jq").args(["-r", &filter]).stdin(list).output()?;
    ensure!(curl.wait()?.success(), "curl can't list the pods");
    ensure!(selected.status.success(), "jq: {}", String::from_utf8_lossy(&selected.stderr));
    let mut names = vec![BTreeSet::new(); all.len()];
    for line in std::str::from_utf8(&selected.stdout)?.lines() {
        let (name, bits) = line.split_once(' ').context("a name and its bits")?;
        for (names, _) in names.iter_mut().zip(bits.bytes()).filter(|(_, bit)| *bit == b'1') {
            names.insert(format!("pod/{name}"));
        }
    }
    Ok(names)
}

fn select_with_kdelta(server: &BenchServer, query: &PodQuery) -> anyhow::Result<BTreeSet<String>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdelta"));
    command.args(["get", "pods", "-A", "-o", "name", "--kubeconfig", server.kubeconfig()]).args(&query.flags);
    let output = command.env("HOME", server.folder()).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?}: {error}", query.flags);
    Ok(std::str::from_utf8(&output.stdout)?.lines().map(str::to_owned).collect())
}
