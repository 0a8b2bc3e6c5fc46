//! `kdelta __complete`: completions from a cluster, and silence without one.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::support::{DemoServer, Kdelta, OnServer, TestEnv, eventually};

/// Two contexts, the second without a server.
const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: here, context: {cluster: demo, namespace: shop}}
- {name: prod-eu, context: {cluster: gone, user: admin}}
clusters:
- {name: demo, cluster: {server: SERVER}}
- {name: gone, cluster: {server: 'http://127.0.0.1:1'}}
users:
- {name: admin, user: {token: t}}
";

/// The time limit of a completion's cluster requests.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Returns a completion with candidates. A request that timed out is repeated.
#[track_caller]
fn completion(call: impl Fn() -> Kdelta) -> String {
    let completion = || Some(call().finish().quiet_success()).filter(|output| output != ":4\n");
    eventually(&format!("a completion of {:?}", call()), completion)
}

/// Asserts that a call offers nothing and that the cluster responded: the call took less than the time limit.
#[track_caller]
fn assert_no_completion(call: impl Fn() -> Kdelta) {
    eventually(&format!("the output of {:?} in time", call()), || {
        let start = Instant::now();
        let output = call().finish().quiet_success();
        let took = start.elapsed();
        assert_eq!(output, ":4\n", "{:?}", call());
        (took < TIMEOUT).then_some(())
    });
}

fn completion_call(env: &TestEnv, words: &[&str]) -> Kdelta {
    env.kdelta(&[&["__complete"], words].concat())
}

/// Returns the candidates without descriptions, and the directive.
#[track_caller]
fn candidates(env: &TestEnv, words: &[&str]) -> (Vec<String>, String) {
    let output = completion(|| completion_call(env, words));
    let (last, lines) =
        output.lines().collect::<Vec<_>>().split_last().map_or(("", Vec::new()), |(last, lines)| {
            (*last, lines.iter().map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect())
        });
    (lines, last.to_owned())
}

/// Starts a demo and creates a home whose kubeconfig selects it.
fn on_demo() -> (TestEnv, DemoServer) {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    std::fs::create_dir(env.home().join(".kube")).expect("a folder");
    env.file(".kube/config", &KUBECONFIG.replace("SERVER", &demo.url));
    (env, demo)
}

