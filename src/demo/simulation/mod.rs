//! The simulation of a cluster: its controllers and nodes, and occasional disruptions.
//!
//! Everything is driven by the store: each change enqueues tasks for the controllers of the object, and tasks run in
//! the order of their times. Changes by clients are therefore handled as in a real cluster. Time is virtual: the driver
//! determines its speed, and equal seeds without changes by clients produce the same changes in the same order at the
//! same times.

mod cron;
mod disruptions;
mod housekeeping;
mod jobs;
mod nodes;
mod pods;
mod scaling;
mod schedule;
mod services;
mod sets;
mod volumes;
mod workloads;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::demo::clock::stamp;
use crate::demo::cluster::Cluster;
use crate::demo::kinds;
use crate::demo::objects::manifests::{self, Identity};
use crate::demo::store::{Edit, uuid};
use crate::server::source::{Change, CollectionRange, KindId, ObjectKey, StoredObject};
use schedule::{Task, TaskQueue};

/// The number of tasks that run before the simulation yields.
const TASKS_PER_TURN: usize = 64;

/// Resources whose deletion deletes dependents.
const OWNERS: [KindId; 7] = [
    kinds::REPLICA_SETS,
    kinds::DEPLOYMENTS,
    kinds::STATEFUL_SETS,
    kinds::DAEMON_SETS,
    kinds::JOBS,
    kinds::CRON_JOBS,
    kinds::SERVICES,
];

/// The number of changes read from the log at a time.
const CHANGES_PER_READ: usize = 256;

/// The number of events to keep; older ones are deleted.
const MAX_EVENTS: usize = 300;

/// The delay before a controller handles a change, so that several changes are handled at once.
const REACTION_DELAY: Duration = Duration::from_millis(50);

/// The controllers and nodes of the cluster.
pub(super) struct Simulation {
    cluster: Arc<Cluster>,
    rng: fastrand::Rng,
    speed: f64,
    tasks: TaskQueue,
    /// The virtual age of the cluster.
    now: Duration,
    /// The version up to which changes have been observed.
    observed_version: u64,
    events: VecDeque<ObjectKey>,
    /// The time of the last change of a pod in `default`.
    last_visible: Duration,
    /// A counter for numbered names.
    jobs_created: u64,
}

impl Simulation {
    /// Creates the simulation of a filled cluster, starting now.
    pub(super) fn new(cluster: Arc<Cluster>, rng: fastrand::Rng, speed: f64) -> Self {
        let observed_version = cluster.store.version();
        let mut simulation = Self {
            cluster,
            rng,
            speed,
            tasks: TaskQueue::default(),
            now: Duration::ZERO,
            observed_version,
            events: VecDeque::new(),
            last_visible: Duration::ZERO,
            jobs_created: 0,
        };
        simulation.begin();
        simulation
    }

