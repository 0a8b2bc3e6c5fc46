//! The in-process demo cluster: no network, no kubeconfig, no other program.

use std::process::Command;

use serde_json::Value;

use crate::support::{Api, DemoServer, Kdelta, PATIENCE, TestEnv, eventually};

#[test]
fn first_command_shows_pods() {
    let env = TestEnv::new();
    let stdout = env.kdelta(&["watch", "pods", "--demo", "--count", "5"]).finish().quiet_success();
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].starts_with("EVENT      NAME"), "{stdout}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("ADDED")).count(), 5, "{stdout}");
    assert_eq!(lines.len(), 6, "{stdout}");
}

#[test]
fn live_changes_follow_the_initial_objects() {
    let env = TestEnv::new();
    let running = env.kdelta(&["watch", "pods", "--demo", "--speed", "5", "-o", "json"]).start();
    let mut live = 0;
    let lines = running.stdout.json_until("thirty live changes", |line| {
        live += usize::from(line["origin"] == "watch");
        live == 30
    });
    let listed = lines.iter().filter(|line| line["origin"] == "list").count();
    assert!(listed >= 20, "{listed}");
    assert!(lines.iter().all(|line| line["context"] == "demo" && line["namespace"] == "default"));
}

/// Returns the open sockets of a process that another process could reach: all of IP, and listening Unix ones.
#[cfg(target_os = "linux")]
fn reachable_sockets(pid: u32) -> Vec<String> {
    use std::fs;
    let inodes: Vec<String> = fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("a process")
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = Vec::new();
    // Each table with the column of the inode.
    for (table, inode) in [("tcp", 9), ("tcp6", 9), ("udp", 9), ("udp6", 9), ("unix", 6)] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let row: Vec<&str> = line.split_whitespace().collect();
            let is_own = row.get(inode).is_some_and(|inode| inodes.iter().any(|own| own == inode));
            if is_own && (table != "unix" || row[3] == "00010000") {
                found.push(format!("{table}: {line}"));
            }
        }
    }
    found
}

#[test]
#[cfg(target_os = "linux")]
fn embedded_demo_opens_no_reachable_socket() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &[]);
    assert_eq!(reachable_sockets(demo.running.pid()).len(), 1, "the listener of `kdelta demo` is found");
    let running = env.kdelta(&["watch", "pods,nodes,deployments", "-A", "--demo", "-o", "json"]).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    assert_eq!(reachable_sockets(running.pid()), Vec::<String>::new());
}

#[test]
fn one_shot_commands_work_on_the_demo() {
    let env = TestEnv::new();
    // A slow demo, or a rollout may have one pod more.
    let kdelta =
        |arguments: &[&str]| env.kdelta(&[arguments, &["--speed", "0.01"]].concat()).finish().quiet_success();
    let table = kdelta(&["get", "deploy", "--demo"]);
    assert!(table.starts_with("NAME     READY   UP-TO-DATE   AVAILABLE   AGE\n"), "{table}");
    let names = kdelta(&["get", "pods", "--demo", "--by", "label:app=web", "-o", "name"]);
    assert_eq!(names.lines().filter(|name| name.starts_with("pod/web-")).count(), 4, "{names}");
    let index = kdelta(&["index", "pods", "-A", "--demo", "--objects", "3000", "--by", "namespace"]);
    assert!(index.lines().any(|line| line == "load-00        2000"), "{index}");
    let kinds = kdelta(&["api-resources", "--demo", "--api-group", "demo.kdelta.dev", "-o", "name"]);
    assert_eq!(kinds, "backups.demo.kdelta.dev\n");
    let backup = kdelta(&["get", "bk", "orders", "--demo", "-o", "json"]);
    let backup: Value = serde_json::from_str(&backup).expect("JSON");
    assert_eq!((&backup["kind"], &backup["spec"]["database"]), (&"Backup".into(), &"orders".into()));
}

