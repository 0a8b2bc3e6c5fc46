//! Runs without processes on the fake source: killed and restarted at any point, with calls that fail at random.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use jiff::Timestamp;
use kdelta::diff::Scope;
use kdelta::informer::{HandlerOptions, OnSlow, QueueKind, SharedIndexInformer, Subscription};
use kdelta::lines::ChangeKind;
use kdelta::testing::{FakeClock, FakeSource, pod};
use proptest::prelude::*;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::change_line::ChangeLine;
use super::checkpoint::{self, Coverage};
use super::queue::{Call, RunQueue, RunQueueOptions};
use super::run_sink::RunSink;
use super::run_state::{HandledStates, RunState, SelectedChanges};
use crate::commands::Reporter;
use crate::commands::watch::{ChangedResults, DeltaPrinter, DeltaSelection, KnownStates, PartSink};
use crate::output::{Messages, WatchOutput};
use crate::session::part_fixtures::{resource, template};
use crate::session::{ChangeFilter, ContinuedSource, Part};

const NAMES: [&str; 5] = ["shop/a", "shop/b", "shop/c", "shop/d", "shop/e"];

fn part() -> Part {
    Part { resource: resource("pods"), ..template("shop") }
}

/// A line that a call had, and that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Handled {
    key: String,
    uid: String,
    version: u64,
    is_deletion: bool,
}

impl Handled {
    fn of(line: &ChangeLine) -> Self {
        let object = &line.change.object;
        Self {
            key: object.key().to_string(),
            uid: object.uid().to_string(),
            version: object.resource_version().to_string().parse().expect("a number"),
            is_deletion: line.change.kind == ChangeKind::Deleted,
        }
    }
}

/// One life of the program, from its start to its kill.
struct Life {
    sink: RunSink,
    run_state: Rc<RefCell<RunState>>,
    subscription: Subscription,
    running: Vec<Call<ChangeLine>>,
    clock: FakeClock,
    informer: JoinHandle<()>,
    stop: CancellationToken,
    /// The lines that were run in this life, by object, to check their order.
    started: BTreeMap<String, Vec<u64>>,
}

impl Life {
    fn start(source: &FakeSource, saved: &Path, latest: bool, batch: usize) -> Self {
        let clock = FakeClock::new();
        let options = RunQueueOptions {
            latest,
            debounce: None,
            batch,
            max_retries: 1000,
            retry_delay: Duration::from_secs(1),
            max_lines: 8,
            max_bytes: usize::MAX,
        };
        let queue = RunQueue::new(options, Arc::new(clock.clone()), Arc::default());
        let progress = checkpoint::read(saved, &Coverage::new()).expect("a checkpoint or none");
        let run_state = Rc::new(RefCell::new(RunState::new(queue, Some(progress), Vec::new())));
        let reporter = Reporter::new(Arc::new(Messages::stderr(false, false)), false);
        let selected = DeltaSelection {
            scope: Scope::default(),
            changed_by: ChangedResults::default(),
            filter: ChangeFilter::default(),
            resumable: true,
        };
        let output = WatchOutput::receiver(SelectedChanges(Rc::clone(&run_state)));
        let printer = DeltaPrinter::new(output, selected, &reporter, io::sink());
        let mut sink = RunSink::new(printer, Rc::clone(&run_state), &reporter);
        sink.add_part(0, &part(), true);
        let informer = match HandledStates(Rc::clone(&run_state)).known_state(&part()) {
            Some(known) => SharedIndexInformer::builder(ContinuedSource::new(source.clone(), known))
                .queue(QueueKind::Ordered)
                .bookmarks(true)
                .build(),
            None => {
                SharedIndexInformer::builder(source.clone()).queue(QueueKind::Ordered).bookmarks(true).build()
            }
        };
        sink.started(0, Arc::default());
        let on_slow = OnSlow::Block { capacity: 4, bytes: usize::MAX };
        let subscription =
            informer.subscribe_with_options(HandlerOptions::default().on_slow(on_slow)).expect("it runs");
        let stop = CancellationToken::new();
        let token = stop.clone();
        let informer = tokio::spawn(async move {
            let _ended = informer.run(token).await;
        });
        let (running, started) = (Vec::new(), BTreeMap::new());
        Self { sink, run_state, subscription, running, clock, informer, stop, started }
    }

