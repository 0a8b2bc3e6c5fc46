//! `get -w` with kdelta's own flags, on the in-process demo cluster.

use crate::support::TestEnv;

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
    let words = ["pods,svc", "--demo", "--until-synced", "-o", "json", "--fields", "type,name"];
    let [get, watch] = [&["get", "-w"][..], &["watch"]]
        .map(|command| env.kdelta(&[command, &words].concat()).finish().quiet_success());
    assert_eq!(get.lines().count(), watch.lines().count());
    assert!(get.lines().all(|line| line.starts_with(r#"{"type":""#)), "{get}");
    assert!(get.contains("SYNCED"), "{get}");
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
