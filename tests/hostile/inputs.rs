//! Endless inputs: files that are devices, FIFOs or terabytes, and responses that are small on the wire and large in
//! memory.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::server::{chunk, watch_head};
use super::{HostileServer, Reply, Scenario, run_all};
use crate::support::TestEnv;

const GET: [&str; 2] = ["get", "pods"];

/// Returns endless files by name.
fn endless(env: &TestEnv) -> [(&'static str, PathBuf); 4] {
    let fifo = env.home().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
    let sparse = env.home().join("sparse");
    // Sparse: it uses no disk space.
    File::create(&sparse).and_then(|file| file.set_len(1 << 40)).expect("a file");
    [("fifo", fifo), ("device", "/dev/zero".into()), ("terabyte", sparse), ("folder", env.home().into())]
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Returns a kubeconfig for the server and user.
fn kubeconfig(server: &str, user: &serde_json::Value, cluster: &serde_json::Value) -> String {
    let mut own = json!({"server": server});
    own.as_object_mut().expect("fields").extend(cluster.as_object().expect("fields").clone());
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": own}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    });
    config.to_string()
}

#[test]
fn endless_files_fail_with_one_line() {
    let mut scenarios = Vec::new();
    for at in 0..4 {
        let fields: [(&str, &str); 4] = [
            ("cluster", "certificate-authority"),
            ("user", "tokenFile"),
            ("user", "client-certificate"),
            ("user", "client-key"),
        ];
        for (place, field) in fields {
            let env = TestEnv::new();
            let (name, path) = endless(&env)[at].clone();
            let (mut user, mut cluster) = (json!({}), json!({}));
            // The certificate is read first and fails, so the key is never opened.
            if field == "client-key" {
                user["client-certificate"] = json!(env.file("chain", ""));
            } else if field == "client-certificate" {
                user["client-key"] = json!(env.file("key", ""));
            }
            let fields = if place == "user" { &mut user } else { &mut cluster };
            fields[field] = json!(path);
            env.file("config", &kubeconfig("https://127.0.0.1:1", &user, &cluster));
            let config = env.home().join("config");
            let scenario = Scenario::within(env, format!("{name} as {field}"), &GET);
            scenarios.push(scenario.env("KUBECONFIG", config));
        }
        // A kubeconfig may be a FIFO; it has its own test.
        let env = TestEnv::new();
        let (name, path) = endless(&env)[at].clone();
        if name != "fifo" {
            let scenario = Scenario::within(env, format!("{name} as kubeconfig"), &GET);
            scenarios.push(scenario.env("KUBECONFIG", path));
        }
    }
    let expected = |scenario: Scenario| {
        scenario.within_seconds(10).within_mebibytes(64).check(|outcome| {
            assert_eq!((outcome.code, outcome.stderr.lines().count()), (Some(1), 1));
            let why =
                ["it is no regular file", "it is larger than", "is a directory", "neither a regular file"];
            assert!(why.iter().any(|why| outcome.stderr.contains(why)));
        })
    };
    run_all(scenarios.into_iter().map(expected).collect());
}

#[test]
fn kubeconfig_may_be_a_pipe() {
    let server = HostileServer::start(HostileServer::honest);
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let config = kubeconfig(server.url(), &json!({}), &json!({}));
    let writing = thread::spawn(move || writer.write_all(config.as_bytes()));
    let words = ["get", "pods", "--kubeconfig", "/dev/stdin"];
    let scenario = Scenario::new("through a pipe", &words).stdin(reader).within_seconds(10);
    run_all(vec![scenario.check(|outcome| assert_eq!(outcome.code, Some(0)))]);
    writing.join().expect("no panic").expect("it is read");
}

#[test]
fn endless_discovery_cache_is_ignored() {
    let server = HostileServer::start(HostileServer::honest);
    let mut scenarios = Vec::new();
    for at in 0..3 {
        let env = TestEnv::new();
        let (name, path) = endless(&env)[at].clone();
        let folder = env.home().join("cache");
        std::fs::create_dir_all(folder.join("kdelta")).expect("a folder");
        let host = server.url().trim_start_matches("http://").replace(':', "_");
        std::os::unix::fs::symlink(path, folder.join(format!("kdelta/{host}.json"))).expect("a link");
        let words = ["get", "pods", "--cache-dir", text(&folder)].map(str::to_owned);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let scenario = Scenario::within(env, format!("{name} as cache"), &words).on(&server);
        scenarios.push(scenario.within_seconds(10).within_mebibytes(64).check(|outcome| {
            assert_eq!(outcome.code, Some(0));
        }));
    }
    run_all(scenarios);
}

/// Returns a server with this discovery response that is honest otherwise.
fn discovering(body: impl Fn() -> Reply + Send + Sync + 'static) -> HostileServer {
    HostileServer::start(move |request| match request.path() {
        "/apis" => body(),
        _ => HostileServer::honest(request),
    })
}

fn types(count: usize) -> String {
    let one = |number: usize| {
        format!(
            r#"{{"resource":"type-{number}","responseKind":{{"group":"","version":"","kind":"Type{number}"}},
            "scope":"Namespaced","singularResource":"t{number}","verbs":["get","list","watch"],
            "categories":["all"],"subresources":[{{"subresource":"status","verbs":["get"]}}]}}"#
        )
    };
    let all: Vec<String> = (0..count).map(one).collect();
    format!(
        r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},
        "items":[{{"metadata":{{"name":"many.example"}},"versions":[{{"version":"v1","resources":[{}]}}]}}]}}"#,
        all.join(",")
    )
}

