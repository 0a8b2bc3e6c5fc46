//! `kdelta tree` on the demo.

use serde_json::Value;

use crate::support::{DemoServer, Finished, TestEnv};

/// A demo that hardly changes, and the program on it.
struct Still {
    env: TestEnv,
    demo: DemoServer,
}

impl Still {
    fn start() -> Self {
        let env = TestEnv::new();
        let demo = DemoServer::start(&env, &["--speed", "0.001"]);
        Self { env, demo }
    }

    fn run(&self, words: &str) -> Finished {
        let words: Vec<&str> = words.split(' ').chain(["-s", &self.demo.url]).collect();
        self.env.kdelta(&words).finish()
    }

    fn tree(&self, words: &str) -> String {
        self.run(&format!("tree {words}")).quiet_success()
    }

    fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.tree(&format!("{words} -o json"))).expect("JSON")
    }
}

/// Returns the first word of each line without the branches before it.
fn names(table: &str) -> Vec<&str> {
    let branches = ['├', '└', '│', '─', ' '];
    table.lines().map(|line| line.trim_start_matches(branches).split(' ').next().expect("a word")).collect()
}

#[test]
fn a_deployment_has_its_replica_sets_and_pods_below() {
    let still = Still::start();
    let table = still.tree("deploy/web");
    let lines: Vec<&str> = table.lines().collect();
    let heads: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(heads[..3], ["NAME", "STATUS", "AGE"], "{table}");
    assert!(lines[1].starts_with("deployment.apps/web  "), "{table}");
    assert!(
        lines[2].starts_with("├─ replicaset.apps/web-") || lines[2].starts_with("└─ replicaset.apps/web-")
    );
    let pods = names(&table).iter().filter(|name| name.starts_with("pod/web-")).count();
    assert_eq!(pods, 4, "{table}");
    assert!(lines[1].contains("  Current  "), "{table}");
    assert_eq!(names(&still.tree("deployment web")), names(&table), "two forms of the words");
}

#[test]
fn a_pod_has_its_owners_above() {
    let still = Still::start();
    let whole = still.tree("deploy/web -o name");
    let pod = whole.lines().find(|name| name.starts_with("pod/")).expect("a pod");
    let of_pod = still.tree(&format!("{pod} --no-headers"));
    let of_pod = names(&of_pod);
    assert_eq!(of_pod.len(), 3, "{of_pod:?}");
    assert_eq!((of_pod[0], of_pod[2]), ("deployment.apps/web", pod));
    assert!(of_pod[1].starts_with("replicaset.apps/web-"), "{of_pod:?}");
    let json = still.json(pod);
    let deployment = &json["items"][0];
    let found = &deployment["children"][0]["children"][0];
    assert_eq!((&deployment["requested"], &found["requested"]), (&Value::Null, &Value::Bool(true)));
    assert_eq!(found["kind"], "Pod");
    assert_eq!(json["items"].as_array().map(Vec::len), Some(1), "{json}");
}

#[test]
fn levels_below_the_depth_are_counted() {
    let still = Still::start();
    let json = still.json("deploy/web --depth 0");
    let hidden = json["items"][0]["hidden"].as_u64().expect("a number");
    let whole = still.tree("deploy/web -o name").lines().count();
    assert_eq!(usize::try_from(hidden).expect("small") + 1, whole);
    let table = still.tree("deploy/web --depth 0");
    assert!(table.ends_with(&format!("{hidden} more below\n")), "{table}");
}

#[test]
fn several_objects_have_trees_of_their_own() {
    let still = Still::start();
    let names = still.tree("deploy,cronjobs -A -o name");
    assert!(names.lines().any(|name| name.starts_with("cronjob.batch/")), "{names}");
    let deployments = names.lines().filter(|name| name.starts_with("deployment.apps/")).count();
    let expected = still.run("get deploy -A -o name").quiet_success().lines().count();
    assert_eq!(deployments, expected);
    let mut unique: Vec<&str> = names.lines().collect();
    unique.sort_unstable();
    let table = still.tree("deploy -A");
    assert!(table.starts_with("NAMESPACE "), "{table}");
}

#[test]
fn a_cluster_scoped_owner_has_objects_of_all_namespaces_below() {
    let still = Still::start();
    let node = still.run("get nodes -o name").quiet_success();
    let node = node.lines().next().expect("a node");
    assert!(!still.tree(&format!("{node} -o name")).contains("lease."), "leases only on request");
    assert_eq!(still.tree(&format!("{node} -o name")).lines().next(), Some(node));
}

