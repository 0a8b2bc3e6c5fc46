//! The watches of related objects. Each starts once a relation needs it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::future::pending;
use std::pin::Pin;
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use kdelta::listwatch::Error;
use kdelta::wire::Representation;
use tokio_util::sync::CancellationToken;

use super::member_sink::MemberSink;
use super::members::{Members, Watches};
use crate::commands::forbidden;
use crate::commands::tree::related::{MAX_TARGETS, narrowed};
use crate::commands::tree::requests::Requests;
use crate::commands::watch::{PartRequests, PartSupervisor, Parts, WatchLoop};
use crate::exit::Several;
use crate::session::{Part, PlannedPart, TargetSet};
use crate::settings::{self, Namespaces, Selection, Types, Watch};
use crate::view::{KindName, ListNeed, Needs, OwnerIndex, Presence, Target, Tree, TreeObject};

/// The watches and requests of the related objects of a tree.
pub(super) struct RelatedUpdates<'a> {
    requests: Requests<'a>,
    members: Rc<RefCell<Members>>,
    current: BTreeMap<ListNeed, Running>,
    next: usize,
    running: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + 'a>>>,
    /// The objects to request by their names.
    due: Vec<Target>,
    /// The objects of `due`, and those that are being requested.
    requested: HashSet<Target>,
    /// The objects of the tree that could not be read.
    unread: Vec<Target>,
}

struct Running {
    number: usize,
    stop: CancellationToken,
}

impl<'a> RelatedUpdates<'a> {
    pub(super) fn new(requests: Requests<'a>, members: Rc<RefCell<Members>>) -> Self {
        Self {
            requests,
            members,
            current: BTreeMap::new(),
            next: 0,
            running: FuturesUnordered::new(),
            due: Vec::new(),
            requested: HashSet::new(),
            unread: Vec::new(),
        }
    }

    /// Starts the watches that a tree needs and that do not run. The others end once all of these are complete.
    pub(super) fn require(&mut self, needs: &Needs, members: &Members, candidates: &Selection) {
        for need in &needs.lists {
            if !self.current.contains_key(need) {
                self.start(need, candidates);
            }
        }
        let is_synced = |need| {
            let running: Option<&Running> = self.current.get(need);
            running.is_some_and(|running| members.is_synced(Watches::Related { number: running.number }))
        };
        if needs.lists.iter().all(is_synced) {
            self.current.retain(|need, running| {
                let is_needed = needs.lists.contains(need);
                if !is_needed {
                    running.stop.cancel();
                }
                is_needed
            });
        }
        for target in &needs.targets {
            self.request(target.clone());
        }
    }

    fn start(&mut self, need: &ListNeed, candidates: &Selection) {
        let running = Running { number: self.next, stop: CancellationToken::new() };
        self.next += 1;
        self.running.push(Box::pin(watch(
            self.requests,
            Rc::clone(&self.members),
            RelatedPlan::new(need, candidates),
            Watches::Related { number: running.number },
            running.stop.clone(),
        )));
        self.current.insert(need.clone(), running);
    }

    fn request(&mut self, target: Target) {
        if self.requested.len() < MAX_TARGETS && self.requested.insert(target.clone()) {
            self.due.push(target);
        }
    }

    /// Returns the objects to request by their names, once each.
    pub(super) fn take_due(&mut self, tree: &Tree, index: &OwnerIndex) -> Vec<Target> {
        let related = tree.rows.iter().filter(|row| row.link.is_some() && !row.is_repetition());
        let objects = related.filter_map(|row| index.get(&row.uid));
        let unread = objects.filter(|object| object.presence != Presence::Found);
        self.unread = unread.map(TreeObject::target).collect();
        std::mem::take(&mut self.due)
    }

    /// Whether the tree has objects that could not be read and may exist later.
    pub(super) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Requests the objects again that could not be read.
    pub(super) fn request_unread(&mut self) {
        for target in std::mem::take(&mut self.unread) {
            self.request(target);
        }
    }

