//! Reading commands on recordings: moments, contexts, and types that were not recorded.

mod completion;
mod cut;
mod encrypted;
mod event_groups;
mod first_format;
mod import;
mod large;
mod serve;
mod tools;
mod unreadable;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use kdelta::lines::{ChangeKind, MarkKind};
use kdelta::object::{ApiResource, ResourceVersion};
use serde_json::{Value, json};

use crate::support::{Finished, PATIENCE, Recorder, ServedRecording, TestEnv, synced};

/// The beginning of the recordings.
const BEGINNING: &str = "2026-11-24T03:00:00Z";

fn at(minutes: i64) -> Timestamp {
    let beginning: Timestamp = BEGINNING.parse().expect("a time");
    beginning.checked_add(minutes.minutes()).expect("a time")
}

fn resource(plural: &str, kind: &str) -> Arc<ApiResource> {
    let namespaced = plural != "namespaces";
    let [group, version, resource, kind] = ["", "v1", plural, kind].map(str::to_owned);
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

fn pod(name: &str, version: u64, phase: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": "default", "uid": format!("u-{name}"),
            "resourceVersion": version.to_string(), "creationTimestamp": "2026-11-24T02:55:00Z",
        },
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": phase},
    })
}

fn discovery() -> Value {
    let entry = |plural: &str, kind: &str, short: &str| {
        json!({
            "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": "Namespaced",
            "singularResource": kind.to_lowercase(), "shortNames": [short], "categories": ["all"],
            "verbs": ["create", "delete", "get", "list", "watch"],
        })
    };
    let resources =
        [entry("pods", "Pod", "po"), entry("events", "Event", "ev"), entry("secrets", "Secret", "sec")];
    let version = json!({"version": "v1", "resources": resources, "freshness": "Current"});
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": [{"metadata": {}, "versions": [version]}],
    })
}

/// A directory with the recordings of these contexts. In each, `web` runs from the beginning, `late` comes after ten
/// minutes, and `web` fails after twenty; the watch is lost from minute 30 to 40, when `late` is gone.
struct Recordings {
    env: TestEnv,
    dir: PathBuf,
}

impl Recordings {
    fn of(contexts: &[&str]) -> Self {
        let env = TestEnv::new();
        let dir = env.home().join("rec");
        for context in contexts {
            record(Recorder::new(&dir, context, at(0)));
        }
        Self { env, dir }
    }

    /// Runs a command on the directory.
    fn run(&self, line: &str) -> Finished {
        let dir = self.dir.to_str().expect("UTF-8");
        let words: Vec<&str> = line.split_whitespace().chain(["--from", dir]).collect();
        self.env.kdelta(&words).env("TZ", "UTC").finish()
    }

    fn names(&self, line: &str) -> Vec<String> {
        self.run(&format!("get pods -o name {line}")).quiet_success().lines().map(str::to_owned).collect()
    }
}

