//! What nobody has asked for: crashes, new versions, more or fewer replicas, jobs.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use serde_json::Value;

use super::Life;
use super::agenda::Work;
use super::stages::{self, Stage};
use crate::demo::bodies::{self, Birth, REGISTRY};
use crate::demo::fixtures::APPLICATIONS;
use crate::demo::kinds;
use crate::demo::store::{Change, Part, uuid};
use crate::demo::stored::Place;

/// When no pod of `default` has changed for so long, one does. With the time until that is noticed it is less than a
/// second.
const QUIET: Duration = Duration::from_millis(600);

/// How often it is looked whether one did.
const LOOK: Duration = Duration::from_millis(300);

impl Life {
    /// What happens first.
    pub(super) fn begin(&mut self) {
        self.agenda.set(Duration::from_secs(1), Work::Leases);
        self.agenda.set(Duration::from_millis(500), Work::Disturb);
        self.agenda.set(LOOK, Work::Pulse);
        self.agenda.set(Duration::from_secs(1), Work::Extra);
        self.agenda.set(Duration::from_mins(1), Work::LoseNode);
        self.begin_controllers();
        let backups = self.cluster.store.id("demo.kdelta.dev", "backups");
        let backups = backups.map(|id| self.cluster.store.now(&Part::all(id, None)).items);
        for backup in backups.into_iter().flatten() {
            let at = self.within(1.0, 15.0);
            self.agenda.set(at, Work::Backup(backup.place()));
        }
    }

    /// What the controllers find when they start: sets without pods, pods that are not ready, services without endpoints.
    fn begin_controllers(&mut self) {
        let store = Arc::clone(&self.cluster);
        let all = |kind| store.store.now(&Part::all(kind, None)).items;
        let soon = Duration::from_millis(100);
        for (kind, work) in [
            (kinds::STATEFUL_SETS, Work::StatefulSet as fn(Place) -> Work),
            (kinds::DAEMON_SETS, Work::DaemonSet),
            (kinds::CRON_JOBS, Work::CronJob),
            (kinds::AUTOSCALERS, Work::Autoscaler),
            (kinds::VOLUME_CLAIMS, Work::Claim),
        ] {
            for item in all(kind) {
                self.agenda.set(soon, work(item.place()));
            }
        }
        for service in all(kinds::SERVICES) {
            self.agenda.add(soon, Work::Followers(service.namespace.clone()));
        }
        for pod in store.store.now(&Part::all(kinds::PODS, Some("default"))).items {
            if Stage::of(&pod.value()) != Stage::Ready {
                self.see_pod(&Change {
                    version: pod.version,
                    kind: kinds::PODS,
                    old: None,
                    new: pod,
                    deleted: false,
                    at: Instant::now(),
                });
            }
        }
    }

    /// One thing out of the ordinary.
    pub(super) fn disturb(&mut self) {
        // A roll comes first: it shows the most.
        let first = self.now < Duration::from_secs(1);
        match self.rng.u8(..100) {
            _ if first => self.roll(),
            0..40 => self.crash(),
            40..70 => self.roll(),
            70..85 => self.resize(),
            _ => self.start_job(),
        }
        let next = self.within(2.5, 5.0);
        self.agenda.set(next, Work::Disturb);
    }

    /// When nothing else has been seen for a while, a pod is not ready for a moment.
    pub(super) fn pulse(&mut self) {
        if self.now >= self.last_visible + QUIET
            && let Some(place) = self.ready_pod("default")
        {
            self.flicker(&place);
        }
        self.agenda.set(self.now + LOOK, Work::Pulse);
    }

    /// One of the extra pods is not ready for a moment.
    pub(super) fn extra(&mut self) {
        let namespaces = self.cluster.store.now(&Part::all(kinds::NAMESPACES, None)).items;
        let loads: Vec<_> =
            namespaces.iter().filter(|namespace| namespace.name.starts_with("load-")).collect();
        if !loads.is_empty() {
            let namespace = &loads[self.rng.usize(..loads.len())].name;
            if let Some(place) = self.ready_pod(namespace) {
                self.flicker(&place);
            }
            self.agenda.set(self.now + Duration::from_secs(1), Work::Extra);
        }
    }

