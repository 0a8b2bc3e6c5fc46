//! `kdelta wait`: the delay from the deciding event, as curl's watch receives it, to the end of the process, and the memory
//! of a wait for about 1,000 of the pods.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::report::megabytes;
use crate::round::start;
use crate::targets::TargetResult;
use crate::test_server::{BenchServer, NAMESPACE};

/// The number of measured waits.
const TRIALS: usize = 60;
/// The time in which both programs certainly watch.
const START: Duration = Duration::from_millis(400);
/// The labels of about 1,000 of 20,000 pods.
const LABELS: &str = "app=web,tier in (frontend,backend)";
/// The maximum delays after curl, in milliseconds.
const DELAYS: [(&str, usize, f64); 2] = [("p50", 50, 5.0), ("p95", 95, 20.0)];
/// The interval at which the memory of a wait is read.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum memory.
const MEGABYTES: f64 = 20.0;

/// Measures waits.
pub(crate) fn compare(server: &BenchServer) -> anyhow::Result<Vec<TargetResult>> {
    let mut delays = Vec::new();
    for trial in 1..=TRIALS {
        eprintln!("wait: {trial} of {TRIALS}");
        delays.push(delay(server, &format!("wait-{trial}"))?);
    }
    delays.sort_by(f64::total_cmp);
    let mut results = Vec::new();
    for (what, percent, bar) in DELAYS {
        let delay = delays[(delays.len() * percent / 100).min(delays.len() - 1)];
        results.push(TargetResult::at_most("wait", format!("ms, {what} after curl"), delay, bar));
    }
    let memory = memory(server)?;
    println!("wait: {} after curl in ms, at most {memory:.1} MB", shown(&delays));
    results.push(TargetResult::at_most("wait", "MB for 1,000 pods".to_owned(), memory, MEGABYTES));
    Ok(results)
}

fn shown(delays: &[f64]) -> String {
    let at = |percent: usize| delays[(delays.len() * percent / 100).min(delays.len() - 1)];
    format!("p50 {:.2}, p95 {:.2}, max {:.2}", at(50), at(95), at(100))
}

/// Returns the milliseconds from the moment at which curl has printed a change to the end of the wait for it; negative if
/// the wait ended before.
fn delay(server: &BenchServer, name: &str) -> anyhow::Result<f64> {
    let maps = format!("{}/api/v1/namespaces/{NAMESPACE}/configmaps", server.server());
    let object = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"n":"0"}}}}"#);
    request(server, "POST", "application/json", &object, &maps)?;
    let mut curl = server.curl("application/json");
    curl.args(["--no-buffer", &format!("{maps}?watch=true&fieldSelector=metadata.name%3D{name}")]);
    let mut curl = start(&mut curl, server)?;
    let out = BufReader::new(curl.stdout.take().context("a pipe")?);
    let mut kdelta = Command::new(env!("CARGO_BIN_EXE_kdelta"));
    let condition = "object.data.n == '1'";
    kdelta.args([
        "wait",
        "cm",
        name,
        "-n",
        NAMESPACE,
        "--for",
        condition,
        "--kubeconfig",
        server.kubeconfig(),
    ]);
    let mut kdelta = start(&mut kdelta, server)?;
    let (seen, ended) = thread::scope(|scope| {
        let seen = scope.spawn(move || seen_at(out));
        let ended = scope.spawn(|| ended_at(&mut kdelta));
        thread::sleep(START);
        let url = format!("{maps}/{name}");
        request(server, "PATCH", "application/merge-patch+json", r#"{"data":{"n":"1"}}"#, &url)?;
        let joined = |failed| anyhow::anyhow!("a thread panicked: {failed:?}");
        anyhow::Ok((seen.join().map_err(joined)??, ended.join().map_err(joined)??))
    })?;
    curl.kill()?;
    curl.wait()?;
    let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
    Ok(match ended.checked_duration_since(seen) {
        Some(after) => milliseconds(after),
        None => -milliseconds(seen.duration_since(ended)),
    })
}

/// Returns the time at which curl prints the deciding change.
fn seen_at(out: impl BufRead) -> anyhow::Result<Instant> {
    for line in out.lines() {
        if line?.contains(r#""n":"1""#) {
            return Ok(Instant::now());
        }
    }
    anyhow::bail!("curl's watch ended")
}

fn ended_at(kdelta: &mut Child) -> anyhow::Result<Instant> {
    let status = kdelta.wait()?;
    let ended = Instant::now();
    ensure!(status.success(), "kdelta wait ended with {status}");
    Ok(ended)
}

fn request(server: &BenchServer, method: &str, kind: &str, body: &str, url: &str) -> anyhow::Result<()> {
    let mut curl = server.curl("application/json");
    curl.args(["--request", method, "--header", &format!("Content-Type: {kind}"), "--data", body, url]);
    let output = curl.output()?;
    ensure!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Returns the peak memory in megabytes of a wait for pods that is not met.
///
/// It is read while the wait runs: that of an ended process includes the peak of this process, which started it.
fn memory(server: &BenchServer) -> anyhow::Result<f64> {
    let mut kdelta = Command::new(env!("CARGO_BIN_EXE_kdelta"));
    kdelta.args(["wait", "pods", "-A", "-l", LABELS, "--for", "gone || object.status.phase == 'None'"]);
    kdelta.args(["--timeout=10s", "--kubeconfig", server.kubeconfig()]).stderr(Stdio::null());
    let mut kdelta = start(&mut kdelta, server)?;
    let mut peak = None;
    let status = loop {
        peak = peak_of(kdelta.id())?.or(peak);
        match kdelta.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(SAMPLE_INTERVAL),
        }
    };
    ensure!(status.code() == Some(5), "kdelta wait ended with {status}");
    Ok(megabytes(peak.context("the wait ended before its memory was read")?))
}

/// Returns the peak memory in bytes of a process; `None` if it has ended.
fn peak_of(process: u32) -> anyhow::Result<Option<u64>> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { return Ok(None) };
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(Some(kilobytes * 1024))
}