fn record(mut recorder: Recorder) {
    let (pods, events) = (resource("pods", "Pod"), resource("events", "Event"));
    recorder.document("/api", discovery().to_string().as_bytes(), at(0));
    recorder.document("/version", br#"{"major":"1","minor":"36","gitVersion":"v1.36.1"}"#, at(0));
    let event = json!({
        "metadata": {"name": "e", "namespace": "default", "resourceVersion": "9"}, "type": "Normal",
        "reason": "Started", "message": "Started c", "firstTimestamp": "2026-11-24T02:59:00Z",
        "lastTimestamp": "2026-11-24T02:59:00Z", "count": 1,
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default"},
    });
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.json(ChangeKind::Added, &events, &event, at(0));
    recorder.mark(synced(10), &events, at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("late", 20, "Running"), at(10));
    recorder.json(ChangeKind::Modified, &pods, &pod("web", 30, "Failed"), at(20));
    let version = |number: u64| ResourceVersion::new(&number.to_string());
    let lasted = std::time::Duration::from_mins(10);
    recorder.mark(MarkKind::Gap { from: version(30), to: version(40), lasted }, &pods, at(40));
    recorder.json(ChangeKind::Deleted, &pods, &pod("late", 40, "Running"), at(40));
    recorder.bookmark(&version(40), &pods, at(40));
    recorder.json(ChangeKind::Added, &pods, &pod("new", 50, "Pending"), at(60));
    recorder.finish(at(60));
}

#[test]
fn each_moment_has_its_objects() {
    let recordings = Recordings::of(&["prod"]);
    let (web, late, new) = ("pod/web", "pod/late", "pod/new");
    for (moment, expected) in [
        ("", vec![new, web]),
        ("--at 2026-11-24T03:00:00Z", vec![web]),
        ("--at 2026-11-24T03:09:59Z", vec![web]),
        ("--at 2026-11-24T04:10:00+01:00", vec![late, web]),
        ("--at -1m", vec![web]),
        ("--at -0s", vec![new, web]),
        ("--at rv:10", vec![web]),
        ("--at rv:29", vec![late, web]),
    ] {
        assert_eq!(recordings.names(moment), expected, "{moment}");
    }
    let phase = |moment: &str| {
        recordings.run(&format!("get pod web -o jsonpath={{.status.phase}} {moment}")).quiet_success()
    };
    assert_eq!((phase("--at -41m"), phase("--at -40m")), ("Running".to_owned(), "Failed".to_owned()));
}

#[test]
fn ages_are_those_of_the_moment() {
    let recordings = Recordings::of(&["prod"]);
    let table = recordings.run("get po --at 2026-11-24T03:10:00Z").quiet_success();
    let ages: Vec<_> = table.lines().skip(1).map(|line| line.split_whitespace().next_back()).collect();
    assert_eq!(ages, [Some("15m"), Some("15m")], "{table}");
    let events = recordings.run("events --at 2026-11-24T03:01:00Z").quiet_success();
    assert!(events.lines().nth(1).is_some_and(|line| line.starts_with("2m ")), "{events}");
    let young = recordings.run("get po -o name --newer-than 12m --at 2026-11-24T03:05:00Z");
    assert_eq!(young.quiet_success(), "pod/web\n");
}

#[test]
fn moment_in_a_gap_shows_the_state_before_it() {
    let recordings = Recordings::of(&["prod"]);
    let ended = recordings.run("get pods -o name --at 2026-11-24T03:35:00Z");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "pod/late\npod/web\n"));
    let expected =
        "pods were not observed from 2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z: this is the state before";
    assert!(ended.stderr.contains(expected) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    assert_eq!(recordings.names("--at 2026-11-24T03:40:00Z"), ["pod/web"]);
}

/// The error of a moment outside of a recording.
fn outside(flag: &str, moment: &str) -> String {
    format!(
        "error: --{flag} {moment} is outside of the recording of the context \"prod\", which is from \
         2026-11-24T03:00:00Z to 2026-11-24T04:00:00Z: select a moment in this range\n"
    )
}

