//! Tests of the schedule: single rules, and random schedules of lines, calls and failures.

use std::collections::{BTreeMap, BTreeSet};

use kdelta::testing::FakeClock;
use proptest::prelude::*;

use super::*;

/// A line of a test: the version of its object, and whether it may be merged into the line before it.
#[derive(Debug, Clone, PartialEq)]
struct TestLine {
    version: u32,
    is_update: bool,
}

impl Line for TestLine {
    fn weight(&self) -> usize {
        10
    }

    fn merged_with(&self, later: &Self) -> Option<Self> {
        later.is_update.then(|| Self { is_update: self.is_update, ..later.clone() })
    }
}

fn options() -> RunQueueOptions {
    RunQueueOptions {
        latest: false,
        debounce: None,
        batch: 1,
        max_retries: 2,
        retry_delay: Duration::from_secs(1),
        max_lines: 4,
        max_bytes: 1000,
    }
}

fn id(object: u8) -> ObjectId {
    ObjectId { collection: "pods".into(), key: format!("shop/{object}").into() }
}

/// A queue on a fake clock. A line completes with its version.
struct Fixture {
    clock: FakeClock,
    queue: RunQueue<TestLine, u32>,
    metrics: Arc<RunMetrics>,
}

impl Fixture {
    fn new(options: RunQueueOptions) -> Self {
        let (clock, metrics) = (FakeClock::new(), Arc::<RunMetrics>::default());
        let queue = RunQueue::new(options, Arc::new(clock.clone()), Arc::clone(&metrics));
        Self { clock, queue, metrics }
    }

    fn push(&mut self, object: u8, version: u32, is_update: bool) -> Option<u32> {
        self.queue.push(id(object), TestLine { version, is_update }, version)
    }

    /// Takes the next call, if one is ready.
    fn next(&mut self) -> Option<Call<TestLine>> {
        loop {
            let id = self.queue.ready().get().now_or_never()??;
            if let Some(call) = self.queue.take(id) {
                return Some(call);
            }
        }
    }

    fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn versions(call: &Call<TestLine>) -> Vec<u32> {
    call.lines.iter().map(|line| line.line.version).collect()
}

#[test]
fn lines_of_an_object_run_one_after_the_other() {
    let mut fixture = Fixture::new(options());
    for (object, version) in [(1, 1), (1, 2), (2, 3)] {
        fixture.push(object, version, true);
    }
    let (first, other) = (fixture.next().expect("a call"), fixture.next().expect("a call"));
    assert_eq!((versions(&first), versions(&other)), (vec![1], vec![3]));
    assert!(fixture.next().is_none(), "its object is being run");
    fixture.queue.finish(&first, true);
    assert_eq!(versions(&fixture.next().expect("a call")), [2]);
}

#[test]
fn failed_line_waits_longer_each_time_and_is_given_up() {
    let mut fixture = Fixture::new(options());
    fixture.push(1, 1, true);
    fixture.push(1, 2, true);
    for (attempt, delay) in [(1, 1), (2, 2)] {
        let call = fixture.next().expect("a call");
        assert_eq!(call.lines[0].attempt, attempt);
        assert!(fixture.queue.finish(&call, false).is_empty());
        // A new line must not shorten the delay.
        fixture.push(1, 10 + attempt, false);
        fixture.clock.advance(Duration::from_millis(1000 * delay - 1));
        assert!(fixture.next().is_none(), "{delay} s are not over");
        fixture.clock.advance(Duration::from_millis(1));
    }
    let call = fixture.next().expect("the last call");
    let finished = fixture.queue.finish(&call, false);
    let [line] = &finished[..] else { panic!("{finished:?}") };
    assert_eq!((line.completion, line.attempts, line.is_given_up), (1, 3, true));
    let next = fixture.next().expect("the next line");
    assert_eq!((versions(&next), next.lines[0].attempt), (vec![2], 1));
    assert!(fixture.metrics.has_given_up());
}

#[test]
fn batch_has_lines_of_different_objects_and_is_divided_after_a_failure() {
    let mut fixture = Fixture::new(RunQueueOptions { batch: 3, ..options() });
    for (object, version) in [(1, 1), (1, 2), (2, 3), (3, 4), (4, 5)] {
        fixture.push(object, version, true);
    }
    let call = fixture.next().expect("a call");
    assert_eq!(versions(&call), [1, 3, 4]);
    fixture.queue.finish(&call, false);
    fixture.advance(1);
    let mut alone: Vec<_> = std::iter::from_fn(|| fixture.next()).map(|call| versions(&call)).collect();
    alone.sort();
    assert_eq!(alone, [[1], [3], [4], [5]]);
}

#[test]
fn waiting_updates_are_merged_with_latest_only() {
    let mut fixture = Fixture::new(RunQueueOptions { latest: true, ..options() });
    assert_eq!(fixture.push(1, 1, false), None);
    let call = fixture.next().expect("a call");
    assert_eq!(fixture.push(1, 2, true), None, "the first line is being run");
    assert_eq!(fixture.push(1, 3, true), Some(2));
    assert_eq!(fixture.push(1, 4, false), None, "a deletion");
    assert_eq!(fixture.push(1, 5, false), None, "an addition");
    assert_eq!(fixture.push(2, 6, true), None, "another object");
    fixture.queue.finish(&call, true);
    let rest = std::iter::from_fn(|| {
        let call = fixture.next()?;
        fixture.queue.finish(&call, true);
        Some(versions(&call))
    });
    let rest: BTreeSet<_> = rest.flatten().collect();
    assert_eq!(rest, BTreeSet::from([3, 4, 5, 6]));
    assert!(fixture.metrics.to_string().contains(" 1 merged"), "{}", fixture.metrics);
}

#[test]
fn debounced_object_runs_once_it_is_quiet_or_after_ten_times() {
    let mut fixture = Fixture::new(RunQueueOptions { debounce: Some(Duration::from_secs(10)), ..options() });
    fixture.push(1, 1, true);
    fixture.advance(9);
    fixture.push(1, 2, true);
    fixture.advance(9);
    assert!(fixture.next().is_none());
    fixture.advance(1);
    let call = fixture.next().expect("it is quiet");
    fixture.queue.finish(&call, true);
    let call = fixture.next().expect("the second line");
    fixture.queue.finish(&call, true);
    let changes = (0..30).take_while(|version| {
        fixture.push(2, *version, true);
        fixture.advance(5);
        fixture.next().is_none()
    });
    assert_eq!(changes.count(), 19, "100 s");
}

#[test]
fn queue_is_full_by_lines_or_bytes() {
    let mut fixture = Fixture::new(options());
    for object in 0..4 {
        assert!(fixture.queue.has_room());
        fixture.push(object, 1, true);
    }
    assert!(!fixture.queue.has_room());
    let call = fixture.next().expect("a call");
    fixture.queue.finish(&call, true);
    assert!(fixture.queue.has_room());
    let mut fixture = Fixture::new(RunQueueOptions { max_bytes: 10, ..options() });
    fixture.push(1, 1, true);
    assert!(!fixture.queue.has_room());
}

/// A step of a schedule.
#[derive(Debug, Clone)]
enum Step {
    Push { object: u8, is_update: bool },
    Take,
    Finish { call: prop::sample::Index, has_succeeded: bool },
    Advance { seconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..4_u8, any::<bool>()).prop_map(|(object, is_update)| Step::Push { object, is_update }),
        3 => Just(Step::Take),
        3 => (any::<prop::sample::Index>(), any::<bool>())
            .prop_map(|(call, has_succeeded)| Step::Finish { call, has_succeeded }),
        1 => (0..5_u64).prop_map(|seconds| Step::Advance { seconds }),
    ]
}

