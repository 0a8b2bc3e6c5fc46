//! Random changes that keep the simulated cluster busy: crashes, rollouts, scaling, jobs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Simulation;
use super::schedule::Task;
use crate::demo::fixtures::APPLICATIONS;
use crate::demo::kinds;
use crate::demo::objects::manifests::{self, Identity, REGISTRY};
use crate::demo::objects::pod_stages::{self, Stage};
use crate::demo::store::uuid;
use crate::server::source::{Change, CollectionRange, ObjectKey};

/// The time without a visible change after which a pod of `default` is changed. Together with the interval of the check, it
/// is less than a second.
const MAX_QUIET: Duration = Duration::from_millis(600);

/// The interval of the check for visible changes.
const QUIET_CHECK_INTERVAL: Duration = Duration::from_millis(300);

impl Simulation {
    /// Schedules the first tasks.
    pub(super) fn begin(&mut self) {
        self.tasks.set(Duration::from_secs(1), Task::Leases);
        self.tasks.set(Duration::from_millis(500), Task::Disrupt);
        self.tasks.set(QUIET_CHECK_INTERVAL, Task::EnsureActivity);
        self.tasks.set(Duration::from_secs(1), Task::Extra);
        self.tasks.set(Duration::from_mins(1), Task::LoseNode);
        self.start_controllers();
        let backups = self.cluster.store.id("demo.kdelta.dev", "backups");
        let backups = backups.map(|id| self.cluster.store.now(&CollectionRange::all(id, None)).items);
        for backup in backups.into_iter().flatten() {
            let at = self.random_time(1.0, 15.0);
            self.tasks.set(at, Task::Backup(backup.key()));
        }
    }

    /// Schedules the work that the controllers find at the start: sets without pods, pods that are not ready, services
    /// without endpoints.
    fn start_controllers(&mut self) {
        let cluster = Arc::clone(&self.cluster);
        let all = |kind| cluster.store.now(&CollectionRange::all(kind, None)).items;
        let soon = Duration::from_millis(100);
        for (kind, task) in [
            (kinds::STATEFUL_SETS, Task::StatefulSet as fn(ObjectKey) -> Task),
            (kinds::DAEMON_SETS, Task::DaemonSet),
            (kinds::CRON_JOBS, Task::CronJob),
            (kinds::AUTOSCALERS, Task::Autoscaler),
            (kinds::VOLUME_CLAIMS, Task::Claim),
        ] {
            for item in all(kind) {
                self.tasks.set(soon, task(item.key()));
            }
        }
        for service in all(kinds::SERVICES) {
            self.tasks.add(soon, Task::UpdateServices(service.namespace.clone()));
        }
        for pod in cluster.store.now(&CollectionRange::all(kinds::PODS, Some("default"))).items {
            if Stage::of(&pod.value()) != Stage::Ready {
                self.observe_pod(&Change {
                    version: pod.version,
                    kind: kinds::PODS,
                    old: None,
                    new: pod,
                    deleted: false,
                });
            }
        }
    }

    /// Causes one disruption, and schedules the next.
    pub(super) fn disrupt(&mut self) {
        // The first disruption is a rollout: it shows the most.
        let first = self.now < Duration::from_secs(1);
        match self.rng.u8(..100) {
            _ if first => self.roll_out(),
            0..40 => self.crash(),
            40..70 => self.roll_out(),
            70..85 => self.resize(),
            _ => self.start_job(),
        }
        let next = self.random_time(2.5, 5.0);
        self.tasks.set(next, Task::Disrupt);
    }

    /// Makes a pod unready for a moment if nothing else has changed visibly for a while.
    pub(super) fn ensure_activity(&mut self) {
        if self.now >= self.last_visible + MAX_QUIET
            && let Some(key) = self.ready_pod("default")
        {
            self.flicker(&key);
        }
        self.tasks.set(self.now + QUIET_CHECK_INTERVAL, Task::EnsureActivity);
    }

    /// Makes one of the extra pods, which are in namespaces such as `load-00`, unready for a moment. Does nothing without
    /// extra pods.
    pub(super) fn change_extra(&mut self) {
        let namespaces = self.cluster.store.now(&CollectionRange::all(kinds::NAMESPACES, None)).items;
        let load_namespaces: Vec<_> =
            namespaces.iter().filter(|namespace| namespace.name.starts_with("load-")).collect();
        if !load_namespaces.is_empty() {
            let namespace = &load_namespaces[self.rng.usize(..load_namespaces.len())].name;
            if let Some(key) = self.ready_pod(namespace) {
                self.flicker(&key);
            }
            self.tasks.set(self.now + Duration::from_secs(1), Task::Extra);
        }
    }