#[test]
fn mutation_detector_is_enabled_by_its_variable() {
    let env = TestEnv::new();
    for (value, expected) in [("true", true), ("false", false)] {
        for command in ["index pods --by namespace", "watch pods --count 1"] {
            let arguments: Vec<&str> = command.split(' ').chain(["--demo", "-v=6"]).collect();
            let ended = env.kdelta(&arguments).env("KUBE_CACHE_MUTATION_DETECTOR", value).finish();
            assert_eq!(ended.code, 0, "{}", ended.stderr);
            let is_enabled = ended.stderr.contains("the mutation detector compares cached objects");
            assert_eq!(is_enabled, expected, "{command}: {}", ended.stderr);
        }
    }
}

#[test]
fn equal_seeds_create_equal_clusters() {
    let env = TestEnv::new();
    let names = |seed: &str| {
        let call = env.kdelta(&["get", "pods", "-A", "--demo", "-o", "name", "--speed", "0.0001"]);
        call.env("KDELTA_DEMO_SEED", seed).finish().quiet_success()
    };
    assert_eq!(names("1"), names("1"));
    assert_ne!(names("1"), names("2"));
}

#[test]
fn demo_serves_until_a_signal() {
    let env = TestEnv::new();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut demo = DemoServer::start(&env, &[]);
        assert!(demo.url.starts_with("http://127.0.0.1:"), "{}", demo.url);
        let served = env.kdelta(&["get", "ns", "default", "-o", "name", "--server", &demo.url]).finish();
        assert_eq!(served.quiet_success(), "namespace/default\n");
        demo.running.signal(signal);
        assert_eq!(demo.running.wait(), code);
    }
}

#[test]
fn port_in_use_is_reported() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &[]);
    let port = demo.url.rsplit(':').next().expect("a port");
    let error = env.kdelta(&["demo", "--port", port]).finish().failure(1);
    let reported =
        format!("error: can't listen on 127.0.0.1:{port}: another program uses it; choose another --port");
    assert!(error.starts_with(&reported), "{error}");
}

#[test]
fn demo_and_server_flags_conflict() {
    let env = TestEnv::new();
    let error = env.kdelta(&["get", "po", "--demo", "--server", "http://x"]).finish().failure(2);
    assert!(error.starts_with("error: --server names a server, and --demo is one of its own"), "{error}");
    let error = env.kdelta(&["get", "po", "--objects", "5"]).finish().failure(2);
    assert!(error.starts_with("error: --objects needs --demo"), "{error}");
}