    /// Runs at the configured speed until dropped. One task, owned by the demo, which aborts it.
    pub(super) async fn run(mut self) {
        let mut latest = self.cluster.store.subscribe();
        loop {
            // Marks the version as seen before it reads the changes: later changes wake the wait below.
            latest.borrow_and_update();
            let now = self.cluster.clock.elapsed().mul_f64(self.speed);
            if !self.advance(now, TASKS_PER_TURN) {
                tokio::task::yield_now().await;
                continue;
            }
            let next = self.tasks.next().unwrap_or(now + Duration::from_secs(1)).div_f64(self.speed);
            tokio::select! {
                () = self.cluster.clock.reaches(next) => {}
                changed = latest.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Runs tasks due by this time, at most `max_tasks` of them. Returns whether all of them ran.
    pub(super) fn advance(&mut self, to: Duration, max_tasks: usize) -> bool {
        for _ in 0..max_tasks {
            self.observe_changes();
            let Some((due, task)) = self.tasks.take(to) else {
                self.now = self.now.max(to);
                return true;
            };
            self.now = self.now.max(due);
            self.run_task(task);
        }
        false
    }

    fn run_task(&mut self, task: Task) {
        match task {
            Task::Pod(key) => self.advance_pod(&key),
            Task::ReplicaSet(key) => self.reconcile_replica_set(&key),
            Task::Deployment(key) => self.reconcile_deployment(&key),
            Task::Job(key) => self.reconcile_job(&key),
            Task::StatefulSet(key) => self.reconcile_stateful_set(&key),
            Task::DaemonSet(key) => self.reconcile_daemon_set(&key),
            Task::CronJob(key) => self.reconcile_cron_job(&key),
            Task::Autoscaler(key) => self.reconcile_autoscaler(&key),
            Task::Claim(key) => self.bind_claim(&key),
            Task::UpdateServices(namespace) => self.update_services(&namespace),
            Task::LoseNode => self.lose_node(),
            Task::Evict(node) => self.evict_pods(&node),
            Task::RecoverNode(node) => self.recover_node(&node),
            Task::Expired(key) => drop(self.cluster.store.remove(kinds::JOBS, &key.0, &key.1)),
            Task::Namespace(name) => self.empty_namespace(&name),
            Task::Orphans(namespace, uid) => self.delete_orphans(&namespace, &uid),
            Task::Backup(key) => self.advance_backup(&key),
            Task::Leases => self.renew_leases(),
            Task::Disrupt => self.disrupt(),
            Task::EnsureActivity => self.ensure_activity(),
            Task::Extra => self.change_extra(),
        }
    }

    /// Enqueues tasks for the changes since the last call.
    fn observe_changes(&mut self) {
        loop {
            let Ok((changes, to)) = self.cluster.store.all_changes(self.observed_version, CHANGES_PER_READ)
            else {
                return self.observe_all();
            };
            if to == self.observed_version {
                return;
            }
            self.observed_version = to;
            for change in &changes {
                self.observe(change);
            }
        }
    }

    /// Observes every object, because changes left the log before they were observed.
    fn observe_all(&mut self) {
        self.observed_version = self.cluster.store.version();
        for kind in [
            kinds::PODS,
            kinds::REPLICA_SETS,
            kinds::DEPLOYMENTS,
            kinds::STATEFUL_SETS,
            kinds::DAEMON_SETS,
            kinds::JOBS,
            kinds::CRON_JOBS,
            kinds::VOLUME_CLAIMS,
            kinds::NAMESPACES,
        ] {
            for item in self.cluster.store.now(&CollectionRange::all(kind, None)).items {
                self.observe(&Change { version: item.version, kind, old: None, new: item, deleted: false });
            }
        }
    }

    /// Enqueues the tasks that a change causes.
    fn observe(&mut self, change: &Change) {
        let (key, soon) = (change.new.key(), self.now + REACTION_DELAY);
        match change.kind {
            kinds::PODS => self.observe_pod(change),
            kinds::REPLICA_SETS => {
                self.tasks.add(soon, Task::ReplicaSet(key));
                self.enqueue_owner(&change.new);
            }
            kinds::DEPLOYMENTS => self.tasks.add(soon, Task::Deployment(key)),
            kinds::STATEFUL_SETS => self.tasks.add(soon, Task::StatefulSet(key)),
            kinds::DAEMON_SETS => self.tasks.add(soon, Task::DaemonSet(key)),
            kinds::JOBS => {
                self.tasks.add(soon, Task::Job(key));
                self.enqueue_owner(&change.new);
            }
            kinds::CRON_JOBS => self.tasks.add(soon, Task::CronJob(key)),
            kinds::AUTOSCALERS if change.old.is_none() => self.tasks.add(soon, Task::Autoscaler(key)),
            kinds::VOLUME_CLAIMS if change.deleted => self.delete_volume(&change.new.uid),
            kinds::VOLUME_CLAIMS => self.tasks.add(soon, Task::Claim(key)),
            kinds::SERVICES if change.deleted => {
                self.cluster.store.remove(kinds::ENDPOINTS, &key.0, &key.1);
            }
            kinds::SERVICES => self.tasks.add(soon, Task::UpdateServices(key.0)),
            kinds::DISRUPTION_BUDGETS if change.old.is_none() => {
                self.tasks.add(soon, Task::UpdateServices(key.0));
            }
            kinds::NODES if change.old.is_none() || change.deleted => self.observe_nodes(),
            kinds::NAMESPACES => self.observe_namespace(change),
            _ => {}
        }
        if change.deleted && OWNERS.contains(&change.kind) {
            let task = Task::Orphans(change.new.namespace.clone(), change.new.uid.clone());
            self.tasks.add(soon, task);
        }
    }

    /// Enqueues every `DaemonSet`, because the set of nodes changed.
    fn observe_nodes(&mut self) {
        for set in self.cluster.store.now(&CollectionRange::all(kinds::DAEMON_SETS, None)).items {
            self.tasks.add(self.now + REACTION_DELAY, Task::DaemonSet(set.key()));
        }
    }

    /// Fills a new namespace with its standard objects, or empties one that is being deleted.
    fn observe_namespace(&mut self, change: &Change) {
        let name = change.new.name.clone();
        if change.old.is_none() && !change.deleted {
            let (uid, created) = (uuid(&mut self.rng), self.stamp());
            let identity = Identity { namespace: &name, name: "default", uid: &uid, created: &created };
            self.create(kinds::SERVICE_ACCOUNTS, json!({"metadata": identity.metadata(Value::Null)}));
            let uid = uuid(&mut self.rng);
            let identity = Identity { name: "kube-root-ca.crt", uid: &uid, ..identity };
            self.create(kinds::CONFIG_MAPS, manifests::root_certificate(&identity));
        }
        self.tasks.add(self.now + REACTION_DELAY, Task::Namespace(name));
    }

    /// Enqueues a task for the owner of a changed object.
    fn enqueue_owner(&mut self, item: &StoredObject) {
        if item.owner.is_empty() {
            return;
        }
        let value = item.value();
        let owners = value["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        for owner in owners {
            let key = (item.namespace.clone(), owner["name"].as_str().unwrap_or_default().into());
            let task = match owner["kind"].as_str() {
                Some("Deployment") => Task::Deployment(key),
                Some("ReplicaSet") => Task::ReplicaSet(key),
                Some("Job") => Task::Job(key),
                Some("StatefulSet") => Task::StatefulSet(key),
                Some("DaemonSet") => Task::DaemonSet(key),
                Some("CronJob") => Task::CronJob(key),
                _ => continue,
            };
            self.tasks.add(self.now + REACTION_DELAY, task);
        }
    }

    /// Returns the current time as a timestamp of objects.
    fn stamp(&self) -> String {
        stamp(self.time())
    }

    fn time(&self) -> jiff::Timestamp {
        self.cluster.clock.at(self.now.div_f64(self.speed))
    }

    /// Returns a random time between `from` and `to` seconds from now.
    fn random_time(&mut self, from: f64, to: f64) -> Duration {
        self.now + Duration::from_secs_f64(from + (to - from) * self.rng.f64())
    }

    fn value(&self, kind: KindId, key: &ObjectKey) -> Option<Value> {
        self.cluster.store.get(kind, &key.0, &key.1).map(|stored| stored.value())
    }

    /// Changes an object. One that was deleted meanwhile is skipped: its deletion is in the log.
    fn edit(&self, kind: KindId, key: &ObjectKey, edit: impl FnOnce(&mut Value)) {
        let _missing = self.cluster.store.edit(kind, &key.0, &key.1, |value| {
            edit(value);
            Ok(Edit::Keep)
        });
    }

    /// Creates an object. An existing one with that name stays unchanged.
    fn create(&self, kind: KindId, object: Value) {
        let _exists = self.cluster.store.create(kind, object);
    }

    /// Records an Event about an object.
    fn record_event(&mut self, kind: &str, object: &Value, reason: &str, message: &str, component: &str) {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or("default").to_owned();
        let name = format!("{}.{:016x}", metadata["name"].as_str().unwrap_or_default(), self.rng.u64(..));
        let warns = ["BackOff", "Failed", "Unhealthy", "NodeNotReady"].contains(&reason);
        let api_version = match kind {
            "Pod" | "Node" | "PersistentVolumeClaim" => "v1",
            "Job" | "CronJob" => "batch/v1",
            "HorizontalPodAutoscaler" => "autoscaling/v2",
            _ => "apps/v1",
        };
        let time = self.stamp();
        let event = json!({
            "metadata": {
                "name": name, "namespace": namespace, "uid": uuid(&mut self.rng), "creationTimestamp": time,
            },
            "involvedObject": {
                "apiVersion": api_version, "kind": kind, "namespace": namespace, "name": metadata["name"],
                "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
            },
            "reason": reason, "message": message, "type": if warns { "Warning" } else { "Normal" }, "count": 1,
            "firstTimestamp": time, "lastTimestamp": time, "eventTime": null,
            "source": {"component": component}, "reportingComponent": component, "reportingInstance": "",
        });
        self.create(kinds::EVENTS, event);
        self.events.push_back((namespace.into(), name.into()));
        if self.events.len() > MAX_EVENTS
            && let Some((namespace, name)) = self.events.pop_front()
        {
            self.cluster.store.remove(kinds::EVENTS, &namespace, &name);
        }
    }

    /// Deletes the dependents of a deleted owner.
    fn delete_orphans(&mut self, namespace: &str, uid: &str) {
        for kind in kinds::DEPENDENTS {
            for item in self.cluster.store.owned(kind, namespace, uid) {
                self.delete(kind, &item.key());
            }
        }
    }

    /// Deletes an object as a client would, with its grace period.
    fn delete(&self, kind: KindId, key: &ObjectKey) {
        let (definition, now) = (self.cluster.store.kind(kind), self.time());
        let _missing = self.cluster.store.edit(kind, &key.0, &key.1, |value| {
            let is_pending = super::write::begin_deletion(value, &definition, None, now);
            Ok(if is_pending { Edit::Keep } else { Edit::Remove })
        });
    }
}

#[cfg(test)]
mod tests;