    /// Makes a pod unready; the next step makes it ready again.
    fn flicker(&mut self, key: &ObjectKey) {
        let time = self.stamp();
        self.edit(kinds::PODS, key, |pod| pod_stages::set_ready(pod, false, &time));
        if let Some(pod) = self.value(kinds::PODS, key) {
            let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
            self.record_event("Pod", &pod, "Unhealthy", message, "kubelet");
        }
    }

    /// Returns the key of a random pod in a namespace: one that is ready and does not belong to a job, if a few tries find
    /// one.
    pub(super) fn ready_pod(&mut self, namespace: &str) -> Option<ObjectKey> {
        let pods = self.cluster.store.now(&CollectionRange::all(kinds::PODS, Some(namespace))).items;
        // A few random tries suffice: most pods are ready, and parsing all of them would be expensive.
        for _ in 0..20 {
            let pod = pods.get(self.rng.usize(..pods.len().max(1)))?;
            let value = pod.value();
            let belongs_to_job = value["metadata"]["labels"].get("job-name").is_some();
            if Stage::of(&value) == Stage::Ready && !belongs_to_job {
                return Some(pod.key());
            }
        }
        None
    }

    /// Crashes a pod of `default`.
    fn crash(&mut self) {
        let Some(key) = self.ready_pod("default") else { return };
        let (exit_code, time) = (if self.rng.bool() { 1 } else { 137 }, self.stamp());
        self.edit(kinds::PODS, &key, |pod| pod_stages::crash(pod, exit_code, &time));
    }

    /// Returns the key of a random application of the demo. The user may have deleted it.
    fn application(&mut self) -> ObjectKey {
        let all: Vec<_> = APPLICATIONS.iter().filter(|(namespace, ..)| *namespace != "kube-system").collect();
        // Most disruptions happen in `default`, where users look first.
        let default: Vec<_> = all.iter().filter(|(namespace, ..)| *namespace == "default").collect();
        let (namespace, name, _) = if self.now < Duration::from_secs(1) || self.rng.u8(..100) < 80 {
            **default[self.rng.usize(..default.len())]
        } else {
            *all[self.rng.usize(..all.len())]
        };
        (namespace.into(), name.into())
    }

    /// Rolls out a new version of an application.
    fn roll_out(&mut self) {
        let key = self.application();
        self.edit(kinds::DEPLOYMENTS, &key, |deployment| {
            let image = &mut deployment["spec"]["template"]["spec"]["containers"][0]["image"];
            let next = image.as_str().and_then(|image| {
                let (name, patch) = image.rsplit_once('.')?;
                Some(format!("{name}.{}", patch.parse::<u64>().ok()? + 1))
            });
            if let Some(next) = next {
                *image = next.into();
                increment_generation(deployment);
            }
        });
    }

    /// Scales an application to its usual number of replicas, or to one or two more.
    fn resize(&mut self) {
        let key = self.application();
        let usual =
            APPLICATIONS.iter().find(|(namespace, name, _)| *key.0 == **namespace && *key.1 == **name);
        let Some((_, _, usual)) = usual else { return };
        let extra = self.rng.u64(..3);
        self.edit(kinds::DEPLOYMENTS, &key, |deployment| {
            if deployment["spec"]["replicas"] != usual + extra {
                deployment["spec"]["replicas"] = (usual + extra).into();
                increment_generation(deployment);
            }
        });
    }

    /// Creates a job.
    pub(super) fn start_job(&mut self) {
        self.jobs_created += 1;
        let name = format!("report-{}", self.jobs_created);
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace: "default", name: &name, uid: &uid, created: &created };
        let (completions, parallelism) = (self.rng.u64(2..5), self.rng.u64(1..3));
        let image = format!("{REGISTRY}/report:2.1");
        self.create(kinds::JOBS, manifests::job(&identity, completions, parallelism, &image));
    }
}

/// Increments the generation of an object.
pub(super) fn increment_generation(object: &mut Value) {
    let generation = object["metadata"]["generation"].as_u64().unwrap_or(0) + 1;
    object["metadata"]["generation"] = generation.into();
}