    /// Records that there are responses for these objects.
    pub(super) fn mark_done(&mut self, targets: &[Target]) {
        for target in targets {
            self.requested.remove(target);
        }
    }

    /// Whether the initial state of all watches is complete.
    pub(super) fn is_synced(&self, members: &Members) -> bool {
        let mut numbers = self.current.values().map(|running| running.number);
        numbers.all(|number| members.is_synced(Watches::Related { number }))
    }

    /// Receives events of the watches.
    pub(super) async fn run(&mut self) {
        while self.running.next().await.is_some() {}
        pending::<()>().await;
    }
}

/// Watches the objects of a list until it is stopped.
async fn watch(
    requests: Requests<'_>,
    members: Rc<RefCell<Members>>,
    plan: RelatedPlan,
    watches: Watches,
    stop: CancellationToken,
) {
    let Requests { session, reporter, .. } = requests;
    let watch = Watch::of_tree(plan.selection.clone());
    let targets = TargetSet::start(session, &plan.selection, true);
    let sink = MemberSink { members: Rc::clone(&members), watches, requests: &plan };
    let parts = Parts::new(session, &watch, reporter.clone(), targets).with_requests(&plan);
    let supervisor = PartSupervisor::new(&watch, reporter, parts, sink, false);
    let mut watch_loop = WatchLoop::new(&watch, reporter, supervisor);
    let ended = tokio::select! {
        ended = watch_loop.run() => Some(ended),
        () = stop.cancelled() => None,
    };
    match ended {
        None => {}
        Some(Ok(_)) => members.borrow_mut().mark_failed(watches),
        Some(Err(error)) => {
            match plan.refused(&error) {
                Some(part) if members.borrow().is_refused(&part.resource.group_resource()) => {}
                Some(part) => {
                    let line = forbidden::left_out(&[part]);
                    if let Some(line) = line {
                        reporter.messages().notice(&line);
                    }
                }
                None => reporter.report_error("", &error),
            }
            members.borrow_mut().mark_failed(watches);
            // The other parts of the tree stay watched.
            stop.cancelled().await;
        }
    }
    watch_loop.stop().await;
    members.borrow_mut().remove_watches(watches);
}

/// The requests of one watch.
struct RelatedPlan {
    selection: Selection,
    /// The watched part.
    part: RefCell<Option<Part>>,
}

impl RelatedPlan {
    fn new(need: &ListNeed, candidates: &Selection) -> Self {
        let namespaces = match &*need.namespace {
            "" => Namespaces::All,
            namespace => Namespaces::Named(vec![namespace.to_owned()]),
        };
        let types = Types::Word(word(need.kind));
        let target = settings::Target { types, names: Vec::new(), patterns: Vec::new() };
        let selection = narrowed(candidates, &need.scope);
        Self {
            selection: Selection { targets: vec![target], namespaces, ..selection },
            part: RefCell::new(None),
        }
    }

    /// Returns the part if the error is that the user may not watch it.
    fn refused(&self, error: &anyhow::Error) -> Option<Part> {
        let Several(errors) = error.downcast_ref()?;
        let is_forbidden = |error: &anyhow::Error| matches!(error.downcast_ref(), Some(Error::Forbidden(_)));
        self.part.borrow().clone().filter(|_| errors.iter().all(is_forbidden))
    }
}

impl PartRequests for RelatedPlan {
    fn selected(&self, planned: Vec<PlannedPart>) -> Vec<PlannedPart> {
        *self.part.borrow_mut() = planned.first().map(|planned| planned.part.clone());
        planned
    }

    fn request(&self, _part: &Part) -> (Cow<'_, Selection>, Representation) {
        (Cow::Borrowed(&self.selection), Representation::Objects)
    }
}

/// Returns the word that names a kind.
fn word((group, kind): KindName) -> String {
    let kind = kind.to_lowercase();
    if group.is_empty() { kind } else { format!("{kind}.{group}") }
}
