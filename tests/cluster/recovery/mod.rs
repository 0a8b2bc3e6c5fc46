//! Faults of a watch, one test and one row of `docs/recovery.md` each: the test reads its row and compares the printed
//! lines with it.

mod connections;
mod initial;
mod refusals;
mod row;
mod silence;
mod streams;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Api, Fault, FaultProxy, OnServer, PATIENCE, Running, TestEnv, config_maps, eventually};
pub(super) use row::Row;

/// Two watches of three objects, over HTTP/2 and over HTTP/1.1, behind a proxy that is transparent at first.
struct Scene {
    row: Row,
    env: TestEnv,
    api: Api,
    namespace: String,
    proxy: FaultProxy,
    watchers: Vec<Watcher>,
    /// The time at which both watches were open.
    open_since: Instant,
}

struct Watcher {
    version: &'static str,
    running: Running,
    /// Its lines on stderr.
    stderr_lines: Vec<String>,
}

impl Scene {
    /// Starts both watches and waits for their sync.
    fn synced() -> Self {
        let mut scene = Self::set();
        scene.start(&[]);
        scene
    }

    /// Creates the objects and the proxy without watches.
    fn set() -> Self {
        let row = Row::of_this_test();
        let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
        for name in ["changed", "gone", "kept"] {
            api.create_config_map(&namespace, name, &json!({}));
        }
        let proxy = FaultProxy::before(testbed);
        Self { row, env, api, namespace, proxy, watchers: Vec::new(), open_since: Instant::now() }
    }

    /// Starts both watches and reads them up to their sync.
    fn start(&mut self, arguments: &[&str]) {
        let arguments = [&["watch", "cm", "-o", "json"], arguments].concat();
        // Both are configured before either is read.
        let ways = [("HTTP2", "0"), ("HTTP1.1", "8")].map(|(version, alone)| {
            (version, alone, self.proxy.kubeconfig_of(&self.env, &self.namespace, version))
        });
        for (version, alone, config) in ways {
            let kdelta =
                self.env.kdelta(&arguments).env("KUBECONFIG", config).env("KDELTA_WATCH_CONNECTIONS", alone);
            self.watchers.push(Watcher { version, running: kdelta.start(), stderr_lines: Vec::new() });
        }
        for Watcher { version, running, .. } in &self.watchers {
            let initial = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
            let names: Vec<&str> = initial.iter().filter_map(|line| line["name"].as_str()).collect();
            assert_eq!(names, ["changed", "gone", "kept"], "{version}");
        }
        eventually("both watches stand", || (self.proxy.open_watches() == 2).then_some(()));
        self.open_since = Instant::now();
    }

    /// Waits until both watches are older than a second: one that ends earlier counts as failed. A slow machine waits
    /// longer, which changes nothing.
    fn outlive_the_first_second(&self) {
        std::thread::sleep(Duration::from_secs(1).saturating_sub(self.open_since.elapsed()));
    }

    /// Makes one change, one deletion and one creation.
    fn change(&self) {
        let path = config_maps(&self.namespace);
        self.api.patch(&format!("{path}/changed"), &json!({"data": {"n": "1"}}));
        self.api.delete(&format!("{path}/gone"));
        self.api.create_config_map(&self.namespace, "made", &json!({}));
    }

    /// The same while no data of the open watches passes, so they miss the changes.
    fn change_unseen(&self) {
        self.proxy.inject(Fault::Stall);
        self.change();
    }

    /// Waits until both watches have printed this many lines of the row.
    fn wait_for_lines(&mut self, lines: usize) {
        for Watcher { version, running, stderr_lines } in &mut self.watchers {
            while stderr_lines.len() < lines {
                let line = running.stderr.within(PATIENCE);
                stderr_lines
                    .push(line.unwrap_or_else(|| panic!("{version} printed {stderr_lines:?} and no more")));
            }
        }
    }

    /// Asserts that both continued, reported each change once, and printed the lines of the row and no others.
    fn assert_recovered(mut self) {
        self.wait_for_lines(self.row.stderr.len());
        self.api.create_config_map(&self.namespace, "after", &json!({}));
        for watcher in &mut self.watchers {
            let version = watcher.version;
            let mut lines =
                watcher.running.stdout.json_until("what comes after", |line| line["name"] == "after");
            let after = lines.pop().expect("it was found");
            assert_eq!((&after["type"], &after["origin"]), (&json!("ADDED"), &json!("watch")), "{version}");
            self.row.data.check(version, &lines);
            watcher.running.signal("INT");
            assert_eq!(watcher.running.wait(), 130, "{version}");
            while let Some(line) = watcher.running.stderr.within(PATIENCE) {
                watcher.stderr_lines.push(line);
            }
            let summary = watcher.stderr_lines.pop().unwrap_or_default();
            assert!(
                summary.contains("received"),
                "{version} ends with its summary: {:?} {summary}",
                watcher.stderr_lines
            );
            self.row.check_stderr(version, &watcher.stderr_lines);
        }
    }
}

/// Returns the type, name and origin of a line; `*` after the name marks an inferred deletion.
pub(super) fn summary(line: &Value) -> String {
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    let inferred = if line["finalStateUnknown"] == true { "*" } else { "" };
    format!("{} {}{inferred} {}", text("type"), text("name"), text("origin")).trim_end().to_owned()
}
