//! The `CronJob` controller, and cron schedules.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use super::Simulation;
use super::schedule::Task;
use crate::demo::clock::stamp;
use crate::demo::kinds;
use crate::demo::objects::defaults;
use crate::demo::objects::manifests::{self, Identity};
use crate::demo::store::uuid;
use crate::server::source::ObjectKey;

impl Simulation {
    /// Creates the job that is due, deletes old ones, and schedules the next run.
    pub(super) fn reconcile_cron_job(&mut self, key: &ObjectKey) {
        let Some(cron_job) = self.value(kinds::CRON_JOBS, key) else { return };
        let Some(schedule) = cron_job["spec"]["schedule"].as_str().and_then(Schedule::parse) else { return };
        let now = self.time();
        let time = |value: &Value| value.as_str().and_then(|time| time.parse::<Timestamp>().ok());
        let last = time(&cron_job["status"]["lastScheduleTime"]);
        let since = last.or(time(&cron_job["metadata"]["creationTimestamp"])).unwrap_or(now);
        // Of several missed runs, only the most recent one is started.
        let recent = since.max(now.checked_sub(SignedDuration::from_mins(2)).unwrap_or(now));
        let due = std::iter::successors(schedule.next_after(recent), |due| schedule.next_after(*due));
        let due = due.take_while(|due| *due <= now).last();
        let is_suspended =
            cron_job["spec"]["suspend"] == true || cron_job["metadata"]["deletionTimestamp"].is_string();
        if let Some(due) = due.filter(|_| !is_suspended) {
            self.start_scheduled(&cron_job, key, due);
        }
        self.delete_old_jobs(&cron_job, key, due.filter(|_| !is_suspended).or(last));
        if let Some(next) = schedule.next_after(now) {
            let wait = Duration::try_from(next.duration_since(now)).unwrap_or_default().mul_f64(self.speed);
            self.tasks.set(self.now + wait, Task::CronJob(key.clone()));
        }
    }

    fn start_scheduled(&mut self, cron_job: &Value, key: &ObjectKey, due: Timestamp) {
        let name = format!("{}-{}", key.1, due.as_second() / 60);
        let (uid, created) = (uuid(&mut self.rng), self.stamp());
        let identity = Identity { namespace: &key.0, name: &name, uid: &uid, created: &created };
        let template = &cron_job["spec"]["jobTemplate"];
        let mut metadata = identity.metadata(template["metadata"]["labels"].clone());
        metadata["ownerReferences"] = manifests::owners("batch/v1", "CronJob", cron_job);
        metadata["annotations"] = json!({"batch.kubernetes.io/cronjob-scheduled-timestamp": stamp(due)});
        let mut job = json!({"metadata": metadata, "spec": template["spec"]});
        defaults::fill_job(&mut job);
        self.create(kinds::JOBS, job);
        self.record_event(
            "CronJob",
            cron_job,
            "SuccessfulCreate",
            &format!("Created job {name}"),
            "cronjob-controller",
        );
    }

    /// Deletes finished jobs beyond the history limits and updates the status.
    fn delete_old_jobs(&mut self, cron_job: &Value, key: &ObjectKey, last: Option<Timestamp>) {
        let uid = cron_job["metadata"]["uid"].as_str().unwrap_or_default();
        let owned = self.cluster.store.owned(kinds::JOBS, &key.0, uid);
        let (mut finished, mut active) = (Vec::new(), Vec::new());
        for job in owned {
            let value = job.value();
            match value["status"]["completionTime"].as_str() {
                Some(ended) => finished.push((ended.to_owned(), job.key())),
                None => active.push(json!({
                    "kind": "Job", "namespace": key.0, "name": job.name, "uid": job.uid, "apiVersion": "batch/v1",
                    "resourceVersion": job.version.to_string(),
                })),
            }
        }
        finished.sort();
        let limit = cron_job["spec"]["successfulJobsHistoryLimit"].as_u64().unwrap_or(3);
        let surplus = finished.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        for (_, job) in &finished[..surplus] {
            self.delete(kinds::JOBS, job);
        }
        let succeeded = finished.last().map(|(ended, _)| ended.clone());
        self.edit(kinds::CRON_JOBS, key, |cron_job| {
            let mut status = json!({});
            if !active.is_empty() {
                status["active"] = active.into();
            }
            if let Some(last) = last {
                status["lastScheduleTime"] = stamp(last).into();
            }
            if let Some(succeeded) = succeeded {
                status["lastSuccessfulTime"] = succeeded.into();
            }
            cron_job["status"] = status;
        });
    }
}

/// Bit masks of minutes, hours, days of the month, months and days of the week.
pub(in crate::demo) struct Schedule([u64; 5]);

/// The bounds of each field.
const RANGES: [(u32, u32); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];

impl Schedule {
    /// Parses five fields of `*`, lists, ranges and steps, or a macro such as `@daily`. Returns `None` for an invalid
    /// schedule.
    pub(in crate::demo) fn parse(text: &str) -> Option<Self> {
        let text = match text.trim() {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            text => text,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let mut masks = [0; 5];
        if fields.len() != masks.len() {
            return None;
        }
        for ((mask, field), range) in masks.iter_mut().zip(fields).zip(RANGES) {
            for part in field.split(',') {
                *mask |= part_mask(part, range)?;
            }
        }
        Some(Self(masks))
    }

    /// Returns the first matching minute after a time, within a year.
    fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        const MINUTES: i64 = 366 * 24 * 60;
        let first = time.as_second().div_euclid(60) + 1;
        (first..first + MINUTES).find_map(|minute| {
            let time = Timestamp::from_second(minute * 60).ok()?;
            let at = time.to_zoned(TimeZone::UTC);
            let has = |field: usize, value: i8| {
                u32::try_from(value).is_ok_and(|value| self.0[field] & (1 << value) != 0)
            };
            let of_week = has(4, at.weekday().to_sunday_zero_offset());
            let matches =
                has(0, at.minute()) && has(1, at.hour()) && has(2, at.day()) && has(3, at.month()) && of_week;
            matches.then_some(time)
        })
    }
}

fn part_mask(part: &str, (min, max): (u32, u32)) -> Option<u64> {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)?),
        None => (part, 1),
    };
    let (from, to) = match range.split_once('-') {
        _ if range == "*" => (min, max),
        Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
        None if part.contains('/') => (range.parse().ok()?, max),
        None => (range.parse().ok()?, range.parse().ok()?),
    };
    let fits = min <= from && from <= to && to <= max;
    fits.then(|| {
        (from..=to).step_by(usize::try_from(step).unwrap_or(1)).fold(0, |mask, value| mask | (1 << value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_determines_the_next_time() {
        for (schedule, time, expected) in [
            ("* * * * *", "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z"),
            ("*/15 * * * *", "2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z"),
            ("5 4 * * *", "2026-01-01T05:00:00Z", "2026-01-02T04:05:00Z"),
            ("0 0 1 1 *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("0 12 * * 1-5", "2026-01-02T13:00:00Z", "2026-01-05T12:00:00Z"),
            ("@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"),
            ("1,3 * * * *", "2026-01-01T00:01:00Z", "2026-01-01T00:03:00Z"),
        ] {
            let next = Schedule::parse(schedule)
                .and_then(|schedule| schedule.next_after(time.parse().expect("a time")));
            assert_eq!(next, expected.parse().ok(), "{schedule}");
        }
        for none in ["", "x", "* * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *"] {
            assert!(Schedule::parse(none).is_none(), "{none}");
        }
    }
}
