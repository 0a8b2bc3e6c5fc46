//! `kdelta serve`: the kubeconfig, access, moves and the end.

use std::fs;

use kdelta::lines::ChangeKind;
use serde_json::{Value, json};

use super::{Recordings, at, outside, pod, resource};
use crate::support::{Api, DemoServer, Finished, Recorder, ServedRecording, TestEnv, eventually, synced};

fn serve(recordings: &Recordings, line: &str) -> ServedRecording {
    let dir = recordings.dir.to_str().expect("UTF-8");
    let words: Vec<&str> = line.split_whitespace().chain(["--from", dir]).collect();
    ServedRecording::start(&recordings.env, &words)
}

/// Runs a command on a served recording.
fn run(env: &TestEnv, served: &ServedRecording, line: &str) -> Finished {
    let words: Vec<&str> = line.split_whitespace().chain(["--kubeconfig", served.kubeconfig()]).collect();
    env.kdelta(&words).env("TZ", "UTC").finish()
}

#[test]
fn commands_on_the_kubeconfig_equal_those_on_the_recording() {
    let recordings = Recordings::of(&["prod"]);
    let served = serve(&recordings, "--at rv:20");
    for line in [
        "get po",
        "get po -o wide",
        "get pods -o json",
        "get pod web -o yaml",
        "events",
        "tree pod/web",
        "version",
        "index pods --by field:status.phase",
    ] {
        let past = recordings.run(&format!("{line} --at rv:20")).quiet_success();
        let actual = run(&recordings.env, &served, line).quiet_success();
        // kdelta's own clock goes on.
        let is_relative = ["events", "tree pod/web"].contains(&line);
        let shown = |text: &str| if is_relative { text.lines().count().to_string() } else { text.to_owned() };
        assert_eq!(shown(&actual), shown(&past), "{line}");
    }
    // Other clients find events in both groups.
    let versions = run(&recordings.env, &served, "api-versions").quiet_success();
    assert_eq!(versions, "events.k8s.io/v1\nv1\n");
    let error = run(&recordings.env, &served, "get secrets").failure(1);
    assert!(error.contains("secrets was not recorded: the recording has pods, events"), "{error}");
}

#[test]
fn every_context_has_a_server_and_a_private_kubeconfig() {
    let recordings = Recordings::of(&["dev", "prod/eu"]);
    let mut served = serve(&recordings, "");
    let text = fs::read_to_string(&served.kubeconfig).expect("a kubeconfig");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&served.kubeconfig), 0o600);
        assert_eq!(mode(served.kubeconfig.parent().expect("a folder")), 0o700);
    }
    let config: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(config["current-context"], "dev");
    for context in ["dev", "prod/eu"] {
        let names = run(&recordings.env, &served, &format!("get pods -o name --context {context}"));
        assert_eq!(names.quiet_success(), "pod/new\npod/web\n", "{context}");
    }
    let url = config["clusters"][0]["cluster"]["server"].as_str().expect("a URL").to_owned();
    let token = config["users"][0]["user"]["token"].as_str().expect("a token");
    assert!(url.starts_with("https://127.0.0.1:") && token.len() >= 43, "{url} {token}");
    // As the argument of a command, it must not look like a flag.
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    let other = config["users"][1]["user"]["token"].as_str().expect("a token");
    assert_ne!(token, other, "each server has its own");
    let with = |token: &str| {
        recordings.env.kdelta(&[
            "get",
            "pods",
            "--server",
            &url,
            "--insecure-skip-tls-verify",
            "--token",
            token,
        ])
    };
    with(token).finish().quiet_success();
    let error = with(other).finish().failure(1);
    assert!(error.contains("You must be logged in to the server"), "{error}");
    let stderr = served.running.stderr.at_hand().concat();
    assert!(!stderr.contains(token) && !stderr.contains(other), "{stderr}");
    served.running.signal("INT");
    assert_eq!(served.running.wait(), 130);
    assert!(!served.kubeconfig.exists(), "its token is of no use any more");
}

