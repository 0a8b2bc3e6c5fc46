//! The tree that follows its objects: requests what the watches do not deliver, and prints every change.

use std::cell::RefCell;
use std::collections::HashSet;
use std::future::pending;
use std::io::Write;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use kdelta::listwatch::Error;
use kdelta::query::ObjectStatus;
use tokio::time::{Instant, sleep_until};

use super::members::{Members, Watches};
use super::plan::{MAX_WATCHES, OwnedPlan};
use super::related::RelatedUpdates;
use crate::commands::tree::owners::FoundObject;
use crate::commands::tree::requests::{ObjectGroup, Requests, States};
use crate::commands::tree::status_rules::set_state;
use crate::commands::tree::statuses::groups;
use crate::output::LiveTree;
use crate::settings;
use crate::view::{ObjectId, OwnerReference, Presence, Target, Tree};

/// The time that a changed tree waits for the statuses of its objects.
const STATUS_WAIT: Duration = Duration::from_millis(20);
/// The time after which the first tree is printed even if it is incomplete: a type may not respond.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// The interval at which owners that no watch covers are requested again.
const OWNER_REFRESH: Duration = Duration::from_secs(10);
/// The time after which a pod that no node has room for counts as failed, as in kstatus, and a second for its clock.
const SCHEDULE_WINDOW: Duration = Duration::from_secs(16);
/// The number of owners that are requested in the life of a watch, as hostile objects may name any number.
const MAX_OWNERS: usize = 1000;

/// The result of a request.
enum Response {
    States(ObjectGroup, States),
    Owners(anyhow::Result<Vec<FoundObject>>),
    /// Objects to which others refer.
    Targets(Vec<Target>, anyhow::Result<Vec<FoundObject>>),
}

type Running<'a> = FuturesUnordered<Pin<Box<dyn Future<Output = Response> + 'a>>>;

/// The printed tree and the requests for it.
pub(super) struct TreeUpdates<'a, W> {
    requests: Requests<'a>,
    settings: &'a settings::Tree,
    members: Rc<RefCell<Members>>,
    output: LiveTree<W>,
    running: Running<'a>,
    /// The objects whose states are being requested.
    requested: HashSet<ObjectId>,
    /// The owners that have been requested.
    owners: HashSet<ObjectId>,
    /// The watches and requests of related objects, if they are part of the tree.
    related: Option<RelatedUpdates<'a>>,
    /// The objects of the tree that no watch covers.
    unwatched: Vec<ObjectId>,
    refresh_at: Option<Instant>,
    /// The time at which the status of a pod may follow from its age.
    recheck_at: Option<Instant>,
    /// The time of the first change that is not printed yet.
    changed_at: Option<Instant>,
    started: Instant,
    is_first: bool,
}

impl<'a, W: Write> TreeUpdates<'a, W> {
    pub(super) fn new(
        requests: Requests<'a>,
        settings: &'a settings::Tree,
        members: Rc<RefCell<Members>>,
        output: LiveTree<W>,
    ) -> Self {
        let related = settings.related.then(|| RelatedUpdates::new(requests, Rc::clone(&members)));
        Self {
            requests,
            settings,
            members,
            output,
            running: FuturesUnordered::new(),
            requested: HashSet::new(),
            owners: HashSet::new(),
            related,
            unwatched: Vec::new(),
            refresh_at: None,
            recheck_at: None,
            changed_at: None,
            started: Instant::now(),
            is_first: true,
        }
    }

    /// Leaves the last tree on the screen.
    pub(super) fn end_screen(&mut self) {
        // The command ends anyway.
        let _ = self.output.finish(&self.members.borrow().index, Instant::now());
    }

    /// Prints the tree whenever it has changed, until other watches than those of `plan` are necessary. They have this
    /// generation.
    ///
    /// # Errors
    /// The output can't be written.
    pub(super) async fn run(&mut self, plan: &OwnedPlan, generation: usize) -> anyhow::Result<()> {
        let changed = self.members.borrow().changed();
        let watches = Watches::Owned { generation };
        let mut is_synced = false;
        loop {
            let now = Instant::now();
            if !is_synced && self.members.borrow().is_synced(watches) {
                is_synced = true;
                self.members.borrow_mut().remove_before(generation);
                if plan.left_out() > 0 {
                    let left_out = plan.left_out();
                    let line = format!(
                        "{left_out} more types or namespaces are not watched: a tree has at most {MAX_WATCHES} watches"
                    );
                    self.requests.reporter.messages().notice(&line);
                }
            }
            if self.members.borrow_mut().take_changed() {
                self.changed_at.get_or_insert(now);
                self.update(plan, is_synced);
                if !plan.covers(self.settings, &self.members.borrow()) {
                    return Ok(());
                }
            }
            self.show(now, is_synced)?;
            let next = self.next_at(is_synced);
            tokio::select! {
                Some(response) = self.running.next() => self.respond(response),
                () = run_related(&mut self.related) => {}
                () = changed.notified() => {}
                () = async { match next { Some(next) => sleep_until(next).await, None => pending().await } } => {
                    self.on_time(Instant::now());
                }
            }
        }
    }