#[test]
fn discovery_is_bounded_in_time_and_memory() {
    let many = types(100_000);
    let many = discovering(move || Reply::json(200, &many));
    let empty = format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{}{{}}]}}"#, "{},".repeat(15_000_000));
    let empty = discovering(move || Reply::json(200, &empty));
    let bomb = gzipped(1 << 30);
    let bomb = discovering(move || {
        Reply::with_headers(200, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", &bomb)
    });
    let call = |name: &str, words: &[&str], server: &HostileServer| {
        Scenario::new(name, words).on(server).within_seconds(60).within_mebibytes(384)
    };
    let mut scenarios = vec![
        call("100,000 types: get", &GET, &many).check(|outcome| assert_eq!(outcome.code, Some(0))),
        call("100,000 types: api-resources", &["api-resources", "-o", "name"], &many)
            .check(|outcome| assert_eq!(outcome.code, Some(0))),
        call("100,000 types: a name that is none", &["get", "podz"], &many)
            .check(|outcome| assert_eq!(outcome.code, Some(1))),
        call("100,000 types: completion", &["__complete", "get", ""], &many)
            .check(|outcome| assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""))),
    ];
    for (name, server) in [("empty objects", &empty), ("gzip bomb", &bomb)] {
        scenarios.push(
            call(&format!("{name}: get"), &GET, server).check(|outcome| assert_eq!(outcome.code, Some(0))),
        );
        scenarios.push(
            call(&format!("{name}: api-resources"), &["api-resources", "-o", "name"], server).check(
                |outcome| {
                    // As in kubectl, the list is printed, and is known to be incomplete.
                    assert_eq!((outcome.code, outcome.stderr.lines().count()), (Some(1), 1));
                    assert!(outcome.stderr.contains("/apis"));
                },
            ),
        );
        scenarios.push(call(&format!("{name}: completion"), &["__complete", "get", ""], server).check(
            |outcome| {
                assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
            },
        ));
    }
    run_all(scenarios);
}

/// Returns this many compressed blanks.
fn gzipped(length: usize) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..length >> 20 {
        writer.write_all(&vec![b' '; 1 << 20]).expect("a Vec takes all");
    }
    writer.finish().expect("a Vec takes all")
}

/// Returns a table of `rows` pods, or an endless one. The first `wide` rows have a cell of this many bytes.
fn table(rows: Option<usize>, wide: usize, cell: usize) -> Reply {
    let columns = r#"[{"name":"Name","type":"string","format":"name","priority":0},{"name":"Note","type":"string","priority":0}]"#;
    let head = format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"7"}},"columnDefinitions":{columns},"rows":["#
    );
    let text = "x".repeat(cell);
    let mut number = 0;
    Reply::Pieces(Box::new(move || {
        number += 1;
        let name = format!("{}{number}", if number <= wide { &text } else { "" });
        let row = format!(
            r#"{{"cells":["{name}","n"],"object":{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{{"name":"pod-{number}","namespace":"default","uid":"{number}","resourceVersion":"7"}}}}}}"#
        );
        match rows {
            Some(rows) if number > rows + 2 => None,
            Some(rows) if number == rows + 2 => Some(b"0\r\n\r\n".to_vec()),
            Some(rows) if number == rows + 1 => Some(chunk("]}")),
            _ if number == 1 => Some([watch_head(), chunk(&format!("{head}{row}"))].concat()),
            _ => Some(chunk(&format!(",{row}"))),
        }
    }))
}

fn listing(rows: Option<usize>, wide: usize, cell: usize) -> HostileServer {
    HostileServer::start(move |request| {
        if request.is_of_objects() && !request.is_watch() {
            table(rows, wide, cell)
        } else {
            HostileServer::honest(request)
        }
    })
}

#[test]
fn wide_cells_do_not_pad_every_line() {
    let (one, many) = (listing(Some(2_000), 1, 1 << 20), listing(Some(200), 200, 1 << 20));
    let call =
        |name: &str, server| Scenario::new(name, &GET).on(server).within_seconds(60).within_mebibytes(192);
    run_all(vec![
        call("one cell of a megabyte in 2,000 rows", &one).check(|outcome| {
            assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 2_001));
        }),
        call("200 cells of a megabyte", &many).check(|outcome| assert_eq!(outcome.code, Some(0))),
    ]);
}

#[test]
fn completion_of_an_endless_list_ends_silently() {
    let scenarios = [0, 1 << 20].map(|cell| {
        let server = Box::leak(Box::new(listing(None, usize::MAX, cell)));
        let scenario = Scenario::new(format!("names of {cell} bytes"), &["__complete", "get", "pods", ""]);
        scenario.on(server).within_seconds(10).within_mebibytes(96).check(|outcome| {
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        })
    });
    run_all(scenarios.into());
}
