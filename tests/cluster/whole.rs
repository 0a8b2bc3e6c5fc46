//! Lists in one piece, of servers that write them while they read them.

use serde_json::{Value, json};

use super::known::Known;
use crate::support::{FaultProxy, OnServer, TestEnv};

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
        Some(Self { env, proxy, config })
    }

    /// What is printed, and how maps were asked for: the words that say how much of them is wanted.
    fn asks(&self, words: &[&str]) -> (String, Vec<&'static str>) {
        let printed = self.env.kdelta(words).env("KUBECONFIG", &self.config).finish().quiet_success();
        let asked = self.proxy.take_asked();
        let of_maps = asked.iter().filter(|target| target.contains("/configmaps"));
        let way = |target: &String| {
            let ways = ["sendInitialEvents", "watch=", "continue=", "limit=500", "limit=7"];
            ways.into_iter().find(|way| target.contains(way)).unwrap_or("whole")
        };
        (printed, of_maps.map(way).collect())
    }
}

const COUNT: [&str; 4] = ["index", "cm", "--by", "field:data.of"];
const BY: [&str; 6] = ["get", "cm", "--by", "field:data.of=test", "-o", "name"];
const JSON: [&str; 4] = ["get", "cm", "-o", "json"];

fn counted(table: &str) -> bool {
    table.split_whitespace().eq(["VALUE", "COUNT", "test", "60"])
}

fn names(list: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(list).expect("JSON");
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_question_that_is_asked_once_is_a_list_in_one_piece() {
    let Some(scene) = Scene::set() else { return };
    let (table, asked) = scene.asks(&COUNT);
    assert!(counted(&table), "{table}");
    // A watch may be begun before the answer is known to be there.
    assert_eq!(asked.iter().filter(|way| **way != "watch=").collect::<Vec<_>>(), [&"whole"]);
    let (found, asked) = scene.asks(&BY);
    assert_eq!((found.lines().count(), asked[0]), (MAPS, "whole"));
    let (list, asked) = scene.asks(&JSON);
    assert_eq!((names(&list).len(), asked), (MAPS, vec!["whole"]));
    // Of which only metadata is needed.
    assert_eq!(scene.asks(&["index", "cm", "--by", "label:of"]).1[0], "whole");
    // What goes on is told by one watch from its beginning.
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
        assert_eq!(first(words, &["--chunk-size", "7"]), "sendInitialEvents");
    }
    assert_eq!(first(&JSON, &["--chunk-size", "500"]), "limit=500");
    assert_eq!(first(&JSON, &["--list-mode", "list"]), "limit=500");
}

#[test]
fn a_server_that_would_hold_it_is_not_asked_for_a_list_in_one_piece() {
    let Some(scene) = Scene::set() else { return };
    scene.asks(&JSON);
    let known = Known::of(&scene.env);
    let minor = known.value["version"]["minor"].as_u64().expect("a version");
    assert!(minor >= 33, "{minor}");
    for version in [json!({"major": 1, "minor": 32}), Value::Null] {
        known.rewrite(&|known| known["version"] = version.clone());
        assert_eq!(scene.asks(&JSON).1, ["limit=500"], "{version}");
        assert_eq!(scene.asks(&COUNT).1, ["sendInitialEvents"], "{version}");
    }
}

#[test]
fn a_list_in_one_piece_that_breaks_off_is_had_by_pages() {
    let Some(scene) = Scene::set() else { return };
    let (whole, _) = scene.asks(&JSON);
    for bytes in [100, 5_000, whole.len() / 2] {
        scene.proxy.break_long_lists(bytes);
        let (list, asked) = scene.asks(&JSON);
        assert_eq!(names(&list), names(&whole), "{bytes}");
        assert_eq!(asked[0], "whole", "{bytes}");
        let (table, asked) = scene.asks(&COUNT);
        assert!(counted(&table) && asked.contains(&"limit=500"), "{bytes}: {asked:?}: {table}");
    }
}