    /// Delivers up to `count` notifications, while there is room.
    async fn deliver(&mut self, count: usize) -> usize {
        for delivered in 0..count {
            tokio::time::sleep(Duration::from_millis(1)).await;
            if self.sink.ready().now_or_never().is_none() {
                return delivered;
            }
            let Some(Some(notification)) = self.subscription.recv().now_or_never() else { return delivered };
            self.sink.notification(0, Timestamp::UNIX_EPOCH, notification).expect("nothing is printed");
        }
        count
    }

    /// Starts a call, if one is ready.
    fn take(&mut self) -> bool {
        let ready = self.run_state.borrow().queue.ready();
        let Some(Some(id)) = ready.get().now_or_never() else { return false };
        let Some(call) = self.run_state.borrow_mut().queue.take(id) else { return false };
        for line in call.lines.iter().filter(|line| line.attempt == 1) {
            let seqs = self.started.entry(line.id.key.to_string()).or_default();
            seqs.push(line.line.seq);
            assert!(seqs.is_sorted(), "{} in order: {seqs:?}", line.id.key);
        }
        self.running.push(call);
        true
    }

    /// Ends a running call. Returns the lines that a successful one had.
    fn finish(&mut self, at: usize, has_succeeded: bool) -> Vec<Handled> {
        let call = self.running.swap_remove(at);
        let handled =
            call.lines.iter().filter(|_| has_succeeded).map(|line| Handled::of(&line.line)).collect();
        let finished = self.run_state.borrow_mut().queue.finish(&call, has_succeeded);
        for line in finished {
            self.run_state.borrow_mut().complete(line);
        }
        handled
    }

    fn save(&self, path: &Path) {
        let run_state = self.run_state.borrow();
        let progress = run_state.progress.as_ref().expect("a progress");
        std::fs::write(path, checkpoint::text(&Coverage::new(), progress).expect("JSON")).expect("a file");
    }

    /// Runs until nothing is left to do.
    async fn drain(&mut self) -> Vec<Handled> {
        let mut handled = Vec::new();
        let mut idle = 0;
        // A new list may follow after a wait of the reflector.
        while idle < 50 {
            let mut is_idle = self.deliver(100).await == 0;
            self.clock.advance(Duration::from_mins(10));
            while self.take() {
                is_idle = false;
            }
            while !self.running.is_empty() {
                handled.extend(self.finish(0, true));
            }
            idle = if is_idle { idle + 1 } else { 0 };
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        handled
    }

    async fn kill(self) {
        self.stop.cancel();
        drop(self.subscription);
        self.informer.await.expect("no panic");
    }
}

/// The lines of all successful calls, in order.
#[derive(Default)]
struct HandledLines {
    lines: Vec<Handled>,
    /// The objects that were first handled after the last checkpoint before a kill, and not since. If the server also forgets
    /// its history, their deletion can't be noticed.
    forgotten: BTreeSet<String>,
}

impl HandledLines {
    fn extend(&mut self, lines: Vec<Handled>) {
        for line in lines {
            self.forgotten.remove(&line.key);
            self.lines.push(line);
        }
    }

    fn forget_unsaved(&mut self, saved: &Path) {
        let progress = checkpoint::read(saved, &Coverage::new()).expect("a checkpoint or none");
        let known: BTreeSet<String> = progress
            .parts()
            .flat_map(|(_, _, part)| part.states().keys().map(ToString::to_string).collect::<Vec<_>>())
            .collect();
        let handled = self.lines.iter().map(|line| line.key.clone());
        self.forgotten.extend(handled.filter(|key| !known.contains(key)));
    }
}

/// The kind of disruption that a schedule may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// The server has every version.
    Complete,
    /// The server forgets versions.
    Compacted,
}

/// A change of a random object. Records the version and the state of the change.
fn change(source: &FakeSource, random: &mut fastrand::Rng, all: &mut BTreeSet<Handled>) {
    let key = NAMES[random.usize(..NAMES.len())];
    let exists = source.objects().into_iter().find(|object| &**object.key() == key);
    let is_deletion = match exists {
        None => {
            source.add(pod(key));
            false
        }
        Some(_) if random.u8(..4) == 0 => {
            source.delete(key);
            true
        }
        Some(_) => {
            source.modify(pod(key));
            false
        }
    };
    let version = source.version().to_string().parse().expect("a number");
    let uid = match &exists_now(source, key) {
        Some(uid) => uid.clone(),
        None => String::new(),
    };
    all.insert(Handled { key: key.to_owned(), uid, version, is_deletion });
}

