//! `kdelta tree --related` on a real server. No controller runs, so that the objects have the relations that the tests give
//! them.

mod requests;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, TestEnv};

/// A namespace with a deployment of two pods, and all kinds of objects that are related to them.
struct Shop<'a> {
    api: &'a Api,
    namespace: &'a str,
}

impl Shop<'_> {
    fn path(&self, group_version: &str, plural: &str) -> String {
        let root = if group_version == "v1" { "/api" } else { "/apis" };
        format!("{root}/{group_version}/namespaces/{}/{plural}", self.namespace)
    }

    fn create(&self, of: (&str, &str), name: &str, owner: Option<&Value>, mut rest: Value) -> Value {
        if let Some(owner) = owner {
            rest["metadata"]["ownerReferences"] = json!([{
                "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"], "controller": true,
            }]);
        }
        rest["metadata"]["name"] = name.into();
        self.api.create(&self.path(of.0, of.1), &rest)
    }

    fn create_all(&self) {
        let labels = json!({"app": "web"});
        self.api.create("/api/v1/nodes", &json!({"metadata": {"name": self.node()}}));
        for (plural, name) in [
            ("configmaps", "conf"),
            ("configmaps", "unused"),
            ("secrets", "sec"),
            ("serviceaccounts", "robot"),
        ] {
            self.create(("v1", plural), name, None, json!({}));
        }
        self.create_volume();
        let container = json!({"name": "c", "image": "x", "envFrom": [
            {"secretRef": {"name": "sec"}}, {"configMapRef": {"name": "absent", "optional": true}},
        ]});
        let volumes = json!([
            {"name": "v", "configMap": {"name": "conf"}}, {"name": "g", "secret": {"secretName": "gone"}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
        ]);
        let in_template = json!({"containers": [{"name": "c", "image": "x"}], "volumes": [volumes[0]]});
        let template = json!({"metadata": {"labels": labels}, "spec": in_template});
        let spec = json!({"selector": {"matchLabels": labels}, "template": template});
        let web = self.create(("apps/v1", "deployments"), "web", None, json!({"spec": spec}));
        let spec = json!({
            "nodeName": self.node(), "serviceAccountName": "robot", "containers": [container], "volumes": volumes,
        });
        for name in ["web-a", "web-b"] {
            let pod = json!({"metadata": {"labels": labels}, "spec": spec});
            self.create(("v1", "pods"), name, Some(&web), pod);
        }
        self.create_traffic();
        let about = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": self.namespace});
        let event = json!({"involvedObject": about, "reason": "Scaled", "message": "to 2", "type": "Normal", "count": 2});
        self.create(("v1", "events"), "e", None, event);
    }

    /// A claim with its volume.
    fn create_volume(&self) {
        let spec = json!({
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
            "claimRef": {"namespace": self.namespace, "name": "data"},
        });
        let volume = json!({"metadata": {"name": self.volume()}, "spec": spec});
        self.api.create("/api/v1/persistentvolumes", &volume);
        let claim = json!({
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": self.volume(),
        });
        self.create(("v1", "persistentvolumeclaims"), "data", None, json!({"spec": claim}));
    }

    /// A service with a slice for the first pod, an ingress and an autoscaler.
    fn create_traffic(&self) {
        // Without an address of the cluster: the server checks those every few minutes, and may report one that is
        // just being allocated in an event about the service.
        let spec = json!({"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]});
        let service = json!({"spec": spec});
        let service = self.create(("v1", "services"), "web", None, service);
        let endpoint = json!({"addresses": ["10.0.0.1"], "targetRef": {"kind": "Pod", "name": "web-a"}});
        let slice = json!({
            "metadata": {"labels": {"kubernetes.io/service-name": "web"}},
            "addressType": "IPv4", "endpoints": [endpoint],
        });
        self.create(("discovery.k8s.io/v1", "endpointslices"), "web-x", Some(&service), slice);
        let backend = json!({"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}});
        self.create(("networking.k8s.io/v1", "ingresses"), "web", None, json!({"spec": backend}));
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let scaler = json!({"spec": {"scaleTargetRef": target, "maxReplicas": 3}});
        self.create(("autoscaling/v2", "horizontalpodautoscalers"), "web", None, scaler);
    }

    fn node(&self) -> String {
        format!("node-{}", self.namespace)
    }

    fn volume(&self) -> String {
        format!("volume-{}", self.namespace)
    }

    /// Returns the objects of a document, each with its relation to the one above, by depth first.
    fn rows(&self, document: &Value) -> Vec<String> {
        fn add(node: &Value, level: usize, rows: &mut Vec<String>) {
            let text = |field: &str| node[field].as_str().unwrap_or_default();
            let edge = match (text("edge"), node["reverse"].as_bool()) {
                ("", _) => String::new(),
                (edge, Some(true)) => format!("<{edge} "),
                (edge, _) => format!("{edge}> "),
            };
            let flags = ["missing", "repeated"]
                .map(|flag| if node[flag] == true { format!(" {flag}") } else { String::new() });
            let (kind, name) = (text("kind"), text("name"));
            rows.push(format!("{}{edge}{kind}/{name}{}", "-".repeat(level), flags.concat()));
            for field in ["related", "children"] {
                node[field].as_array().into_iter().flatten().for_each(|below| add(below, level + 1, rows));
            }
        }
        let mut found = Vec::new();
        document["items"].as_array().into_iter().flatten().for_each(|root| add(root, 0, &mut found));
        found.iter().map(|row| row.replace(self.namespace, "NS")).collect()
    }
}

const OF_WEB: [&str; 20] = [
    "Deployment/web",
    "-<scales HorizontalPodAutoscaler/web",
    "-uses> ConfigMap/conf",
    "-<about Event/e",
    "-Pod/web-a",
    "--<endpoint EndpointSlice/web-x",
    "---<backedBy Service/web",
    "----<routes Ingress/web",
    "--runsOn> Node/node-NS",
    "--uses> PersistentVolumeClaim/data",
    "---bound> PersistentVolume/volume-NS",
    "--uses> Secret/gone missing",
    "--uses> Secret/sec",
    "--uses> ServiceAccount/robot",
    "-Pod/web-b",
    "--runsOn> Node/node-NS repeated",
    "--uses> PersistentVolumeClaim/data repeated",
    "--uses> Secret/gone missing repeated",
    "--uses> Secret/sec repeated",
    "--uses> ServiceAccount/robot repeated",
];

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn related_objects_are_below_those_of_the_tree_with_the_kind_of_their_relation() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let shop = Shop { api: &api, namespace: &namespace };
    shop.create_all();
    let tree = |words: &str| {
        let words: Vec<&str> =
            ["tree", "--related", "-n", &namespace].into_iter().chain(words.split(' ')).collect();
        env.kdelta_on(testbed, &words).finish().quiet_success()
    };
    let rows =
        |words: &str| shop.rows(&serde_json::from_str(&tree(&format!("{words} -o json"))).expect("JSON"));
    assert_eq!(rows("deploy/web"), OF_WEB);
    assert_eq!(rows("cm/conf"), ["ConfigMap/conf", "-<uses Deployment/web"]);
    assert_eq!(rows("cm/unused"), ["ConfigMap/unused"]);
    assert_eq!(rows("secret/sec"), ["Secret/sec", "-<uses Pod/web-a", "-<uses Pod/web-b"]);
    assert_eq!(rows("sa/robot"), ["ServiceAccount/robot", "-<uses Pod/web-a", "-<uses Pod/web-b"]);
    assert_eq!(
        rows(&format!("node/{}", shop.node())),
        ["Node/node-NS", "-<runsOn Pod/web-a", "-<runsOn Pod/web-b"]
    );
    assert_eq!(
        rows(&format!("pv/{}", shop.volume())),
        [
            "PersistentVolume/volume-NS",
            "-<bound PersistentVolumeClaim/data",
            "--<uses Pod/web-a",
            "--<uses Pod/web-b"
        ]
    );
    let of_service = rows("svc/web");
    assert_eq!(
        of_service[..4],
        ["Service/web", "-<routes Ingress/web", "-EndpointSlice/web-x", "--endpoint> Pod/web-a"]
    );
    assert!(of_service.contains(&"---runsOn> Node/node-NS".to_owned()), "{of_service:?}");
    let of_ingress = rows("ing/web");
    assert_eq!(
        of_ingress[..4],
        ["Ingress/web", "-routes> Service/web", "--backedBy> EndpointSlice/web-x", "---endpoint> Pod/web-a"]
    );
    assert_eq!(
        rows("hpa/web")[..3],
        ["HorizontalPodAutoscaler/web", "-scales> Deployment/web", "--uses> ConfigMap/conf"]
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn tables_names_and_graphs_show_relations_as_such() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let shop = Shop { api: &api, namespace: &namespace };
    shop.create_all();
    let tree = |format: &[&str]| {
        let words = [&["tree", "deploy/web", "--related", "-n", &namespace][..], format].concat();
        env.kdelta_on(testbed, &words).finish().quiet_success()
    };
    let table = tree(&["--no-headers"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[2].starts_with("├╌ uses configmap/conf "), "{table}");
    assert!(lines[3].starts_with("├╌ event Scaled (x2) "), "{table}");
    assert!(lines[3].contains(" Normal ") && lines[3].ends_with(" to 2"), "{table}");
    assert!(lines[4].starts_with("├─ pod/web-a "), "{table}");
    assert!(lines[5].starts_with("│  ├╌ endpoint of endpointslice.discovery.k8s.io/web-x "), "{table}");
    let gone = lines.iter().find(|line| line.contains("uses secret/gone")).expect("the missing secret");
    assert!(gone.contains(" NotFound ") && gone.ends_with("it does not exist"), "{table}");
    assert_eq!(lines.iter().filter(|line| line.ends_with(" see above")).count(), 1, "the claim: {table}");
    let names = tree(&["-o", "name"]);
    assert_eq!(names.lines().count(), 15, "each object once: {names}");
    let dot = tree(&["-o", "dot"]);
    let dashed = dot.lines().filter(|line| line.contains(" -> ") && line.contains("style=dashed")).count();
    assert_eq!(dashed, 17, "{dot}");
    assert!(dot.contains("[label=\"runsOn\" style=dashed]"), "{dot}");
    let mermaid = tree(&["-o", "mermaid"]);
    assert!(mermaid.contains(" -. runsOn .-> ") && mermaid.contains(" -. scales .-> n0\n"), "{mermaid}");
    assert_eq!(mermaid.matches(" --> ").count(), 2, "{mermaid}");
}