    /// Requests the owners of the selected objects that are unknown.
    fn request_owners(&mut self, plan: &OwnedPlan, members: &Members, roots: &[ObjectId]) {
        let unknown = members.index.unknown_owners(roots);
        let owners: Vec<(OwnerReference, String)> = unknown
            .into_iter()
            .filter(|(owner, _)| self.owners.len() < MAX_OWNERS && self.owners.insert(Arc::clone(&owner.uid)))
            .collect();
        if !owners.is_empty() {
            let (requests, candidates) = (self.requests, plan.candidates.clone());
            self.running
                .push(Box::pin(async move { Response::Owners(requests.owners(&candidates, &owners).await) }));
        }
    }

    /// Adds related objects to the tree if they are part of it, and requests those that are unknown.
    fn with_related(&mut self, tree: Tree, plan: &OwnedPlan, members: &Members, is_synced: bool) -> Tree {
        let Some(related) = &mut self.related else { return tree };
        let (tree, needs) = tree.with_related(&members.index);
        if is_synced {
            related.require(&needs, members, &plan.candidates);
        }
        let targets = related.take_due(&tree, &members.index);
        if !targets.is_empty() {
            let (requests, candidates) = (self.requests, plan.candidates.clone());
            self.running.push(Box::pin(async move {
                let found = requests.find_targets(&candidates, &targets).await;
                Response::Targets(targets, found)
            }));
        }
        if related.has_unread() {
            self.refresh_at.get_or_insert_with(|| Instant::now() + OWNER_REFRESH);
        }
        tree
    }

    /// Requests the states of the tree's objects whose status is unknown or outdated.
    fn request_states(&mut self, plan: &OwnedPlan, members: &mut Members, tree: &Tree) {
        let Members { index, stale, .. } = members;
        let is_due = |uid: &ObjectId| {
            !self.requested.contains(uid)
                && (stale.contains(uid) || index.get(uid).is_some_and(|object| object.status.is_none()))
        };
        let due = groups(self.requests.session, index, tree.uids(), is_due);
        for group in due {
            for (uid, _) in &group.names {
                self.requested.insert(Arc::clone(uid));
                stale.remove(uid);
            }
            let (requests, candidates) = (self.requests, plan.candidates.clone());
            self.running.push(Box::pin(async move {
                let states = requests.states(&candidates, &group).await;
                Response::States(group, states)
            }));
        }
    }

    /// Builds the tree, and requests the objects and statuses that are unknown.
    fn update(&mut self, plan: &OwnedPlan, is_synced: bool) {
        let members = Rc::clone(&self.members);
        let mut members = members.borrow_mut();
        let roots = members.roots();
        self.request_owners(plan, &members, &roots);
        let tree = Tree::of(&members.index, &roots, self.settings.depth);
        let tree = self.with_related(tree, plan, &members, is_synced);
        self.request_states(plan, &mut members, &tree);
        // The UID of an unread object that is only related is not its own.
        let is_found = |uid: &&ObjectId| {
            members.index.get(uid).is_some_and(|object| match object.presence {
                Presence::Found => true,
                Presence::Unreadable => !object.is_named_only(),
                Presence::Missing => false,
            })
        };
        let unwatched = tree.uids().filter(|uid| !members.is_watched(uid)).filter(is_found);
        self.unwatched = unwatched.cloned().collect();
        if !self.unwatched.is_empty() {
            self.refresh_at.get_or_insert_with(|| Instant::now() + OWNER_REFRESH);
        }
        self.recheck_at = next_recheck(&members, &tree);
        self.output.set(tree);
    }

