//! Lists in pages whose continue token expires when some of them have been printed.

use serde_json::{Value, json};

use crate::support::{FaultAnswer, FaultProxy, OnServer, TestEnv, Which};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn what_was_printed_of_a_list_that_expires_is_not_printed_again() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    for name in NAMES {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let get = |rest: &[&str], refusals: usize| {
        let words = [&["get", "cm", "--chunk-size", "2"], rest].concat();
        proxy.answer(Which::LaterPages, FaultAnswer::status(410), refusals);
        let printed = env.kdelta(&words).env("KUBECONFIG", &config).finish().quiet_success();
        let later = proxy.take_asked().iter().filter(|request| request.contains("continue=")).count();
        proxy.forward_all();
        assert_eq!(later, refusals, "{words:?}");
        printed
    };
    let list: Value = serde_json::from_str(&get(&["-o", "json"], 1)).expect("JSON");
    let items = list["items"].as_array().expect("items");
    let names: Vec<_> = items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect();
    assert_eq!(names, NAMES);
    assert_eq!(get(&["-o", "yaml"], 1).matches("\n    name: ").count(), NAMES.len());
    let table = get(&["--no-headers"], 1);
    let names: Vec<_> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, NAMES);
    // These are asked for in a second form where the first is refused.
    let of_names = get(&["-o", "name"], 2);
    assert_eq!(of_names.lines().collect::<Vec<_>>(), NAMES.map(|name| format!("configmap/{name}")));
}
