//! The Job controller.

use std::time::Duration;

use serde_json::{Value, json};

use super::Simulation;
use super::schedule::Task;
use crate::demo::kinds;
use crate::demo::objects::conditions;
use crate::demo::objects::pod_stages::Stage;
use crate::server::source::ObjectKey;

impl Simulation {
    /// Runs pods up to the parallelism until enough have succeeded.
    pub(super) fn reconcile_job(&mut self, key: &ObjectKey) {
        let Some(job) = self.value(kinds::JOBS, key) else { return };
        let is_complete = job["status"]["completionTime"].is_string();
        if is_complete || job["spec"]["suspend"] == true || job["metadata"]["deletionTimestamp"].is_string() {
            return;
        }
        let uid = job["metadata"]["uid"].as_str().unwrap_or_default();
        let pods = self.cluster.store.owned(kinds::PODS, &key.0, uid);
        let values: Vec<Value> = pods.iter().map(|pod| pod.value()).collect();
        let succeeded = count(values.iter().filter(|pod| pod["status"]["phase"] == "Succeeded").count());
        let running = |pod: &&Value| ![Stage::Terminating, Stage::Finished].contains(&Stage::of(pod));
        let active = count(values.iter().filter(running).count());
        let number = |field: &str| job["spec"][field].as_u64().unwrap_or(1);
        let (completions, parallelism) = (number("completions"), number("parallelism"));
        let missing = parallelism.min(completions.saturating_sub(succeeded)).saturating_sub(active);
        for _ in 0..missing {
            self.create_pod(&job, "batch/v1", "Job");
        }
        let is_done = succeeded >= completions;
        let time = self.stamp();
        self.edit(kinds::JOBS, key, |job| {
            let started = job["status"]["startTime"].as_str().unwrap_or(&time).to_owned();
            let mut status = json!({"startTime": started, "conditions": job["status"]["conditions"]});
            if active + missing > 0 {
                status["active"] = (active + missing).into();
            }
            if succeeded > 0 {
                status["succeeded"] = succeeded.into();
            }
            if status["conditions"].is_null() {
                status.as_object_mut().map(|status| status.remove("conditions"));
            }
            job["status"] = status;
            if is_done {
                job["status"]["completionTime"] = time.as_str().into();
                conditions::set_condition(job, "Complete", true, &time);
            }
        });
        if is_done {
            self.record_event("Job", &job, "Completed", "Job completed", "job-controller");
            if let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_u64() {
                self.tasks.add(self.now + Duration::from_secs(seconds), Task::Expired(key.clone()));
            }
        }
    }
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
