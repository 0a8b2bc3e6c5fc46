//! Who does what: the tasks, and for each the command of every contender.

use std::path::PathBuf;
use std::process::Command;

use crate::peers::Peers;
use crate::stand::{NAMESPACE, Stand};

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
pub(crate) type Call<'a> = Box<dyn Fn(&str, &str) -> anyhow::Result<Command> + Sync + 'a>;

/// One way to do a task.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    /// What it calls itself to the server begins so; empty for one that says nothing.
    pub(crate) agent: String,
    /// The text in its output that says it is done, for one that would go on.
    pub(crate) until: Option<&'static str>,
    /// It throws away what it reads, and prints when that began.
    pub(crate) throws_away: bool,
    pub(crate) command: Call<'a>,
    /// The same from a version on, told the server and the version, for one that does not ask again by itself.
    pub(crate) again: Option<Call<'a>>,
}

/// What curl calls itself: a server treats one by its own name as a person's.
pub(crate) const CURL_AGENT: &str = "bench";
pub(crate) const KDELTA: &str = "kdelta";
pub(crate) const CURL: &str = "curl (the limit)";
pub(crate) const CURL_WHOLE: &str = "curl, in one piece";
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
    let mut all = limits(task, stand);
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
    }
    all
}

/// What the best answer to a task costs to read. Of a sync, the pages that kdelta asks for, two at a time as it does, and
/// then what is asked for by most who use curl. Nothing else comes of a sync than what is kept, so curl throws it away;
/// an answer is handed to a reader, by curl as by all.
fn limits<'a>(task: Task, stand: &'a Stand) -> Vec<Contender<'a>> {
    let none = format!("{PODS}?includeObject=None");
    let (path, accept) = match task {
        Task::Sync => {
            let pages = Box::new(|server: &str, _: &str| stand.curl_away(&stand.pages(server)?));
            let whole = Box::new(|server: &str, _: &str| stand.curl_away(&[format!("{server}{PODS}")]));
            let away = |name, command: Call<'a>| Contender { throws_away: true, ..curl(name, command) };
            return vec![away(CURL, pages), away(CURL_WHOLE, whole)];
        }
        Task::Json => (PODS.to_owned(), JSON),
        Task::TableOfAll | Task::Names => (none, TABLE_WITHOUT_OBJECTS),
        Task::TableOfOne => {
            (format!("/api/v1/namespaces/{NAMESPACE}/pods?includeObject=None"), TABLE_WITHOUT_OBJECTS)
        }
    };
    let command = move |server: &str, _: &str| {
        let mut command = stand.curl(accept);
        command.arg(format!("{server}{path}"));
        Ok(command)
    };
    vec![curl(CURL, Box::new(command))]
}

fn curl<'a>(name: &'static str, command: Call<'a>) -> Contender<'a> {
    let agent = CURL_AGENT.to_owned();
    Contender { name, agent, until: None, throws_away: false, command, again: None }
}

/// kdelta and kubectl with the same words.
fn both<'a>(all: &mut Vec<Contender<'a>>, peers: &'a Peers, arguments: &'static [&'static str]) {
    all.push(kdelta(arguments));
    all.push(kubectl(peers, arguments));
}

fn kdelta(arguments: &'static [&'static str]) -> Contender<'static> {
    program(KDELTA, "kdelta/", env!("CARGO_BIN_EXE_kdelta").into(), arguments)
}

fn kubectl<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Contender<'a> {
    // client-go names itself after the program.
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
    by_itself(name, agent.to_owned(), Box::new(command))
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
    by_itself(name, format!("testbed {mode}"), Box::new(command))
}

fn kube_rs<'a>(peers: &'a Peers, arguments: &'static [&'static str]) -> Contender<'a> {
    let command = move |_: &str, kubeconfig: &str| {
        let mut command = Command::new(&peers.kube_rs);
        command.args(arguments).env("KUBECONFIG", kubeconfig);
        Ok(command)
    };
    by_itself(KUBE_RS, String::new(), Box::new(command))
}

/// One that ends when it is done, and asks again by itself.
fn by_itself<'a>(name: &'static str, agent: String, command: Call<'a>) -> Contender<'a> {
    Contender { name, agent, until: None, throws_away: false, command, again: None }
}

/// The limit of a watch: over HTTP/1.1 a busy server sends events sooner. Each event is told as it comes.
fn curl_watch(stand: &Stand, url: &str) -> Command {
    let mut command = stand.curl(JSON);
    command.args(["--http1.1", "--no-buffer", url]);
    command
}

/// Those that follow the pods as they change, curl first; `until` is what each prints when it has the first state.
pub(crate) fn following<'a>(stand: &'a Stand, peers: &'a Peers) -> Vec<Contender<'a>> {
    // A busy server ends every watch that falls behind, and curl knows nothing of watches.
    let again = |server: &str, version: &str| {
        let path = format!("{PODS}?watch=1&allowWatchBookmarks=true&resourceVersion={version}");
        Ok(curl_watch(stand, &format!("{server}{path}")))
    };
    let first = |server: &str, _: &str| Ok(curl_watch(stand, &format!("{server}{WATCH_LIST}")));
    let limit = Contender {
        until: Some("k8s.io/initial-events-end"),
        again: Some(Box::new(again)),
        ..curl(CURL, Box::new(first))
    };
    let synced = |one: Contender<'a>| Contender { until: Some("\"SYNCED\""), ..one };
    vec![
        limit,
        synced(kdelta(&["watch", "pods", "-A", "-o", "json"])),
        synced(client_go(peers, TYPED, "typed", &[])),
        synced(client_go(peers, DYNAMIC, "dynamic", &[])),
        synced(kube_rs(peers, &["--watch"])),
        // It says nothing when the first state is printed; what it prints of it are Lists of 500.
        kubectl(peers, &["get", "pods", "-A", "-w", "-o", "json", "--output-watch-events"]),
    ]
}