#[test]
fn requests_are_logged_without_the_token() {
    let recordings = Recordings::of(&["prod"]);
    let served = serve(&recordings, "-v=6");
    run(&recordings.env, &served, "get --raw /api/v1/pods?limit=1").quiet_success();
    run(&recordings.env, &served, "get --raw /api/v1/secrets").failure(1);
    let config = fs::read_to_string(&served.kubeconfig).expect("a kubeconfig");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let token = config["users"][0]["user"]["token"].as_str().expect("a token");
    let mut lines = Vec::new();
    for expected in [
        "kdelta::serve: GET /api/v1/pods?limit=1 200 OK in ",
        "kdelta::serve: GET /api/v1/secrets 405 Method Not Allowed in ",
    ] {
        served.running.stderr.find("the request", |line| {
            lines.push(line.to_owned());
            line.contains(expected)
        });
    }
    assert!(!lines.concat().contains(token), "{lines:?}");
}

#[test]
fn signals_end_the_server_and_remove_its_kubeconfig() {
    let recordings = Recordings::of(&["prod"]);
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut served = serve(&recordings, "");
        served.running.signal(signal);
        assert_eq!(served.running.wait(), code, "{signal}");
        assert!(!served.kubeconfig.exists(), "{signal}");
        let mut mirror = ServedRecording::start(&recordings.env, &["--follow", "pods", "--demo"]);
        mirror.running.signal(signal);
        assert_eq!(mirror.running.wait(), code, "{signal} of a mirror");
        assert!(!mirror.kubeconfig.exists(), "{signal} of a mirror");
    }
}

#[test]
fn moment_of_a_running_server_is_moved() {
    let recordings = Recordings::of(&["prod"]);
    let served = serve(&recordings, "--at 2026-11-24T03:05:00Z");
    let names = || run(&recordings.env, &served, "get pods -o name").quiet_success();
    assert_eq!(names(), "pod/web\n");
    let words = ["watch", "pods", "-o", "json", "--kubeconfig", served.kubeconfig()];
    let watch = recordings.env.kdelta(&words).start();
    watch.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
    for (to, time, expected) in [
        ("2026-11-24T03:10:00Z", "2026-11-24T03:10:00Z", "pod/late\npod/web\n"),
        ("-0s", "2026-11-24T04:00:00Z", "pod/new\npod/web\n"),
        ("rv:10", "2026-11-24T03:00:00Z", "pod/web\n"),
        ("end", "2026-11-24T04:00:00Z", "pod/new\npod/web\n"),
        ("rv:10", "2026-11-24T03:00:00Z", "pod/web\n"),
    ] {
        let moved = run(&recordings.env, &served, &format!("serve --move-to {to}"));
        assert_eq!(moved.quiet_success(), format!("prod moved to {time}\n"));
        assert_eq!(names(), expected, "{to}");
        if to.starts_with("2026") {
            watch
                .stdout
                .json_until("the other moment", |line| line["type"] == "ADDED" && line["name"] == "late");
        }
    }
    let moved = run(&recordings.env, &served, "serve --move-to 2026-11-24T03:35:00Z");
    assert_eq!((moved.code, moved.stdout.as_str()), (0, "prod moved to 2026-11-24T03:35:00Z\n"));
    assert!(moved.stderr.contains("from 2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z"), "{}", moved.stderr);
    for moment in ["2026-11-24T02:00:00Z", "2026-11-24T05:00:00Z"] {
        let error = run(&recordings.env, &served, &format!("serve --move-to {moment}")).failure(1);
        assert_eq!(error, outside("move-to", moment));
    }
    for (moment, reason) in [
        ("rv:51", "the recording ends before rv:51"),
        ("rv:5", "the recording begins at 2026-11-24T03:00:00Z, with rv:10"),
    ] {
        let error = run(&recordings.env, &served, &format!("serve --move-to {moment}")).failure(1);
        assert_eq!(error, outside("move-to", moment).replace("select a moment in this range", reason));
    }
    let pods = run(&recordings.env, &served, "get pods -o name");
    let warning = "Warning: pods were not observed from 2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z: this is the state before\n";
    assert_eq!((pods.code, pods.stdout.as_str(), pods.stderr.as_str()), (0, "pod/late\npod/web\n", warning));
}

