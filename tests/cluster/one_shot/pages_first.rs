//! One-shot commands on servers that serve pages from the watch cache: two pages at a time.

use serde_json::{Value, json};

use crate::cluster::discovery_cache::DiscoveryCache;
use crate::support::{FaultProxy, FaultResponse, OnServer, RequestClass, TestEnv, eventually};

const MAPS: usize = 60;

/// A namespace with this many config maps, behind a proxy.
struct Scene {
    env: TestEnv,
    proxy: FaultProxy,
    config: std::path::PathBuf,
}

impl Scene {
    fn set() -> Self {
        let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
        for number in 0..MAPS {
            let metadata = json!({"name": format!("m{number:02}"), "labels": {"of": "test"}});
            let map = json!({"metadata": metadata, "data": {"of": "test"}});
            api.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), &map);
        }
        let proxy = FaultProxy::before(testbed);
        let config = proxy.kubeconfig(&env, &namespace);
        // A server that reported its version too slowly counts as older until the cached version expires.
        eventually("the version of the server is known", || {
            let done = env.kdelta(&["api-resources", "-v=6"]).env("KUBECONFIG", &config).finish();
            done.stderr.contains("/version 200 OK in ").then_some(())
        });
        proxy.take_requests();
        Self { env, proxy, config }
    }

    /// Returns the output, and the parameters of the requests for config maps that select the amount.
    fn run(&self, words: &[&str]) -> (String, Vec<&'static str>) {
        let done = self.env.kdelta(words).env("KUBECONFIG", &self.config).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let requests = self.proxy.take_requests();
        let of_maps = requests.iter().filter(|target| target.contains("/configmaps"));
        let way = |target: &String| {
            let ways = ["sendInitialEvents", "watch=", "continue=", "limit=500", "limit=7"];
            ways.into_iter().find(|way| target.contains(way)).unwrap_or("whole")
        };
        (done.stdout, of_maps.map(way).collect())
    }
}

const COUNT: [&str; 4] = ["index", "cm", "--by", "field:data.of"];
const BY: [&str; 6] = ["get", "cm", "--by", "field:data.of=test", "-o", "name"];
const JSON: [&str; 4] = ["get", "cm", "-o", "json"];

fn counted(table: &str) -> bool {
    table.split_whitespace().eq(["VALUE", "COUNT", "test", "60"])
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn one_shot_commands_list_in_pages() {
    let scene = Scene::set();
    let (table, requests) = scene.run(&COUNT);
    assert!(counted(&table), "{table}");
    assert_eq!(requests, ["limit=500"]);
    let (found, requests) = scene.run(&BY);
    assert_eq!((found.lines().count(), requests), (MAPS, vec!["limit=500"]));
    // Needs metadata only.
    assert_eq!(scene.run(&["index", "cm", "--by", "label:of"]).1, ["limit=500"]);
    // A pattern is resolved through discovery at that moment.
    assert_eq!(scene.run(&["index", "configmap*", "--by", "field:data.of"]).1, ["limit=500"]);
    assert_eq!(scene.run(&JSON).1, ["limit=500"]);
    // A watch uses one streaming list from the start.
    let (_, requests) = scene.run(&["watch", "cm", "-o", "json", "--until-synced"]);
    assert_eq!(requests, ["sendInitialEvents"]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn list_method_is_configurable() {
    let scene = Scene::set();
    let first = |words: &[&str], more: &[&str]| scene.run(&[words, more].concat()).1[0];
    for words in [&COUNT[..], &BY] {
        assert_eq!(first(words, &["--list-mode", "list"]), "limit=500");
        assert_eq!(first(words, &["--list-mode", "watchlist"]), "sendInitialEvents");
        assert_eq!(first(words, &["--chunk-size", "7"]), "limit=7");
        assert_eq!(first(words, &["--chunk-size", "0"]), "whole");
        // Pages would share a time limit that starts before they are requested.
        assert_eq!(first(words, &["--request-timeout", "9s"]), "sendInitialEvents");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn old_server_gets_a_streaming_list() {
    let scene = Scene::set();
    scene.run(&COUNT);
    let known = DiscoveryCache::of(&scene.env);
    let minor = known.value["version"]["minor"].as_u64().expect("a version");
    assert!(minor >= 34, "{minor}");
    for version in [json!({"major": 1, "minor": 33}), Value::Null] {
        known.rewrite(&|known| known["version"] = version.clone());
        assert_eq!(scene.run(&COUNT).1, ["sendInitialEvents"], "{version}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn interrupted_list_falls_back_to_the_other_method() {
    let scene = Scene::set();
    for bytes in [100, 5_000] {
        scene.proxy.break_lists(bytes);
        let (table, requests) = scene.run(&COUNT);
        assert!(counted(&table), "{bytes}: {table}");
        assert_eq!(requests[..2], ["limit=500", "sendInitialEvents"], "{bytes}");
        assert_eq!(scene.run(&[&COUNT[..], &["--cached"]].concat()).1[1], "sendInitialEvents");
        let (found, _) = scene.run(&BY);
        assert_eq!(found.lines().count(), MAPS, "{bytes}");
    }
    // The user may be allowed to watch but not to list.
    for refusal in [403, 500, 503, 504] {
        scene.proxy.respond(RequestClass::Lists, FaultResponse::status(refusal), 1);
        let (table, requests) = scene.run(&COUNT);
        assert!(counted(&table), "{table}");
        assert_eq!(requests, ["limit=500", "sendInitialEvents"], "{refusal}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn refused_prefetch_is_retried_and_expired_pages_become_one_list() {
    let scene = Scene::set();
    let sevens = || scene.run(&[&BY[..], &["--chunk-size", "7"]].concat());
    let pages = MAPS.div_ceil(7);
    let (names, requests) = sevens();
    assert_eq!(names.lines().count(), MAPS);
    let in_pages = |requests: &[&str], again: usize| {
        let later = requests.iter().filter(|way| **way == "continue=").count();
        assert_eq!(
            (requests[0], later, requests.len()),
            ("limit=7", pages - 1 + again, pages + again),
            "{requests:?}"
        );
    };
    in_pages(&requests, 0);
    for code in [429, 503] {
        scene.proxy.respond(RequestClass::LaterPages, FaultResponse::status(code).retry_after(1), 1);
        let (same, requests) = sevens();
        assert_eq!(same, names, "{code}");
        in_pages(&requests, 1);
    }
    scene.proxy.respond(RequestClass::LaterPages, FaultResponse::status(410), 1);
    let (same, requests) = sevens();
    assert_eq!((same, requests), (names, vec!["limit=7", "continue=", "whole"]));
}
