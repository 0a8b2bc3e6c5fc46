//! Paged lists whose continue token expires after some objects have been printed.

use serde_json::{Value, json};

use crate::support::{FaultProxy, FaultResponse, OnServer, RequestClass, TestEnv};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_list_does_not_print_objects_twice() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for name in NAMES {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let get = |rest: &[&str], refusals: usize| {
        let words = [&["get", "cm", "--chunk-size", "2"], rest].concat();
        proxy.respond(RequestClass::LaterPages, FaultResponse::status(410), refusals);
        let printed = env.kdelta(&words).env("KUBECONFIG", &config).finish().quiet_success();
        let later = proxy.take_requests().iter().filter(|request| request.contains("continue=")).count();
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
    // The program requests names in a second representation after the server refused the first.
    let of_names = get(&["-o", "name"], 2);
    assert_eq!(of_names.lines().collect::<Vec<_>>(), NAMES.map(|name| format!("configmap/{name}")));
}