#[test]
fn last_word_is_completed_from_the_cluster() {
    let (env, _demo) = on_demo();
    for (line, words, directive) in [
        ("get name", &["namespaces"][..], ":4"),
        ("get deployme", &["deployments"], ":4"),
        ("get dep", &["deploy", "deployments"], ":4"),
        ("get pods,svc,rep", &["pods,svc,replicasets"], ":4"),
        ("get backups.", &["backups.demo.kdelta.dev"], ":4"),
        ("get deploy ", &["checkout", "payments"], ":4"),
        ("get deploy checkout ", &["payments"], ":4"),
        ("get deploy/", &["deploy/checkout", "deploy/payments"], ":4"),
        ("get deploy/checkout deployme", &["deployments/"], ":6"),
        ("get deploy/checkout deploy/", &["deploy/payments"], ":4"),
        ("get -n monitoring deploy ", &["grafana", "prometheus"], ":4"),
        ("get -n monitoring,shop deploy pro", &["prometheus"], ":4"),
        ("get -A deploy ", &[], ":4"),
        ("get -A nodes worker-", &["worker-1", "worker-2", "worker-3", "worker-4"], ":4"),
        ("get pods -n sh", &["shop"], ":4"),
        ("get pods -n shop,mon", &["shop,monitoring"], ":4"),
        ("get pods -l ap", &["app="], ":6"),
        ("get pods -l app=", &["app=checkout", "app=payments"], ":4"),
        ("get pods -A -l app=gra", &["app=grafana"], ":4"),
        ("get pods -L ap", &["app"], ":4"),
        ("get pods --by label:ap", &["label:app="], ":6"),
        ("index pods --by label:ap", &["label:app"], ":4"),
        ("get pods --by=label:app=che", &["--by=label:app=checkout"], ":4"),
        ("get pods -A --by node=worker-1,worker-2", &["node=worker-1,worker-2"], ":4"),
        ("get pods --by field:status.phase=Runn", &["field:status.phase=Running"], ":4"),
        ("get secrets --by field:data.token=", &[], ":4"),
        ("get secrets --by field:type=Op", &["field:type=Opaque"], ":4"),
        ("get pods --by nam", &["name=", "namespace="], ":6"),
        ("get pods --context ", &["here", "prod-eu"], ":4"),
        ("get pods --cluster g", &["gone"], ":4"),
        ("get pods --user=", &["--user=admin"], ":4"),
        (
            "get pods -o jsonpath=",
            &["jsonpath={.apiVersion}", "jsonpath={.items[*]", "jsonpath={.kind}"],
            ":6",
        ),
        ("get pods -o jsonpath={.items[*].spec.nodeN", &["jsonpath={.items[*].spec.nodeName}"], ":6"),
        ("get pods web -o jsonpath={.status.containerSt", &["jsonpath={.status.containerStatuses[*]"], ":6"),
        ("get pods -o jq=.it", &["jq=.items[]"], ":6"),
        ("get pods -o jq=.items[].spec.nodeN", &["jq=.items[].spec.nodeName"], ":4"),
        ("get pods web -o jq=.status.containerSt", &["jq=.status.containerStatuses[]"], ":6"),
        ("get pods -o jsonpath-file=", &[], ":0"),
        (
            "watch pods -o custom-columns=A:.kind,B:.metadata.na",
            &["custom-columns=A:.kind,B:.metadata.name", "custom-columns=A:.kind,B:.metadata.namespace"],
            ":4",
        ),
        (
            "get pods --sort-by=.spec.containers[0].imageP",
            &["--sort-by=.spec.containers[0].imagePullPolicy"],
            ":4",
        ),
        ("get deploy,svc --sort-by .spec.clusterIPs", &[".spec.clusterIPs[*]"], ":6"),
        ("watch pods --only sp", &["spec"], ":6"),
        ("watch pods --ignore status.conditions.lastP", &["status.conditions.lastProbeTime"], ":4"),
        ("get pods --by field:spec.nodeN", &["field:spec.nodeName="], ":6"),
        ("index pods --by field:spec.nodeN", &["field:spec.nodeName"], ":4"),
        ("get nothing --by field:spec.", &[], ":4"),
        ("get pods --sort-by .spec.nothing.", &[], ":4"),
        ("events --for deploy/", &["deploy/checkout", "deploy/payments"], ":4"),
        ("events --types W", &["Warning"], ":4"),
        ("explain --api-version demo", &["demo.kdelta.dev/v1"], ":4"),
        ("watch pods --fields name,ol", &["name,old"], ":4"),
        ("get pods --namespace-selector kubernetes.io/met", &["kubernetes.io/metadata.name="], ":6"),
        ("get pods --color ", &["always", "auto", "never"], ":4"),
        ("api-resources --api-group demo", &["demo.kdelta.dev"], ":4"),
        ("get pods --kubeconfig ", &[], ":0"),
        ("get pods --count ", &[], ":4"),
    ] {
        let words_of_line: Vec<&str> = line.split(' ').collect();
        if (words.is_empty(), directive) == (true, ":4") {
            assert_no_completion(|| completion_call(&env, &words_of_line));
            continue;
        }
        let (found, last) = candidates(&env, &words_of_line);
        // The objects of the demo change over time: a type may have objects that the test does not name.
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), &*last),
            (words.to_vec(), directive),
            "{line}"
        );
    }
}

#[test]
fn output_formats_are_completed() {
    let (env, _demo) = on_demo();
    for (line, words, directive) in [
        (
            "get pods -o ",
            &[
                "csv",
                "csv-wide",
                "custom-columns",
                "custom-columns-file",
                "go-template",
                "go-template-file",
                "jq",
                "jq-file",
                "json",
                "jsonpath",
                "jsonpath-as-json",
                "jsonpath-file",
                "kyaml",
                "markdown",
                "markdown-wide",
                "name",
                "template",
                "templatefile",
                "wide",
                "yaml",
            ][..],
            ":4",
        ),
        ("index pods -o ", &["csv", "json", "kyaml", "markdown", "name", "yaml"], ":4"),
        ("index pods --sort-by ", &["avg", "count", "max", "min", "sum", "value"], ":4"),
    ] {
        let (found, last) = candidates(&env, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), &*last),
            (words.to_vec(), directive),
            "{line}"
        );
    }
}

#[test]
fn completion_uses_the_connection_flags_of_the_line() {
    let (env, demo) = on_demo();
    assert_no_completion(|| completion_call(&env, &["get", "--context", "prod-eu", "deploy", ""]));
    let elsewhere =
        candidates(&env, &["get", "--context", "prod-eu", "-s", &demo.url, "-n", "shop", "deploy", "c"]);
    assert_eq!(elsewhere.0, ["checkout"]);
    std::fs::remove_file(env.home().join(".kube/config")).expect("the kubeconfig");
    assert_no_completion(|| completion_call(&env, &["get", "deploy", "-n", "shop", "c"]));
    assert_eq!(candidates(&env, &["get", "--demo", "deploy", "-n", "shop", "c"]).0, ["checkout"]);
    // The pod belongs to another demo.
    assert_no_completion(|| completion_call(&env, &["get", "--demo", "pods", ""]));
}

