//! The requests for related objects: only those that a relation needs, as far as they are allowed, and again with `-w`.

use serde_json::json;

use super::Shop;
use crate::cluster::watches::many::allow;
use crate::support::{FaultProxy, OnServer, TestEnv};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn only_types_that_a_relation_needs_are_listed() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let shop = Shop { api: &api, namespace: &namespace };
    shop.create_all();
    let proxy = FaultProxy::before(testbed);
    proxy.allow_protobuf();
    let config = proxy.kubeconfig(&env, &namespace);
    // Lists of all types, as metadata, are those of a tree without relations.
    let whole = |words: &[&str]| {
        env.kdelta(words).env("KUBECONFIG", &config).finish().quiet_success();
        let sent = proxy.take_requests_and_forms();
        let mut whole: Vec<String> = sent
            .into_iter()
            .filter(|(path, form)| !form.contains("PartialObjectMetadata") && path.contains('?'))
            .map(|(path, _)| path)
            .collect();
        whole.sort_unstable();
        whole
    };
    let paths = |words: &[&str]| -> Vec<String> {
        let path = |request: &String| request.split('?').next().unwrap_or_default().replace(&namespace, "NS");
        let mut paths: Vec<String> = whole(words).iter().map(path).collect();
        paths.dedup();
        paths
    };
    assert_eq!(
        paths(&["tree", "cm/unused", "--related"])
            .iter()
            .map(|path| path.rsplit('/').next().expect("a plural"))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>(),
        [
            "cronjobs",
            "daemonsets",
            "deployments",
            "events",
            "jobs",
            "pods",
            "replicasets",
            "replicationcontrollers",
            "statefulsets"
        ]
    );
    let of_service = whole(&["tree", "svc/web", "--related"]);
    let slices: Vec<&String> =
        of_service.iter().filter(|request| request.contains("/endpointslices")).collect();
    assert!(
        !slices.is_empty()
            && slices.iter().all(|list| list.contains("labelSelector=kubernetes.io%2Fservice-name%3Dweb")),
        "{of_service:?}"
    );
    assert!(
        !of_service.iter().any(|request| request.contains("/horizontalpodautoscalers")),
        "{of_service:?}"
    );
    let of_node = whole(&["tree", &format!("node/{}", shop.node()), "--related"]);
    let has = |path: &str, selector: &str| {
        of_node.iter().any(|request| request.starts_with(path) && request.contains(selector))
    };
    assert!(has("/api/v1/pods?", "fieldSelector=spec.nodeName%3D"), "{of_node:?}");
    let events = "fieldSelector=involvedObject.kind%3DNode%2CinvolvedObject.name%3D";
    assert!(has("/api/v1/namespaces/default/events?", events), "{of_node:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_relations_are_one_line_and_exit_code_4() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let shop = Shop { api: &api, namespace: &namespace };
    shop.create_all();
    let user = format!("modest-{namespace}");
    allow(&api, &user, Some(&namespace), "pods");
    let words = ["tree", "pod/web-a", "--related", "-n", &namespace, "--as", &user];
    let done = env.kdelta_on(testbed, &words).finish();
    assert_eq!((done.code, done.stderr.lines().count()), (4, 1), "{}", done.stderr);
    assert!(done.stderr.starts_with("not allowed, skipped: "), "{}", done.stderr);
    let node = done.stdout.lines().find(|line| line.contains("runs on node/")).expect("the node");
    assert!(node.contains(" Unknown ") && node.ends_with("it can't be read"), "{}", done.stdout);
    assert!(!done.stdout.contains("endpointslice"), "{}", done.stdout);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn a_watched_tree_follows_its_relations() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let shop = Shop { api: &api, namespace: &namespace };
    let spec = json!({"containers": [{"name": "c", "image": "x"}], "volumes": [
        {"name": "v", "configMap": {"name": "conf"}},
    ]});
    shop.create(("v1", "pods"), "web-a", None, json!({"spec": spec}));
    let words = ["tree", "pod/web-a", "--related", "-n", &namespace, "-w", "-o", "json"];
    let mut running = env.kdelta_on(testbed, &words).start();
    let wait_for = |expected: &[&str]| {
        running.stdout.json_until(&expected.join(", "), |document| shop.rows(document) == expected);
    };
    wait_for(&["Pod/web-a", "-uses> ConfigMap/conf missing"]);
    shop.create(("v1", "configmaps"), "conf", None, json!({}));
    wait_for(&["Pod/web-a", "-uses> ConfigMap/conf"]);
    shop.create_traffic();
    let traffic =
        ["Pod/web-a", "-<endpoint EndpointSlice/web-x", "--<backedBy Service/web", "---<routes Ingress/web"];
    wait_for(&[&traffic[..], &["-uses> ConfigMap/conf"]].concat());
    let about = json!({"apiVersion": "v1", "kind": "Pod", "name": "web-a", "namespace": namespace});
    let event = json!({"involvedObject": about, "reason": "Pulled", "message": "x", "type": "Normal"});
    shop.create(("v1", "events"), "e", None, event);
    wait_for(&[&traffic[..], &["-uses> ConfigMap/conf", "-<about Event/e"]].concat());
    api.delete(&format!("{}/web", shop.path("networking.k8s.io/v1", "ingresses")));
    wait_for(&[&traffic[..3], &["-uses> ConfigMap/conf", "-<about Event/e"]].concat());
    api.delete(&format!("{}/conf", shop.path("v1", "configmaps")));
    wait_for(&[&traffic[..3], &["-uses> ConfigMap/conf missing", "-<about Event/e"]].concat());
    running.signal("INT");
    assert_eq!(running.wait(), 130);
    assert_eq!(running.stderr.drain(), "");
}