#[test]
fn version_before_the_first_list_is_an_error_with_the_version_of_that_list() {
    let (recordings, pods) = (Recordings::of(&[]), resource("pods", "Pod"));
    let mut recorder = Recorder::new(&recordings.dir, "early", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 5, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.finish(at(1));
    for command in ["get pods", "serve"] {
        let error = recordings.run(&format!("{command} --at rv:9")).failure(1);
        assert!(error.ends_with(": select a version from rv:10 on\n"), "{error}");
    }
    assert_eq!(recordings.names("--at rv:10"), ["pod/web"]);
}

#[test]
fn moment_before_the_first_list_of_a_type_is_an_error_with_the_version_of_that_list() {
    let (recordings, pods) = (Recordings::of(&[]), resource("pods", "Pod"));
    let mut recorder = Recorder::new(&recordings.dir, "later", at(0));
    recorder.document("/api", discovery().to_string().as_bytes(), at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 5, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.mark(synced(20), &resource("secrets", "Secret"), at(5));
    recorder.finish(at(6));
    for moment in ["rv:19", "2026-11-24T03:04:59Z"] {
        let error = recordings.run(&format!("get secrets --at {moment}")).failure(1);
        let expected =
            "secrets was not recorded yet: its recording begins at 2026-11-24T03:05:00Z, with rv:20\n";
        assert!(error.ends_with(expected), "{error}");
    }
    let listed = recordings.run("get secrets --at rv:20 -o name");
    assert_eq!((listed.code, &*listed.stdout), (0, ""), "{}", listed.stderr);
}

#[test]
fn moment_outside_of_the_recording_is_an_error_with_its_range() {
    let recordings = Recordings::of(&["prod"]);
    let (before, after) = ("2026-11-24T02:59:59Z", "2026-11-24T04:00:01Z");
    for (given, moment) in
        [(before, before), (after, after), ("-61m", "2026-11-24T02:59:00Z"), ("rv:51", "rv:51")]
    {
        for command in ["get pods", "watch pods", "serve", "history pod/web", "api-resources"] {
            let error = recordings.run(&format!("{command} --at {given}")).failure(1);
            assert_eq!(error, outside("at", moment), "{command}");
        }
        let is_before = !["rv:51", after].contains(&moment);
        let flags = if is_before { &["until"][..] } else { &["since", "until"] };
        if !is_before {
            let error = recordings.run(&format!("serve --since {given}")).failure(1);
            assert_eq!(error, outside("since", moment));
        }
        for flag in flags {
            for tool in ["cut --to @new", "export"] {
                let error = recordings.tool(&format!("{tool} @rec --{flag} {given}")).failure(1);
                assert_eq!(error, outside(flag, moment), "{tool}");
            }
            if given == "rv:51" {
                continue;
            }
            for command in ["watch pods", "changes", "history pod/web", "wait pod/web --for ready"] {
                let error = recordings.run(&format!("{command} --{flag} {given}")).failure(1);
                assert_eq!(error, outside(flag, moment), "{command}");
            }
        }
    }
    for moment in ["yesterday", "10m", "rv:x"] {
        let error = recordings.run(&format!("get pods --at {moment}")).failure(2);
        assert!(error.contains(&format!("invalid --at {moment:?}")), "{error}");
    }
}

#[test]
fn range_that_begins_before_the_recording_begins_with_it() {
    let recordings = Recordings::of(&["prod"]);
    let notice = |since: &str| {
        format!(
            "Warning: the recording of the context \"prod\" begins at 2026-11-24T03:00:00Z, after --since {since}: \
             the range begins there\n"
        )
    };
    for command in
        ["watch pods", "changes", "history pod/web", "wait pod/web --for jsonpath={.status.phase}=Failed"]
    {
        let whole = recordings.run(&format!("{command} --since {BEGINNING}"));
        assert!(whole.code == 0 && !whole.stderr.contains("begins"), "{command}: {}", whole.stderr);
        for (given, since) in
            [("2026-11-24T02:59:59Z", "2026-11-24T02:59:59Z"), ("-61m", "2026-11-24T02:59:00Z")]
        {
            let ended = recordings.run(&format!("{command} --since {given}"));
            assert_eq!((ended.code, &ended.stdout), (0, &whole.stdout), "{command}: {}", ended.stderr);
            assert_eq!(ended.stderr, format!("{}{}", notice(since), whole.stderr), "{command}");
        }
    }
    let error = recordings.run("changes --since -2h --until 2026-11-24T02:00:00Z").failure(1);
    assert_eq!(error, outside("until", "2026-11-24T02:00:00Z"));
    let whole = recordings.tool("export @rec").quiet_success();
    for (given, since) in [("-61m", "2026-11-24T02:59:00Z"), ("rv:1", "rv:1")] {
        let ended = recordings.tool(&format!("export @rec --since {given}"));
        assert_eq!((ended.code, &ended.stdout, ended.stderr), (0, &whole, notice(since)), "{given}");
        let reported = recordings.report(&format!("cut @rec --since {given} --to @cut-{}", &given[1..3]));
        assert_eq!(reported.matches(&notice(since)).count(), 1, "{reported}");
        assert_eq!(recordings.tool(&format!("export @cut-{}", &given[1..3])).quiet_success(), whole);
        let served =
            ServedRecording::start(&recordings.env, &["--from", "rec", "--since", given, "--speed", "1"]);
        assert_eq!(served.running.stderr.within(PATIENCE), Some(notice(since)), "{given}");
    }
}

#[test]
fn context_without_the_range_is_reported_and_left_out() {
    let recordings = Recordings::of(&["prod"]);
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&recordings.dir, "late", at(50));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(50));
    recorder.mark(synced(10), &pods, at(50));
    recorder.finish(at(55));
    for command in ["watch pods -o name", "changes"] {
        let ended = recordings.run(&format!("{command} --all-contexts --until 2026-11-24T03:10:00Z"));
        assert_eq!(ended.code, 4, "{command}: {}", ended.stderr);
        let expected = "--until 2026-11-24T03:10:00Z is outside of the recording of the context \"late\"";
        assert!(ended.stderr.contains(expected) && !ended.stdout.is_empty(), "{command}: {}", ended.stderr);
        let ended = recordings.run(&format!("{command} --all-contexts --since 2026-11-24T03:10:00Z"));
        assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
        let expected =
            "the context \"late\" begins at 2026-11-24T03:50:00Z, after --since 2026-11-24T03:10:00Z";
        assert_eq!(ended.stderr.matches(expected).count(), 1, "{command}: {}", ended.stderr);
    }
}

