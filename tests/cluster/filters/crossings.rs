//! Objects that cross the border of a filter while they are watched.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{OnServer, TestEnv, config_maps};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn object_that_becomes_older_is_deleted_by_the_filter() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let start = |flag: &str| {
        let words = ["watch", "cm", "web", "-n", &namespace, "-o", "json", flag, "2s", "--ignore-not-found"];
        env.kdelta_on(testbed, &words).start()
    };
    let [newer, older] = ["--newer-than", "--older-than"].map(start);
    for watch in [&newer, &older] {
        watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    }
    let made = api.create_config_map(&namespace, "web", &json!({}));
    let crossing = |lines: Vec<Value>| lines.last().expect("a line").clone();
    let added = crossing(newer.stdout.json_until("ADDED", |line| line["type"] == "ADDED"));
    assert_eq!(added["origin"], "watch");
    let deleted = crossing(newer.stdout.json_until("DELETED", |line| line["type"] == "DELETED"));
    assert_eq!(
        (&deleted["origin"], &deleted["object"]["metadata"]["uid"]),
        (&json!("filter"), &made["metadata"]["uid"])
    );
    assert!(deleted.get("resume").is_none() && deleted.get("finalStateUnknown").is_none(), "{deleted}");
    let added = crossing(older.stdout.json_until("ADDED", |line| line["type"] == "ADDED"));
    assert_eq!((&added["origin"], &added["object"]["data"]), (&json!("filter"), &json!({"n": "0"})));
    api.delete(&format!("{}/web", config_maps(&namespace)));
    let deleted = crossing(older.stdout.json_until("DELETED", |line| line["type"] == "DELETED"));
    assert_eq!(deleted["origin"], "watch");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn replayed_watch_equals_the_filter_of_the_last_state() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let words =
        ["watch", "cm", "-n", &namespace, "-o", "json", "--field-selector", "data.n>=50,data.kind notin (x)"];
    let watch = env.kdelta_on(testbed, &words).start();
    watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    let maps = config_maps(&namespace);
    let mut random = fastrand::Rng::with_seed(20);
    let mut present: BTreeMap<String, Value> = BTreeMap::new();
    let data = |random: &mut fastrand::Rng| {
        let kind = if random.bool() { "x" } else { "y" };
        json!({"data": {"n": random.u32(0..100).to_string(), "kind": kind}})
    };
    for _ in 0..200 {
        let name = format!("m{}", random.u32(0..12));
        let path = format!("{maps}/{name}");
        let is_present = present.contains_key(&name);
        if is_present && random.u32(0..5) == 0 {
            api.delete(&path);
            present.remove(&name);
            continue;
        }
        let mut object = data(&mut random);
        let changed = if is_present {
            api.patch(&path, &object)
        } else {
            object["metadata"] = json!({"name": name});
            api.create(&maps, &object)
        };
        present.insert(name, changed);
    }
    api.create(&maps, &json!({"metadata": {"name": "last"}, "data": {"n": "100"}}));
    let lines = watch.stdout.json_until("the last", |line| line["name"] == "last");
    let mut shown: BTreeMap<String, Value> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["name"] != "last") {
        let (name, object) = (line["name"].as_str().expect("a name").to_owned(), line["object"].clone());
        match line["type"].as_str() {
            Some("ADDED") => assert!(shown.insert(name, object).is_none(), "{line}"),
            Some("MODIFIED") => assert!(shown.insert(name, object).is_some(), "{line}"),
            Some("DELETED") => {
                let last = shown.remove(&name).expect("it was shown");
                assert_eq!(last["data"], object["data"], "the last state that matched: {line}");
            }
            _ => panic!("{line}"),
        }
    }
    let matches = |object: &Value| {
        let number: u32 = object["data"]["n"].as_str().expect("a text").parse().expect("a number");
        number >= 50 && object["data"]["kind"] != "x"
    };
    let version =
        |object: &Value| object["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    let expected: BTreeMap<String, String> = present
        .iter()
        .filter(|(_, object)| matches(object))
        .map(|(name, object)| (name.clone(), version(object)))
        .collect();
    let found: BTreeMap<String, String> =
        shown.iter().map(|(name, object)| (name.clone(), version(object))).collect();
    assert_eq!(found, expected);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn rows_of_a_watch_cross_the_border_of_a_status() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for words in [&["watch", "pods"][..], &["get", "pods", "-w", "--output-watch-events"]] {
        let words = [words, &["-n", &namespace, "--status", "Running", "--no-headers"]].concat();
        api.create(&pods, &pod);
        let watch = env.kdelta_on(testbed, &words).start();
        let phase = |phase: &str| {
            api.patch(&format!("{pods}/web/status"), &json!({"status": {"phase": phase}}));
        };
        phase("Running");
        let row = |what: &str| {
            let row = watch.stdout.find(what, |line| line.starts_with(what));
            row.split_whitespace().nth(3).unwrap_or_default().to_owned()
        };
        assert_eq!(row("ADDED"), "Running");
        phase("Failed");
        assert_eq!(row("DELETED"), "Running", "the last state that matched");
        phase("Running");
        assert_eq!(row("ADDED"), "Running");
        api.delete(&format!("{pods}/web"));
        assert_eq!(row("DELETED"), "Running");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn updates_are_printed_if_a_result_changed() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let start = |flags: &[&str]| {
        let words = ["watch", "cm", "-n", &namespace, "-o", "json", "--fields", "type,object"];
        env.kdelta_on(testbed, &[&words, flags].concat()).start()
    };
    let path = start(&["--changed-by", "data.n"]);
    let jq = start(&["--changed-by", "jq=.data.n | tonumber > 5"]);
    let either = start(&["--changed-by", "data.m", "--changed-by", "jq=.data.n | tonumber > 5"]);
    for watch in [&path, &jq, &either] {
        watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    }
    api.create_config_map(&namespace, "web", &json!({}));
    let web = format!("{}/web", config_maps(&namespace));
    for (n, m) in [("0", "a"), ("3", "a"), ("3", "b"), ("7", "b"), ("8", "b"), ("8", "c"), ("1", "c")] {
        api.patch(&web, &json!({"data": {"n": n, "m": m}}));
    }
    api.delete(&web);
    let printed = |watch: &crate::support::Running| -> Vec<String> {
        let lines = watch.stdout.json_until("DELETED", |line| line["type"] == "DELETED");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let states = lines.iter().filter(|line| line["type"] == "MODIFIED");
        states.map(|line| text(&line["object"]["data"]["n"]) + &text(&line["object"]["data"]["m"])).collect()
    };
    assert_eq!(printed(&path), ["3a", "7b", "8b", "1c"]);
    assert_eq!(printed(&jq), ["7b", "1c"]);
    assert_eq!(printed(&either), ["0a", "3b", "7b", "8c", "1c"]);
}
