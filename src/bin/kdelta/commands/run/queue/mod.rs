//! The schedule of calls, apart from processes: the lines of each object in order, retries, merged updates and batches.
//!
//! A [`WorkQueue`] decides which object is next. It holds each object at most once and never hands out one that is being
//! run, so that no two calls have lines of the same object. The lines themselves wait here, in one list per object.

mod line;
mod metrics;
mod object_queue;
#[cfg(test)]
mod tests;

pub(super) use line::Line;
pub(crate) use metrics::RunMetrics;
use object_queue::{Entry, ObjectQueue, Stage};

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use kdelta::clock::Clock;
use kdelta::object::Key;
use kdelta::workqueue::{ItemExponentialFailureRateLimiter, WorkQueue, WorkQueueOptions};

/// The longest delay of a retry.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);
/// The number of `--debounce` times after which an object that keeps changing is run anyway.
const MAX_QUIET_TIMES: u32 = 10;

/// An object of any collection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ObjectId {
    /// The context and the type.
    pub(super) collection: Arc<str>,
    pub(super) key: Key,
}

/// The options of a [`RunQueue`].
#[derive(Debug, Clone)]
pub(super) struct RunQueueOptions {
    /// Whether waiting updates of one object are merged.
    pub(super) latest: bool,
    pub(super) debounce: Option<Duration>,
    /// The number of lines of one call, at least 1.
    pub(super) batch: usize,
    pub(super) max_retries: u32,
    pub(super) retry_delay: Duration,
    /// The limits of waiting lines: above either, the watch is not read.
    pub(super) max_lines: usize,
    pub(super) max_bytes: usize,
}

/// Lines by object. `C` is the completion of a line: a value that the caller passes with it and receives back when the line
/// has been run, given up, or merged.
pub(super) struct RunQueue<L, C> {
    /// The objects that can be run, or can be after a delay.
    ready: Rc<WorkQueue<ObjectId>>,
    objects: HashMap<ObjectId, ObjectQueue<L, C>>,
    options: RunQueueOptions,
    clock: Arc<dyn Clock>,
    metrics: Arc<RunMetrics>,
    lines: usize,
    bytes: usize,
}

/// The lines of one call, of different objects.
#[derive(Debug)]
pub(super) struct Call<L> {
    pub(super) lines: Vec<CallLine<L>>,
}

/// A line of a call.
#[derive(Debug)]
pub(super) struct CallLine<L> {
    pub(super) id: ObjectId,
    pub(super) line: Rc<L>,
    /// The number of the try, from 1.
    pub(super) attempt: u32,
}

/// A line that will not be run again.
#[derive(Debug)]
pub(super) struct FinishedLine<L, C> {
    pub(super) line: Rc<L>,
    pub(super) completion: C,
    /// The number of its calls.
    pub(super) attempts: u32,
    /// Whether all of them failed.
    pub(super) is_given_up: bool,
}

impl<L: Line, C> RunQueue<L, C> {
    pub(super) fn new(options: RunQueueOptions, clock: Arc<dyn Clock>, metrics: Arc<RunMetrics>) -> Self {
        let limiter = ItemExponentialFailureRateLimiter::new(options.retry_delay, MAX_RETRY_DELAY);
        let queue_options =
            WorkQueueOptions::default().rate_limiter(Box::new(limiter)).clock(Arc::clone(&clock));
        let ready = Rc::new(WorkQueue::with_options(queue_options));
        Self { ready, objects: HashMap::new(), options, clock, metrics, lines: 0, bytes: 0 }
    }

    /// Returns the queue of objects: [`RunQueue::take`] needs the next one.
    pub(super) fn ready(&self) -> Rc<WorkQueue<ObjectId>> {
        Rc::clone(&self.ready)
    }

    /// Whether there is room for more lines.
    pub(super) fn has_room(&self) -> bool {
        self.lines < self.options.max_lines && self.bytes < self.options.max_bytes
    }

    /// Returns the number of lines that wait or are being run.
    pub(super) fn len(&self) -> usize {
        self.lines
    }

