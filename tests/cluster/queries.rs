//! Queries with selectors, indices and filters select the pods that jq selects from the server's list.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kdelta::object::JsonValue;
use kdelta::query::JqFilter;

use crate::support::pod_queries::{COUNT, DEFINITIONS, PodQuery, queries};
use crate::support::{OnServer, TestEnv, tool};

const PODS: usize = 500;
/// The number of queries that run at a time.
const WORKERS: usize = 4;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn queries_select_the_pods_that_jq_selects() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let mut load = tool();
    load.args(["load", "--kubeconfig", testbed.kubeconfig(), "-n", &namespace, "--pods", &PODS.to_string()]);
    assert!(load.output().expect("it runs").status.success(), "load");
    let list = api.get(&format!("/api/v1/namespaces/{namespace}/pods")).to_string();
    let list = JsonValue::parse(list.as_bytes());
    let all = queries(20);
    assert_eq!(all.len(), COUNT);
    let (next, selective) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let compare = || {
        while let Some(query) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let expected = selected(&list, query);
            let words = ["get", "pods", "-n", &namespace, "-o", "name"];
            let flags = query.flags.iter().map(String::as_str);
            let words: Vec<&str> = words.into_iter().chain(flags).collect();
            let finished = env.kdelta_on(testbed, &words).finish();
            let found: BTreeSet<String> = finished.stdout.lines().map(str::to_owned).collect();
            assert_eq!(found, expected, "{words:?} against jq {}: {}", query.condition, finished.stderr);
            selective.fetch_add(usize::from((1..PODS).contains(&expected.len())), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(compare);
        }
    });
    // A query that selects nothing or everything shows little.
    let selective = selective.into_inner();
    assert!(selective * 4 > COUNT * 3, "only {selective} of {COUNT} select some of the pods");
}

fn selected(list: &JsonValue<'_>, query: &PodQuery) -> BTreeSet<String> {
    let text = format!("{DEFINITIONS} .items[] | select({}) | \"pod/\" + .metadata.name", query.condition);
    let filter = JqFilter::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut names = BTreeSet::new();
    let receive = |name: &[u8]| {
        names.insert(String::from_utf8_lossy(name).into_owned());
        ControlFlow::Continue(())
    };
    filter.run(list, true, 1 << 20, receive).unwrap_or_else(|error| panic!("{text}: {error}"));
    names
}
