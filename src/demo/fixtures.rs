//! The cluster as the server finds it when it starts: everything settled, nothing in motion yet.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::bodies::{self, Birth, REGISTRY};
use super::cluster::{Cluster, micro_stamp, stamp};
use super::furniture;
use super::kinds::{self, Kind};
use super::life::stages;
use super::store::{Edit, KindId, Part, suffix, uuid};
use super::stored::{Stored, head};

/// namespace, name, replicas.
pub(super) const APPLICATIONS: [(&str, &str, u64); 13] = [
    ("default", "web", 4),
    ("default", "api", 4),
    ("default", "auth", 3),
    ("default", "cart", 3),
    ("default", "search", 3),
    ("default", "mailer", 2),
    ("default", "images", 2),
    ("default", "cache", 2),
    ("shop", "checkout", 3),
    ("shop", "payments", 2),
    ("monitoring", "prometheus", 1),
    ("monitoring", "grafana", 1),
    ("kube-system", "coredns", 2),
];

const NAMESPACES: [&str; 6] =
    ["default", "kube-node-lease", "kube-public", "kube-system", "monitoring", "shop"];
pub(super) const WORKERS: u64 = 4;
const DATABASES: [&str; 3] = ["orders", "users", "products"];

/// Pods of one workload, and of one namespace, among the extra ones.
const PODS_OF_WORKLOAD: usize = 50;
const PODS_OF_NAMESPACE: usize = 2_000;

/// Fills the store. Equal seeds give equal objects, but for their times.
pub(super) fn fill(cluster: &Cluster, seed: u64, objects: usize) {
    let mut builder = Builder { cluster, rng: fastrand::Rng::with_seed(seed), start: cluster.clock.now() };
    for namespace in NAMESPACES {
        builder.namespace(namespace);
    }
    builder.nodes();
    for (number, (namespace, name, replicas)) in (0..).zip(APPLICATIONS) {
        let image = format!("{REGISTRY}/{name}:1.0.0");
        builder.application(namespace, name, replicas, &bodies::template(name, &image));
        builder.surroundings(namespace, name, number);
    }
    for (id, namespace, name, body) in furniture::pieces() {
        builder.born(id, namespace, name, |birth| whole(birth, body));
    }
    builder.unsettle();
    builder.backups();
    builder.extra(objects);
}

/// An object with what every object has.
fn whole(birth: &Birth<'_>, mut body: Value) -> Value {
    let mut metadata = birth.metadata(body["metadata"]["labels"].clone());
    for key in ["annotations", "generation"] {
        if !body["metadata"][key].is_null() {
            metadata[key] = body["metadata"][key].take();
        }
    }
    body["metadata"] = metadata;
    body
}

struct Builder<'a> {
    cluster: &'a Cluster,
    rng: fastrand::Rng,
    start: Timestamp,
}