#[test]
fn types_are_completed_from_the_discovery_cache() {
    let (env, demo) = on_demo();
    assert_eq!(candidates(&env, &["get", "namesp"]).0, ["namespaces"]);
    let address = demo.url.trim_start_matches("http://").parse().expect("an address");
    drop(demo);
    // Keeps the port without listening, so no other test gets it.
    let _reserved_port = eventually("the port of the demo", || {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("a socket with SO_REUSEADDR");
        socket.bind(address).ok().map(|()| socket)
    });
    assert_eq!(candidates(&env, &["get", "namesp"]).0, ["namespaces"]);
    assert_no_completion(|| completion_call(&env, &["get", "deploy", ""]));
}

#[test]
fn completion_without_a_server_is_silent_and_quick() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = format!("http://{}", silent.local_addr().expect("its address"));
    let env = TestEnv::new();
    let broken = env.file("broken", "contexts: [");
    let broken = broken.to_str().expect("a path");
    for line in [
        &["get", ""][..],
        &["get", "--server", &silent, ""],
        &["get", "--server", "http://127.0.0.1:1", "pods", ""],
        &["get", "--kubeconfig", broken, "--context", ""],
        &["get", "--kubeconfig", "/no/such/file", "pods", ""],
        &["get", "--context", "none", "-n", ""],
        &["get", "--request-timeout", "x", "pods", ""],
        &["frobnicate", ""],
    ] {
        // A slow machine may take longer, but not every time.
        eventually(&format!("the end of {line:?} in time"), || {
            let start = Instant::now();
            assert_eq!(completion_call(&env, line).finish().quiet_success(), ":4\n", "{line:?}");
            (start.elapsed() < Duration::from_secs(20)).then_some(())
        });
    }
    assert_eq!(candidates(&env, &[]).0.first().map(String::as_str), Some("api-resources"));
}

#[test]
fn completion_does_not_run_interactive_plugins() {
    let env = TestEnv::new();
    // Run through a shell: a file just written can't be executed while another test's child still has it open for
    // writing.
    env.file("plugin", "echo asked >&2\n: > ran\n");
    let config = "
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [./plugin], interactiveMode: MODE}}}]
";
    for (mode, runs) in [("Always", false), ("IfAvailable", true)] {
        let file = env.file("config", &config.replace("MODE", mode));
        let call = env.kdelta(&["__complete", "get", "pods", ""]).env("KUBECONFIG", file);
        assert_eq!(call.finish().quiet_success(), ":4\n", "{mode}");
        assert_eq!(env.home().join("ran").exists(), runs, "{mode}");
    }
}

#[test]
fn completion_lets_credential_plugins_finish() {
    let env = TestEnv::new();
    let config = "
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh,
  args: [-c, 'sleep 2; : > cache']}}}]
";
    let file = env.file("config", config);
    let call = env.kdelta(&["__complete", "get", "pods", ""]).env("KUBECONFIG", file);
    let mut command = call.into_command();
    let output = command.current_dir(env.home()).output().expect("it runs");
    assert_eq!((&*output.stdout, &*output.stderr), (&b":4\n"[..], &b""[..]));
    assert!(env.home().join("cache").exists(), "it was cut off");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn completion_on_a_real_server_respects_permissions() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "first", &serde_json::json!({"tier": "web"}));
    api.create_config_map(&namespace, "second", &serde_json::json!({"tier": "db"}));
    let call = |line: &str| {
        let words: Vec<&str> = std::iter::once("__complete").chain(line.split(' ')).collect();
        env.kdelta_on(testbed, &words)
    };
    let output = |line: &str| completion(|| call(line));
    let on = |line: &str| format!("get -n {namespace} {line}");
    assert_eq!(output(&on("cm fi")), "first\n:4\n");
    assert_eq!(output(&on("configmaps/se")), "configmaps/second\n:4\n");
    assert_eq!(output(&on("cm -l tier=")), "tier=db\ntier=web\n:4\n");
    assert_eq!(output(&on("cm --by label:tier=w")), "label:tier=web\n:4\n");
    assert_eq!(output(&format!("get -n {namespace}")), format!("{namespace}\n:4\n"));
    assert!(output("get daemons").starts_with("daemonsets\tDaemonSet, apps/v1\n"));
    assert_no_completion(|| call(&on("--as nobody cm fi")));
    assert_eq!(output(&on("cm --by field:imm")), "field:immutable=\tboolean\n:6\n");
    assert_eq!(
        output(&on("deploy --sort-by .spec.template.spec.nodeN")),
        ".spec.template.spec.nodeName\tstring\n:4\n"
    );
    assert_eq!(
        output(&on("cm first -o jsonpath={.metadata.ownerR")),
        "jsonpath={.metadata.ownerReferences[*]\t[]OwnerReference\n:6\n"
    );
}
