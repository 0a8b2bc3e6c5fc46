//! The targets of a selection: the plans of all clusters, kept up to date, and their parts.

use std::path::Path;
use std::sync::Arc;

use kdelta::object::ApiResource;
use tokio::sync::Notify;

use super::plan::{Plan, PlannedPart, RemainingParts};
use super::recordings::RecordedTypes;
use super::target_watcher::{PlanMode, TargetUpdate, TargetWatcher, UpdateKind};
use super::{Cluster, Part, Session};
use crate::settings::Selection;

/// Resolves one selection in the clusters of a session, and follows changes of types and namespaces while it is polled.
pub(crate) struct TargetSet {
    clusters: Vec<ClusterTargets>,
    watcher: TargetWatcher,
    /// Whether a pattern may match no type for now.
    allow_unmatched: bool,
    /// Whether types that are added later are of interest.
    follows_kinds: bool,
    /// The message prefixes of clusters that were unreachable and now respond.
    recovered: Vec<String>,
}

struct ClusterTargets {
    cluster: Arc<Cluster>,
    state: State,
    /// Whether a new plan is being made that will replace the current one.
    is_replanning: bool,
    /// Whether the cluster's namespaces are being watched.
    follows_namespaces: bool,
    /// Triggers discovery of the cluster's types.
    recheck: Arc<Notify>,
}

enum State {
    /// The selection is not resolved yet.
    Unknown,
    Known(Box<Plan>),
    Failed,
}

/// A failure to resolve or follow the targets.
#[derive(Debug)]
pub(crate) enum TargetFailure {
    /// The cluster can't be used. It has no parts, or none that are still requested.
    Cluster {
        /// The prefix of messages about the cluster.
        prefix: String,
        error: anyhow::Error,
    },
    /// A type does not exist yet; it is watched once it does.
    MissingType {
        /// The prefix of messages about the cluster.
        prefix: String,
        message: String,
    },
    /// Types that are forbidden in all namespaces can't be listed per namespace either, because the namespaces can't be
    /// listed.
    Namespaces {
        /// The position of the cluster in the session.
        cluster: usize,
    },
    /// The cluster's namespaces can't be listed, or no longer: new matches will not be seen. Known and named namespaces
    /// stay watched.
    NamespacePatterns {
        /// The prefix of messages about the cluster.
        prefix: String,
        error: anyhow::Error,
    },
}

impl TargetSet {
    /// Starts resolving for a watch: unreachable clusters are retried, and new members of categories are added.
    /// `allow_unmatched` allows patterns that match no type for now.
    pub(crate) fn start(session: &Session, selection: &Selection, allow_unmatched: bool) -> Self {
        Self::new(session, TargetWatcher::new(selection), allow_unmatched, PlanMode::Watch)
    }

    /// Starts resolving for a recorder: as [`TargetSet::start`], and waits for types that the server does not serve if its
    /// recordings in this directory have them. [`TargetSet::next`] reports each of them once.
    pub(crate) fn start_recording(
        session: &Session,
        selection: &Selection,
        allow_unmatched: bool,
        recordings: &Path,
    ) -> Self {
        let recorded = RecordedTypes::new(recordings, session.keyring());
        let watcher = TargetWatcher::new(selection).with_recorded(recorded);
        Self::new(session, watcher, allow_unmatched, PlanMode::Watch)
    }

    /// Starts resolving for a watch that waits for types which do not exist yet. [`TargetSet::next`] reports each of them
    /// once.
    pub(crate) fn start_awaiting(session: &Session, selection: &Selection) -> Self {
        Self::new(session, TargetWatcher::new(selection), true, PlanMode::AwaitTypes)
    }

    /// Starts resolving for a one-shot command: cached discovery is used first and checked by [`TargetSet::revalidate`]
    /// when a type is missing.
    pub(crate) fn start_one_shot(session: &Session, selection: &Selection, allow_unmatched: bool) -> Self {
        Self::new(session, TargetWatcher::new(selection), allow_unmatched, PlanMode::OneShot)
    }

