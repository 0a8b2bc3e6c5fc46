//! `kdelta tree -w`: the tree, printed again whenever it changes.
//!
//! One watch has the selected objects. Once these are known, others follow all objects that may be owned, as metadata, or
//! with their status where the selected object has a selector for them. They start again if that selector turns out to
//! leave something out. The status of another object of the tree is requested after each of its changes.

mod member_sink;
mod members;
mod plan;
mod related;
mod updates;

use std::cell::RefCell;
use std::io::Write;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use self::member_sink::MemberSink;
use self::members::{Members, Watches};
pub(super) use self::plan::watched;
use self::plan::{OwnedPlan, RootPlan};
use self::updates::TreeUpdates;
use super::requests::Requests;
use crate::commands::empty_result;
use crate::commands::reporter::Reporter;
use crate::commands::watch::{PartRequests, PartSupervisor, Parts, WatchLoop, first_plan};
use crate::exit::ExitCode;
use crate::output::{LiveTree, ReaderWatch};
use crate::session::{ExitOnSignal, Interrupts, Session, TargetSet};
use crate::settings::{self, OutputStream, Watch};

/// Prints the trees of the selected objects, and again after each change, until interrupted.
pub(crate) async fn watch(
    session: &Session,
    tree: &settings::Tree,
    reporter: &Reporter,
    stdout: OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let last = reporter.clone();
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let end = tree.duration.map(|duration| Instant::now() + duration);
    let end = async {
        match end {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    };
    let mut end = pin!(end);
    let mut targets = TargetSet::start(session, &tree.selection, false);
    let mut is_partial = false;
    tokio::select! {
        is_there = first_plan(&mut targets, reporter, &mut is_partial) => if !is_there? {
            return Ok(ExitCode::Error);
        },
        () = &mut end => return Ok(ExitCode::Ok),
    }
    let interrupts = Interrupts::listen()?;
    drop(early);
    let reader_closed = Arc::new(Notify::new());
    let notify = Arc::clone(&reader_closed);
    let _reader = ReaderWatch::start(move || notify.notify_one())?;

    let members = Rc::new(RefCell::new(Members::new(tree.related)));
    members.borrow_mut().is_partial = is_partial;
    let form = super::form(tree, stdout, super::is_wide(&tree.selection.namespaces), Timestamp::UNIX_EPOCH);
    let region = stdout.is_terminal.then(|| reporter.messages().live_region());
    let output = LiveTree::new(form, region, out);
    let requests = Requests { session, reporter, reads_relations: tree.related };
    let mut updates = TreeUpdates::new(requests, tree, Rc::clone(&members), output);
    let watches = TreeWatches { session, tree, reporter, members: Rc::clone(&members) };
    let ended = tokio::select! {
        biased;
        () = reader_closed.notified() => Ok(ExitCode::BrokenPipe),
        interrupt = interrupts.first() => Ok(interrupt.into()),
        () = end => Ok(ExitCode::Ok),
        // Boxed because the future is large.
        ended = Box::pin(watches.run(targets, &mut updates)) => ended,
    };
    updates.end_screen();
    match ended {
        Ok(ExitCode::Ok) if members.borrow().is_partial => Ok(ExitCode::Partial),
        ended => ended,
    }
}

/// The watches of a live tree.
struct TreeWatches<'a> {
    session: &'a Session,
    tree: &'a settings::Tree,
    reporter: &'a Reporter,
    members: Rc<RefCell<Members>>,
}

impl<'a> TreeWatches<'a> {
    /// Runs until the watch of the selected objects ends.
    async fn run<W: Write>(
        &self,
        targets: TargetSet,
        updates: &mut TreeUpdates<'a, W>,
    ) -> anyhow::Result<ExitCode> {
        let watch = Watch::of_tree(self.tree.selection.clone());
        for planned in targets.parts() {
            self.session.load_fields(&planned.part, &[], &self.tree.selection.filter).await;
        }
        let plan = RootPlan { session: self.session, selection: &self.tree.selection };
        let mut roots = self.watch_loop(&watch, targets, &plan, Watches::Roots);
        let mut running = pin!(roots.run());
        let changed = self.members.borrow().changed();
        while !self.members.borrow().is_synced(Watches::Roots) {
            tokio::select! {
                ended = &mut running => return ended,
                () = changed.notified() => {}
            }
        }
        if self.members.borrow().roots().is_empty() {
            let text = empty_result::nothing_at_the_moment(&self.tree.selection);
            self.reporter.messages().notice(&text);
        }
        for generation in 0.. {
            tokio::select! {
                ended = &mut running => return ended,
                ended = self.follow(generation, updates) => ended?,
            }
        }
        Ok(ExitCode::Ok)
    }

    /// Watches the objects that may be owned, until other watches are necessary.
    async fn follow<W: Write>(
        &self,
        generation: usize,
        updates: &mut TreeUpdates<'a, W>,
    ) -> anyhow::Result<()> {
        let plan = OwnedPlan::new(self.tree, &self.members.borrow());
        let watch = Watch::of_tree(plan.candidates.clone());
        let targets = TargetSet::start(self.session, &plan.candidates, true);
        let mut owned = self.watch_loop(&watch, targets, &plan, Watches::Owned { generation });
        let ended = {
            let running = async {
                if let Err(error) = owned.run().await {
                    self.reporter.report_error("", &error);
                }
                // The selected objects stay watched.
                self.members.borrow_mut().mark_failed(Watches::Owned { generation });
                std::future::pending().await
            };
            tokio::select! {
                ended = updates.run(&plan, generation) => ended,
                never = running => match never {},
            }
        };
        owned.stop().await;
        ended
    }

    /// Returns the loop of some of the watches.
    fn watch_loop<'w>(
        &'w self,
        watch: &'w Watch,
        targets: TargetSet,
        requests: &'w dyn PartRequests,
        watches: Watches,
    ) -> WatchLoop<'w, MemberSink<'w>> {
        let sink = MemberSink { members: Rc::clone(&self.members), watches, requests };
        let parts = Parts::new(self.session, watch, self.reporter.clone(), targets).with_requests(requests);
        WatchLoop::new(watch, self.reporter, PartSupervisor::new(watch, self.reporter, parts, sink, false))
    }
}
