//! The life of the cluster: what its controllers and nodes would do, and now and then something that disturbs them.
//!
//! Everything is driven by what the store holds: a change puts whoever has to look at the object into an agenda, and the
//! agenda is worked through in the order of its times. So a client's change is answered as a cluster would answer it.
//! The time of the agenda is virtual: how fast it goes is the driver's business, and with equal seeds and nobody
//! interfering the same changes come in the same order at the same times.

mod agenda;
mod cron;
mod disturb;
mod jobs;
mod nodes;
mod pods;
mod scaling;
mod services;
mod sets;
mod small;
pub(super) mod stages;
mod volumes;
mod workloads;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use serde_json::{Value, json};

use super::bodies::{self, Birth};
use super::cluster::{Cluster, stamp};
use super::kinds;
use super::store::{Change, Edit, KindId, Part, uuid};
use super::stored::{Place, Stored};
use agenda::{Agenda, Work};

/// Pieces of work done before others get a turn.
const AT_A_TIME: usize = 64;

/// What may own something that goes with it.
const OWNERS: [KindId; 7] = [
    kinds::REPLICA_SETS,
    kinds::DEPLOYMENTS,
    kinds::STATEFUL_SETS,
    kinds::DAEMON_SETS,
    kinds::JOBS,
    kinds::CRON_JOBS,
    kinds::SERVICES,
];

/// Changes read from the log at a time.
const CHANGES: usize = 256;

/// Events that are kept; the oldest goes when there are more.
const EVENTS: usize = 300;

/// A controller looks at what changed after this long, so that several changes are one look.
const SOON: Duration = Duration::from_millis(50);

/// Everybody who acts in the cluster by himself.
pub(super) struct Life {
    cluster: Arc<Cluster>,
    rng: fastrand::Rng,
    speed: f64,
    agenda: Agenda,
    /// Virtual: how long the cluster has lived.
    now: Duration,
    /// Changes up to this version have been seen.
    seen: u64,
    events: VecDeque<Place>,
    /// When a pod of `default` last changed.
    last_visible: Duration,
    /// Counts what is given numbered names.
    made: u64,
}

impl Life {
    /// The life of a cluster that is filled, from now on.
    pub(super) fn new(cluster: Arc<Cluster>, rng: fastrand::Rng, speed: f64) -> Self {
        let seen = cluster.store.version();
        let mut life = Self {
            cluster,
            rng,
            speed,
            agenda: Agenda::default(),
            now: Duration::ZERO,
            seen,
            events: VecDeque::new(),
            last_visible: Duration::ZERO,
            made: 0,
        };
        life.begin();
        life
    }

