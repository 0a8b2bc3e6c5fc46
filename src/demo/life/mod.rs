//! The life of the cluster: what its controllers and nodes would do, and now and then something that disturbs them.
//!
//! Everything is driven by what the store holds: a change puts whoever has to look at the object into an agenda, and the
//! agenda is worked through in the order of its times. So a client's change is answered as a cluster would answer it.
//! The time of the agenda is virtual: how fast it goes is the driver's business, and with equal seeds and nobody
//! interfering the same changes come in the same order at the same times.

mod agenda;
mod disturb;
mod jobs;
mod pods;
mod small;
pub(super) mod stages;
mod workloads;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::cluster::{Cluster, stamp};
use super::kinds;
use super::store::{Change, Edit, KindId, Part, uuid};
use super::stored::{Place, Stored};
use agenda::{Agenda, Work};

/// Pieces of work done before others get a turn.
const AT_A_TIME: usize = 64;

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
    pub(super) fn new(cluster: Arc<Cluster>, seed: u64, speed: f64) -> Self {
        let seen = cluster.store.version();
        let mut life = Self {
            cluster,
            rng: fastrand::Rng::with_seed(seed.wrapping_add(1)),
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
                () = tokio::time::sleep_until(self.cluster.clock.instant(next)) => {}
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
            changes.iter().for_each(|change| self.see(change));
        }
    }

    /// What has left the log before it was seen is found by looking at every object.
    fn look_at_everything(&mut self) {
        self.seen = self.cluster.store.version();
        for kind in [kinds::PODS, kinds::REPLICA_SETS, kinds::DEPLOYMENTS, kinds::JOBS, kinds::NAMESPACES] {
            for item in self.cluster.store.now(&Part::all(kind, None)).items {
                self.see(&Change { version: item.version, kind, old: None, new: item, deleted: false });
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
            kinds::JOBS => self.agenda.add(soon, Work::Job(place)),
            kinds::NAMESPACES => self.agenda.add(soon, Work::Namespace(change.new.name.clone())),
            _ => {}
        }
        if change.deleted && [kinds::REPLICA_SETS, kinds::DEPLOYMENTS, kinds::JOBS].contains(&change.kind) {
            let work = Work::Orphans(change.new.namespace.clone(), change.new.uid.clone());
            self.agenda.add(soon, work);
        }
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
        let warns = ["BackOff", "Failed", "Unhealthy"].contains(&reason);
        let api_version = match kind {
            "Pod" | "Node" => "v1",
            "Job" => "batch/v1",
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
        for kind in [kinds::REPLICA_SETS, kinds::PODS] {
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
