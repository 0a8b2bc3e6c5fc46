//! The number and representations of requests, and the equality of the representations.

use std::collections::BTreeMap;

use kdelta::api::{Client, Request, ResourceClient};
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::listwatch::{
    ListOptions, ListStream, ListerWatcher, ResourceVersionMatch, WatchEvent, WatchOptions, WatchStream,
};
use kdelta::object::{ApiResource, Object};
use kdelta::wire::Representation;
use serde_json::{Value, json};

use super::discovery_cache::DiscoveryCache;
use crate::support::{FaultProxy, OnServer, TestEnv, Testbed, config_maps, eventually};

const PARTIALS: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

fn resource(group: &str, plural: &str, kind: &str, namespaced: bool) -> ApiResource {
    ApiResource {
        group: group.into(),
        version: "v1".into(),
        resource: plural.into(),
        kind: kind.into(),
        namespaced,
    }
}

fn client(testbed: &Testbed) -> Client {
    let kubeconfig = Some(testbed.kubeconfig().into());
    let config = Config::load(&ConfigOptions::default().kubeconfig(kubeconfig)).expect("a config");
    Client::new(&config).expect("a client")
}

/// Without managedFields, which the protobuf decoder skips.
fn insert(into: &mut BTreeMap<String, Value>, object: &Object) {
    let mut body: Value = object.parse().expect("JSON");
    body["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    assert_eq!(body["metadata"]["resourceVersion"], object.resource_version().to_string());
    assert_eq!(body["metadata"]["uid"], object.uid().to_string());
    into.insert(object.key().to_string(), body);
}

/// Reads the metadata of all objects by a list and by a watch.
async fn read(source: &ResourceClient) -> [BTreeMap<String, Value>; 2] {
    let (mut listed, mut watched) = (BTreeMap::new(), BTreeMap::new());
    let mut list = source.list(&ListOptions::default()).await.expect("a list");
    while let Some(object) = list.next().await.expect("an object") {
        insert(&mut listed, &object);
    }
    let options = WatchOptions::default()
        .version_match(Some(ResourceVersionMatch::NotOlderThan))
        .send_initial_events(true)
        .allow_bookmarks(true);
    let mut watch = source.watch(&options).await.expect("a watch");
    loop {
        match watch.next().await.expect("no end yet").expect("an event") {
            WatchEvent::Added(object) => insert(&mut watched, &object),
            WatchEvent::Bookmark { initial_events_end: true, .. } => return [listed, watched],
            other => panic!("{other:?}"),
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn protobuf_metadata_equals_json_metadata() {
    let OnServer { testbed, api, namespace, .. } = TestEnv::on_server();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "forms.wire.kdelta.test"},
        "spec": {"group": "wire.kdelta.test", "scope": "Namespaced",
            "names": {"plural": "forms", "singular": "form", "kind": "Form"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]},
    });
    api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    let forms = format!("/apis/wire.kdelta.test/v1/namespaces/{namespace}/forms");
    eventually("the new type is served", || api.find(&forms));
    let maps = config_maps(&namespace);
    let owner = api.create(&maps, &json!({"metadata": {"name": "owner"}}));
    let metadata = json!({
        "name": "full", "labels": {"b": "2", "a": "", "x.y/z": "z"},
        "annotations": {"text": "<\"ü\">\n\u{1F600}", "empty": ""}, "finalizers": ["kdelta.test/a", "kdelta.test/b"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": false}],
    });
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    for (path, kind, version) in
        [(&pods, "Pod", "v1"), (&secrets, "Secret", "v1"), (&forms, "Form", "wire.kdelta.test/v1")]
    {
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        if kind == "Pod" {
            object["spec"] = spec.clone();
        }
        api.create(path, &object);
        // Its finalizers keep it from being removed.
        api.delete(&format!("{path}/full"));
        object["metadata"] = json!({"generateName": "plain-"});
        api.create(path, &object);
    }

    // Cluster-scoped objects: the name is unique to this test.
    let full = format!("full-{namespace}");
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    for path in ["/api/v1/nodes", "/api/v1/namespaces", roles] {
        let mut metadata = metadata.clone();
        metadata["name"] = json!(full);
        api.create(path, &json!({"metadata": metadata}));
        api.delete(&format!("{path}/{full}"));
    }

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let client = client(testbed);
    for kind in [
        resource("", "nodes", "Node", false),
        resource("", "namespaces", "Namespace", false),
        resource("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", false),
        resource("", "pods", "Pod", true),
        resource("", "secrets", "Secret", true),
        resource("wire.kdelta.test", "forms", "Form", true),
        resource("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false),
    ] {
        let root =
            if kind.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{}/v1", kind.group) };
        let request = Request::new(format!("{root}/{}", kind.resource)).accept(PARTIALS).query("limit", "1");
        let response = runtime.block_on(client.send(&request)).expect("a response");
        let form = response.header("content-type").expect("a type");
        assert!(form.starts_with("application/vnd.kubernetes.protobuf"), "{}: {form}", kind.resource);

        let source = ResourceClient::new(client.clone(), kind.clone())
            .namespace(Some(namespace.clone()))
            .field_selector(&match kind.kind.as_str() {
                _ if kind.namespaced => String::new(),
                "CustomResourceDefinition" => "metadata.name=forms.wire.kdelta.test".to_owned(),
                _ => format!("metadata.name={full}"),
            })
            .representation(Representation::Metadata);
        let packed = runtime.block_on(read(&source));
        let plain = runtime.block_on(read(&source.keep_managed_fields(true)));
        assert_eq!(packed, plain, "{}", kind.resource);
        assert_eq!(packed[0], packed[1], "{}", kind.resource);
        let key = if kind.namespaced { format!("{namespace}/full") } else { full.clone() };
        assert_eq!(packed[0].len(), if kind.namespaced { 2 } else { 1 }, "{}", kind.resource);
        if kind.kind != "CustomResourceDefinition" {
            let full = &packed[0][&key];
            assert_eq!(full["kind"], kind.kind);
            assert!(full["metadata"]["deletionTimestamp"].is_string(), "{full}");
            assert_eq!(full["metadata"]["ownerReferences"], metadata["ownerReferences"]);
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn joined_namespace_tables_equal_the_cluster_wide_table() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let other = api.namespace();
    // One more than a page; many names occur in both namespaces.
    for (namespace, count) in [(&namespace, 251), (&other, 250)] {
        for at in 0..count {
            let metadata = json!({"name": format!("m{at:03}"), "labels": {"joined": namespace.as_str()}});
            let data = if at % 2 == 0 { json!({"a": "1"}) } else { json!({}) };
            api.create(&config_maps(namespace), &json!({"metadata": metadata, "data": data}));
        }
    }
    let proxy = FaultProxy::before(testbed);
    let kubeconfig = proxy.kubeconfig(&env, "default");
    let kubeconfig = kubeconfig.to_str().expect("a path");
    let labels = format!("joined in ({namespace},{other})");
    let get = |more: &[&str]| {
        let line = [&["--kubeconfig", kubeconfig, "get", "cm", "-A", "-l", &labels][..], more].concat();
        env.kdelta(&line).finish().quiet_success()
    };
    // Without the ages.
    let cells = |text: &str| -> Vec<[String; 3]> {
        let row = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            [(); 3].map(|()| words.next().expect("a cell"))
        };
        text.lines().map(row).collect()
    };
    get(&[]);
    proxy.take_requests();
    let joined = cells(&get(&[]));
    let requests = proxy.take_requests();
    assert_eq!(joined.len(), 502);
    assert_eq!(joined[0], ["NAMESPACE", "NAME", "DATA"]);
    assert!(joined.contains(&[namespace.clone(), "m250".into(), "1".into()]));
    let [page, names, rows, ..] = &requests[..] else { panic!("{requests:?}") };
    assert!(page.contains("limit=500") && !names.contains("limit"), "{requests:?}");
    assert!(rows.contains("includeObject=None") && rows.contains("resourceVersion="), "{requests:?}");
    // Names that occur in both namespaces need a defined order, that of the keys, which requires an exact version.
    assert!(requests.len() == 3 && rows.contains("Exact"), "{requests:?}");

    assert_eq!(joined, cells(&get(&["--chunk-size", "100"])));
    assert_eq!(proxy.take_requests().len(), 6);
    let names: Vec<_> = get(&["-o", "name"]).lines().map(str::to_owned).collect();
    let expected = joined[1..].iter().map(|[_, name, _]| format!("configmap/{name}"));
    assert_eq!(names, expected.collect::<Vec<_>>());
    let [only] = &proxy.take_requests()[..] else { panic!("one request") };
    assert!(only.contains("includeObject=None"), "{only}");

    // Rows join their objects without an order, but not if a name occurs twice.
    let sorted = |labels: &str, more: &[&str]| {
        let line = ["--kubeconfig", kubeconfig, "get", "cm", "-A", "-l", labels, "--sort-by", ".data.a"];
        let printed = env.kdelta(&[&line[..], more].concat()).finish().quiet_success();
        (cells(&printed), proxy.take_requests())
    };
    let (twins, requests) = sorted(&labels, &[]);
    assert_eq!(twins, sorted(&labels, &["--chunk-size", "100"]).0);
    assert!(requests[2..].iter().all(|request| request.contains("includeObject=Object")), "{requests:?}");
    for at in 0..250 {
        let metadata = json!({"name": format!("u{at:03}"), "labels": {"joined": "distinct"}});
        api.create(
            &config_maps(&other),
            &json!({"metadata": metadata, "data": {"a": format!("{}", at % 7)}}),
        );
    }
    let distinct = format!("joined in ({namespace},distinct)");
    let (joined, requests) = sorted(&distinct, &[]);
    assert_eq!(joined.len(), 502);
    let [page, rows, objects] = &requests[..] else { panic!("{requests:?}") };
    assert!(page.contains("limit=250") && page.contains("includeObject=Object"), "{requests:?}");
    assert!(rows.contains("includeObject=None") && !objects.contains("includeObject"), "{requests:?}");
    assert_eq!(joined, sorted(&distinct, &["--chunk-size", "100"]).0);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn cached_type_costs_one_request_even_hours_later() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let proxy = FaultProxy::before(testbed);
    let kubeconfig = proxy.kubeconfig(&env, &namespace);
    let get = || {
        let line = ["--kubeconfig", kubeconfig.to_str().expect("a path"), "get", "cm", "--no-headers"];
        let printed = env.kdelta(&line).finish().quiet_success();
        assert!(printed.starts_with("a   "), "{printed}");
        proxy.take_requests()
    };
    let own = format!("/api/v1/namespaces/{namespace}/configmaps?includeObject=None");
    let cold = get();
    assert_eq!((cold.len(), cold.last()), (4, Some(&own)), "{cold:?}");
    assert!(
        ["/api", "/apis", "/version"].iter().all(|path| cold.iter().any(|requests| requests == path)),
        "{cold:?}"
    );
    assert_eq!(get(), [own.as_str()]);

    let known = DiscoveryCache::of(&env);
    let seconds = known.value["written"].as_u64().expect("seconds");
    let rewrite = |change: &dyn Fn(&mut Value)| known.rewrite(change);
    rewrite(&|known| known["written"] = (seconds - 5 * 3600).into());
    assert_eq!(get(), [own.as_str()]);
    rewrite(&|known| known["written"] = (seconds - 7 * 3600).into());
    assert_eq!(get().len(), 4);

    // A version that the server no longer serves.
    let given_up = |known: &mut Value| find(known, "configmaps")["version"] = "v9".into();
    rewrite(&given_up);
    let requests = get();
    assert_eq!(requests.len(), 5, "{requests:?}");
    assert!(requests[0].starts_with("/api/v9/"), "{requests:?}");
    assert_eq!(requests[4], own);
    assert_eq!(get(), [own.as_str()], "it is known again");

    // An unserved type does not mean that the object is missing.
    let named = |more: &[&str]| {
        let line = ["--kubeconfig", kubeconfig.to_str().expect("a path"), "get", "-o", "name"];
        env.kdelta(&[&line[..], more].concat()).finish().quiet_success()
    };
    rewrite(&given_up);
    assert_eq!(named(&["cm", "a", "--ignore-not-found"]), "configmap/a\n");
    assert_eq!(named(&["cm", "none", "--ignore-not-found"]), "");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn api_version_change_does_not_print_objects_twice() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let scaled = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"maxReplicas": 3, "scaleTargetRef": scaled});
    let path = format!("/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers");
    api.create(&path, &json!({"metadata": {"name": "web"}, "spec": spec}));
    let proxy = FaultProxy::before(testbed);
    let kubeconfig = proxy.kubeconfig(&env, &namespace);
    let get = || {
        let line = ["--kubeconfig", kubeconfig.to_str().expect("a path"), "get", "hpa,cm", "-o", "name"];
        env.kdelta(&line).finish().quiet_success()
    };
    let expected = get();
    assert!(expected.contains("web\n") && expected.contains("configmap/a\n"), "{expected}");
    // As discovered from a server on which v1 was the last version of one type and v9 of the other.
    DiscoveryCache::of(&env).rewrite(&|known| {
        find(known, "configmaps")["version"] = "v9".into();
        let all = known["resources"].as_array_mut().expect("resources");
        all.retain(|one| one["resource"] != "horizontalpodautoscalers" || one["version"] == "v1");
    });
    proxy.take_requests();
    assert_eq!(get(), expected);
    let requests = proxy.take_requests();
    let of_hpa: Vec<_> = requests.iter().filter(|path| path.contains("horizontalpodautoscalers")).collect();
    assert!(of_hpa.len() == 1 && of_hpa[0].starts_with("/apis/autoscaling/v1/"), "{requests:?}");
}

fn find<'a>(known: &'a mut Value, plural: &str) -> &'a mut Value {
    let all = known["resources"].as_array_mut().expect("resources");
    all.iter_mut().find(|one| one["resource"] == plural).expect("the type")
}