impl Builder<'_> {
    /// A time before the start.
    fn ago(&self, ago: Duration) -> String {
        let ago = SignedDuration::try_from(ago).unwrap_or_default();
        stamp(self.start.checked_sub(ago).unwrap_or(self.start))
    }

    /// Some time between these numbers of hours before the start.
    fn hours_ago(&mut self, from: u64, to: u64) -> String {
        let seconds = self.rng.u64(from * 3600..to * 3600);
        self.ago(Duration::from_secs(seconds))
    }

    fn store(&self, id: KindId, object: Value) {
        let kind = self.cluster.store.kind(id);
        let mut object = Some(object);
        self.cluster.store.load(id, |version| Some(Stored::new(&kind, object.take()?, version)));
    }

    fn born(&mut self, id: KindId, namespace: &str, name: &str, make: impl FnOnce(&Birth<'_>) -> Value) {
        let (uid, created) = (uuid(&mut self.rng), self.hours_ago(240, 2_400));
        self.store(id, make(&Birth { namespace, name, uid: &uid, created: &created }));
    }

    fn namespace(&mut self, name: &str) {
        self.born(kinds::NAMESPACES, "", name, bodies::namespace);
        self.born(
            kinds::SERVICE_ACCOUNTS,
            name,
            "default",
            |birth| json!({"metadata": birth.metadata(Value::Null)}),
        );
        self.born(kinds::CONFIG_MAPS, name, "kube-root-ca.crt", bodies::root_certificate);
    }

    /// Some pods are found in trouble, as in any cluster.
    fn unsettle(&mut self) {
        let ago = self.ago(Duration::from_secs(40));
        let crashed = |pod: &mut Value| {
            for _ in 0..12 {
                stages::crash(pod, 1, &ago);
                stages::back_off(pod);
                stages::restart(pod, &ago);
            }
            stages::crash(pod, 1, &ago);
            stages::back_off(pod);
        };
        let unpulled = |pod: &mut Value| {
            pod["status"]["phase"] = "Pending".into();
            stages::create_containers(pod, "192.168.7.11", &ago);
            stages::back_off_pull(pod);
        };
        let starting = |pod: &mut Value| stages::set_ready(pod, false, &ago);
        for (app, change) in
            [("search", &crashed as &dyn Fn(&mut Value)), ("images", &unpulled), ("cart", &starting)]
        {
            let pods = self.cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
            let Some(pod) = pods.iter().find(|pod| pod.name.starts_with(app)) else { continue };
            // It was found there a moment ago, and nobody else has the store yet.
            let _there = self.cluster.store.edit(kinds::PODS, &pod.namespace, &pod.name, |pod| {
                change(pod);
                Ok(Edit::Keep)
            });
        }
    }

    fn nodes(&mut self) {
        self.born(kinds::NODES, "", "control-1", |birth| bodies::node(birth, "control-plane", 0));
        for number in 1..=WORKERS {
            self.born(kinds::NODES, "", &node_name(number), |birth| bodies::node(birth, "", number));
        }
        let renewed = micro_stamp(self.start);
        for name in std::iter::once("control-1".to_owned()).chain((1..=WORKERS).map(node_name)) {
            self.born(kinds::LEASES, "kube-node-lease", &name, |birth| bodies::lease(birth, &renewed));
        }
    }

    /// A deployment that has rolled out, with its `ReplicaSet` and its pods.
    fn application(&mut self, namespace: &str, name: &str, replicas: u64, template: &Value) {
        let (uid, created) = (uuid(&mut self.rng), self.hours_ago(48, 480));
        let birth = Birth { namespace, name, uid: &uid, created: &created };
        let mut deployment = bodies::deployment(&birth, replicas, template);
        let (rs_name, rs_uid) = (format!("{name}-{}", bodies::template_hash(template)), uuid(&mut self.rng));
        let birth = Birth { name: &rs_name, uid: &rs_uid, ..birth };
        let mut replica_set = bodies::replica_set(&birth, &deployment, replicas, 1);
        replica_set["status"] = json!({
            "replicas": replicas, "fullyLabeledReplicas": replicas, "readyReplicas": replicas,
            "availableReplicas": replicas, "observedGeneration": 1,
        });
        deployment["status"] = json!({
            "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas,
            "availableReplicas": replicas, "observedGeneration": 1,
        });
        stages::available(&mut deployment, true, &created);
        stages::progressing(&mut deployment, true, &rs_name, &created);
        self.store(kinds::DEPLOYMENTS, deployment);
        self.pods(&replica_set, usize::try_from(replicas).unwrap_or_default());
        self.store(kinds::REPLICA_SETS, replica_set);
    }

    /// The running pods of a `ReplicaSet`. They differ in a few texts only, so that one is written, and its text filled
    /// in for each: of a hundred thousand this is most of the time that the server takes to start.
    fn pods(&mut self, replica_set: &Value, count: usize) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &replica_set["metadata"];
        let (namespace, owner, rs_name) =
            (text(&metadata["namespace"]), text(&metadata["uid"]), text(&metadata["name"]));
        let created = self.hours_ago(2, 40);
        let birth = Birth { namespace: &namespace, name: "@name@", uid: "@uid@", created: &created };
        let owners = bodies::owners("apps/v1", "ReplicaSet", replica_set);
        let mut pod = bodies::pod(&birth, &replica_set["spec"]["template"], owners);
        stages::schedule(&mut pod, "@node@", &created);
        stages::create_containers(&mut pod, "@host@", &created);
        stages::start(&mut pod, "@address@", &created);
        stages::set_ready(&mut pod, true, &created);
        let kind = self.cluster.store.kind(kinds::PODS);
        let written = String::from_utf8_lossy(&Stored::new(&kind, pod, u64::MAX).json).into_owned();
        let pieces = Pieces::of(&written.replace(&u64::MAX.to_string(), "@version@"));
        let head = head(&kind).len();
        let mut left = count;
        self.cluster.store.load(kinds::PODS, |version| {
            left = left.checked_sub(1)?;
            let (name, uid) = (format!("{rs_name}-{}", suffix(&mut self.rng)), uuid(&mut self.rng));
            let node = self.rng.u64(1..=WORKERS);
            let ip = address(node, &mut self.rng);
            let json = pieces.with(|mark| match mark {
                "name" => name.clone(),
                "uid" => uid.clone(),
                "node" => node_name(node),
                "host" => format!("192.168.7.{}", node + 10),
                "address" => ip.clone(),
                _ => version.to_string(),
            });
            Some(Stored::of_text([&namespace, &name, &uid], &owner, version, json, head))
        });
    }

    /// What an application has beside its pods.
    fn surroundings(&mut self, namespace: &str, name: &str, number: u64) {
        self.born(kinds::SERVICES, namespace, name, |birth| bodies::service(birth, number));
        let labels = json!({"app": name});
        self.born(kinds::CONFIG_MAPS, namespace, &format!("{name}-config"), |birth| {
            let data = json!({"log.level": "info", "upstream": format!("http://{name}:80")});
            json!({"metadata": birth.metadata(labels.clone()), "data": data})
        });
        self.born(kinds::SECRETS, namespace, &format!("{name}-token"), |birth| {
            json!({"metadata": birth.metadata(labels), "type": "Opaque", "data": {"token": "ZGVtbw=="}})
        });
    }

    fn backups(&mut self) {
        self.born(kinds::DEFINITIONS, "", "backups.demo.kdelta.dev", bodies::backups);
        let definition = self.cluster.store.get(kinds::DEFINITIONS, "", "backups.demo.kdelta.dev");
        let Some(kind) = definition.and_then(|stored| Kind::of_definition(&stored.value())) else { return };
        self.cluster.store.define(kind);
        let Some(id) = self.cluster.store.id("demo.kdelta.dev", "backups") else { return };
        for database in DATABASES {
            self.born(id, "default", database, |birth| {
                let mut metadata = birth.metadata(json!({"database": database}));
                metadata["generation"] = 1.into();
                let status = json!({"phase": "Completed", "progress": 100});
                json!({"metadata": metadata, "spec": {"database": database, "schedule": "@hourly"}, "status": status})
            });
        }
    }

    /// So many pods more, in namespaces of their own.
    fn extra(&mut self, objects: usize) {
        let mut left = objects;
        let mut workload = 0;
        while left > 0 {
            let namespace = format!("load-{:02}", workload / (PODS_OF_NAMESPACE / PODS_OF_WORKLOAD));
            if self.cluster.store.get(kinds::NAMESPACES, "", &namespace).is_none() {
                self.namespace(&namespace);
            }
            let name = format!("{}-{workload:04}", ["web", "api", "worker"][workload % 3]);
            let count = left.min(PODS_OF_WORKLOAD);
            let template = bodies::template(&name, &format!("{REGISTRY}/load:{}", workload % 7));
            self.application(&namespace, &name, u64::try_from(count).unwrap_or_default(), &template);
            left -= count;
            workload += 1;
        }
    }
}

