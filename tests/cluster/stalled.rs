//! A reader that stops reading: nothing piles up in the program, and nothing is lost when it reads again.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::busy;
use super::replay::{Replay, listed};
use crate::support::{Kdelta, OnServer, PATIENCE, TestEnv, tool};

/// Changes a second, of pods of some kilobytes: what the program may hold of them is full after some seconds.
const RATE: &str = "300";
/// Less than a tenth of what comes in a second, for each second that is measured.
const FLAT: u64 = 100_000;

/// The memory that a process has in use, in bytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// What has come for the sockets of a process and is not read yet, in bytes.
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

/// How long it is looked at whether it still fills.
const FILLING: u64 = 4;
/// When it is full at the latest. A busy machine makes fewer changes, and takes longer than the usual.
const FULL: Duration = Duration::from_mins(3);

/// A reader that stops until the program is full, and is measured for so many seconds more.
fn stalled(measured: u64) {
    let _turn = busy();
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let watch = ["watch", "pods", "-n", &namespace, "-o", "json"];
    let mut command = env.kdelta_on(testbed, &watch).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // Not this process itself: what it does not read, a thread of it does.
    let mut reader = Kdelta::other(Command::new("cat")).stdin(child.stdout.take().expect("a pipe")).start();
    let mut replay = Replay::default();
    reader.stdout.json_until("SYNCED", |line| {
        replay.take(line);
        line["type"] == "SYNCED"
    });

    let mut churn = tool();
    churn.args(["churn", "--kubeconfig", testbed.kubeconfig(), "-n", &namespace, "--rate", RATE]);
    churn.args(["--duration", &format!("{}s", FULL.as_secs() + measured)]);
    let mut changing = churn.stdout(Stdio::null()).spawn().expect("it runs");
    signal("STOP", reader.pid());
    let start = Instant::now();
    let look = || (resident(child.id()), unread(child.id()));
    let mut before = look();
    loop {
        thread::sleep(Duration::from_secs(FILLING));
        let now = look();
        // No more is taken in although there is more; at first nothing is sent at all.
        let is_left = before.1 > 0 && now.1 >= before.1;
        if is_left && now.0 < before.0 + FLAT * FILLING {
            break;
        }
        assert!(start.elapsed() < FULL, "it never is full: {now:?} bytes");
        before = now;
    }
    let before = resident(child.id());
    thread::sleep(Duration::from_secs(measured));
    let after = resident(child.id());
    assert!(after < before + FLAT * measured, "{before} bytes when full, {after} after {measured} s more");

    signal("CONT", reader.pid());
    // Killed, for it is to last for as long as it is needed.
    changing.kill().expect("it ran until now");
    changing.wait().expect("its end");
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    api.create(&pods, &json!({"metadata": {"name": "last"}, "spec": spec}));
    reader.stdout.json_until("the last", |line| {
        replay.take(line);
        line["name"] == "last"
    });
    // A change that was under way when its sender was killed may come after it.
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

/// Objects of about the largest size there is, more of them than the program's queues have places for their like.
const LARGE: usize = 900_000;
const LARGE_ONES: u64 = 150;

#[test]
fn a_reader_that_stops_has_few_large_objects_wait_for_it() {
    let _turn = busy();
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
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
    for at in 0..LARGE_ONES {
        let at = at.to_string();
        api.patch(&format!("{path}/large"), &json!({"data": {"at": at, "text": text}}));
    }
    // Until nothing more comes, for whatever reason.
    let (mut most, start) = (resident(child.id()), Instant::now());
    loop {
        thread::sleep(Duration::from_secs(1));
        let now = resident(child.id());
        if now <= most {
            break;
        }
        most = now;
        assert!(start.elapsed() < PATIENCE, "it never is full: {now} bytes");
    }
    let held = most.saturating_sub(before);
    assert!(held < LARGE_ONES * LARGE as u64 / 2, "{held} bytes more than {before}");

    signal("CONT", reader.pid());
    let last = (LARGE_ONES - 1).to_string();
    reader.stdout.json_until("the last", |line| line["object"]["data"]["at"] == *last);
    signal("INT", child.id());
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert_eq!(reader.wait(), 0);
}

#[test]
fn a_reader_that_stops_for_a_while_costs_no_memory_and_misses_nothing() {
    stalled(8);
}

#[test]
#[ignore = "more than a minute: cargo test -- --ignored"]
fn a_reader_that_stops_for_a_minute_costs_no_memory_and_misses_nothing() {
    stalled(60);
}
