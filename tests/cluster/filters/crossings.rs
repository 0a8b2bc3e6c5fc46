//! Objects that cross the border of a filter while they are watched.

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