#[test]
fn unrecorded_types_are_errors() {
    let recordings = Recordings::of(&["prod"]);
    for line in ["get secrets", "get sec x", "watch secrets", "get secrets -A"] {
        let error = recordings.run(line).failure(1);
        assert!(
            error.contains("secrets was not recorded: the recording has pods, events"),
            "{line}: {error}"
        );
    }
    let error = recordings.run("get nothing").failure(1);
    assert!(error.contains("the server doesn't have a resource type \"nothing\""), "{error}");
    let kinds = recordings.run("get all -o name").stdout;
    assert!(kinds.contains("pod/web"), "{kinds}");
}

#[test]
fn plan_names_the_lists_that_are_not_requested() {
    let recordings = Recordings::of(&["prod"]);
    let is_read = |line: &str| recordings.run(line).quiet_success().contains("read from the recording");
    for line in [
        "get pods",
        "get pods -o json",
        "watch pods -o json",
        "get pods -l app=web",
        "index pods --by field:spec.containers[*].image",
    ] {
        assert!(is_read(&format!("{line} --explain")), "{line}");
    }
    for line in [
        "get pods web",
        "watch pods",
        "index pods --by namespace",
        "index pods --by field:spec.nodeName",
        "get pods --field-selector spec.nodeName=n1",
        "watch pods -o json --list-mode watchlist",
    ] {
        assert!(!is_read(&format!("{line} --explain")), "{line}");
    }
}

/// As a server would, though these lists are not requested.
#[test]
fn invalid_namespaces_and_selectors_are_errors() {
    let recordings = Recordings::of(&["prod"]);
    let error = recordings.run("get pods -n a/b").failure(1);
    assert_eq!(error, "error: invalid namespace \"a/b\": [may not contain '/']\n");
    let error = recordings.run("get pods -l a,,b").failure(1);
    assert!(error.contains("that match label selector \"a,,b\""), "{error}");
}