/// A text with marks in it.
struct Pieces(Vec<Arc<str>>);

impl Pieces {
    fn of(text: &str) -> Self {
        Self(text.split('@').map(Arc::from).collect())
    }

    /// The text, with what `value` says in place of each mark. Every second piece is one.
    fn with(&self, mut value: impl FnMut(&str) -> String) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.0.iter().map(|piece| piece.len()).sum::<usize>() + 128);
        for (at, piece) in self.0.iter().enumerate() {
            if at % 2 == 0 {
                out.extend_from_slice(piece.as_bytes());
            } else {
                out.extend_from_slice(value(piece).as_bytes());
            }
        }
        out.shrink_to_fit();
        out
    }
}

pub(super) fn node_name(number: u64) -> String {
    format!("worker-{number}")
}

/// An address in the range of a node's pods.
pub(super) fn address(node: u64, rng: &mut fastrand::Rng) -> String {
    format!("10.244.{node}.{}", rng.u8(2..250))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::cluster::Clock;
    use crate::demo::store::Store;

    fn filled(objects: usize) -> Cluster {
        let clock = Clock::new(Timestamp::UNIX_EPOCH);
        let cluster = Cluster::new(Store::new(1, 1), clock, String::new());
        fill(&cluster, 1, objects);
        cluster
    }

    #[tokio::test(start_paused = true)]
    async fn default_holds_twenty_pods_that_somebody_owns_and_most_of_them_run() {
        let cluster = filled(0);
        let pods = cluster.store.now(&Part::all(kinds::PODS, Some("default"))).items;
        assert!(pods.len() >= 20, "{}", pods.len());
        let stages: Vec<_> = pods.iter().map(|pod| stages::Stage::of(&pod.value())).collect();
        let not_ready: Vec<_> = stages.iter().filter(|stage| **stage != stages::Stage::Ready).collect();
        let wanted = [stages::Stage::Starting, stages::Stage::PullBackOff, stages::Stage::BackingOff];
        assert!(not_ready.len() == 3 && wanted.iter().all(|stage| stages.contains(stage)), "{not_ready:?}");
        for pod in pods {
            let value = pod.value();
            assert_eq!(value["metadata"]["resourceVersion"], pod.version.to_string());
            assert_eq!(value["metadata"]["name"], *pod.name);
            let rs = cluster.store.now(&Part::all(kinds::REPLICA_SETS, Some("default")));
            assert!(rs.items.iter().any(|rs| rs.uid == pod.owner), "{value}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn extra_pods_are_as_many_as_asked_for_each_under_its_own_name() {
        let plain = filled(0).store.now(&Part::all(kinds::PODS, None)).items.len();
        for objects in [1, 4_123] {
            let pods = filled(objects).store.now(&Part::all(kinds::PODS, None)).items.len();
            assert_eq!(pods, plain + objects);
        }
    }
}
