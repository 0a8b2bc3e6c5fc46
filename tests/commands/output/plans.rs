//! `--explain`: the planned requests are those that the command sends, and planning sends none of them.

use serde_json::Value;

use crate::support::TestEnv;

/// Returns the paths of the requests that the log of a command has, in order.
fn logged(stderr: &str) -> Vec<String> {
    let path = |line: &str| {
        let (_, rest) = line.split_once(" GET http://")?;
        let (_, path) = rest.split_once('/')?;
        Some(format!("/{}", path.split(' ').next().unwrap_or_default()))
    };
    stderr.lines().filter_map(path).collect()
}

/// Whether the path is one of discovery.
fn is_discovery(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let segments = path.trim_matches('/').split('/').count();
    path == "/version"
        || path == "/api"
        || path == "/apis"
        || (path.starts_with("/api/") && segments == 2)
        || (path.starts_with("/apis/") && segments == 3)
}

/// Returns a path without the lengths of watches, which are drawn.
fn without_timeout(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let terms: Vec<&str> = query.split('&').filter(|term| !term.starts_with("timeoutSeconds=")).collect();
    format!("{path}?{}", terms.join("&"))
}

#[test]
fn planned_requests_are_sent_only_by_the_query_itself() {
    for words in [
        &["get", "pods", "-A", "--by", "label:app=web", "-o", "json"][..],
        &["get", "pods", "-n", "shop"],
        &["get", "pods", "-A", "--by", "node=worker-1", "--by", "image", "-o", "name"],
        &["get", "pods", "-A", "--by", "namespace=shop"],
        &["get", "deploy", "web"],
        &["index", "pods", "-A", "--by", "label:app"],
        &["index", "pods", "-A", "--by", "node", "--by", "namespace"],
        &["watch", "pods", "-A", "--by", "label:app!=web", "--until-synced", "-o", "name"],
    ] {
        let env = TestEnv::new();
        let run = |more: &[&str]| {
            let done = env.kdelta(&[words, more, &["-v=6", "--demo", "--speed", "0.0001"]].concat()).finish();
            assert_eq!(done.code, 0, "{words:?}: {}", done.stderr);
            done
        };
        let explained = run(&["--explain=json"]);
        let sent = logged(&explained.stderr);
        assert!(!sent.is_empty() && sent.iter().all(|path| is_discovery(path)), "{words:?}: {sent:?}");
        let plan: Value = serde_json::from_str(&explained.stdout).expect("a plan");
        let planned = plan["parts"][0]["requests"][0]["path"].as_str().expect("a request").to_owned();
        let sent = logged(&run(&[]).stderr);
        let sent: Vec<String> = sent.iter().map(|path| without_timeout(path)).collect();
        assert!(sent.contains(&without_timeout(&planned)), "{words:?}: {planned} is not in {sent:#?}");
    }
}

#[test]
fn plan_divides_conditions() {
    let env = TestEnv::new();
    let words = [
        "get",
        "pods",
        "-A",
        "--demo",
        "--by",
        "label:app=web,api",
        "--by",
        "node=worker-1",
        "--by",
        "image=x",
    ];
    let plan = |more: &[&str]| env.kdelta(&[&words[..], more].concat()).finish().quiet_success();
    let json: Value = serde_json::from_str(&plan(&["--explain=json"])).expect("a plan");
    let texts = |name: &str| json["parts"][0][name].as_array().expect(name).clone();
    let server = texts("server");
    assert_eq!(server[0], "--by label:app=web,api, as the label selector app in (web,api)");
    assert!(server[1].as_str().is_some_and(|text| text.contains("spec.nodeName=worker-1")), "{server:?}");
    assert_eq!(texts("local"), ["--by image=x"]);
    assert_eq!(texts("reasons"), ["--by image=x reads the body"]);
    let text = plan(&["--explain"]);
    assert!(text.starts_with("pods in all namespaces\n  request   GET /api/v1/pods?"), "{text}");
    let matched = ["get", "pods", "-n", "team-*", "--demo", "--explain"];
    let text = env.kdelta(&matched).finish().quiet_success();
    assert!(text.starts_with("before\n  request   GET /api/v1/namespaces   ("), "{text}");
    let files = env.kdelta(&["get", "-f", "x.yaml", "--explain"]).finish();
    assert_eq!(files.code, 2, "{}", files.stderr);
}

