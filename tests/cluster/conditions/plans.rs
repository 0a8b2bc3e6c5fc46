//! `--explain`: the printed plan has exactly the requests that the query sends, and planning sends none of them.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{create_pod, define_widgets, metadata};
use crate::support::{Api, FaultProxy, TestEnv};

/// A request: its path with its parameters, and its Accept header.
type Sent = (String, String);

/// Returns whether the path is that of a collection or an object.
fn is_of_objects(target: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    let depth = path.trim_matches('/').split('/').count();
    (path.starts_with("/api/") && depth > 2) || (path.starts_with("/apis/") && depth > 3)
}

/// Returns a request with sorted parameters, without those that no plan knows: the length of a watch, and the version at
/// which a watch continues a list. Later pages are parts of their list.
fn comparable((target, accept): &Sent) -> Option<Sent> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut terms: Vec<&str> = query.split('&').filter(|term| !term.is_empty()).collect();
    let is_watch = terms.contains(&"watch=true") && !terms.contains(&"sendInitialEvents=true");
    terms.retain(|term| {
        !(term.starts_with("timeoutSeconds=") || is_watch && term.starts_with("resourceVersion="))
    });
    terms.sort_unstable();
    let is_page = terms.iter().any(|term| term.starts_with("continue="));
    (!is_page).then(|| (format!("{path}?{}", terms.join("&")), accept.clone()))
}

/// A namespace with pods and custom resources behind a proxy.
struct Scene {
    env: TestEnv,
    api: Api,
    namespace: String,
    proxy: FaultProxy,
    config: PathBuf,
    /// The word for the custom resources.
    widgets: String,
}

