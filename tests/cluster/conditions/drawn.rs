//! Drawn conditions: what the server and the program find together equals what a model finds in the server's JSON.

use std::collections::BTreeSet;

use fastrand::Rng;
use serde_json::{Value, json};

use super::{create_pod, define_widgets, metadata};
use crate::support::{FaultProxy, OnServer, TestEnv};

/// The number of drawn queries.
const QUERIES: usize = 90;

/// An index, the path of its values in the objects, and some values.
type Indexed = (&'static str, &'static [&'static str], &'static [&'static str]);

const APP: Indexed = ("label:app", &["metadata", "labels", "app"], &["web", "api", "", "none"]);
const TIER: Indexed = ("label:k.io/tier", &["metadata", "labels", "k.io/tier"], &["a", "b-1", ""]);
const NAME: Indexed = ("name", &["metadata", "name"], &["x0", "x3", "x7", "none"]);

/// The types with the indices of their objects.
const TYPES: &[(&str, &[Indexed])] = &[
    (
        "pods",
        &[
            APP,
            TIER,
            NAME,
            ("node", &["spec", "nodeName"], &["n0", "n1", "", "none"]),
            ("field:spec.nodeName", &["spec", "nodeName"], &["n0", "n1"]),
            ("field:spec.hostNetwork", &["spec", "hostNetwork"], &["true", "false"]),
            ("field:spec.schedulerName", &["spec", "schedulerName"], &["default-scheduler", "other"]),
            ("field:spec.restartPolicy", &["spec", "restartPolicy"], &["Always", "Never"]),
            ("field:status.phase", &["status", "phase"], &["Pending", "Running", "Failed"]),
            ("field:status.podIP", &["status", "podIP"], &["10.0.0.1", "10.0.0.2"]),
            ("field:status.nominatedNodeName", &["status", "nominatedNodeName"], &["n1", "n2"]),
            ("field:status.message", &["status", "message"], &["a=b,c", "x"]),
        ],
    ),
    (
        "services",
        &[
            APP,
            NAME,
            ("field:spec.type", &["spec", "type"], &["ClusterIP", "NodePort", "ExternalName"]),
            ("field:spec.clusterIP", &["spec", "clusterIP"], &["None", "x"]),
        ],
    ),
    ("secrets", &[APP, NAME, ("field:type", &["type"], &["Opaque", "kdelta.test/a=b"])]),
    ("jobs", &[APP, NAME, ("field:status.succeeded", &["status", "succeeded"], &["0", "1", "2"])]),
    ("nodes", &[APP, ("field:spec.unschedulable", &["spec", "unschedulable"], &["true", "false"])]),
    (
        "widgets.drawn.kdelta.test",
        &[
            APP,
            NAME,
            ("field:spec.color", &["spec", "color"], &["red", "blue", "", "a,b=c\\d"]),
            ("field:spec.size", &["spec", "size"], &["0", "3", "12"]),
            ("field:spec.on", &["spec", "on"], &["true", "false"]),
            ("field:spec.note", &["spec", "note"], &["x", ""]),
        ],
    ),
];

/// Returns the text of a field that has one value or none.
fn value(object: &Value, path: &[&str]) -> Option<String> {
    match path.iter().fold(object, |at, name| &at[*name]) {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A drawn condition as it is typed, and as a model.
struct Drawn {
    text: String,
    path: &'static [&'static str],
    values: Vec<&'static str>,
    kind: u32,
}

impl Drawn {
    fn draw(random: &mut Rng, indices: &[Indexed]) -> Self {
        let (index, path, pool) = *random.choice(indices).expect("an index");
        let kind = random.u32(0..4);
        let count = random.usize(1..=2);
        let is_typed = |value: &&&str| count == 1 || !value.contains(',');
        let values: Vec<&str> =
            (0..count).filter_map(|_| random.choice(pool)).filter(is_typed).copied().collect();
        let typed = values.join(",");
        let text = match kind {
            0 => format!("{index}={typed}"),
            1 => format!("{index}!={typed}"),
            2 => index.to_owned(),
            _ => format!("!{index}"),
        };
        // A comma separates values.
        let values = values.iter().flat_map(|value| value.split(',')).collect();
        Self { text, path, values, kind }
    }

    fn matches(&self, object: &Value) -> bool {
        let found = value(object, self.path);
        let is_named = found.as_deref().is_some_and(|found| self.values.contains(&found));
        match self.kind {
            0 => is_named,
            1 => !is_named,
            2 => found.is_some(),
            _ => found.is_none(),
        }
    }
}

/// Creates objects of each type, with every mix of present, empty and absent fields. Returns the paths of the types.
fn create(on: &OnServer) -> Vec<(&'static str, String)> {
    let OnServer { api, namespace, .. } = on;
    let widgets = define_widgets(on, "drawn.kdelta.test");
    let core = format!("/api/v1/namespaces/{namespace}");
    let jobs = format!("/apis/batch/v1/namespaces/{namespace}/jobs");
    let apps = [json!("web"), json!("api"), json!(""), Value::Null];
    let tiers = [json!("a"), Value::Null, json!("b-1")];
    let present = |mut fields: Value| {
        fields.as_object_mut().expect("fields").retain(|_, value| !value.is_null());
        fields
    };
    for number in 0..12_usize {
        let name = format!("x{number}");
        let labels = || json!({"app": apps[number % 4], "k.io/tier": tiers[number % 3], "of": namespace});
        let spec = present(json!({
            "nodeName": ([json!("n0"), json!("n1"), Value::Null][number % 3]),
            "hostNetwork": ([json!(true), Value::Null][number % 2]),
            "schedulerName": ([json!("other"), Value::Null, Value::Null][number % 3]),
            "restartPolicy": (["Always", "Never"][number / 2 % 2]),
        }));
        let status = present(json!({
            "phase": (["Running", "Pending", "Failed"][number / 3 % 3]),
            "podIP": ([json!("10.0.0.1"), Value::Null][number / 2 % 2]),
            "nominatedNodeName": ([Value::Null, Value::Null, json!("n2")][number % 3]),
            "message": ([json!("x"), Value::Null][number % 2]),
        }));
        create_pod(api, namespace, &metadata(&name, labels()), &spec, &status);
        let service = present(json!({
            "type": (["ClusterIP", "NodePort", "ExternalName"][number % 3]),
            "clusterIP": ([json!("None"), Value::Null, Value::Null][number % 3]),
            "externalName": ([Value::Null, Value::Null, json!("a.example")][number % 3]),
            "ports": ([json!([{"port": 80}]), json!([{"port": 80}]), Value::Null][number % 3]),
        }));
        api.create(
            &format!("{core}/services"),
            &json!({"metadata": metadata(&name, labels()), "spec": service}),
        );
        let secret = json!({"metadata": metadata(&name, labels()), "type": (["Opaque", "kdelta.test/a=b"][number % 2])});
        api.create(&format!("{core}/secrets"), &secret);
        let template =
            json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
        api.create(&jobs, &json!({"metadata": metadata(&name, labels()), "spec": {"template": template}}));
        if number % 3 > 0 {
            let status = json!({"status": {"succeeded": number % 3, "startTime": "2026-01-01T00:00:00Z"}});
            api.patch(&format!("{jobs}/{name}/status"), &status);
        }
        let node = json!({"metadata": metadata(&format!("{namespace}-{name}"), labels()),
            "spec": present(json!({"unschedulable": ([json!(true), Value::Null][number % 2])}))});
        api.create("/api/v1/nodes", &node);
        let spec = present(json!({
            "color": ([json!("red"), json!(""), Value::Null, json!("a,b=c\\d")][number % 4]),
            "size": ([json!(3), json!(0), Value::Null][number % 3]),
            "on": ([json!(true), json!(false), Value::Null][number / 2 % 3]),
            "note": ([json!("x"), json!(""), Value::Null][number / 3 % 3]),
        }));
        let widget = json!({"apiVersion": "drawn.kdelta.test/v1", "kind": "Widget",
            "metadata": metadata(&name, labels()), "spec": spec});
        api.create(&widgets, &widget);
    }
    vec![
        ("pods", format!("{core}/pods")),
        ("services", format!("{core}/services")),
        ("secrets", format!("{core}/secrets")),
        ("jobs", jobs),
        ("nodes", "/api/v1/nodes".to_owned()),
        ("widgets.drawn.kdelta.test", widgets),
    ]
}

/// Returns the name in a printed object, whatever the format.
fn name(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn result_does_not_depend_on_the_division() {
    let seed = std::env::var("KDELTA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20);
    let mut random = Rng::with_seed(seed);
    let on = TestEnv::on_server();
    let paths = create(&on);
    let proxy = FaultProxy::before(on.testbed);
    proxy.allow_protobuf();
    let config = proxy.kubeconfig(&on.env, &on.namespace);
    let of = format!("of={}", on.namespace);
    let mut sent_selectors = 0;
    for number in 0..QUERIES {
        let (word, indices) = *random.choice(TYPES).expect("a type");
        let path = &paths.iter().find(|(of, _)| *of == word).expect(word).1;
        let list = on.api.get(&format!("{path}?labelSelector={of}"));
        let conditions: Vec<Drawn> =
            (0..random.usize(1..=3)).map(|_| Drawn::draw(&mut random, indices)).collect();
        let expected: BTreeSet<String> = list["items"]
            .as_array()
            .expect("items")
            .iter()
            .filter(|object| conditions.iter().all(|condition| condition.matches(object)))
            .map(|object| object["metadata"]["name"].as_str().expect("a name").to_owned())
            .collect();
        let mut words = match number % 4 {
            0 => vec!["get", word, "-o", "name", "-l", &of],
            1 => vec!["get", word, "--no-headers", "-l", &of],
            2 => vec!["watch", word, "-o", "name", "--until-synced", "-l", &of],
            _ => {
                vec!["get", word, "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}", "-l", &of]
            }
        };
        words.extend(conditions.iter().flat_map(|condition| ["--by", &condition.text]));
        proxy.take_requests();
        let done = on.env.kdelta(&words).env("KUBECONFIG", &config).finish();
        assert_eq!(done.code, 0, "seed {seed}: {words:?}: {}", done.stderr);
        let found: BTreeSet<String> = done.stdout.lines().map(name).collect();
        assert_eq!(found, expected, "seed {seed}: {words:?}");
        let collection = path.rsplit('/').next().unwrap_or_default();
        let requests = proxy.take_requests();
        let lists = requests.iter().filter(|target| {
            let (path, _) = target.split_once('?').unwrap_or((target, ""));
            path.ends_with(&format!("/{collection}"))
        });
        let lists: Vec<&String> = lists.collect();
        // A refused selector would be requested again without it.
        assert_eq!(lists.len(), 1, "seed {seed}: {words:?}: {lists:?}");
        sent_selectors += usize::from(lists[0].contains("fieldSelector"));
    }
    assert!(sent_selectors > QUERIES / 5, "{sent_selectors} queries had a field for the server");
}