    /// Returns the targets of a watch of these objects, which are known already.
    pub(crate) fn of_objects(
        session: &Session,
        selection: &Selection,
        objects: &[Part],
    ) -> anyhow::Result<Self> {
        let known = |cluster: &Arc<Cluster>| {
            let own = objects.iter().filter(|part| part.cluster == cluster.index()).cloned().collect();
            let plan = cluster.plan_of_objects(selection, own)?;
            Ok(ClusterTargets { state: State::Known(Box::new(plan)), ..ClusterTargets::new(cluster) })
        };
        let clusters = session.clusters.iter().map(known).collect::<anyhow::Result<_>>()?;
        let watcher = TargetWatcher::new(selection);
        Ok(Self { clusters, watcher, allow_unmatched: false, follows_kinds: true, recovered: Vec::new() })
    }

    fn new(session: &Session, mut watcher: TargetWatcher, allow_unmatched: bool, mode: PlanMode) -> Self {
        let start = |cluster: &Arc<Cluster>| {
            watcher.plan(cluster, allow_unmatched, mode);
            ClusterTargets::new(cluster)
        };
        let clusters = session.clusters.iter().map(start).collect();
        Self {
            clusters,
            watcher,
            allow_unmatched,
            follows_kinds: !matches!(mode, PlanMode::OneShot),
            recovered: Vec::new(),
        }
    }