impl Scene {
    /// The type `widgets` belongs to the group.
    fn set(group: &str) -> Self {
        let on = TestEnv::on_server();
        let widgets = define_widgets(&on, group);
        on.api.create(
            &widgets,
            &json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": "w"},
            "spec": {"color": "red", "size": 3}}),
        );
        for number in 0..3 {
            let labels = json!({"app": if number == 0 { "web" } else { "api" }});
            let spec = json!({"nodeName": format!("n{number}")});
            create_pod(&on.api, &on.namespace, &metadata(&format!("p{number}"), labels), &spec, &Value::Null);
        }
        let proxy = FaultProxy::before(on.testbed);
        proxy.allow_protobuf();
        let config = proxy.kubeconfig(&on.env, &on.namespace);
        let widgets = format!("widgets.{group}");
        let scene = Self { env: on.env, api: on.api, namespace: on.namespace, proxy, config, widgets };
        // Discovery is cached from here on.
        scene.run(&["get", &scene.widgets]);
        scene
    }

    /// Returns the words of a command line, with `widgets` in full: other tests define such types too.
    fn words<'a>(&'a self, line: &'a str) -> Vec<&'a str> {
        line.split(' ').map(|word| if word == "widgets" { &self.widgets } else { word }).collect()
    }

    /// Returns the output, and the requests for objects.
    fn run(&self, words: &[&str]) -> (String, Vec<Sent>) {
        self.proxy.take_requests();
        let done = self.env.kdelta(words).env("KUBECONFIG", &self.config).finish();
        assert_eq!(done.code, 0, "{words:?}: {}", done.stderr);
        let sent = self.proxy.take_requests_and_forms();
        (done.stdout, sent.into_iter().filter(|(target, _)| is_of_objects(target)).collect())
    }

    /// Returns the planned requests of all parts, and whether the first of them may be enough.
    fn plan(&self, words: &[&str]) -> (Value, Vec<Sent>, bool) {
        let (plan, sent_for_plan) = self.run(&[words, &["--explain=json"]].concat());
        let is_definition = |(target, _): &Sent| target.contains("/customresourcedefinitions/");
        assert!(sent_for_plan.iter().all(is_definition), "{words:?}: {sent_for_plan:?}");
        let plan: Value = serde_json::from_str(&plan).expect("a plan");
        let mut planned = Vec::new();
        let mut may_end_early = false;
        for part in plan["parts"].as_array().expect("parts") {
            for request in part["requests"].as_array().expect("requests") {
                let text = |name: &str| request[name].as_str().expect("a text").to_owned();
                may_end_early |= text("purpose") == "a small collection is complete";
                planned.push((text("path"), text("accept")));
            }
        }
        (plan, planned, may_end_early)
    }

    /// Fails the test unless the plan of a command has the requests that it sends.
    #[track_caller]
    fn compare(&self, line: &str) {
        let words = self.words(line);
        let (_, planned, may_end_early) = self.plan(&words);
        let (_, sent) = self.run(&words);
        let sorted = |requests: &[Sent]| {
            let mut requests: Vec<Sent> = requests.iter().filter_map(comparable).collect();
            requests.sort_unstable();
            requests
        };
        let (planned_all, sent) = (sorted(&planned), sorted(&sent));
        // Only a collection that is larger than a page needs the other requests.
        let is_small = may_end_early && sent == sorted(&planned[..1]);
        assert!(is_small || sent == planned_all, "{line}: planned {planned_all:#?}, sent {sent:#?}");
        assert!(!sent.is_empty(), "{line}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn planned_requests_are_those_that_are_sent() {
    let scene = Scene::set("plans.kdelta.test");
    for line in [
        "get pods",
        "get pods -o json",
        "get pods -o name",
        "get pods -o wide --show-labels",
        "get pods -A",
        "get pods -A -o name",
        "get pods --by label:app=web",
        "get pods --by label:app=web -o yaml",
        "get pods --by node=n1",
        "get pods --by node=n1 -o json",
        "get pods --by node=n1,n2 -o name",
        "get pods --by image=i:1",
        "get pods --by annotation:a --by label:app -o name",
        "get pods -A --by namespace=default,kube-system",
        "get pods -A --by namespace=default",
        "get pods -A --by name=p0",
        "get pods -l app=web",
        "get pods --field-selector status.phase=Pending",
        "get pods --field-selector status.phase=Pending --by label:app=web",
        "get pods --sort-by .spec.nodeName",
        "get pods --sort-by .metadata.name",
        "get pods --sort-by .metadata.name --by node=n1 --by image=i:1",
        "get pods --cached",
        "get pods --chunk-size 2 -o json",
        "get pods p0",
        "get pods p0 p1 -o json",
        "get pod/p0 --by node=n0",
        "get pods,secrets,services",
        "get nodes --by field:spec.unschedulable=true",
        "get widgets --by field:spec.color=red",
        "get widgets --by field:spec.note=x",
        "get widgets --by label:app=web",
        "get pods --where object.spec.nodeName=='n1'&&object.metadata.name!='x'",
        "get widgets --where object.spec.color=='red' -o json",
        "get widgets --where object.spec.color=='red'",
        "get widgets --where object.spec.size=='3' -o name",
        "get pods --where object.spec.nodeName=='n1'",
        "get pods --where object.spec.nodeName=='n1' -o name",
        "get pods -A --where object.status.phase=='Pending'&&object.metadata.labels.app=='web'",
        "index pods --by label:app --where object.spec.nodeName=='n1'",
        "watch pods --until-synced --where object.spec.nodeName=='n1'",
        "watch pods --until-synced --where object.metadata.labels.app=='web' -o name",
        "index pods --by label:app",
        "index pods --by node --sum spec.containers[*].resources.requests.memory",
        "index pods --by node=n1",
        "index pods --by cel:object.metadata.name",
        "index pods --by cel:object.?spec.nodeName --by label:app",
        "get pods --by cel:object.spec.nodeName=n1 --by label:app=api",
        "index pods --by node --by label:app",
        "index pods --by label:app --request-timeout 20s",
        "watch pods --until-synced",
        "watch pods --until-synced --by node=n1 -o name",
        "watch pods p0 --until-synced",
        "watch widgets --until-synced --by field:spec.color=red -o json",
        "get pods -w --until-synced",
        "get pods p0 -w --until-synced",
    ] {
        scene.compare(line);
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn only_selectable_fields_reach_the_server() {
    let scene = Scene::set("fields.kdelta.test");
    for (line, expected) in [
        ("get widgets --by field:spec.color=red -o name", Some("spec.color%3Dred")),
        ("get widgets --by field:spec.size=3 -o name", Some("spec.size%3D3")),
        ("get widgets --by field:spec.size!=4 -o name", Some("spec.size%21%3D4")),
        ("get widgets --by field:spec.color -o name", None),
        ("get widgets --by field:spec.note!=x -o name", None),
        ("get widgets --by node!=x -o name", None),
        ("get pods --by field:spec.priority=0 -o name", None),
    ] {
        let (found, sent) = scene.run(&scene.words(line));
        let lists: Vec<&Sent> =
            sent.iter().filter(|(target, _)| !target.contains("/customresourcedefinitions/")).collect();
        // A refused field would be requested again without it.
        assert_eq!(lists.len(), 1, "{line}: {sent:?}");
        let selector = lists[0].0.split(['?', '&']).find_map(|term| term.strip_prefix("fieldSelector="));
        assert_eq!(selector, expected, "{line}");
        assert!(!found.is_empty(), "{line}");
    }
}

/// Returns the requests of a tree that are comparable with its plan: those of lists and watches, in which SELECTOR stands for
/// the labels of the deployment, and those by name.
fn of_tree(requests: &[Sent]) -> (Vec<Sent>, Vec<Sent>) {
    let mut all: Vec<Sent> = requests.iter().filter_map(comparable).collect();
    for (target, _) in &mut all {
        *target = target.replace("labelSelector=app%3Dweb", "labelSelector=SELECTOR");
    }
    all.sort_unstable();
    all.into_iter().partition(|(target, _)| !target.ends_with('?'))
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn planned_requests_of_trees_are_sent_first_and_the_others_are_named() {
    let scene = Scene::set("trees.kdelta.test");
    let Scene { api, namespace, .. } = &scene;
    let labels = json!({"app": "web"});
    let containers = json!([{"name": "c", "image": "x"}]);
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
    let spec = json!({"selector": {"matchLabels": labels}, "template": template});
    api.create(
        &format!("/apis/apps/v1/namespaces/{namespace}/deployments"),
        &json!({"metadata": {"name": "web"}, "spec": spec}),
    );
    for (line, parts) in [
        ("tree deploy/web", 3),
        ("tree deploy/web --include events", 3),
        ("tree deploy", 2),
        ("tree cm -l app=none", 2),
        ("tree pod/p0", 2),
        ("tree widgets w", 2),
        ("tree deploy/web -w --duration 3s -o name", 3),
        ("tree pod/p0 -w --duration 3s -o name", 2),
        ("tree deploy/web --related", 3),
    ] {
        let words = scene.words(line);
        let (plan, planned, _) = scene.plan(&words);
        assert_eq!(plan["parts"].as_array().map(Vec::len), Some(parts), "{line}: {plan:#}");
        let (_, sent) = scene.run(&words);
        let (lists, by_name) = of_tree(&planned);
        let (sent_lists, sent_by_name) = of_tree(&sent);
        let is_sent = |request: &&Sent| sent_lists.contains(request) || sent_by_name.contains(request);
        let missing: Vec<&Sent> = lists.iter().chain(&by_name).filter(|request| !is_sent(request)).collect();
        // One deployment is selected, whose labels narrow the lists of what it owns.
        let is_narrowed =
            |request: &&Sent| request.0.contains("/pods?") || request.0.contains("/replicasets?");
        match line {
            "tree deploy" => assert!(missing.len() == 2 && missing.iter().all(is_narrowed), "{missing:#?}"),
            // Without a selected object nothing is below it.
            "tree cm -l app=none" => assert_eq!(sent_lists.len(), 1, "{sent_lists:#?}"),
            _ => assert!(missing.is_empty(), "{line}: {missing:#?} {sent_lists:#?} {sent_by_name:#?}"),
        }
        let is_of_types =
            |(target, _): &Sent| line.contains(" -w ") && target.contains("/customresourcedefinitions?");
        let more: Vec<&Sent> =
            sent_lists.iter().filter(|request| !lists.contains(request) && !is_of_types(request)).collect();
        let after: Vec<&str> =
            plan["after"].as_array().expect("more").iter().filter_map(Value::as_str).collect();
        let is_related = line.ends_with("--related");
        assert_eq!(
            after.iter().any(|text| text.starts_with("for --related")),
            is_related,
            "{line}: {after:?}"
        );
        let is_of_one = |text: &&str| text.starts_with("if only one Deployment");
        assert_eq!(after.iter().any(is_of_one), line == "tree deploy", "{line}: {after:?}");
        if is_related {
            assert!(!more.is_empty(), "{line}");
        } else if line == "tree deploy" {
            assert!(more.iter().all(|(target, _)| target.contains("SELECTOR")), "{line}: {more:#?}");
        } else {
            assert!(more.is_empty(), "{line}: {more:#?}");
        }
    }
}