fn exists_now(source: &FakeSource, key: &str) -> Option<String> {
    let object = source.objects().into_iter().find(|object| &**object.key() == key)?;
    Some(object.uid().to_string())
}

async fn schedule(seed: u64, history: History, latest: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("checkpoint");
    let (source, mut random) = (FakeSource::new(), fastrand::Rng::with_seed(seed));
    let (mut all, mut handled) = (BTreeSet::new(), HandledLines::default());
    let batch = random.usize(1..4);
    let mut life = Life::start(&source, &saved, latest, batch);
    if history == History::Complete {
        // From the first version on, nothing may be missing.
        handled.extend(life.drain().await);
        life.save(&saved);
    }
    for _ in 0..random.usize(20..200) {
        match random.u8(..20) {
            0..=6 => change(&source, &mut random, &mut all),
            7..=9 => {
                life.deliver(random.usize(1..6)).await;
            }
            10..=12 => {
                life.take();
            }
            13..=15 if !life.running.is_empty() => {
                let (at, has_succeeded) = (random.usize(..life.running.len()), random.u8(..3) > 0);
                handled.extend(life.finish(at, has_succeeded));
            }
            16 => life.clock.advance(Duration::from_secs(random.u64(..5))),
            17 => life.save(&saved),
            18 if random.bool() => {
                life.kill().await;
                handled.forget_unsaved(&saved);
                if history == History::Compacted && random.bool() {
                    for _ in 0..random.usize(..5) {
                        change(&source, &mut random, &mut all);
                    }
                    source.reset_watches();
                }
                life = Life::start(&source, &saved, latest, batch);
            }
            19 if history == History::Compacted && random.u8(..4) == 0 => source.reset_watches(),
            19 if random.bool() => source.bookmark(),
            19 => source.drop_watches(),
            _ => {}
        }
    }
    handled.extend(life.drain().await);
    // The end of a run, and the next one, which has nothing to do.
    life.save(&saved);
    life.kill().await;
    let mut next = Life::start(&source, &saved, latest, batch);
    let again = next.drain().await;
    assert!(again.is_empty(), "everything was handled before: {again:?}");
    next.kill().await;
    check(&source, &all, &handled, history, latest);
}

/// Checks that the last line of each object has its final state, and that no change is missing.
fn check(
    source: &FakeSource,
    all: &BTreeSet<Handled>,
    handled: &HandledLines,
    history: History,
    latest: bool,
) {
    for key in NAMES {
        let last = handled.lines.iter().rfind(|line| line.key == key);
        let current = source.objects().into_iter().find(|object| &**object.key() == key);
        match (current, last) {
            (Some(current), Some(last)) => {
                assert_eq!(
                    (last.is_deletion, &last.version.to_string(), &last.uid),
                    (false, &current.resource_version().to_string(), &current.uid().to_string()),
                    "{key}"
                );
            }
            (Some(_), None) => panic!("{key} was never handled"),
            (None, last) => {
                let is_known = !handled.forgotten.contains(key);
                assert!(!is_known || last.is_none_or(|last| last.is_deletion), "{key}: {last:?}");
            }
        }
    }
    if history == History::Complete && !latest {
        let versions: BTreeSet<_> =
            handled.lines.iter().map(|line| (&line.key, line.version, line.is_deletion)).collect();
        let missing: Vec<_> = all
            .iter()
            .filter(|line| !versions.contains(&(&line.key, line.version, line.is_deletion)))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

fn run_schedule(seed: u64, history: History, latest: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(schedule(seed, history, latest));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_change_is_handled_across_kills(seed: u64, latest: bool) {
        run_schedule(seed, History::Complete, latest);
    }

    #[test]
    fn final_states_are_handled_across_kills_and_gaps(seed: u64, latest: bool) {
        run_schedule(seed, History::Compacted, latest);
    }
}
