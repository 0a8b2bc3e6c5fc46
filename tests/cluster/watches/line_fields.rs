//! The fields of a watch's lines with different flags, and the counts of lines. Each line is validated against the
//! schema by the test support.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{OnServer, PATIENCE, Running, TestEnv, config_maps};

/// More than a pipe buffer.
const LARGE: usize = 200_000;
/// More than the queues between the watch and the pipe hold.
const CHANGES: u64 = 40;

fn up_to(running: &Running, kind: &str) -> Vec<Value> {
    running.stdout.json_until(kind, |line| line["type"] == kind)
}

fn next_line(running: &Running) -> String {
    running.stdout.within(PATIENCE).expect("a line")
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn update_lines_have_changes_and_the_old_object() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let made = api.create_config_map(&namespace, "a", &json!({"x": "1"}));
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--changes", "--old"];
    let running = env.kdelta_on(testbed, &watch).start();
    up_to(&running, "SYNCED");
    let path = format!("{}/a", config_maps(&namespace));
    api.patch(&path, &json!({"data": {"n": "1", "m": "2"}, "metadata": {"labels": {"x": null}}}));
    api.delete(&path);
    let lines = up_to(&running, "DELETED");
    let [update, delete] = &lines[..] else { panic!("{lines:#?}") };
    assert_eq!(update["old"]["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    assert_eq!(
        update["changes"],
        json!([
            {"op": "remove", "path": "/metadata/labels", "old": {"x": "1"}},
            {"op": "add", "path": "/data/m", "new": "2"},
            {"op": "replace", "path": "/data/n", "old": "0", "new": "1"},
        ])
    );
    assert!(delete.get("old").is_none() && delete.get("changes").is_none(), "{delete}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn fields_flag_selects_the_printed_fields() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let made = api.create_config_map(&namespace, "a", &json!({}));
    let (uid, version) = (&made["metadata"]["uid"], &made["metadata"]["resourceVersion"]);
    let watch = ["watch", "cm", "a", "-n", &namespace, "-o", "json", "--until-synced"];
    let lines = |fields: &str| {
        let stdout =
            env.kdelta_on(testbed, &[&watch[..], &["--fields", fields]].concat()).finish().quiet_success();
        stdout.lines().next().expect("a line").to_owned()
    };
    let expected = format!(
        r#"{{"type":"ADDED","kind":"ConfigMap","name":"a","uid":{uid},"resourceVersion":{version}}}"#
    );
    assert_eq!(lines("resourceVersion,uid,name,type,kind"), expected);
    let whole: Value = serde_json::from_str(&lines("object")).expect("JSON");
    assert_eq!(whole["object"]["data"], json!({"n": "0"}));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn changes_are_printed_under_their_row_with_secrets_redacted() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    api.create(&secrets, &json!({"metadata": {"name": "s"}, "stringData": {"k": "old-value"}}));
    let watch = ["watch", "secrets", "-n", &namespace, "--changes"];
    let running = env.kdelta_on(testbed, &watch).start();
    let open = env.kdelta_on(testbed, &[&watch[..], &["--show-secrets"]].concat()).start();
    for running in [&running, &open] {
        assert!(next_line(running).starts_with("EVENT "));
        assert!(next_line(running).starts_with("ADDED      s "));
    }
    // The row is equal, but the change is printed.
    api.patch(
        &format!("{secrets}/s"),
        &json!({"stringData": {"k": "new-value"}, "metadata": {"labels": {"a": "1"}}}),
    );
    for (running, data) in [(&running, "*** → ***"), (&open, "b2xkLXZhbHVl → bmV3LXZhbHVl")] {
        assert!(next_line(running).starts_with("MODIFIED   s "));
        let mut details = [next_line(running), next_line(running)];
        details.sort();
        assert_eq!(
            details,
            ["  + metadata.labels: {\"a\":\"1\"}\n".to_owned(), format!("  data.k: {data}\n")]
        );
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn resync_reports_every_object_again() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    api.create_config_map(&namespace, "b", &json!({}));
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--resync", "1s", "--changes", "--old"];
    let running = env.kdelta_on(testbed, &watch).start();
    let synced = up_to(&running, "SYNCED").pop().expect("the mark");
    let mut left = 4;
    let again = running.stdout.json_until("two rounds", |_| {
        left -= 1;
        left == 0
    });
    for line in &again {
        assert_eq!((&line["type"], &line["origin"]), (&json!("SYNC"), &json!("resync")), "{line}");
        assert!(synced["resume"].is_string() && line["resume"] == synced["resume"], "{line}");
    }
    assert_eq!(again.iter().filter(|line| line["name"] == "b").count(), 2);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn usr1_prints_the_counts_and_the_watch_continues() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--only", "data"];
    let mut running = env.kdelta_on(testbed, &watch).start();
    up_to(&running, "SYNCED");
    let path = format!("{}/a", config_maps(&namespace));
    api.patch(&path, &json!({"metadata": {"labels": {"x": "1"}}}));
    api.patch(&path, &json!({"data": {"n": "1"}}));
    up_to(&running, "MODIFIED");
    running.signal("USR1");
    let counts = "3 received, 2 printed, 1 suppressed, 0 coalesced, 0 reconnects, 0 relists\n";
    assert_eq!(running.stderr.within(PATIENCE).as_deref(), Some(counts));
    api.delete(&path);
    up_to(&running, "DELETED");
    running.signal("INT");
    assert_eq!(running.wait(), 130);
    let counts = counts.replace("3 received, 2 printed", "4 received, 3 printed");
    assert_eq!(running.stderr.within(PATIENCE), Some(counts));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn coalesced_changes_of_a_slow_reader_are_counted() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--on-slow=coalesce"];
    let mut command = env.kdelta_on(testbed, &watch).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut lines =
        stdout.lines().map(|line| -> Value { serde_json::from_str(&line.expect("a line")).expect("JSON") });
    assert!(lines.any(|line| line["type"] == "SYNCED"));

    // The output blocks on the large object, since the test does not read.
    let large = json!({"metadata": {"name": "large"}, "data": {"x": "x".repeat(LARGE)}});
    api.create(&config_maps(&namespace), &large);
    for n in 1..=CHANGES {
        api.patch(&format!("{}/a", config_maps(&namespace)), &json!({"data": {"n": n.to_string()}}));
    }
    let (last, mut updates) = (CHANGES.to_string(), 0);
    for line in lines.by_ref() {
        assert!(line.get("resume").is_none(), "what is merged is not in order: {line}");
        updates += u64::from(line["type"] == "MODIFIED");
        if line["object"]["data"]["n"] == last {
            break;
        }
    }
    assert!(updates < CHANGES, "{updates}");
    let signalled = Command::new("kill").args(["-s", "USR1", &child.id().to_string()]).status();
    assert!(signalled.expect("kill").success());
    let mut counts = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut counts).expect("counts");
    let (received, printed, coalesced) = (CHANGES + 2, updates + 2, CHANGES - updates);
    let expected = format!("{received} received, {printed} printed, 0 suppressed, {coalesced} coalesced, ");
    assert!(counts.starts_with(&expected), "{counts}");
    child.kill().and_then(|()| child.wait()).expect("its end");
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn terminal_output_escapes_control_characters() {
    let on = TestEnv::on_server();
    let data = json!({"k": "a\u{9b}31m\u{202e}b"});
    on.api.create(&config_maps(&on.namespace), &json!({"metadata": {"name": "one"}, "data": data}));
    let words = ["watch", "cm", "-n", &on.namespace, "-o", "json", "--until-synced"];
    let call = || on.env.kdelta_on(on.testbed, &words);
    let shown = call().at_a_terminal().finish_at_a_terminal();
    assert!(shown.contains(r"a\u009b31m\u202eb") && !shown.contains('\u{9b}'), "{shown}");
    let line: Value = serde_json::from_str(shown.lines().next().expect("a line").trim()).expect("JSON");
    assert_eq!(line["object"]["data"], data);
    assert!(call().finish().quiet_success().contains('\u{9b}'), "a program reads it as it is");
    let one = ["cm", "one", "-n", &on.namespace];
    for (words, escaped) in [
        ([&["get"], &one[..], &["-o", "json"]].concat(), r#""a\u009b31m\u202eb""#),
        ([&["get"], &one[..], &["-o", "yaml"]].concat(), r#""a\x9B31m\u202Eb""#),
        ([&["get", "cm"], &one[2..], &["-o", "json"]].concat(), r#""a\u009b31m\u202eb""#),
        ([&["get", "cm"], &one[2..], &["-o", "yaml"]].concat(), r#""a\x9B31m\u202Eb""#),
        ([&["watch"], &one[..], &["-o", "yaml", "--until-synced"]].concat(), r#""a\x9B31m\u202Eb""#),
    ] {
        let call = || on.env.kdelta_on(on.testbed, &words);
        let shown = call().at_a_terminal().finish_at_a_terminal();
        assert!(shown.contains(escaped), "{words:?}: {shown}");
        assert!(call().finish().quiet_success().contains('\u{202e}'), "{words:?}: as kubectl prints it");
    }
}