    /// Lives as fast as it is meant to, until it is dropped. One task, owned by the demo, which aborts it.
    pub(super) async fn run(mut self) {
        let mut latest = self.cluster.store.subscribe();
        loop {
            // Marked as seen before anything is looked at: what comes after that wakes the wait below.
            latest.borrow_and_update();
            let now = self.cluster.clock.elapsed().mul_f64(self.speed);
            if !self.advance(now, AT_A_TIME) {
                tokio::task::yield_now().await;
                continue;
            }
            let next = self.agenda.next().unwrap_or(now + Duration::from_secs(1)).div_f64(self.speed);
            tokio::select! {
                () = self.cluster.clock.reaches(next) => {}
                changed = latest.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Does what is due until then, at most so many pieces of it; answers whether that was all.
    pub(super) fn advance(&mut self, to: Duration, most: usize) -> bool {
        for _ in 0..most {
            self.look();
            let Some((due, work)) = self.agenda.take(to) else {
                self.now = self.now.max(to);
                return true;
            };
            self.now = self.now.max(due);
            self.work(work);
        }
        false
    }

    fn work(&mut self, work: Work) {
        match work {
            Work::Pod(place) => self.pod(&place),
            Work::ReplicaSet(place) => self.replica_set(&place),
            Work::Deployment(place) => self.deployment(&place),
            Work::Job(place) => self.job(&place),
            Work::StatefulSet(place) => self.stateful_set(&place),
            Work::DaemonSet(place) => self.daemon_set(&place),
            Work::CronJob(place) => self.cron_job(&place),
            Work::Autoscaler(place) => self.autoscaler(&place),
            Work::Claim(place) => self.claim(&place),
            Work::Followers(namespace) => self.followers(&namespace),
            Work::LoseNode => self.lose_node(),
            Work::Evict(node) => self.evict_pods(&node),
            Work::NodeReturns(node) => self.node_returns(&node),
            Work::Expired(place) => drop(self.cluster.store.remove(kinds::JOBS, &place.0, &place.1)),
            Work::Namespace(name) => self.namespace(&name),
            Work::Orphans(namespace, uid) => self.orphans(&namespace, &uid),
            Work::Backup(place) => self.backup(&place),
            Work::Leases => self.leases(),
            Work::Disturb => self.disturb(),
            Work::Pulse => self.pulse(),
            Work::Extra => self.extra(),
        }
    }

    /// Puts what changed into the agenda of those whom it concerns.
    fn look(&mut self) {
        loop {
            let Ok((changes, to)) = self.cluster.store.all_changes(self.seen, CHANGES) else {
                return self.look_at_everything();
            };
            if to == self.seen {
                return;
            }
            self.seen = to;
            for change in &changes {
                self.see(change);
            }
        }
    }

    /// What has left the log before it was seen is found by looking at every object.
    fn look_at_everything(&mut self) {
        self.seen = self.cluster.store.version();
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
            for item in self.cluster.store.now(&Part::all(kind, None)).items {
                self.see(&Change {
                    version: item.version,
                    kind,
                    old: None,
                    new: item,
                    deleted: false,
                    at: Instant::now(),
                });
            }
        }
    }

    fn see(&mut self, change: &Change) {
        let (place, soon) = (change.new.place(), self.now + SOON);
        match change.kind {
            kinds::PODS => self.see_pod(change),
            kinds::REPLICA_SETS => {
                self.agenda.add(soon, Work::ReplicaSet(place));
                self.tell_owner(&change.new);
            }
            kinds::DEPLOYMENTS => self.agenda.add(soon, Work::Deployment(place)),
            kinds::STATEFUL_SETS => self.agenda.add(soon, Work::StatefulSet(place)),
            kinds::DAEMON_SETS => self.agenda.add(soon, Work::DaemonSet(place)),
            kinds::JOBS => {
                self.agenda.add(soon, Work::Job(place));
                self.tell_owner(&change.new);
            }
            kinds::CRON_JOBS => self.agenda.add(soon, Work::CronJob(place)),
            kinds::AUTOSCALERS if change.old.is_none() => self.agenda.add(soon, Work::Autoscaler(place)),
            kinds::VOLUME_CLAIMS if change.deleted => self.release(&change.new.uid),
            kinds::VOLUME_CLAIMS => self.agenda.add(soon, Work::Claim(place)),
            kinds::SERVICES if change.deleted => {
                self.cluster.store.remove(kinds::ENDPOINTS, &place.0, &place.1);
            }
            kinds::SERVICES => self.agenda.add(soon, Work::Followers(place.0)),
            kinds::DISRUPTION_BUDGETS if change.old.is_none() => {
                self.agenda.add(soon, Work::Followers(place.0));
            }
            kinds::NODES if change.old.is_none() || change.deleted => self.see_nodes(),
            kinds::NAMESPACES => self.see_namespace(change),
            _ => {}
        }
        if change.deleted && OWNERS.contains(&change.kind) {
            let work = Work::Orphans(change.new.namespace.clone(), change.new.uid.clone());
            self.agenda.add(soon, work);
        }
    }

    /// There are more nodes or fewer, which concerns what runs on each.
    fn see_nodes(&mut self) {
        for set in self.cluster.store.now(&Part::all(kinds::DAEMON_SETS, None)).items {
            self.agenda.add(self.now + SOON, Work::DaemonSet(set.place()));
        }
    }

    /// A new namespace gets what every namespace has; one that is to go is emptied.
    fn see_namespace(&mut self, change: &Change) {
        let name = change.new.name.clone();
        if change.old.is_none() && !change.deleted {
            let (uid, created) = (uuid(&mut self.rng), self.stamp());
            let birth = Birth { namespace: &name, name: "default", uid: &uid, created: &created };
            self.create(kinds::SERVICE_ACCOUNTS, json!({"metadata": birth.metadata(Value::Null)}));
            let uid = uuid(&mut self.rng);
            let birth = Birth { name: "kube-root-ca.crt", uid: &uid, ..birth };
            self.create(kinds::CONFIG_MAPS, bodies::root_certificate(&birth));
        }
        self.agenda.add(self.now + SOON, Work::Namespace(name));
    }

    /// The owner of what changed has to look at it.
    fn tell_owner(&mut self, item: &Stored) {
        if item.owner.is_empty() {
            return;
        }
        let value = item.value();
        let owners = value["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        for owner in owners {
            let place = (item.namespace.clone(), owner["name"].as_str().unwrap_or_default().into());
            let work = match owner["kind"].as_str() {
                Some("Deployment") => Work::Deployment(place),
                Some("ReplicaSet") => Work::ReplicaSet(place),
                Some("Job") => Work::Job(place),
                Some("StatefulSet") => Work::StatefulSet(place),
                Some("DaemonSet") => Work::DaemonSet(place),
                Some("CronJob") => Work::CronJob(place),
                _ => continue,
            };
            self.agenda.add(self.now + SOON, work);
        }
    }

    /// The time in the cluster, as objects carry it.
    fn stamp(&self) -> String {
        stamp(self.time())
    }

    fn time(&self) -> jiff::Timestamp {
        self.cluster.clock.at(self.now.div_f64(self.speed))
    }

    /// A time to come: so many seconds from now, and up to so many more.
    fn within(&mut self, from: f64, to: f64) -> Duration {
        self.now + Duration::from_secs_f64(from + (to - from) * self.rng.f64())
    }

    fn value(&self, kind: KindId, place: &Place) -> Option<Value> {
        self.cluster.store.get(kind, &place.0, &place.1).map(|stored| stored.value())
    }

    /// Changes an object. One that is gone meanwhile is not missed: its deletion is in the log.
    fn edit(&self, kind: KindId, place: &Place, edit: impl FnOnce(&mut Value)) {
        let _gone = self.cluster.store.edit(kind, &place.0, &place.1, |value| {
            edit(value);
            Ok(Edit::Keep)
        });
    }

    /// Creates an object; one of the same name stays as it is, and its change is looked at as any other.
    fn create(&self, kind: KindId, object: Value) {
        let _there = self.cluster.store.create(kind, object);
    }

    /// Says something of an object, as an Event.
    fn event(&mut self, kind: &str, object: &Value, reason: &str, message: &str, component: &str) {
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
        if self.events.len() > EVENTS
            && let Some((namespace, name)) = self.events.pop_front()
        {
            self.cluster.store.remove(kinds::EVENTS, &namespace, &name);
        }
    }

    /// What a vanished owner leaves behind goes too.
    fn orphans(&mut self, namespace: &str, uid: &str) {
        for kind in kinds::DEPENDENTS {
            for item in self.cluster.store.owned(kind, namespace, uid) {
                self.delete(kind, &item.place());
            }
        }
    }

    /// Deletes an object as a client would, with the grace that it is due.
    fn delete(&self, kind: KindId, place: &Place) {
        let (what, now) = (self.cluster.store.kind(kind), self.time());
        let _gone = self.cluster.store.edit(kind, &place.0, &place.1, |value| {
            let stays = super::write::begin_deletion(value, &what, None, now);
            Ok(if stays { Edit::Keep } else { Edit::Remove })
        });
    }
}

#[cfg(test)]
mod tests;