#[test]
fn replay_goes_on_from_the_requested_time() {
    let recordings = Recordings::of(&["prod"]);
    let served = serve(&recordings, "--since 2026-11-24T03:05:00Z --speed max");
    eventually("the end of the replay", || {
        (run(&recordings.env, &served, "get pods -o name").quiet_success() == "pod/new\npod/web\n")
            .then_some(())
    });
    run(&recordings.env, &served, "serve --move-to rv:10").quiet_success();
    eventually("the end of the replay again", || {
        (run(&recordings.env, &served, "get pods -o name").quiet_success() == "pod/new\npod/web\n")
            .then_some(())
    });
}

#[test]
fn live_recording_is_served_while_it_grows() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.flush(at(1));
    let served = ServedRecording::start(&env, &["--from", "rec"]);
    recorder.json(ChangeKind::Added, &pods, &pod("late", 20, "Running"), at(2));
    recorder.flush(at(2));
    assert_eq!(run(&env, &served, "get pods -o name").quiet_success(), "pod/web\n");
    run(&env, &served, "serve --move-to -0s").quiet_success();
    assert_eq!(run(&env, &served, "get pods -o name").quiet_success(), "pod/late\npod/web\n");
    recorder.finish(at(3));
}

#[test]
fn requests_that_can_not_be_served_are_errors() {
    let recordings = Recordings::of(&["dev", "prod"]);
    for (line, code, expected) in [
        ("serve --port 1", 1, "several contexts can't share a port"),
        ("serve --context test", 1, "the context \"test\" was not recorded, the recording has: dev, prod"),
        (
            "serve --at 2026-11-24T02:00:00Z --context dev",
            1,
            "is outside of the recording of the context \"dev\"",
        ),
        ("serve --at rv:10 --since rv:10", 2, "--at and --since exclude each other"),
        ("serve --speed 10", 2, "serve --speed needs --since, from which the recording is replayed"),
        ("serve --address 0.0.0.0", 2, "--address must be one address of this machine, not 0.0.0.0"),
        ("serve --address 192.0.2.1 --context dev", 1, "can't listen on 192.0.2.1:0"),
        ("serve --move-to rv:10", 2, "--move-to and --from exclude each other"),
        ("get pods --speed 10", 2, "--speed is for replays of a range"),
    ] {
        let error = recordings.run(line).failure(code);
        assert!(error.contains(expected), "{line}: {error}");
    }
    let env = &recordings.env;
    let error = env.kdelta(&["serve"]).finish().failure(2);
    assert!(error.contains("serve needs --from DIR"), "{error}");
    for (line, expected) in [
        ("serve --follow pods --from rec", "--follow mirrors a cluster, and --from is for a recording"),
        ("serve pods --from rec", "RESOURCE needs --follow"),
        (
            "serve --follow pods --older-than 1h --demo",
            "serve --follow can't use filters that depend on the time, such as --older-than",
        ),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let error = env.kdelta(&words).finish().failure(2);
        assert!(error.contains(expected), "{line}: {error}");
    }
    let existing = env.file("existing", "");
    let existing = existing.to_str().expect("UTF-8");
    let error = recordings.run(&format!("serve --write-kubeconfig {existing} --context dev")).failure(1);
    let expected = "existing: the file exists: remove it, or select another one with --write-kubeconfig";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn only_servers_of_recordings_are_moved() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let error = env.kdelta(&["serve", "--move-to", "rv:10", "--server", &demo.url]).finish().failure(1);
    assert!(error.contains("is not a server of `kdelta serve`"), "{error}");
}

/// Returns the words without ages, which pass between two commands.
fn without_ages(text: &str) -> Vec<&str> {
    let is_age = |word: &&str| {
        word.starts_with(|first: char| first.is_ascii_digit()) && word.ends_with(['s', 'm', 'h', 'd'])
    };
    text.split_whitespace().filter(|word| !is_age(word)).collect()
}

