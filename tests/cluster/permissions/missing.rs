//! Permissions that are missing, missing for some parts, or granted later.

use std::time::Instant;

use serde_json::json;

use crate::cluster::watches::many::{allow, allow_to, create_namespace, is};
use crate::support::{Api, Bookmarks, FaultProxy, OnServer, TestEnv, eventually};

/// Types that the test's user may not read, each with a list of its own.
const TYPES: [&str; 6] = ["configmaps", "endpoints", "pods", "secrets", "serviceaccounts", "services"];

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unavailable_parts_join_once_allowed() {
    let env = TestEnv::new();
    // A server of its own: other namespaces would take turns as well.
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let user = format!("patient-{namespace}");
    let later = format!("{namespace}-later");
    create_namespace(&api, &later, &json!({}));
    for namespace in [&namespace, &later] {
        api.create_config_map(namespace, "x", &json!({}));
    }
    allow(&api, &user, None, "namespaces");
    allow(&api, &user, Some(&namespace), "configmaps");
    let running = env.kdelta_on(&testbed, &["watch", "cm", "-A", "-o", "json", "--as", &user]).start();
    let lines = running.stdout.json_until("what is allowed", is(format!("SYNCED {namespace}")));
    assert!(lines.iter().any(|line| line["namespace"] == namespace.as_str() && line["name"] == "x"));
    running.stderr.find("what is left out", |line| line.starts_with("not allowed, skipped: "));
    allow(&api, &user, Some(&later), "configmaps");
    let lines = running.stdout.json_until("it joins", is(format!("SYNCED {later}")));
    assert!(lines.iter().all(|line| line["type"] != "ERROR"), "nothing has ended: {lines:#?}");
    let added: Vec<_> = lines.iter().filter(|line| line["type"] == "ADDED").collect();
    assert!(
        added.iter().all(|line| line["namespace"] == later.as_str()),
        "nothing is reported again: {added:#?}"
    );
    assert_eq!(added.iter().filter(|line| line["name"] == "x").count(), 1, "{added:#?}");
    let joins = format!("allowed now, watching: configmaps in {later}\n");
    running.stderr.find("that it joins", |line| line == joins);
    api.create_config_map(&later, "y", &json!({}));
    running.stdout.json_until("it is watched", is(format!("ADDED {later}/y")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unavailable_parts_are_probed_gradually_by_lists_and_join_together() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let user = format!("modest-{namespace}");
    allow(&api, &user, None, "namespaces");
    allow(&api, &user, Some(&namespace), "events");
    let proxy = FaultProxy::before(&testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let types = format!("events,{}", TYPES.join(","));
    let watch = ["watch", &types, "-A", "-o", "json", "--as", &user];
    let running = env.kdelta(&watch).env("KUBECONFIG", config).start();
    running.stderr.find("what is left out", |line| line.starts_with("not allowed, skipped: "));
    let _first = proxy.take_requests();
    let mut requests: Vec<String> = Vec::new();
    // Ten at first, more after five seconds.
    eventually("a second time", || {
        requests.extend(proxy.take_requests());
        (requests.len() > 10).then_some(())
    });
    assert!(requests.len() <= 30, "of some forty that are left out: {requests:#?}");
    assert!(requests.iter().all(|request| !request.contains("watch=")), "{requests:#?}");
    for plural in TYPES {
        allow(&api, &user, Some(&namespace), plural);
    }
    let mut synced = std::collections::BTreeSet::new();
    running.stdout.json_until("all of the namespace", |line| {
        synced.extend((line["type"] == "SYNCED").then(|| line["resource"].to_string()));
        synced.len() == TYPES.len() + 1
    });
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_late_parts_are_unavailable_like_initial_ones() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let user = format!("late-{namespace}");
    allow(&api, &user, None, "namespaces");
    let [first, joined] = ["first", "joined"].map(|end| format!("{namespace}-{end}"));
    create_namespace(&api, &first, &json!({}));
    for plural in TYPES {
        allow(&api, &user, Some(&first), plural);
    }
    let proxy = FaultProxy::before(&testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let types = TYPES.join(",");
    let pattern = format!("{namespace}-*");
    let watch = ["watch", &types, "-n", &pattern, "-o", "json", "--count", "2", "--as", &user];
    let mut running = env.kdelta(&watch).env("KUBECONFIG", config).start();
    let mut synced = 0;
    running.stdout.json_until("what is there", |line| {
        synced += usize::from(line["type"] == "SYNCED");
        synced == TYPES.len()
    });

    let late: Vec<String> = (1..=5).map(|number| format!("{namespace}-late{number}")).collect();
    for name in &late {
        create_namespace(&api, name, &json!({}));
    }
    // Each is reported once and then probed less often.
    let mut output = String::new();
    while !late.iter().all(|name| output.contains(name.as_str())) {
        output += &running.stderr.find("what is left out", |line| line.starts_with("not allowed, skipped: "));
    }
    let _first = proxy.take_requests();
    let since = Instant::now();
    let mut requests: Vec<String> = Vec::new();
    eventually("a second time", || {
        requests.extend(proxy.take_requests());
        (requests.len() > 10).then_some(())
    });
    // Two per second, plus the first ones.
    let most = 12 + 2 * usize::try_from(since.elapsed().as_secs()).expect("a while");
    assert!(requests.len() <= most, "{} of {} at most: {requests:#?}", requests.len(), most);
    assert!(requests.iter().all(|request| !request.contains("watch=")), "{requests:#?}");

    create_namespace(&api, &joined, &json!({}));
    for plural in TYPES {
        allow(&api, &user, Some(&joined), plural);
    }
    api.create_config_map(&first, "x", &json!({}));
    api.create_config_map(&joined, "x", &json!({}));
    running.stdout.json_until("it joins", is(format!("ADDED {joined}/x")));
    assert_eq!(running.wait(), 4);
    let rest = running.stderr.drain();
    assert!(late.iter().all(|name| !rest.contains(name.as_str())), "reported once: {rest}");
}

/// Sets or removes the label that the watch matches.
fn label(api: &Api, namespace: &str, matches: bool) {
    let labels = json!({"metadata": {"labels": {"env": matches.then_some(namespace)}}});
    api.patch(&format!("/api/v1/namespaces/{namespace}"), &labels);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn part_that_leaves_before_its_refusal_does_not_end_the_watch() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("brief-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    allow(&api, &user, None, "namespaces");
    allow(&api, &user, Some(&namespace), "secrets");
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let selector = format!("env={namespace}");
    let watch = ["watch", "cm,secrets", "--namespace-selector", &selector, "-o", "json", "--as", &user];
    let running = env.kdelta(&watch).env("KUBECONFIG", config).start();
    let nothing = format!("No namespace matches \"*\" with the labels {selector:?} at the moment.\n");
    running.stderr.find("that there is nothing", |line| line == nothing);

    // The part still waits for permission when the namespace leaves.
    proxy.bookmarks(Bookmarks::NoEnd);
    let _before = proxy.take_requests();
    label(&api, &namespace, true);
    let mut requests: Vec<String> = Vec::new();
    eventually("it is refused", || {
        requests.extend(proxy.take_requests());
        let is_list = |request: &String| request.contains("/configmaps") && !request.contains("watch=");
        requests.iter().any(is_list).then_some(())
    });
    label(&api, &namespace, false);

    allow(&api, &user, Some(&namespace), "configmaps");
    proxy.bookmarks(Bookmarks::All);
    label(&api, &namespace, true);
    running.stdout.json_until("it goes on", is(format!("ADDED {namespace}/x")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn late_part_with_list_permission_is_watched_once_allowed() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("slow-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    allow(&api, &user, None, "namespaces");
    allow_to(&api, &user, Some(&namespace), "configmaps", &["get", "list"]);
    let selector = format!("env={namespace}");
    let watch = ["watch", "cm", "--namespace-selector", &selector, "-o", "json", "--as", &user];
    let running = env.kdelta_on(testbed, &watch).start();
    let nothing = format!("No namespace matches \"*\" with the labels {selector:?} at the moment.\n");
    running.stderr.find("that there is nothing", |line| line == nothing);
    label(&api, &namespace, true);
    running.stdout.json_until("what is there", is(format!("SYNCED {namespace}")));
    running.stderr.find("what is missing", |line| {
        line.starts_with("configmaps: lost: ") && line.contains("cannot watch resource")
    });
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]);
    let role = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/{user}-configmaps");
    api.patch(&role, &json!({"rules": rules}));
    api.create_config_map(&namespace, "y", &json!({}));
    running.stdout.json_until("it is watched", is(format!("ADDED {namespace}/y")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn type_forbidden_everywhere_is_one_error() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("nobody-{namespace}");
    let watch = ["watch", "cm", "-A", "-o", "json", "--as", &user];
    let done = env.kdelta_on(testbed, &watch).finish();
    let lines: Vec<serde_json::Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((done.code, lines.len()), (1, 1), "{} {}", done.stdout, done.stderr);
    assert_eq!((&lines[0]["type"], &lines[0]["object"]["code"]), (&json!("ERROR"), &json!(403)));
    let refused = "Error from server (Forbidden): configmaps is forbidden: ";
    assert!(done.stderr.starts_with(refused), "{}", done.stderr);

    // The namespaces are listed, and the type is allowed in none of them.
    allow(&api, &user, None, "namespaces");
    let done = env.kdelta_on(testbed, &watch).finish();
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(!done.stdout.is_empty() && done.stdout.lines().all(|line| line.contains(r#""type":"ERROR""#)));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn list_permission_without_watch_prints_objects_and_then_fails() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("lists-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    allow_to(&api, &user, Some(&namespace), "configmaps", &["get", "list"]);
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--as", &user];
    let done = env.kdelta_on(testbed, &watch).finish();
    let types: Vec<String> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(types, [r#""ADDED""#, r#""SYNCED""#, r#""ERROR""#], "{}", done.stderr);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("cannot watch resource \"configmaps\""), "{}", done.stderr);
    // A command that needs no watch succeeds.
    let done = env.kdelta_on(testbed, &[&watch[..], &["--until-synced"]].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let index = ["index", "cm", "--by", "name", "-n", &namespace, "--as", &user, "--no-headers"];
    for _ in 0..5 {
        let counted = env.kdelta_on(testbed, &index).finish();
        assert_eq!(
            (counted.code, counted.stdout.split_whitespace().next()),
            (0, Some("x")),
            "{}",
            counted.stderr
        );
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn one_shot_command_prints_available_parts_and_exits_with_a_part_failure() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("some-{namespace}");
    let other = format!("{namespace}-other");
    create_namespace(&api, &other, &json!({}));
    for namespace in [&namespace, &other] {
        api.create_config_map(namespace, "x", &json!({}));
    }
    allow(&api, &user, Some(&namespace), "configmaps");
    let both = format!("{namespace},{other}");
    for words in [&["get", "cm", "-o", "name"][..], &["index", "cm", "--by", "name", "--no-headers"]] {
        let done = env.kdelta_on(testbed, &[words, &["-n", &both, "--as", &user]].concat()).finish();
        assert_eq!((done.code, done.stdout.lines().count()), (4, 1), "{} {}", done.stdout, done.stderr);
        let output =
            format!("cannot list resource \"configmaps\" in API group \"\" in the namespace \"{other}\"");
        assert!(done.stderr.contains(&output) && done.stderr.lines().count() == 1, "{}", done.stderr);
    }
    // A missing name fails the whole command, as in kubectl.
    let missing = ["get", "cm", "x", "nope", "-n", &namespace, "-o", "name"];
    let done = env.kdelta_on(testbed, &missing).finish();
    assert_eq!((done.code, done.stdout.as_str()), (1, "configmap/x\n"), "{}", done.stderr);
}