#[test]
fn large_lists_do_not_block_other_requests() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--objects", "100000"]);
    let api = Api::open(&demo.url);
    // Decided by lines rather than time, on a machine that may stall. If the list completed before the first request,
    // the attempt proves nothing.
    eventually("a response while the list is being sent", || {
        let watch = ["watch", "pods", "-A", "--server", &demo.url, "-o", "name"];
        let lines = &env.kdelta(&watch).start().stdout;
        let (mut seen, mut is_proven) = (0, false);
        while seen < 100_000 {
            for _ in 0..1_000.min(100_000 - seen) {
                assert!(lines.within(PATIENCE).is_some(), "ended after {seen}");
                seen += 1;
            }
            seen += lines.at_hand().len();
            let is_early = seen < 50_000;
            api.get("/api/v1/namespaces/default");
            let listed_meanwhile = lines.at_hand().len();
            assert!(
                listed_meanwhile < 50_000,
                "{listed_meanwhile} objects were listed before another client got a response"
            );
            seen += listed_meanwhile;
            is_proven |= is_early;
        }
        is_proven.then_some(())
    });
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_rolls_back_drains_and_gets_an_error_for_logs() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "5"]);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(crate::support::kubectl());
        command.args(["--server", &demo.url]).args(arguments);
        Kdelta::other(command).env("HOME", env.home()).finish()
    };
    let kubectl = |arguments: &[&str]| {
        let ended = run(arguments);
        assert_eq!(ended.code, 0, "kubectl {arguments:?}: {}", ended.stderr);
        ended.stdout
    };
    let image =
        || kubectl(&["get", "deploy", "r", "-o", "jsonpath={.spec.template.spec.containers[0].image}"]);
    kubectl(&["create", "deployment", "r", "--image=one", "--replicas=2"]);
    for change in [&["set", "image", "deployment/r", "one=two"][..], &["rollout", "undo", "deployment/r"]] {
        kubectl(&["rollout", "status", "deployment/r", "--timeout=40s"]);
        kubectl(change);
    }
    kubectl(&["rollout", "status", "deployment/r", "--timeout=40s"]);
    assert_eq!(image(), "one");
    assert!(kubectl(&["rollout", "history", "deployment/r"]).contains("\n3 "), "a third revision");
    // The selected pod may be a terminating one of the previous revision, which is deleted before the request.
    let logs = eventually("the log of a remaining pod is requested", || {
        let printed = run(&["logs", "deployment/r"]).failure(1);
        (!printed.contains("(NotFound)")).then_some(printed)
    });
    assert!(logs.contains("the pods of the demo run no containers, so there is nothing to log"), "{logs}");
    kubectl(&[
        "drain",
        "worker-1",
        "--ignore-daemonsets",
        "--force",
        "--delete-emptydir-data",
        "--timeout=50s",
    ]);
    assert!(kubectl(&["get", "node", "worker-1", "--no-headers"]).contains("SchedulingDisabled"));
    let remaining =
        kubectl(&["get", "pods", "-A", "--field-selector", "spec.nodeName=worker-1", "--no-headers"]);
    assert!(remaining.lines().all(|pod| pod.contains("node-agent")), "{remaining}");
    assert!(kubectl(&["explain", "pods.spec.containers.image"]).contains("FIELD: image <string>"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_creates_changes_scales_and_deletes() {
    let env = TestEnv::new();
    // At the default speed: the oldest Events are evicted, and the test reads the one about scaling.
    let demo = DemoServer::start(&env, &[]);
    let kubectl = |arguments: &[&str]| {
        let mut command = Command::new(crate::support::kubectl());
        command.args(["--server", &demo.url]).args(arguments);
        let ended = Kdelta::other(command).env("HOME", env.home()).finish();
        assert_eq!(ended.code, 0, "kubectl {arguments:?}: {}", ended.stderr);
        ended.stdout
    };
    for (arguments, expected) in [
        (&["create", "namespace", "play"][..], "namespace/play created\n"),
        (&["create", "configmap", "c", "--from-literal=a=b", "-n", "play"], "configmap/c created\n"),
        (
            &["create", "deployment", "d", "--image=i", "--replicas=2", "-n", "play"],
            "deployment.apps/d created\n",
        ),
        (&["label", "configmap", "c", "x=y", "-n", "play"], "configmap/c labeled\n"),
        (&["annotate", "configmap", "c", "x=y", "-n", "play"], "configmap/c annotated\n"),
        (&["scale", "deployment", "d", "--replicas=3", "-n", "play"], "deployment.apps/d scaled\n"),
        (&["get", "configmaps", "-l", "x=y", "-n", "play", "-o", "name"], "configmap/c\n"),
        (&["delete", "configmap", "c", "-n", "play"], "configmap \"c\" deleted\n"),
    ] {
        // Newer kubectl versions append the namespace.
        assert_eq!(kubectl(arguments).replace(" from play namespace", ""), expected, "{arguments:?}");
    }
    let rolled = kubectl(&["rollout", "status", "deployment/d", "-n", "play", "--timeout=30s"]);
    assert!(rolled.ends_with("deployment \"d\" successfully rolled out\n"), "{rolled}");
    assert!(kubectl(&["describe", "deployment", "d", "-n", "play"]).contains("ScalingReplicaSet"));
    // A node failure may just have removed some of them.
    eventually("three pods", || {
        let pods = kubectl(&["get", "pods", "-n", "play", "--no-headers"]);
        (pods.lines().count() == 3).then_some(())
    });
    kubectl(&["delete", "namespace", "play"]);
    assert_eq!(kubectl(&["get", "pods", "-n", "play"]), "");
}

#[test]
fn replaced_demo_is_relisted() {
    let env = TestEnv::new();
    let mut first = DemoServer::start(&env, &[]);
    let port = first.url.rsplit(':').next().expect("a port").to_owned();
    let running = env.kdelta(&["watch", "ns", "-s", &first.url, "-o", "json"]).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    first.running.signal("KILL");
    assert_eq!(first.running.wait(), -1);
    running.stderr.find("the loss", |line| line.contains("lost"));
    // Another test's connection may hold the port.
    let second =
        eventually("the same port is free again", || DemoServer::try_start(&env, &["--port", &port]));
    let lines = running.stdout.json_until("GAP", |line| line["type"] == "GAP");
    assert_eq!(lines.len(), 1, "no change of the second demo is reported as one of the first: {lines:#?}");
    let version = |field: &str| lines[0][field].as_str().and_then(|text| text.parse::<u64>().ok());
    assert!(version("from") < version("to"), "{lines:#?}");
    drop(second);
}

/// Sends a request and returns the code and the message of the response.
fn response(api: &Api, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let response = api.request(method, path, headers, body);
    let status: Value = serde_json::from_str(&response.text).expect("JSON");
    (response.code, status["message"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn demo_refuses_foreign_hosts() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let api = Api::open(&demo.url);
    let (code, message) = response(&api, "GET", "/api/v1/pods", &[("Host", "rebound.example:8001")], "");
    assert_eq!(code, 403);
    assert_eq!(
        message,
        "this server serves localhost, 127.0.0.1 and [::1], not the host \"rebound.example\""
    );
    assert_eq!(response(&api, "GET", "/api", &[("Host", "localhost:1")], "").0, 200);
}

#[test]
fn demo_requires_a_content_type_for_writes() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    const MAP: &str = r#"{"metadata":{"name":"m"}}"#;

    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let api = Api::open(&demo.url);
    let pod = api.get("/api/v1/namespaces/default/pods")["items"][0]["metadata"]["name"].clone();
    let eviction = format!("/api/v1/namespaces/default/pods/{}/eviction", pod.as_str().expect("a pod"));
    let review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let map = format!("{MAPS}/m");
    for headers in [&[][..], &[("Content-Type", "text/plain")]] {
        for (method, path, body) in [
            ("POST", MAPS, MAP),
            ("POST", eviction.as_str(), "{}"),
            ("POST", review, "{}"),
            ("DELETE", map.as_str(), r#"{"gracePeriodSeconds":0}"#),
        ] {
            let (code, message) = response(&api, method, path, headers, body);
            assert_eq!(code, 415, "{method} {path} {headers:?}: {message}");
            assert!(message.contains("unknown format"), "{method} {path} {headers:?}: {message}");
        }
    }
    let json = [("Content-Type", "application/json; charset=utf-8")];
    assert_eq!(response(&api, "POST", MAPS, &json, MAP).0, 201);
    // A deletion without a body needs no type.
    assert_eq!(response(&api, "DELETE", &map, &[], "").0, 200);
}

#[test]
fn demo_refuses_oversized_bodies() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let api = Api::open(&demo.url);
    let large = format!(r#"{{"metadata":{{"name":"m"}},"data":{{"a":"{}"}}}}"#, "x".repeat(3 * 1024 * 1024));
    let json = [("Content-Type", "application/json")];
    let refused = response(&api, "POST", "/api/v1/namespaces/default/configmaps", &json, &large);
    assert_eq!(refused, (413, "Request entity too large: limit is 3145728".to_owned()));
}