#[test]
fn mirror_prints_what_its_cluster_prints() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let types = "pods,deployments,nodes,backups,secrets,events";
    let mut served =
        ServedRecording::start(&env, &["--follow", types, "-A", "--secrets", "keep", "--server", &demo.url]);
    for line in [
        "get pods",
        "get pods -o wide -A",
        "get pods,deploy -o json",
        "get backups -o yaml",
        "get node worker-1 -o json",
        "get secrets -o json",
        "get pods -l app=web --show-labels",
        "get deploy missing",
        "explain backups.spec",
        "api-resources",
        "version",
    ] {
        // The demo may change an object between the two commands.
        eventually(line, || {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            words.extend(["--server", &demo.url]);
            let live = env.kdelta(&words).finish();
            let mirrored = run(&env, &served, line);
            let [live, mirrored] = [live, mirrored].map(|ended| (ended.code, ended.stdout, ended.stderr));
            let is_same = without_ages(&live.1) == without_ages(&mirrored.1);
            (is_same && live.0 == mirrored.0 && live.2 == mirrored.2).then_some(())
        });
    }
    let error = run(&env, &served, "get services").failure(1);
    assert!(error.contains("services is not mirrored: the mirror has"), "{error}");
    let error = run(&env, &served, "serve --move-to -1m").failure(1);
    assert!(error.contains("a mirror follows its cluster: it has no other moments"), "{error}");
    served.running.signal("INT");
    assert_eq!(served.running.wait(), 130);
    assert!(!served.kubeconfig.exists(), "its token is of no use any more");
}

#[test]
fn watches_of_a_mirror_continue_and_secrets_are_redacted() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let arguments = ["--follow", "configmaps,secrets", "-n", "default", "--server", &demo.url];
    let served = ServedRecording::start(&env, &arguments);
    let api = Api::open(&demo.url);
    let config_maps = "/api/v1/namespaces/default/configmaps";
    let list: Value =
        serde_json::from_str(&run(&env, &served, &format!("get --raw {config_maps}")).quiet_success())
            .expect("JSON");
    let version = list["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    for mode in ["list", "watchlist"] {
        let name = format!("live-{mode}");
        let words = ["watch", "cm", "-o", "json", "--list-mode", mode, "--kubeconfig", served.kubeconfig()];
        let watch = env.kdelta(&words).start();
        watch.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
        api.create(config_maps, &json!({"metadata": {"name": name}, "data": {"a": "b"}}));
        watch.stdout.json_until("the creation", |line| line["type"] == "ADDED" && line["name"] == *name);
        api.delete(&format!("{config_maps}/{name}"));
        watch.stdout.json_until("the deletion", |line| line["type"] == "DELETED" && line["name"] == *name);
    }
    // From the version of the first list on.
    let words = ["watch", "cm", "-o", "json", "--resource-version", &version];
    let resumed = env.kdelta(&[&words[..], &["--kubeconfig", served.kubeconfig()]].concat()).start();
    let seen = resumed.stdout.json_until("the last deletion", |line| {
        line["type"] == "DELETED" && line["name"] == "live-watchlist"
    });
    let seen: Vec<_> = seen.iter().map(|line| (line["type"].clone(), line["name"].clone())).collect();
    let of = |name: &str| [(json!("ADDED"), json!(name)), (json!("DELETED"), json!(name))];
    assert_eq!(seen, [of("live-list"), of("live-watchlist")].concat());
    let secret = json!({"metadata": {"name": "key"}, "data": {"password": "czNjcjN0"}});
    api.create("/api/v1/namespaces/default/secrets", &secret);
    let shown = eventually("the secret", || {
        let ended = run(&env, &served, "get secret key -o json");
        (ended.code == 0).then_some(ended.stdout)
    });
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let password = shown["data"]["password"].as_str().expect("a text");
    assert!(!password.is_empty() && password != "czNjcjN0", "{shown}");
}

#[test]
fn mirror_of_the_embedded_demo_has_its_context() {
    let env = TestEnv::new();
    let served = ServedRecording::start(&env, &["--follow", "pods,nodes", "--demo", "-n", "kube-system"]);
    let config: Value =
        serde_json::from_str(&fs::read_to_string(&served.kubeconfig).expect("a kubeconfig")).expect("JSON");
    assert_eq!(config["current-context"], "demo");
    assert_eq!(config["contexts"][0]["context"]["namespace"], "kube-system");
    let names = run(&env, &served, "get pods -o name").quiet_success();
    assert!(names.contains("pod/coredns-"), "{names}");
    assert!(run(&env, &served, "get nodes").quiet_success().contains("worker-1"));
}