#[test]
fn contexts_are_selected_as_in_a_kubeconfig() {
    let recordings = Recordings::of(&["dev", "prod/eu"]);
    let error = recordings.run("get pods").failure(1);
    assert!(
        error.contains("the recording has several contexts, select one with --context: dev, prod/eu"),
        "{error}"
    );
    let error = recordings.run("get pods --context test").failure(1);
    assert!(
        error.contains("the context \"test\" was not recorded, the recording has: dev, prod/eu"),
        "{error}"
    );
    assert_eq!(recordings.names("--context prod/eu"), ["pod/new", "pod/web"]);
    let both = recordings.run("watch pods --all-contexts -o json --at rv:10");
    let contexts: Vec<Value> = both
        .quiet_success()
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            json!([line["context"], line["type"]])
        })
        .collect();
    for expected in [json!(["dev", "ADDED"]), json!(["prod/eu", "ADDED"])] {
        assert!(contexts.contains(&expected), "{contexts:?}");
    }
    let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "dev", "contexts": [], "clusters": [], "users": []});
    let file = recordings.env.file("config", &kubeconfig.to_string());
    let dir = recordings.dir.to_str().expect("UTF-8");
    let current =
        recordings.env.kdelta(&["get", "pods", "-o", "name", "--from", dir]).env("KUBECONFIG", file);
    assert_eq!(current.finish().quiet_success(), "pod/new\npod/web\n");
    let own = Recorder::path(&recordings.dir, "dev");
    let own = own.to_str().expect("UTF-8");
    let one = recordings.env.kdelta(&["get", "pods", "-o", "name", "--from", own]).finish();
    assert_eq!(one.quiet_success(), "pod/new\npod/web\n");
}

#[test]
fn recordings_of_the_same_context_have_names_of_their_own() {
    let recordings = Recordings::of(&["dev", "prod"]);
    let directory = |name: &str| recordings.dir.join(name);
    std::fs::rename(directory("prod"), directory("monday")).expect("renamed");
    record(Recorder::new(&recordings.dir, "prod", at(0)));
    let error = recordings.run("get pods").failure(1);
    assert!(error.contains("select one with --context: dev, prod@monday, prod@prod"), "{error}");
    assert_eq!(recordings.names("--context prod@monday"), ["pod/new", "pod/web"]);
    let all = recordings.run("changes --all-contexts --brief").quiet_success();
    for context in ["dev: ", "prod@monday: ", "prod@prod: "] {
        assert_eq!(all.matches(context).count(), 1, "{all}");
    }
    let error = recordings.tool("cut @rec --to @new").failure(1);
    assert!(error.contains("are recordings of the same context \"prod\": merge them first"), "{error}");
    recordings.report("cut @rec --context dev,prod@monday --to @new");
    recordings.report("merge @rec --to @merged");
    let merged = recordings.tool("info @merged").quiet_success();
    assert_eq!(merged.matches("Context:  ").count(), 2, "{merged}");
}

#[test]
fn watches_print_the_moment_and_end() {
    let recordings = Recordings::of(&["prod"]);
    let table = recordings.run("watch pods --at rv:20").quiet_success();
    assert_eq!(table.lines().filter(|line| line.starts_with("ADDED")).count(), 2, "{table}");
    let table = recordings.run("get pods -w --at rv:20 -o name").quiet_success();
    assert_eq!(table, "pod/late\npod/web\n");
    let counts = recordings.run("index pods --by field:status.phase -w --no-headers").quiet_success();
    assert!(counts.contains("Failed") && counts.contains("Pending"), "{counts}");
    recordings.run("events -w").quiet_success();
    recordings.run("tree pod/web -w").quiet_success();
}

#[test]
fn discovery_commands_read_the_recorded_documents() {
    let recordings = Recordings::of(&["prod"]);
    assert_eq!(recordings.run("api-versions").quiet_success(), "v1\n");
    let types = recordings.run("api-resources -o name").quiet_success();
    assert_eq!(types, "events\npods\nsecrets\n");
    let listable = recordings.run("api-resources -o name --verbs list").quiet_success();
    assert_eq!(listable, "events\npods\n");
    assert!(recordings.run("version").stdout.contains("Server Version: v1.36.1"));
}