#[test]
fn single_namespace_of_a_condition_is_that_of_the_request() {
    let env = TestEnv::new();
    let call = |words: &[&str], more: &[&str]| {
        let words = [words, &["--demo", "--speed", "0.0001"], more].concat();
        env.kdelta(&words).env("KDELTA_DEMO_SEED", "1").finish().quiet_success()
    };
    for words in [
        &["get", "pods", "-A", "--by", "namespace=shop"][..],
        &["watch", "pods", "-A", "--by", "namespace=shop"],
        &["index", "pods", "-A", "--by", "namespace=shop"],
    ] {
        let plan: Value = serde_json::from_str(&call(words, &["--explain=json"])).expect("a plan");
        let path = plan["parts"][0]["requests"][0]["path"].as_str().expect("a request");
        let is_path = path.starts_with("/api/v1/namespaces/shop/pods?");
        assert!(is_path && !path.contains("metadata.namespace"), "{words:?}: {path}");
        let server = plan["parts"][0]["server"].as_array().expect("conditions");
        assert!(
            server.contains(&"--by namespace=shop, as the namespace shop".into()),
            "{words:?}: {server:?}"
        );
        assert_eq!(plan["parts"][0]["local"], Value::Array(Vec::new()), "{words:?}");
    }
    let by = call(&["get", "pods", "-A", "--by", "namespace=shop"], &[]);
    assert!(by.starts_with("NAMESPACE ") && by.contains("\nshop "), "{by}");
    let names = |words: &[&str]| call(words, &["-o", "name"]);
    assert_eq!(
        names(&["get", "pods", "-A", "--by", "namespace=shop"]),
        names(&["get", "pods", "-n", "shop"])
    );
    // Several namespaces, and an impossible name, are still conditions.
    for condition in ["namespace=shop,default", "namespace=No/Name", "namespace!=shop"] {
        let plan = call(&["get", "pods", "-A", "--by", condition], &["--explain=json"]);
        let plan: Value = serde_json::from_str(&plan).expect("a plan");
        let path = plan["parts"][0]["requests"][0]["path"].as_str().expect("a request");
        assert!(path.starts_with("/api/v1/pods?"), "{condition}: {path}");
    }
}

#[test]
fn questions_on_metadata_fetch_no_body() {
    let env = TestEnv::new();
    for (words, expected) in [
        (
            &["index", "pods", "-A", "--by", "label:app", "--max", "metadata.generation"][..],
            "the metadata of each object",
        ),
        (&["index", "pods", "--by", "field:metadata.labels.app"], "the metadata of each object"),
        (&["index", "pods", "--by", "node"], "whole objects"),
        (&["get", "pods", "--by", "label:app=web"], "the rows of the server's table"),
        (&["get", "pods", "--by", "annotation:a=b"], "rows with the metadata of each object"),
        (&["get", "pods", "--by", "annotation:a=b", "-o", "name"], "the metadata of each object"),
        (&["get", "pods", "--by", "image=x"], "rows with whole objects"),
        (&["get", "pods", "--where", "object.status.phase == 'Running'"], "the rows of the server's table"),
        (
            &["get", "pods", "--where", "object.status.phase == 'Running'", "-o", "name"],
            "the names, in the rows of the server's table",
        ),
        (
            &["watch", "pods", "--where", "object.spec.nodeName == 'a'", "-o", "name"],
            "the metadata of each object",
        ),
        (
            &["index", "pods", "--by", "label:app", "--where", "object.spec.nodeName == 'a'"],
            "the metadata of each object",
        ),
        (
            &["get", "pods", "--where", "object.spec.nodeName == 'a' && object.spec.x == 'b'"],
            "rows with whole objects",
        ),
        (&["index", "pods", "--by", "cel:object.metadata.name.size()"], "the metadata of each object"),
        (&["index", "pods", "--by", "cel:object.spec.?nodeName"], "whole objects"),
    ] {
        let plan = env.kdelta(&[words, &["--demo", "--explain=json"]].concat()).finish().quiet_success();
        let plan: Value = serde_json::from_str(&plan).expect("a plan");
        assert_eq!(plan["parts"][0]["receives"], expected, "{words:?}");
    }
}
