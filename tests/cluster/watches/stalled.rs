//! A reader that stops reading: the program's memory stays bounded, and nothing is lost when the reader continues.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cluster::busy;
use crate::cluster::replay::{Replay, listed};
use crate::support::{Api, Kdelta, OnServer, PATIENCE, TestEnv, eventually, tool};

/// Changes per second, of pods of several kilobytes: the program's queues are full after some seconds.
const RATE: u64 = 300;
/// The bytes by which memory may grow with each change: less than a tenth of its data.
const FLAT: u64 = 333;

/// Returns the resident memory of a process, in bytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// Returns the unread bytes in the receive buffers of a process's sockets.
fn unread(pid: u32) -> u64 {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).expect("a process");
    let sockets: Vec<String> = open
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok()?.into_os_string().into_string().ok())
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = fs::read_to_string("/proc/net/tcp").expect("the connections");
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, queue) = fields.get(4)?.split_once(':')?;
        let is_its = sockets.iter().any(|socket| Some(&&**socket) == fields.get(9));
        u64::from_str_radix(queue, 16).ok().filter(|_| is_its)
    };
    table.lines().filter_map(of_line).sum()
}

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status().expect("kill");
    assert!(sent.success(), "kill -s {name} {pid}");
}

/// The number of changes after which memory is measured again.
const FILLING: u64 = 1000;
/// The time limit until the queues are full. A busy machine makes fewer changes and takes longer.
const FULL: Duration = Duration::from_mins(3);

/// Waits until the server has made this many more changes. Memory is measured over changes and not over time, so that a busy
/// machine measures the same.
fn changes(api: &Api, collection: &str, count: u64) {
    let version = || -> u64 {
        let list = api.get(&format!("{collection}?limit=1"));
        list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a version")
    };
    let end = version() + count;
    let what = format!("{count} changes");
    // More than a minute of changes takes longer than one wait.
    for part in (version()..end).step_by(1000).skip(1).chain([end]) {
        eventually(&what, || (version() >= part).then_some(()));
    }
}

/// Stops a reader until the program's queues are full, and measures during this many changes more.
fn stalled(measured: u64) {
    let _turn = busy();
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let watch = ["watch", "pods", "-n", &namespace, "-o", "json"];
    let mut command = env.kdelta_on(testbed, &watch).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // Not this process itself, since a thread of it reads the pipe.
    let mut reader = Kdelta::other(Command::new("cat")).stdin(child.stdout.take().expect("a pipe")).start();
    let mut replay = Replay::default();
    reader.stdout.json_until("SYNCED", |line| {
        replay.take(line);
        line["type"] == "SYNCED"
    });

    let mut churn = tool();
    churn.args([
        "churn",
        "--kubeconfig",
        testbed.kubeconfig(),
        "-n",
        &namespace,
        "--rate",
        &RATE.to_string(),
    ]);
    churn.args(["--duration", &format!("{}s", 2 * FULL.as_secs() + measured / RATE)]);
    let mut changing = churn.stdout(Stdio::null()).spawn().expect("it runs");
    signal("STOP", reader.pid());
    let start = Instant::now();
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let look = || (resident(child.id()), unread(child.id()));
    let mut before = look();
    loop {
        changes(&api, &pods, FILLING);
        let now = look();
        // The program reads no more although data is waiting; at first the server sends none.
        let is_left = before.1 > 0 && now.1 >= before.1;
        if is_left && now.0 < before.0 + FLAT * FILLING {
            break;
        }
        assert!(start.elapsed() < FULL, "it never is full: {now:?} bytes");
        before = now;
    }
    let before = resident(child.id());
    changes(&api, &pods, measured);
    let after = resident(child.id());
    assert!(
        after < before + FLAT * measured,
        "{before} bytes when full, {after} after {measured} changes more"
    );

    signal("CONT", reader.pid());
    // The churn has no end of its own, so that it lasts as long as needed.
    changing.kill().expect("it ran until now");
    changing.wait().expect("its end");
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    api.create(&pods, &json!({"metadata": {"name": "last"}, "spec": spec}));
    reader.stdout.json_until("the last", |line| {
        replay.take(line);
        line["name"] == "last"
    });
    // A change in flight when the churn was killed may arrive later.
    if replay.state != listed(&api, "Pod", &pods) {
        reader.stdout.json_until("everything", |line| {
            replay.take(line);
            replay.state == listed(&api, "Pod", &pods)
        });
    }
    signal("INT", child.id());
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert_eq!(reader.wait(), 0);
}

/// Objects of nearly the maximum size, more than the program's queues have slots for objects of this size.
const LARGE: usize = 900_000;
const LARGE_OBJECTS: u64 = 150;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn stopped_reader_bounds_the_queued_large_objects() {
    let _turn = busy();
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    api.create(&path, &json!({"metadata": {"name": "large"}}));
    let watch = ["watch", "configmaps", "large", "-n", &namespace, "-o", "json", "--watch-only"];
    let mut command = env.kdelta_on(testbed, &watch).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut reader = Kdelta::other(Command::new("cat")).stdin(child.stdout.take().expect("a pipe")).start();
    reader.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");

    signal("STOP", reader.pid());
    let before = resident(child.id());
    let text = "0123456789".repeat(LARGE / 10);
    for at in 0..LARGE_OBJECTS {
        let at = at.to_string();
        api.patch(&format!("{path}/large"), &json!({"data": {"at": at, "text": text}}));
    }
    // Until no more data arrives, for any reason.
    let (mut most, start) = (resident(child.id()), Instant::now());
    loop {
        // The sampling interval. A pause on a busy machine ends the loop early, which only weakens the test.
        thread::sleep(Duration::from_secs(1));
        let now = resident(child.id());
        if now <= most {
            break;
        }
        most = now;
        assert!(start.elapsed() < PATIENCE, "it never is full: {now} bytes");
    }
    let held = most.saturating_sub(before);
    assert!(held < LARGE_OBJECTS * LARGE as u64 / 2, "{held} bytes more than {before}");

    signal("CONT", reader.pid());
    let last = (LARGE_OBJECTS - 1).to_string();
    reader.stdout.json_until("the last", |line| line["object"]["data"]["at"] == *last);
    signal("INT", child.id());
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert_eq!(reader.wait(), 0);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn briefly_stopped_reader_keeps_memory_flat_and_misses_nothing() {
    stalled(8 * RATE);
}

#[test]
#[ignore = "more than a minute: cargo test -- --ignored"]
fn reader_stopped_for_a_minute_keeps_memory_flat_and_misses_nothing() {
    stalled(60 * RATE);
}
