//! Commands that are kubectl's: `events`, `api-resources`, `api-versions` and `version` on the demo, `get -w` with flags of
//! kdelta's own, and the answers to commands that only kubectl has.

use serde_json::Value;

use crate::support::{TestEnv, eventually};

fn demo(words: &[&str]) -> String {
    TestEnv::new().kdelta(&[words, &["--demo"]].concat()).finish().quiet_success()
}

#[test]
fn versions_are_printed_with_and_without_server() {
    let own = format!("Client Version: v{}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(TestEnv::new().kdelta(&["version", "--client"]).finish().quiet_success(), own);
    let lines = demo(&["version"]);
    assert!(lines.starts_with(&format!("{own}Server Version: v1.")), "{lines}");
    let json: Value = serde_json::from_str(&demo(&["version", "-o", "json"])).expect("JSON");
    assert_eq!(json["clientVersion"]["gitVersion"], format!("v{}", env!("CARGO_PKG_VERSION")));
    assert_eq!(json["serverVersion"]["major"], "1");
    let yaml = demo(&["version", "-o", "yaml", "--client"]);
    assert!(yaml.starts_with("clientVersion:\n  buildDate: \"\"\n") && yaml.ends_with("\n\n"), "{yaml}");
}

#[test]
fn version_of_an_unreachable_server_prints_the_clients_first() {
    let done = TestEnv::new().kdelta(&["version", "--server", "http://127.0.0.1:1"]).finish();
    assert_eq!(done.code, 1);
    assert!(done.stdout.starts_with("Client Version: v"), "{}", done.stdout);
    assert!(
        done.stderr.starts_with("The connection to the server 127.0.0.1:1 was refused"),
        "{}",
        done.stderr
    );
    let done = TestEnv::new().kdelta(&["version"]).finish();
    assert_eq!((done.code, done.stdout.lines().count()), (1, 1), "no configuration");
}

#[test]
fn group_versions_are_sorted() {
    let lines = demo(&["api-versions"]);
    let lines: Vec<&str> = lines.lines().collect();
    assert!(lines.is_sorted() && lines.contains(&"v1") && lines.contains(&"apps/v1"), "{lines:?}");
}

#[test]
fn resource_types_have_kubectls_formats() {
    let header = "NAME   SHORTNAMES   APIVERSION   NAMESPACED   KIND\n";
    assert_eq!(demo(&["api-resources", "--api-group=none"]), header);
    assert_eq!(demo(&["api-resources", "--api-group=none", "--no-headers"]), "");
    let list: Value =
        serde_json::from_str(&demo(&["api-resources", "-o", "json", "--sort-by=kind"])).expect("JSON");
    assert_eq!(list["kind"], "APIResourceList");
    let kinds: Vec<&str> = list["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|resource| resource["kind"].as_str().expect("a kind"))
        .collect();
    assert!(kinds.is_sorted() && kinds.contains(&"Pod"), "{kinds:?}");
}

#[test]
fn events_are_sorted_rows_or_one_list() {
    let env = TestEnv::new();
    // A new demo has no events for a moment.
    let printed = |words: &[&str]| {
        eventually("events of the demo", || {
            let done = env.kdelta(&[&["events", "-A", "--demo", "--speed", "50"], words].concat()).finish();
            (done.code == 0 && !done.stdout.is_empty()).then_some(done.stdout)
        })
    };
    let text = printed(&[]);
    assert!(text.starts_with("NAMESPACE"), "{text}");
    let json = printed(&["-o", "json"]);
    assert!(json.starts_with("{\n    \"kind\": \"EventList\",\n    \"apiVersion\": \"v1\",\n"), "{json}");
    let list: Value = serde_json::from_str(&json).expect("JSON");
    let time =
        |event: &Value| event["lastTimestamp"].as_str().or(event["eventTime"].as_str()).map(str::to_owned);
    assert!(list["items"].as_array().expect("items").iter().map(time).is_sorted());
}

#[test]
fn events_without_a_match_are_reported() {
    for (words, expected) in [
        (&["events", "-n", "none"][..], "No events found in none namespace.\n"),
        (&["events", "-A", "--for", "pod/none"], "No events found.\n"),
    ] {
        let done = TestEnv::new().kdelta(&[words, &["--demo"]].concat()).finish();
        assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (0, "", expected), "{words:?}");
    }
    let done = TestEnv::new().kdelta(&["events", "--demo", "--for", "gizmo/x"]).finish();
    assert_eq!(done.failure(1), "the server doesn't have a resource type \"gizmo\"\n");
}

#[test]
fn watched_events_arrive_as_rows() {
    let env = TestEnv::new();
    let words = ["events", "-A", "-w", "--no-headers", "--types=normal", "--demo", "--speed", "20"];
    let running = env.kdelta(&words).start();
    for _ in 0..10 {
        let line = running.stdout.find("an event", |_| true);
        assert!(line.contains(" Normal "), "{line}");
    }
}

#[test]
fn commands_of_kubectl_are_answered_with_the_command() {
    for (words, expected) in [
        (
            &["describe", "pod", "x", "-n", "shop"][..],
            "error: kdelta does not describe objects: use `kubectl describe pod x -n shop`\n",
        ),
        (
            &["exec", "x", "--", "sh", "-c", "a; b"],
            "error: kdelta does not connect to pods: use `kubectl exec`\n",
        ),
        (
            &["-n", "shop", "delete", "pod", "x"],
            "error: kdelta never changes objects: use `kubectl -n shop delete pod x`\n",
        ),
    ] {
        assert_eq!(TestEnv::new().kdelta(words).finish().failure(2), expected, "{words:?}");
    }
    let misspelt = TestEnv::new().kdelta(&["evnets"]).finish().failure(2);
    assert_eq!(
        misspelt,
        "error: unknown command \"evnets\" for \"kdelta\"\n\nDid you mean this?\n\tevents\n"
    );
}

/// Returns the header and the number of rows of a table.
fn shape(table: &str) -> (String, usize) {
    let mut lines = table.lines();
    let header = lines.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    (header, lines.count())
}

#[test]
fn conditions_of_watch_end_kubectls_output() {
    let env = TestEnv::new();
    let run = |words: &[&str]| env.kdelta(&[&["get", "pods", "--demo", "-w"], words].concat()).finish();
    let listed =
        env.kdelta(&["get", "pods", "--demo", "--no-headers", "-o", "name"]).finish().quiet_success();
    let pods = listed.lines().count();
    let header = "NAME READY STATUS RESTARTS AGE";
    let synced = run(&["--until-synced"]).quiet_success();
    assert_eq!(shape(&synced), (header.to_owned(), pods));
    let counted = run(&["--count", "3"]).quiet_success();
    assert_eq!(shape(&counted), (header.to_owned(), 3));
    let sorted = run(&["--until-synced", "--by", "name=nope", "--duration", "30"]);
    assert_eq!((sorted.code, sorted.stdout.as_str()), (0, ""));
    let several = run(&["-n", "default,shop", "--until-synced", "--output-watch-events"]).quiet_success();
    assert_eq!(shape(&several).0, format!("EVENT NAMESPACE {header}"));
}

#[test]
fn flags_of_lines_print_what_watch_prints() {
    let env = TestEnv::new();
    // The same demo twice.
    let run = |command: &[&str]| {
        let words = [
            "pods,svc",
            "--demo",
            "--speed",
            "0.01",
            "--until-synced",
            "-o",
            "json",
            "--fields",
            "type,name",
        ];
        let kdelta = env.kdelta(&[command, &words].concat()).env("KDELTA_DEMO_SEED", "1");
        kdelta.finish().quiet_success()
    };
    let get = run(&["get", "-w"]);
    assert!(get.contains("\"SYNCED\"") && get.lines().all(|line| line.starts_with(r#"{"type":""#)), "{get}");
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted(&get), sorted(&run(&["watch"])));
}

#[test]
fn what_kubectl_can_not_watch_is_refused() {
    let env = TestEnv::new();
    let failure =
        |words: &[&str], code| env.kdelta(&[&["get", "--demo", "-w"], words].concat()).finish().failure(code);
    for words in [&["pods,svc"][..], &["*.apps"], &["--all-kinds"], &["all"], &["deploy/web", "svc/web"]] {
        assert_eq!(failure(words, 2), "error: you may only specify a single resource type\n", "{words:?}");
    }
    assert!(failure(&[], 2).starts_with("error: You must provide one or more resources by argument"));
    // kubectl ends silently here.
    let template = "-o=go-template={{if ne .metadata.generation 1}}{{.kind.nope}}{{end}}";
    let words = ["get", "deploy", "--demo", "--speed", "100", "--watch-only", template];
    let done = env.kdelta(&words).finish();
    assert!(done.stderr.starts_with("error: error executing template \"{{if ne "), "{}", done.stderr);
    assert!(done.stdout.starts_with("Error executing template: "), "{}", done.stdout);
    assert_eq!(done.code, 1);
}
