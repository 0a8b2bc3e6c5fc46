//! Who does what: the tasks, and for each the command of every contender.

use std::process::Command;

use crate::peers::Peers;
use crate::stand::{NAMESPACE, Stand};
use crate::testbed;

/// What the contenders do once, from the start of the process to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// All pods in an index, with their bodies.
    Sync,
    /// The table of all namespaces.
    TableOfAll,
    /// The table of one namespace.
    TableOfOne,
    /// The names.
    Names,
    /// The whole objects as one JSON List.
    Json,
}

impl Task {
    pub(crate) const ALL: [Self; 5] =
        [Self::Sync, Self::TableOfAll, Self::TableOfOne, Self::Names, Self::Json];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::TableOfAll => "get -A",
            Self::TableOfOne => "get -n",
            Self::Names => "get -o name",
            Self::Json => "get -o json",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Sync => "sync: every pod with its body in an index",
            Self::TableOfAll => "get pods -A",
            Self::TableOfOne => "get pods -n big",
            Self::Names => "get pods -A -o name",
            Self::Json => "get pods -A -o json",
        }
    }
}

/// Makes the command that asks the server at this address, with this kubeconfig.
pub(crate) type Call<'a> = Box<dyn Fn(&str, &str) -> Command + Sync + 'a>;

/// One way to do a task.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// What it calls itself to the server begins so; empty for one that says nothing.
    pub(crate) agent: String,
    /// The text in its output that says it is done, for one that would go on.
    pub(crate) until: Option<&'static str>,
    pub(crate) command: Call<'a>,
    /// The same from a version on, told the server and the version, for one that does not ask again by itself.
    pub(crate) again: Option<Call<'a>>,
}

/// What curl calls itself: a server treats one by its own name as a person's.
pub(crate) const CURL_AGENT: &str = "bench";
pub(crate) const KDELTA: &str = "kdelta";
pub(crate) const CURL: &str = "curl (the limit)";
pub(crate) const KUBECTL: &str = "kubectl";
pub(crate) const TYPED: &str = "client-go typed";
pub(crate) const DYNAMIC: &str = "client-go dynamic";
pub(crate) const KUBE_RS: &str = "kube-rs";

const PODS: &str = "/api/v1/pods";
const WATCH_LIST: &str =
    "/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
const TABLE_WITHOUT_OBJECTS: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const JSON: &str = "application/json";

/// The contenders of a task, curl first.
pub(crate) fn of<'a>(task: Task, stand: &'a Stand, peers: &'a Peers) -> Vec<Contender<'a>> {
    let mut all = vec![limit(task, stand)];
    match task {
        Task::Sync => {
            all.push(kdelta(&["index", "pods", "-A", "--by", "field:status.phase"]));
            all.push(client_go(TYPED, "typed", &["--events=false", "--until-synced"]));
            all.push(client_go(DYNAMIC, "dynamic", &["--events=false", "--until-synced"]));
            all.push(kube_rs(peers, &[]));
        }
        Task::TableOfAll => both(&mut all, peers, &["get", "pods", "-A"]),
        Task::TableOfOne => both(&mut all, peers, &["get", "pods", "-n", NAMESPACE]),
        Task::Names => both(&mut all, peers, &["get", "pods", "-A", "-o", "name"]),
        Task::Json => both(&mut all, peers, &["get", "pods", "-A", "-o", "json"]),
    }
    all
}

/// What the best answer to a task costs to read.
fn limit(task: Task, stand: &Stand) -> Contender<'_> {
    let none = format!("{PODS}?includeObject=None");
    let (path, accept) = match task {
        // Of a sync what kdelta asks as well.
        Task::Sync | Task::Json => (PODS.to_owned(), JSON),
        Task::TableOfAll | Task::Names => (none, TABLE_WITHOUT_OBJECTS),
        Task::TableOfOne => {
            (format!("/api/v1/namespaces/{NAMESPACE}/pods?includeObject=None"), TABLE_WITHOUT_OBJECTS)
        }
    };
    let command = Box::new(move |server: &str, _: &str| stand.curl(server, &path, accept));
    Contender { name: CURL, agent: CURL_AGENT.to_owned(), until: None, command, again: None }
}

/// kdelta and kubectl with the same words.
fn both<'a>(all: &mut Vec<Contender<'a>>, peers: &'a Peers, arguments: &'static [&'static str]) {
    all.push(kdelta(arguments));
    all.extend(kubectl(peers, arguments));
}

fn kdelta(arguments: &'static [&'static str]) -> Contender<'static> {
    program(KDELTA, "kdelta/", env!("CARGO_BIN_EXE_kdelta").into(), arguments)
}

fn kubectl<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Option<Contender<'a>> {
    peers.kubectl.as_ref().map(|kubectl| program(KUBECTL, "kubectl/", kubectl.clone(), arguments))
}

fn program(
    name: &'static str,
    agent: &str,
    program: std::path::PathBuf,
    arguments: &'static [&'static str],
) -> Contender<'static> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&program);
        command.args(arguments).args(["--kubeconfig", kubeconfig]);
        command
    };
    Contender { name, agent: agent.to_owned(), until: None, command: Box::new(command), again: None }
}

fn client_go(
    name: &'static str,
    mode: &'static str,
    arguments: &'static [&'static str],
) -> Contender<'static> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = testbed::tool();
        command.args(["informer", "--kubeconfig", kubeconfig, "--mode", mode]).args(arguments);
        command
    };
    Contender { name, agent: format!("testbed {mode}"), until: None, command: Box::new(command), again: None }
}

fn kube_rs<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Contender<'a> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&peers.kube_rs);
        command.args(arguments).env("KUBECONFIG", kubeconfig);
        command
    };
    Contender { name: KUBE_RS, agent: String::new(), until: None, command: Box::new(command), again: None }
}

/// The limit of a watch: over HTTP/1.1 a busy server sends events sooner.
fn http1(mut curl: Command) -> Command {
    curl.arg("--http1.1");
    curl
}

/// Those that follow the pods as they change, curl first; `until` is what each prints when it has the first state.
pub(crate) fn following<'a>(stand: &'a Stand, peers: &'a Peers) -> Vec<Contender<'a>> {
    // A busy server ends every watch that falls behind, and curl knows nothing of watches.
    let again: Call<'a> = Box::new(|server: &str, version: &str| {
        let path = format!("{PODS}?watch=1&allowWatchBookmarks=true&resourceVersion={version}");
        http1(stand.curl(server, &path, JSON))
    });
    let curl = Contender {
        name: CURL,
        agent: CURL_AGENT.to_owned(),
        until: Some("k8s.io/initial-events-end"),
        command: Box::new(|server: &str, _: &str| http1(stand.curl(server, WATCH_LIST, JSON))),
        again: Some(again),
    };
    let synced = |one: Contender<'a>| Contender { until: Some("\"SYNCED\""), ..one };
    let mut all = vec![
        curl,
        synced(kdelta(&["watch", "pods", "-A", "-o", "json"])),
        synced(client_go(TYPED, "typed", &[])),
        synced(client_go(DYNAMIC, "dynamic", &[])),
        synced(kube_rs(peers, &["--watch"])),
    ];
    // It says nothing when the first state is printed; what it prints of it are Lists of 500.
    all.extend(kubectl(peers, &["get", "pods", "-A", "-w", "-o", "json", "--output-watch-events"]));
    all
}
