//! The tasks, and every contender's command for each.

use std::path::PathBuf;
use std::process::Command;

use crate::peers::Peers;
use crate::test_server::{BenchServer, NAMESPACE};

/// A task that contenders do once, from the start of the process to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// An index of all pods with their bodies.
    Sync,
    /// The table of all namespaces.
    TableOfAll,
    /// The table of one namespace.
    TableOfOne,
    /// The names.
    Names,
    /// The whole objects as one JSON List.
    Json,
    /// Two fields of each object, by a `JSONPath` template.
    JsonPath,
    /// Custom columns.
    Columns,
    /// The table sorted by a field.
    Sorted,
    /// The names of the pods that match an expression on their bodies; kubectl's JSON is piped to jq.
    Where,
    /// The names of the pods with a value of a field; kubectl's JSON is piped to jq.
    By,
}

impl Task {
    pub(crate) const ALL: [Self; 10] = [
        Self::Sync,
        Self::TableOfAll,
        Self::TableOfOne,
        Self::Names,
        Self::Json,
        Self::JsonPath,
        Self::Columns,
        Self::Sorted,
        Self::Where,
        Self::By,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::TableOfAll => "get -A",
            Self::TableOfOne => "get -n",
            Self::Names => "get -o name",
            Self::Json => "get -o json",
            Self::JsonPath => "get -o jsonpath",
            Self::Columns => "get -o custom-columns",
            Self::Sorted => "get --sort-by",
            Self::Where => "get --where",
            Self::By => "get --by",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sync => "sync: every pod with its body in an index",
            Self::TableOfAll => "get pods -A",
            Self::TableOfOne => "get pods -n big",
            Self::Names => "get pods -A -o name",
            Self::Json => "get pods -A -o json",
            Self::JsonPath => "get pods -A -o jsonpath={range .items[*]}…{end}",
            Self::Columns => "get pods -A -o custom-columns=…",
            Self::Sorted => "get pods -A --sort-by=.status.startTime",
            Self::Where => "get pods -A -o name --where EXPRESSION",
            Self::By => "get pods -A -o name --by field:spec.serviceAccountName=web",
        }
    }
}

/// Builds the command for the server address and the kubeconfig.
pub(crate) type Call<'a> = Box<dyn Fn(&str, &str) -> anyhow::Result<Command> + Sync + 'a>;

/// One program or way to do a task.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// The prefix of its user agent; empty for one without.
    pub(crate) agent: String,
    /// The text in its output that marks the end of the task, for one that continues.
    pub(crate) until: Option<&'static str>,
    /// True if it discards the data it reads and prints when its first byte arrived.
    pub(crate) discards_output: bool,
    pub(crate) command: Call<'a>,
    /// The command to continue from a version, given the server and the version, for one that does not watch again
    /// itself.
    pub(crate) resume: Option<Call<'a>>,
}

/// curl's user agent: the server treats curl's default one as a person's.
pub(crate) const CURL_AGENT: &str = "bench";
pub(crate) const KDELTA: &str = "kdelta";
pub(crate) const CURL: &str = "curl (the limit)";
pub(crate) const CURL_WHOLE: &str = "curl, in one piece";
pub(crate) const KUBECTL: &str = "kubectl";
pub(crate) const PIPE: &str = "kubectl | jq";
pub(crate) const TYPED: &str = "client-go typed";
pub(crate) const DYNAMIC: &str = "client-go dynamic";
pub(crate) const KUBE_RS: &str = "kube-rs";

const PODS: &str = "/api/v1/pods";
const WATCH_LIST: &str =
    "/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const JSON: &str = "application/json";
const JSON_PATH: &str = r#"jsonpath={range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end}"#;
const EXPRESSION: &str =
    "object.spec.containers.exists(c, c.image.contains('/checkout/')) && object.status.phase != 'Succeeded'";
const SAME_IN_JQ: &str =
    r#"any(.spec.containers[]; .image | contains("/checkout/")) and .status.phase != "Succeeded""#;