    /// Waits for a change of the targets. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<(), TargetFailure> {
        let Some(TargetUpdate { cluster, kind }) = self.watcher.next().await else { return Ok(()) };
        let targets = &mut self.clusters[cluster];
        match kind {
            UpdateKind::Plan(plan) => match *plan {
                Ok(mut plan) => {
                    let is_second = std::mem::take(&mut targets.is_replanning);
                    if let State::Known(first) = &targets.state {
                        plan.carry_over(first);
                    }
                    if self.follows_kinds && plan.needs_kinds() && !is_second {
                        self.watcher.kinds(&targets.cluster, Arc::clone(&targets.recheck));
                    }
                    if matches!(targets.state, State::Failed) {
                        self.recovered.push(targets.cluster.prefix().to_owned());
                    }
                    targets.state = State::Known(Box::new(plan));
                }
                Err(error) => return Err(targets.fail(error)),
            },
            UpdateKind::Kinds(catalog) => {
                if let State::Known(plan) = &mut targets.state {
                    plan.update_kinds(catalog.resources(), catalog.missing());
                }
            }
            UpdateKind::MissingType(message) => {
                let prefix = targets.cluster.prefix().to_owned();
                return Err(TargetFailure::MissingType { prefix, message });
            }
            UpdateKind::Namespaces(Ok(live)) => {
                if let State::Known(plan) = &mut targets.state {
                    plan.update_namespaces(live);
                }
            }
            UpdateKind::Namespaces(Err(error)) => {
                let remains = match &mut targets.state {
                    State::Known(plan) => plan.give_up_namespaces(),
                    State::Unknown | State::Failed => RemainingParts::Nothing,
                };
                return Err(match remains {
                    RemainingParts::AllButSplit => TargetFailure::Namespaces { cluster },
                    RemainingParts::Known => {
                        let prefix = targets.cluster.prefix().to_owned();
                        TargetFailure::NamespacePatterns { prefix, error: error.into() }
                    }
                    RemainingParts::Nothing => targets.fail(error.into()),
                });
            }
        }
        self.follow_namespaces(cluster);
        Ok(())
    }

    /// Takes the message prefixes of clusters that were reported unreachable and now respond.
    pub(crate) fn take_recovered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.recovered)
    }

    /// Whether the parts are complete for now.
    pub(crate) fn is_settled(&self) -> bool {
        self.clusters.iter().all(|targets| match &targets.state {
            State::Unknown => false,
            State::Known(plan) => plan.is_settled() && !targets.is_replanning,
            State::Failed => true,
        })
    }

    /// Whether any cluster is usable.
    pub(crate) fn has_plan(&self) -> bool {
        self.clusters.iter().any(|targets| matches!(targets.state, State::Known(_)))
    }

    /// Whether parts may be added later.
    pub(crate) fn is_open(&self) -> bool {
        self.plans().any(Plan::is_open)
    }

    /// Whether a type of the selection is not served at the moment, but awaited.
    pub(crate) fn has_missing_types(&self) -> bool {
        self.plans().any(|plan| plan.missing_types().next().is_some())
    }

    /// Returns the requested types known so far, of all clusters.
    pub(crate) fn resources(&self) -> Vec<Arc<ApiResource>> {
        self.plans().flat_map(Plan::resources).cloned().collect()
    }

    /// Returns the parts known so far, each once, cluster by cluster.
    pub(crate) fn parts(&self) -> Vec<PlannedPart> {
        self.plans().flat_map(Plan::parts).collect()
    }

    /// Returns the parts, named objects as often as they are named.
    pub(crate) fn parts_with_repetitions(&self) -> Vec<PlannedPart> {
        self.plans().flat_map(Plan::parts_with_repetitions).collect()
    }

    /// Returns the named objects that may be in any matching namespace of the resolved clusters, with an empty
    /// namespace.
    pub(crate) fn named_in_matching(&self) -> Vec<Part> {
        self.plans().flat_map(Plan::named_in_matching).collect()
    }

    /// Whether the part's type is still listed per namespace, after it was forbidden in all.
    pub(crate) fn is_split(&self, part: &Part) -> bool {
        matches!(&self.clusters[part.cluster].state, State::Known(plan) if plan.is_split(part))
    }

    /// Handles a forbidden part: if it covered all namespaces, lists it per namespace from now on. Returns whether it
    /// does; the next updates report the outcome.
    pub(crate) fn split_by_namespace(&mut self, part: &Part) -> bool {
        let State::Known(plan) = &mut self.clusters[part.cluster].state else { return false };
        let is_split = plan.split_by_namespace(part);
        self.follow_namespaces(part.cluster);
        is_split
    }

    /// Checks by discovery whether the type of a part is really gone. Returns whether the selection now resolves
    /// differently; its cluster is then planned again, and the set is not settled until that is done.
    pub(crate) async fn revalidate(&mut self, part: &Part) -> bool {
        let targets = &mut self.clusters[part.cluster];
        // A server that does not respond changes nothing: the type stays missing.
        let has_changed = targets.cluster.discovery().revalidate(&part.resource).await.unwrap_or(false);
        if has_changed {
            targets.is_replanning = true;
            self.watcher.plan(&targets.cluster, self.allow_unmatched, PlanMode::OneShot);
        }
        has_changed
    }

    /// Returns the trigger for an early discovery of a cluster's types, for when a known type is missing.
    pub(crate) fn recheck(&self, cluster: usize) -> Arc<Notify> {
        Arc::clone(&self.clusters[cluster].recheck)
    }

    fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.clusters.iter().filter_map(|targets| match &targets.state {
            State::Known(plan) => Some(&**plan),
            State::Unknown | State::Failed => None,
        })
    }

    fn follow_namespaces(&mut self, cluster: usize) {
        let targets = &mut self.clusters[cluster];
        let State::Known(plan) = &targets.state else { return };
        if plan.needs_namespaces() && !std::mem::replace(&mut targets.follows_namespaces, true) {
            self.watcher.namespaces(&targets.cluster);
        }
    }
}

impl ClusterTargets {
    fn new(cluster: &Arc<Cluster>) -> Self {
        Self {
            cluster: Arc::clone(cluster),
            state: State::Unknown,
            is_replanning: false,
            follows_namespaces: false,
            recheck: Arc::default(),
        }
    }

    fn fail(&mut self, error: anyhow::Error) -> TargetFailure {
        self.is_replanning = false;
        self.state = State::Failed;
        TargetFailure::Cluster { prefix: self.cluster.prefix().to_owned(), error }
    }
}