/// Returns the first column of each line, with `…` in place of generated parts of names.
fn drawing(table: &str) -> Vec<String> {
    let heading = table.lines().next().expect("a heading");
    let width = heading.find("STATUS").expect("the next column");
    let shortened = |line: &str| {
        let line: String = line.chars().take(width).collect();
        let words = line.trim_end().split(' ').map(|word| match word.split_once("/api-") {
            Some((kind, _)) => format!("{kind}/api-…"),
            None if word.starts_with("node/worker-") => "node/worker-…".to_owned(),
            None => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    table.lines().skip(1).map(shortened).collect()
}

#[test]
fn related_objects_have_dashed_branches_and_their_relation() {
    let still = Still::start();
    let expected = [
        "deployment.apps/api",
        "├╌ scaled by horizontalpodautoscaler.autoscaling/api",
        "└─ replicaset.apps/api-…",
        "   ├─ pod/api-…",
        "   │  └╌ runs on node/worker-…",
        "   ├─ pod/api-…",
        "   │  └╌ runs on node/worker-…",
        "   ├─ pod/api-…",
        "   │  └╌ runs on node/worker-…",
        "   └─ pod/api-…",
        "      └╌ runs on node/worker-…",
    ];
    assert_eq!(drawing(&still.tree("deploy/api --related")), expected);
    let ingress = ["ingress.networking.k8s.io/shop", "├╌ routes to service/api", "└╌ routes to service/web"];
    assert_eq!(drawing(&still.tree("ingress/shop --related")), ingress);
    let document = still.json("deploy/api --related");
    let scaler = &document["items"][0]["related"][0];
    assert_eq!((&scaler["edge"], &scaler["reverse"]), (&"scales".into(), &true.into()), "{document}");
}

#[test]
fn graphs_have_a_node_for_each_object() {
    let still = Still::start();
    let count = still.tree("deploy/web -o name").lines().count();
    let dot = still.tree("deploy/web -o dot");
    assert!(dot.starts_with("digraph tree {\n") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.lines().filter(|line| line.contains(" [label=")).count(), count, "{dot}");
    assert_eq!(dot.lines().filter(|line| line.contains(" -> ")).count(), count - 1, "{dot}");
    let mermaid = still.tree("deploy/web -o mermaid");
    assert!(mermaid.starts_with("graph LR\n  n0[\"deployment.apps/web<br/>Current\"]\n"), "{mermaid}");
    assert_eq!(mermaid.lines().filter(|line| line.contains(" --> ")).count(), count - 1, "{mermaid}");
}

#[test]
fn what_is_missing_or_empty_is_reported() {
    let still = Still::start();
    let missing = still.run("tree deploy/nope").failure(1);
    assert!(missing.contains("deployments.apps \"nope\" not found"), "{missing}");
    let empty = still.run("tree deploy -l app=nope --fail-if-empty");
    assert_eq!((empty.code, empty.stdout.as_str()), (3, ""));
    assert_eq!(empty.stderr, "No resources found in default namespace.\n");
    let contexts = still.env.kdelta(&["tree", "deploy/web", "--all-contexts"]).finish();
    assert!(contexts.failure(2).contains("tree takes one context"));
}

#[test]
fn a_watched_tree_is_drawn_in_place_on_a_terminal() {
    let words = ["tree", "deploy/web", "-w", "--duration", "4", "--demo", "--speed", "1000"];
    let screen = TestEnv::new().kdelta(&words).at_a_terminal().finish_at_a_terminal();
    let (first, later) = screen.split_once("\u{1b}[J").expect("a second drawing");
    assert!(first.starts_with("NAME ") && first.contains("deployment.apps/web "), "{screen}");
    assert!(later.contains("deployment.apps/web "), "{screen}");
}

#[test]
fn a_watched_tree_is_printed_again_after_changes() {
    let words =
        |format| ["tree", "deploy/web", "-w", "--duration", "4", "--demo", "--speed", "1000", "-o", format];
    let lines = TestEnv::new().kdelta(&words("json")).finish().quiet_success();
    let documents: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a document per line")).collect();
    assert!(documents.len() > 1, "{lines}");
    assert!(documents.windows(2).all(|pair| pair[0] != pair[1]), "{lines}");
    assert!(documents.iter().all(|document| document["items"][0]["name"] == "web"), "{lines}");
    let names = TestEnv::new().kdelta(&words("name")).finish().quiet_success();
    let trees: Vec<&str> = names.split("\n\n").collect();
    assert!(trees.len() > 1 && trees.iter().all(|tree| tree.starts_with("deployment.apps/web")), "{names}");
}