const COLUMNS: &str = "custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,PHASE:.status.phase";

/// Returns the contenders of a task, curl first.
pub(crate) fn of<'a>(task: Task, bench_server: &'a BenchServer, peers: &'a Peers) -> Vec<Contender<'a>> {
    let mut all = limits(task, bench_server);
    match task {
        Task::Sync => {
            all.push(kdelta(&["index", "pods", "-A", "--by", "field:status.phase"]));
            all.push(client_go(peers, TYPED, "typed", &["--events=false", "--until-synced"]));
            all.push(client_go(peers, DYNAMIC, "dynamic", &["--events=false", "--until-synced"]));
            all.push(kube_rs(peers, &[]));
        }
        Task::TableOfAll => both(&mut all, peers, &["get", "pods", "-A"]),
        Task::TableOfOne => both(&mut all, peers, &["get", "pods", "-n", NAMESPACE]),
        Task::Names => both(&mut all, peers, &["get", "pods", "-A", "-o", "name"]),
        Task::Json => both(&mut all, peers, &["get", "pods", "-A", "-o", "json"]),
        Task::JsonPath => both(&mut all, peers, &["get", "pods", "-A", "-o", JSON_PATH]),
        Task::Columns => both(&mut all, peers, &["get", "pods", "-A", "-o", COLUMNS]),
        Task::Sorted => both(&mut all, peers, &["get", "pods", "-A", "--sort-by=.status.startTime"]),
        Task::Where => {
            all.push(kdelta(&["get", "pods", "-A", "-o", "name", "--where", EXPRESSION]));
            all.push(kubectl_and_jq(peers, SAME_IN_JQ));
        }
        Task::By => {
            all.push(kdelta(&[
                "get",
                "pods",
                "-A",
                "-o",
                "name",
                "--by",
                "field:spec.serviceAccountName=web",
            ]));
            all.push(kubectl_and_jq(peers, r#".spec.serviceAccountName == "web""#));
        }
    }
    all
}

/// Returns the cost of reading the best response to a task. For a sync: the pages that kdelta requests, two at a time
/// as it does, and then the single response that curl users usually request. A sync outputs nothing, so curl discards
/// the data; other responses are passed to a reader, by curl as by all.
fn limits<'a>(task: Task, bench_server: &'a BenchServer) -> Vec<Contender<'a>> {
    let none = format!("{PODS}?includeObject=None");
    let (path, accept) = match task {
        Task::Sync => {
            let pages =
                Box::new(|server: &str, _: &str| bench_server.curl_discarding(&bench_server.pages(server)?));
            let whole =
                Box::new(|server: &str, _: &str| bench_server.curl_discarding(&[format!("{server}{PODS}")]));
            let away = |name, command: Call<'a>| Contender { discards_output: true, ..curl(name, command) };
            return vec![away(CURL, pages), away(CURL_WHOLE, whole)];
        }
        Task::Json | Task::JsonPath | Task::Columns | Task::Where | Task::By => (PODS.to_owned(), JSON),
        Task::Sorted => (format!("{PODS}?includeObject=Object"), TABLE),
        Task::TableOfAll | Task::Names => (none, TABLE),
        Task::TableOfOne => (format!("/api/v1/namespaces/{NAMESPACE}/pods?includeObject=None"), TABLE),
    };
    let command = move |server: &str, _: &str| {
        let mut command = bench_server.curl(accept);
        command.arg(format!("{server}{path}"));
        Ok(command)
    };
    vec![curl(CURL, Box::new(command))]
}

fn curl<'a>(name: &'static str, command: Call<'a>) -> Contender<'a> {
    let agent = CURL_AGENT.to_owned();
    Contender { name, agent, until: None, discards_output: false, command, resume: None }
}

/// Adds kdelta and kubectl with equal arguments.
fn both<'a>(all: &mut Vec<Contender<'a>>, peers: &'a Peers, arguments: &'static [&'static str]) {
    all.push(kdelta(arguments));
    all.push(kubectl(peers, arguments));
}