    /// Adds a line behind the others of its object. Returns the completion of a line that was merged with it.
    pub(super) fn push(&mut self, id: ObjectId, line: L, completion: C) -> Option<C> {
        let now = self.clock.now();
        let object = self.objects.entry(id.clone()).or_insert_with(|| ObjectQueue::new(now));
        object.changed_at = now;
        let tail = object.mergeable_tail().filter(|_| self.options.latest);
        let merged = tail.and_then(|tail| Some((tail.line.merged_with(&line)?, tail)));
        if let Some((line, tail)) = merged {
            let before = tail.weight;
            let replaced = tail.replace(line, completion);
            self.bytes = (self.bytes + tail.weight).saturating_sub(before);
            object.restart_tries();
            self.metrics.count_merged();
            self.metrics.set_queued(self.lines, self.bytes);
            return Some(replaced);
        }
        let entry = Entry::new(line, completion, now);
        self.lines += 1;
        self.bytes += entry.weight;
        object.entries.push_back(entry);
        if object.stage == Stage::Idle {
            object.first_at = now;
            object.stage = Stage::Queued;
            match self.options.debounce {
                Some(quiet) => self.ready.add_after(id, quiet),
                None => self.ready.add(id),
            }
        }
        self.metrics.set_queued(self.lines, self.bytes);
        None
    }

    /// Returns the completion of the last line of an object; `None` if it has no line.
    pub(super) fn last_completion(&mut self, id: &ObjectId) -> Option<&mut C> {
        Some(&mut self.objects.get_mut(id)?.entries.back_mut()?.completion)
    }

    /// Returns the call for an object that the queue of objects has returned, with lines of other objects that are ready; `None`
    /// if the object is not quiet yet.
    pub(super) fn take(&mut self, id: ObjectId) -> Option<Call<L>> {
        let now = self.clock.now();
        let (first, is_alone) = self.take_line(id, now)?;
        let mut lines = vec![first];
        while !is_alone && lines.len() < self.options.batch {
            let Some(Some(id)) = self.ready.get().now_or_never() else { break };
            if self.objects.get(&id).is_some_and(|object| object.is_alone) {
                // Queued again, because its line must be the only one of its call.
                self.ready.add(id.clone());
                self.ready.done(&id);
                break;
            }
            lines.extend(self.take_line(id, now).map(|(line, _)| line));
        }
        Some(Call { lines })
    }

    /// Takes the first line of an object, unless the object is not quiet yet. Returns whether it must be run alone.
    fn take_line(&mut self, id: ObjectId, now: Instant) -> Option<(CallLine<L>, bool)> {
        let Some(object) = self.objects.get_mut(&id) else {
            self.ready.done(&id);
            return None;
        };
        if let Some(quiet) = self.options.debounce
            && object.tries == 0
        {
            let due = (object.changed_at + quiet).min(object.first_at + quiet * MAX_QUIET_TIMES);
            let remaining = due.saturating_duration_since(now);
            if !remaining.is_zero() {
                self.ready.add_after(id.clone(), remaining);
                self.ready.done(&id);
                return None;
            }
        }
        let Some(entry) = object.entries.front() else {
            self.ready.done(&id);
            return None;
        };
        object.stage = Stage::Running;
        if object.tries == 0 {
            self.metrics.record_wait(now.saturating_duration_since(entry.received));
        }
        let (line, attempt) = (Rc::clone(&entry.line), object.tries + 1);
        Some((CallLine { id, line, attempt }, object.is_alone))
    }

    /// Records the result of a call. Returns the lines that will not be run again.
    ///
    /// A failed call of several lines is repeated with one line each, so that a line that fails does not
    /// hold up the others.
    pub(super) fn finish(&mut self, call: &Call<L>, has_succeeded: bool) -> Vec<FinishedLine<L, C>> {
        let is_one = call.lines.len() == 1;
        let finished = call.lines.iter().filter_map(|CallLine { id, attempt, .. }| {
            let object = self.objects.get_mut(id)?;
            let is_given_up = !has_succeeded && *attempt > self.options.max_retries;
            if !has_succeeded && !is_given_up {
                object.tries = *attempt;
                object.is_alone |= !is_one;
                object.stage = Stage::Queued;
                self.metrics.count_retry();
                self.ready.add_rate_limited(id.clone());
                self.ready.done(id);
                return None;
            }
            let Entry { line, completion, weight, .. } = object.entries.pop_front()?;
            self.lines -= 1;
            self.bytes = self.bytes.saturating_sub(weight);
            self.metrics.count_finished(is_given_up);
            self.ready.forget(id);
            object.tries = 0;
            object.is_alone = false;
            if object.entries.is_empty() {
                self.objects.remove(id);
            } else {
                object.first_at = self.clock.now();
                object.stage = Stage::Queued;
                // Takes effect with `done`: the object is still being processed.
                self.ready.add(id.clone());
            }
            self.ready.done(id);
            Some(FinishedLine { line, completion, attempts: *attempt, is_given_up })
        });
        let finished = finished.collect();
        self.metrics.set_queued(self.lines, self.bytes);
        finished
    }
}