/// The calls of a schedule so far.
#[derive(Default)]
struct Record {
    running: Vec<Call<TestLine>>,
    /// The versions of each object that completed, merged ones included.
    completed: BTreeMap<u8, Vec<u32>>,
    attempts: BTreeMap<(ObjectKey, u32), u32>,
}

type ObjectKey = String;

impl Record {
    fn take(&mut self, fixture: &mut Fixture, batch: usize) {
        let Some(call) = fixture.next() else { return };
        assert!((1..=batch).contains(&call.lines.len()));
        let running: BTreeSet<_> =
            self.running.iter().flat_map(|call| &call.lines).map(|line| line.id.key.clone()).collect();
        let mut own = BTreeSet::new();
        for line in &call.lines {
            assert!(!running.contains(&line.id.key) && own.insert(line.id.key.clone()), "one at a time");
            let attempts = self.attempts.entry((line.id.key.to_string(), line.line.version)).or_default();
            *attempts += 1;
            assert!(*attempts <= 3, "the first call and two retries");
        }
        self.running.push(call);
    }

    fn finish(&mut self, fixture: &mut Fixture, call: &Call<TestLine>, has_succeeded: bool) {
        for line in fixture.queue.finish(call, has_succeeded) {
            let object = call.lines.iter().find(|one| Rc::ptr_eq(&one.line, &line.line)).expect("its line");
            let object = object.id.key.trim_start_matches("shop/").parse().expect("a number");
            self.completed.entry(object).or_default().push(line.completion);
        }
    }
}

proptest! {
    #[test]
    fn every_line_completes_once_and_in_order(
        steps in prop::collection::vec(step(), 0..120),
        batch in 1..4_usize,
        latest: bool,
    ) {
        let mut fixture = Fixture::new(RunQueueOptions { latest, batch, ..options() });
        let (mut record, mut pushed) = (Record::default(), BTreeMap::<u8, Vec<u32>>::new());
        let mut merged = BTreeMap::<u8, Vec<u32>>::new();
        for (version, step) in (0_u32..).zip(steps) {
            match step {
                Step::Push { object, is_update } => {
                    pushed.entry(object).or_default().push(version);
                    merged.entry(object).or_default().extend(fixture.push(object, version, is_update));
                }
                Step::Take => record.take(&mut fixture, batch),
                Step::Finish { call, has_succeeded } if !record.running.is_empty() => {
                    let call = record.running.swap_remove(call.index(record.running.len()));
                    record.finish(&mut fixture, &call, has_succeeded);
                }
                Step::Finish { .. } => {}
                Step::Advance { seconds } => fixture.advance(seconds),
            }
        }
        while fixture.queue.len() > 0 {
            fixture.advance(300);
            while let Some(call) = record.running.pop() {
                record.finish(&mut fixture, &call, true);
            }
            record.take(&mut fixture, batch);
        }
        for (object, versions) in pushed {
            let completed = record.completed.remove(&object).unwrap_or_default();
            prop_assert!(completed.is_sorted(), "{completed:?}");
            let mut all = [completed, merged.remove(&object).unwrap_or_default()].concat();
            all.sort_unstable();
            prop_assert_eq!(all, versions);
        }
        prop_assert!(fixture.queue.objects.is_empty() && fixture.queue.bytes == 0, "nothing is left");
    }
}