    /// Applies the result of a request.
    fn respond(&mut self, response: Response) {
        let mut members = self.members.borrow_mut();
        let (now, reads_relations) = (Timestamp::now(), members.index.has_names());
        match response {
            Response::States(group, states) => {
                for (uid, _) in &group.names {
                    self.requested.remove(uid);
                    let is_watched = members.is_watched(uid);
                    let Some(object) = members.index.get_mut(uid) else { continue };
                    match states.get(uid) {
                        Some(Ok(state)) => set_state(object, &state.json(), reads_relations, now),
                        // Its deletion is about to be received.
                        Some(Err(Error::NotFound(_))) | None if is_watched => {}
                        Some(Err(Error::NotFound(_))) | None => {
                            object.presence = Presence::Missing;
                            object.status = Some(ObjectStatus::NotFound);
                            "it was deleted meanwhile".clone_into(&mut object.message);
                        }
                        Some(Err(error)) => {
                            (object.status, object.message) =
                                (Some(ObjectStatus::Unknown), error.to_string());
                        }
                    }
                }
            }
            Response::Owners(Ok(owners)) => {
                for FoundObject { object, refusal } in owners {
                    members.is_partial |= refusal.is_some();
                    if members.index.get(&object.uid).is_none() {
                        members.index.insert(object);
                    }
                }
            }
            Response::Targets(targets, Ok(found)) => {
                if let Some(related) = &mut self.related {
                    related.mark_done(&targets);
                }
                for FoundObject { object, refusal } in found {
                    members.is_partial |= refusal.is_some();
                    if !members.is_watched(&object.uid) {
                        members.index.insert(object);
                    }
                }
            }
            Response::Owners(Err(error)) | Response::Targets(_, Err(error)) => {
                members.is_partial = true;
                self.requests.reporter.report_error("", &error);
            }
        }
        members.mark_changed();
    }

    /// Requests again what may have changed without an event.
    fn on_time(&mut self, now: Instant) {
        let mut members = self.members.borrow_mut();
        if self.refresh_at.is_some_and(|at| at <= now) {
            self.refresh_at = None;
            members.stale.extend(self.unwatched.drain(..));
            if let Some(related) = &mut self.related {
                related.request_unread();
            }
            members.mark_changed();
        }
        if self.recheck_at.is_some_and(|at| at <= now) {
            self.recheck_at = None;
            let pods = unscheduled(&members, self.output.tree()).map(|(uid, _)| Arc::clone(uid));
            let pods: Vec<ObjectId> = pods.collect();
            members.stale.extend(pods);
            members.mark_changed();
        }
    }

    /// Prints the tree if it is due.
    fn show(&mut self, now: Instant, is_synced: bool) -> anyhow::Result<()> {
        if self.show_at(is_synced).is_some_and(|at| at <= now) {
            let members = self.members.borrow();
            self.output.show(&members.index, now)?;
            (self.changed_at, self.is_first) = (None, false);
        } else if !self.is_first && self.changed_at.is_none() {
            self.output.repair(&self.members.borrow().index, now)?;
        }
        Ok(())
    }

    /// Returns the time at which the changed tree is to be printed.
    fn show_at(&self, is_synced: bool) -> Option<Instant> {
        let changed = self.changed_at?;
        let is_complete = self.running.is_empty();
        if self.is_first {
            let members = self.members.borrow();
            let has_related = self.related.as_ref().is_none_or(|related| related.is_synced(&members));
            let is_ready = is_synced && is_complete && has_related;
            return Some(if is_ready { changed } else { self.started + FIRST_WAIT });
        }
        let complete = if is_complete { changed } else { changed + STATUS_WAIT };
        Some(self.output.ready_at().map_or(complete, |ready| ready.max(complete)))
    }

    fn next_at(&self, is_synced: bool) -> Option<Instant> {
        let repair = self.output.repair_at().filter(|_| !self.is_first);
        [self.show_at(is_synced), repair, self.refresh_at, self.recheck_at].into_iter().flatten().min()
    }
}

/// Receives events of the watches of related objects, if there are any.
async fn run_related(related: &mut Option<RelatedUpdates<'_>>) {
    match related {
        Some(related) => related.run().await,
        None => pending().await,
    }
}

/// Returns the pods of a tree that kstatus waits for because they are new, with the time since their creation.
fn unscheduled<'a>(members: &'a Members, tree: &'a Tree) -> impl Iterator<Item = (&'a ObjectId, Duration)> {
    let now = Timestamp::now();
    tree.uids().filter_map(move |uid| {
        let object = members.index.get(uid)?;
        let is_pod = object.resource.group.is_empty() && object.resource.resource == "pods";
        let is_in_progress = object.status == Some(ObjectStatus::InProgress);
        let age = Duration::try_from(now.duration_since(object.created?)).unwrap_or_default();
        // After the window the status no longer depends on the time.
        (is_pod && is_in_progress && age < SCHEDULE_WINDOW + Duration::from_secs(2)).then_some((uid, age))
    })
}

fn next_recheck(members: &Members, tree: &Tree) -> Option<Instant> {
    let ages = unscheduled(members, tree).map(|(_, age)| age).filter(|age| *age < SCHEDULE_WINDOW);
    ages.max().map(|age| Instant::now() + SCHEDULE_WINDOW.saturating_sub(age))
}