fn kdelta(arguments: &'static [&'static str]) -> Contender<'static> {
    program(KDELTA, "kdelta/", env!("CARGO_BIN_EXE_kdelta").into(), arguments)
}

fn kubectl<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Contender<'a> {
    // client-go uses the program's name as user agent.
    let name = peers.kubectl.file_name().unwrap_or_default().to_string_lossy();
    program(KUBECTL, &format!("{name}/"), peers.kubectl.clone(), arguments)
}

fn program<'a>(
    name: &'static str,
    agent: &str,
    program: PathBuf,
    arguments: &'static [&'static str],
) -> Contender<'a> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&program);
        command.args(arguments).args(["--kubeconfig", kubeconfig]);
        Ok(command)
    };
    standalone(name, agent.to_owned(), Box::new(command))
}

/// Returns the pipe that prints the names of the pods with this condition of jq. Its cost is that of both programs.
fn kubectl_and_jq<'a>(peers: &'a Peers, condition: &'static str) -> Contender<'a> {
    const PIPE_SCRIPT: &str = r#""$1" get pods -A -o json --kubeconfig "$2" | jq -r "$3""#;
    let filter = format!(".items[] | select({condition}) | \"pod/\" + .metadata.name");
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", PIPE_SCRIPT, "sh"]).arg(&peers.kubectl).args([kubeconfig, &filter]);
        Ok(command)
    };
    standalone(PIPE, String::new(), Box::new(command))
}

fn client_go<'a>(
    peers: &'a Peers,
    name: &'static str,
    mode: &'static str,
    arguments: &'static [&'static str],
) -> Contender<'a> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&peers.client_go);
        command.args(["informer", "--kubeconfig", kubeconfig, "--mode", mode]).args(arguments);
        Ok(command)
    };
    standalone(name, format!("testbed {mode}"), Box::new(command))
}

fn kube_rs<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Contender<'a> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&peers.kube_rs);
        command.args(arguments).env("KUBECONFIG", kubeconfig);
        Ok(command)
    };
    standalone(KUBE_RS, String::new(), Box::new(command))
}

/// Returns a contender that exits when it is done, and watches again itself.
fn standalone<'a>(name: &'static str, agent: String, command: Call<'a>) -> Contender<'a> {
    Contender { name, agent, until: None, discards_output: false, command, resume: None }
}

/// Returns curl's watch, over HTTP/1.1 because a busy server sends its events sooner, with unbuffered output.
fn curl_watch(bench_server: &BenchServer, url: &str) -> Command {
    let mut command = bench_server.curl(JSON);
    command.args(["--http1.1", "--no-buffer", url]);
    command
}

/// Returns the contenders that follow the pods, curl first; `until` is the text that each prints after the initial
/// list.
pub(crate) fn following<'a>(bench_server: &'a BenchServer, peers: &'a Peers) -> Vec<Contender<'a>> {
    // A busy server ends every watch that falls behind, and curl does not watch again.
    let resume = |server: &str, version: &str| {
        let path = format!("{PODS}?watch=1&allowWatchBookmarks=true&resourceVersion={version}");
        Ok(curl_watch(bench_server, &format!("{server}{path}")))
    };
    let first = |server: &str, _: &str| Ok(curl_watch(bench_server, &format!("{server}{WATCH_LIST}")));
    let limit = Contender {
        until: Some("k8s.io/initial-events-end"),
        resume: Some(Box::new(resume)),
        ..curl(CURL, Box::new(first))
    };
    let synced = |one: Contender<'a>| Contender { until: Some("\"SYNCED\""), ..one };
    vec![
        limit,
        synced(kdelta(&["watch", "pods", "-A", "-o", "json"])),
        synced(client_go(peers, TYPED, "typed", &[])),
        synced(client_go(peers, DYNAMIC, "dynamic", &[])),
        synced(kube_rs(peers, &["--watch"])),
        // It prints no mark after the initial list; it prints the list as Lists of 500.
        kubectl(peers, &["get", "pods", "-A", "-w", "-o", "json", "--output-watch-events"]),
    ]
}