    fn flicker(&mut self, place: &Place) {
        let time = self.stamp();
        self.edit(kinds::PODS, place, |pod| stages::set_ready(pod, false, &time));
        if let Some(pod) = self.value(kinds::PODS, place) {
            let message = "Readiness probe failed: HTTP probe failed with statuscode: 503";
            self.event("Pod", &pod, "Unhealthy", message, "kubelet");
        }
    }

    /// A pod that is ready, and that no job will end.
    pub(super) fn ready_pod(&mut self, namespace: &str) -> Option<Place> {
        let pods = self.cluster.store.now(&Part::all(kinds::PODS, Some(namespace))).items;
        // A few tries find one where there are many; trees of all of them would be dear.
        for _ in 0..20 {
            let pod = pods.get(self.rng.usize(..pods.len().max(1)))?;
            let value = pod.value();
            let is_of_job = value["metadata"]["labels"].get("job-name").is_some();
            if Stage::of(&value) == Stage::Ready && !is_of_job {
                return Some(pod.place());
            }
        }
        None
    }

    fn crash(&mut self) {
        let Some(place) = self.ready_pod("default") else { return };
        let (exit_code, time) = (if self.rng.bool() { 1 } else { 137 }, self.stamp());
        self.edit(kinds::PODS, &place, |pod| stages::crash(pod, exit_code, &time));
    }

    /// One of the demo's own applications, where it is still there.
    fn application(&mut self) -> Place {
        let own: Vec<_> = APPLICATIONS.iter().filter(|(namespace, ..)| *namespace != "kube-system").collect();
        // Most of what happens is to be seen in `default`, which is where people look first.
        let default: Vec<_> = own.iter().filter(|(namespace, ..)| *namespace == "default").collect();
        let (namespace, name, _) = if self.now < Duration::from_secs(1) || self.rng.u8(..100) < 80 {
            **default[self.rng.usize(..default.len())]
        } else {
            *own[self.rng.usize(..own.len())]
        };
        (namespace.into(), name.into())
    }

    /// A new version of an application.
    fn roll(&mut self) {
        let place = self.application();
        self.edit(kinds::DEPLOYMENTS, &place, |deployment| {
            let image = &mut deployment["spec"]["template"]["spec"]["containers"][0]["image"];
            let next = image.as_str().and_then(|image| {
                let (name, patch) = image.rsplit_once('.')?;
                Some(format!("{name}.{}", patch.parse::<u64>().ok()? + 1))
            });
            if let Some(next) = next {
                *image = next.into();
                bump(deployment);
            }
        });
    }

    /// One replica more or fewer than usual.
    fn resize(&mut self) {
        let place = self.application();
        let usual =
            APPLICATIONS.iter().find(|(namespace, name, _)| *place.0 == **namespace && *place.1 == **name);
        let Some((_, _, usual)) = usual else { return };
        let extra = self.rng.u64(..3);
        self.edit(kinds::DEPLOYMENTS, &place, |deployment| {
            if deployment["spec"]["replicas"] != usual + extra {
                deployment["spec"]["replicas"] = (usual + extra).into();
                bump(deployment);
            }
        });
    }

    pub(super) fn start_job(&mut self) {
        self.made += 1;
        let name = format!("report-{}", self.made);
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let birth = Birth { namespace: "default", name: &name, uid: &uid, created: &created };
        let (completions, parallelism) = (self.rng.u64(2..5), self.rng.u64(1..3));
        let image = format!("{REGISTRY}/report:2.1");
        self.create(kinds::JOBS, bodies::job(&birth, completions, parallelism, &image));
    }
}

pub(super) fn bump(object: &mut Value) {
    let generation = object["metadata"]["generation"].as_u64().unwrap_or(0) + 1;
    object["metadata"]["generation"] = generation.into();
}
