//! Every fault that a watch can meet, one test and one row of `docs/recovery.md` each: the test reads its row, and what
//! stands there is what has to be printed.

mod connections;
mod initial;
mod refusals;
mod row;
mod silence;
mod streams;

use serde_json::{Value, json};

use crate::support::{
    Api, FaultProxy, OnServer, PATIENCE, Running, Strike, TestEnv, config_maps, eventually,
};
pub(super) use row::Row;

/// Two watches of three objects, over HTTP/2 and over HTTP/1.1, behind a proxy that lets everything through at first.
struct Scene {
    row: Row,
    env: TestEnv,
    api: Api,
    namespace: String,
    proxy: FaultProxy,
    watchers: Vec<Watcher>,
}

struct Watcher {
    version: &'static str,
    running: Running,
    /// What it has said on stderr.
    said: Vec<String>,
}

impl Scene {
    /// Both watches, synced. Nothing where there is no server.
    fn synced() -> Option<Self> {
        let mut scene = Self::set()?;
        scene.start(&[]);
        Some(scene)
    }

    /// The objects and the proxy, and no watch yet.
    fn set() -> Option<Self> {
        let row = Row::of_this_test();
        let OnServer { env, testbed, api, namespace } = TestEnv::on_server()?;
        for name in ["changed", "gone", "kept"] {
            api.create_config_map(&namespace, name, &json!({}));
        }
        let proxy = FaultProxy::before(testbed);
        Some(Self { row, env, api, namespace, proxy, watchers: Vec::new() })
    }

    /// Starts both watches and reads them up to their sync.
    fn start(&mut self, arguments: &[&str]) {
        let arguments = [&["watch", "cm", "-o", "json"], arguments].concat();
        // Both are written before either is read.
        let ways = [("HTTP2", "0"), ("HTTP1.1", "8")].map(|(version, alone)| {
            (version, alone, self.proxy.kubeconfig_of(&self.env, &self.namespace, version))
        });
        for (version, alone, config) in ways {
            let kdelta =
                self.env.kdelta(&arguments).env("KUBECONFIG", config).env("KDELTA_WATCH_CONNECTIONS", alone);
            self.watchers.push(Watcher { version, running: kdelta.start(), said: Vec::new() });
        }
        for Watcher { version, running, .. } in &self.watchers {
            let initial = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
            let names: Vec<&str> = initial.iter().filter_map(|line| line["name"].as_str()).collect();
            assert_eq!(names, ["changed", "gone", "kept"], "{version}");
        }
        eventually("both watches stand", || (self.proxy.open_watches() == 2).then_some(()));
    }

    /// One change, one deletion and one creation.
    fn change(&self) {
        let path = config_maps(&self.namespace);
        self.api.patch(&format!("{path}/changed"), &json!({"data": {"n": "1"}}));
        self.api.delete(&format!("{path}/gone"));
        self.api.create_config_map(&self.namespace, "made", &json!({}));
    }

    /// The same while nothing of the open watches gets through, so that they miss it.
    fn change_unseen(&self) {
        self.proxy.strike(Strike::Stall);
        self.change();
    }

    /// Waits until both watches have said so many lines of the row.
    fn both_said(&mut self, lines: usize) {
        for Watcher { version, running, said } in &mut self.watchers {
            while said.len() < lines {
                let line = running.stderr.within(PATIENCE);
                said.push(line.unwrap_or_else(|| panic!("{version} said {said:?} and no more")));
            }
        }
    }

    /// Both have gone on, have told what happened once, and have said what stands in the row and nothing else.
    fn went_on(mut self) {
        self.both_said(self.row.stderr.len());
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
                watcher.said.push(line);
            }
            let summary = watcher.said.pop().unwrap_or_default();
            assert!(
                summary.contains("received"),
                "{version} ends with its summary: {:?} {summary}",
                watcher.said
            );
            self.row.check_stderr(version, &watcher.said);
        }
    }
}

/// What a line tells of: type, name and origin; `*` behind the name of a deletion that was inferred.
pub(super) fn told(line: &Value) -> String {
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    let inferred = if line["finalStateUnknown"] == true { "*" } else { "" };
    format!("{} {}{inferred} {}", text("type"), text("name"), text("origin")).trim_end().to_owned()
}
