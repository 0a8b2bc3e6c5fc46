//! Questions that are asked once, of servers that answer pages from memory: two pages at a time.

use serde_json::{Value, json};

use super::known::Known;
use crate::support::{FaultAnswer, FaultProxy, OnServer, TestEnv, Which, eventually};

const MAPS: usize = 60;

/// A namespace of so many maps behind a proxy.
struct Scene {
    env: TestEnv,
    proxy: FaultProxy,
    config: std::path::PathBuf,
}

impl Scene {
    fn set() -> Option<Self> {
        let OnServer { env, testbed, api, namespace } = TestEnv::on_server()?;
        for number in 0..MAPS {
            let metadata = json!({"name": format!("m{number:02}"), "labels": {"of": "test"}});
            let map = json!({"metadata": metadata, "data": {"of": "test"}});
            api.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), &map);
        }
        let proxy = FaultProxy::before(testbed);
        let config = proxy.kubeconfig(&env, &namespace);
        // One that was slow to tell its version is taken for an older one for as long as that is remembered.
        eventually("the version of the server is known", || {
            let done = env.kdelta(&["api-resources", "-v=6"]).env("KUBECONFIG", &config).finish();
            done.stderr.contains(r#"path="/version" status=200"#).then_some(())
        });
        proxy.take_asked();
        Some(Self { env, proxy, config })
    }

    /// What is printed, and how maps were asked for: the words that say how much of them is wanted.
    fn asks(&self, words: &[&str]) -> (String, Vec<&'static str>) {
        let done = self.env.kdelta(words).env("KUBECONFIG", &self.config).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let asked = self.proxy.take_asked();
        let of_maps = asked.iter().filter(|target| target.contains("/configmaps"));
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
fn a_question_that_is_asked_once_is_a_list_in_pages() {
    let Some(scene) = Scene::set() else { return };
    let (table, asked) = scene.asks(&COUNT);
    assert!(counted(&table), "{table}");
    assert_eq!(asked, ["limit=500"]);
    let (found, asked) = scene.asks(&BY);
    assert_eq!((found.lines().count(), asked), (MAPS, vec!["limit=500"]));
    // Of which only metadata is needed.
    assert_eq!(scene.asks(&["index", "cm", "--by", "label:of"]).1, ["limit=500"]);
    // A pattern is looked up in what the server says of itself at that moment.
    assert_eq!(scene.asks(&["index", "configmap*", "--by", "field:data.of"]).1, ["limit=500"]);
    assert_eq!(scene.asks(&JSON).1, ["limit=500"]);
    // And what goes on is told by one watch from its beginning.
    let (_, asked) = scene.asks(&["watch", "cm", "-o", "json", "--until-synced"]);
    assert_eq!(asked, ["sendInitialEvents"]);
}

#[test]
fn how_a_list_is_asked_for_can_be_said() {
    let Some(scene) = Scene::set() else { return };
    let first = |words: &[&str], more: &[&str]| scene.asks(&[words, more].concat()).1[0];
    for words in [&COUNT[..], &BY] {
        assert_eq!(first(words, &["--list-mode", "list"]), "limit=500");
        assert_eq!(first(words, &["--list-mode", "watchlist"]), "sendInitialEvents");
        assert_eq!(first(words, &["--chunk-size", "7"]), "limit=7");
        assert_eq!(first(words, &["--chunk-size", "0"]), "whole");
        // A page would have to be read within a time that began before its turn.
        assert_eq!(first(words, &["--request-timeout", "9s"]), "sendInitialEvents");
    }
}

#[test]
fn a_server_that_has_no_pages_in_memory_is_asked_for_a_watch() {
    let Some(scene) = Scene::set() else { return };
    scene.asks(&COUNT);
    let known = Known::of(&scene.env);
    let minor = known.value["version"]["minor"].as_u64().expect("a version");
    assert!(minor >= 34, "{minor}");
    for version in [json!({"major": 1, "minor": 33}), Value::Null] {
        known.rewrite(&|known| known["version"] = version.clone());
        assert_eq!(scene.asks(&COUNT).1, ["sendInitialEvents"], "{version}");
    }
}

#[test]
fn a_list_that_breaks_off_is_asked_for_in_another_way() {
    let Some(scene) = Scene::set() else { return };
    for bytes in [100, 5_000] {
        scene.proxy.break_lists(bytes);
        let (table, asked) = scene.asks(&COUNT);
        assert!(counted(&table), "{bytes}: {table}");
        assert_eq!(asked[..2], ["limit=500", "sendInitialEvents"], "{bytes}");
        assert_eq!(scene.asks(&[&COUNT[..], &["--cached"]].concat()).1[1], "sendInitialEvents");
        let (found, _) = scene.asks(&BY);
        assert_eq!(found.lines().count(), MAPS, "{bytes}");
    }
    // Whoever may not list may watch.
    for refusal in [403, 500, 503, 504] {
        scene.proxy.answer(Which::Lists, FaultAnswer::status(refusal), 1);
        let (table, asked) = scene.asks(&COUNT);
        assert!(counted(&table), "{table}");
        assert_eq!(asked, ["limit=500", "sendInitialEvents"], "{refusal}");
    }
}

#[test]
fn a_page_that_is_refused_ahead_is_had_in_its_turn_and_pages_that_expired_in_one() {
    let Some(scene) = Scene::set() else { return };
    let sevens = || scene.asks(&[&BY[..], &["--chunk-size", "7"]].concat());
    let pages = MAPS.div_ceil(7);
    let (names, asked) = sevens();
    assert_eq!(names.lines().count(), MAPS);
    let in_pages = |asked: &[&str], again: usize| {
        let later = asked.iter().filter(|way| **way == "continue=").count();
        assert_eq!(
            (asked[0], later, asked.len()),
            ("limit=7", pages - 1 + again, pages + again),
            "{asked:?}"
        );
    };
    in_pages(&asked, 0);
    for code in [429, 503] {
        scene.proxy.answer(Which::LaterPages, FaultAnswer::status(code).retry_after(1), 1);
        let (same, asked) = sevens();
        assert_eq!(same, names, "{code}");
        in_pages(&asked, 1);
    }
    scene.proxy.answer(Which::LaterPages, FaultAnswer::status(410), 1);
    let (same, asked) = sevens();
    assert_eq!((same, asked), (names, vec!["limit=7", "continue=", "whole"]));
}
