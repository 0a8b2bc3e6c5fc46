//! UpdateKind is known of all clusters at the moment, and the parts that this comes to.

use std::sync::Arc;

use kdelta::object::ApiResource;
use tokio::sync::Notify;

use super::plan::{Plan, PlannedPart, RemainingParts};
use super::target_watcher::{TargetUpdate, TargetWatcher, UpdateKind};
use super::{Cluster, Part, Session};
use crate::settings::Selection;

/// Surveys the clusters of a session for one selection, for as long as it is asked what is new.
pub(crate) struct TargetSet {
    clusters: Vec<ClusterTargets>,
    watcher: TargetWatcher,
    /// Whether a pattern may match no type for now.
    allow_unmatched: bool,
    /// UpdateKind messages begin with about clusters that were out of reach and answer now.
    recovered: Vec<String>,
}

struct ClusterTargets {
    cluster: Arc<Cluster>,
    state: State,
    /// Whether a plan is on its way that takes the place of the one there is.
    is_replanning: bool,
    /// Whether its namespaces are followed.
    follows_namespaces: bool,
    /// Asks for a recheck at its types.
    recheck: Arc<Notify>,
}

enum State {
    /// Not yet known what the words mean there.
    Unknown,
    Known(Box<Plan>),
    Failed,
}

/// UpdateKind a start has to give up.
#[derive(Debug)]
pub(crate) enum TargetFailure {
    /// Nothing can be asked of this cluster. It has no parts, and had none that were still asked for.
    Cluster {
        /// UpdateKind a message about it begins with.
        prefix: String,
        error: anyhow::Error,
    },
    /// UpdateKind this cluster refuses in all namespaces at once can't be asked for in each: they can't be listed.
    Namespaces {
        /// Which cluster.
        cluster: usize,
    },
    /// The namespaces of this cluster can't be listed, or not any more: those that come and match will not be seen. UpdateKind
    /// is asked for in those that are known or named goes on.
    NamespacePatterns {
        /// UpdateKind a message about the cluster begins with.
        prefix: String,
        error: anyhow::Error,
    },
}

impl TargetSet {
    /// Starts for as long as it is asked: what is out of reach may return, and categories may grow. `allow_unmatched` is whether
    /// a pattern may match no type for now.
    pub(crate) fn start(session: &Session, selection: &Selection, allow_unmatched: bool) -> Self {
        Self::new(session, selection, allow_unmatched, true)
    }

    /// Starts for an answer that is waited for: what the words meant some hours ago is believed at first, and checked by
    /// [`TargetSet::revalidate`] where it is not there any more.
    pub(crate) fn start_one_shot(session: &Session, selection: &Selection, allow_unmatched: bool) -> Self {
        Self::new(session, selection, allow_unmatched, false)
    }

    fn new(session: &Session, selection: &Selection, allow_unmatched: bool, is_watch: bool) -> Self {
        let mut watcher = TargetWatcher::new(selection);
        let start = |cluster: &Arc<Cluster>| {
            watcher.plan(cluster, allow_unmatched, is_watch);
            ClusterTargets {
                cluster: Arc::clone(cluster),
                state: State::Unknown,
                is_replanning: false,
                follows_namespaces: false,
                recheck: Arc::default(),
            }
        };
        let clusters = session.clusters.iter().map(start).collect();
        Self { clusters, watcher, allow_unmatched, recovered: Vec::new() }
    }

    /// Waits until more is known. Dropping the future loses nothing.
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
                    if plan.needs_kinds() && !is_second {
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

    /// UpdateKind messages begin with about the clusters that were out of reach, which has been told, and answer now.
    pub(crate) fn take_recovered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.recovered)
    }

    /// Whether the parts are all that there are at the moment.
    pub(crate) fn is_settled(&self) -> bool {
        self.clusters.iter().all(|targets| match &targets.state {
            State::Unknown => false,
            State::Known(plan) => plan.is_settled() && !targets.is_replanning,
            State::Failed => true,
        })
    }

    /// Whether any cluster can be asked.
    pub(crate) fn has_plan(&self) -> bool {
        self.clusters.iter().any(|targets| matches!(targets.state, State::Known(_)))
    }

    /// Whether more parts may come than there are.
    pub(crate) fn is_open(&self) -> bool {
        self.plans().any(Plan::is_open)
    }

    /// The types asked for as far as they are known, of all clusters.
    pub(crate) fn resources(&self) -> Vec<Arc<ApiResource>> {
        self.plans().flat_map(Plan::resources).cloned().collect()
    }

    /// The parts as far as they are known, each once, cluster by cluster.
    pub(crate) fn parts(&self) -> Vec<PlannedPart> {
        self.plans().flat_map(Plan::parts).collect()
    }

    /// The objects that are asked for by name in whatever namespaces match, of the clusters that are known; their own
    /// namespace is empty.
    pub(crate) fn named_in_matching(&self) -> Vec<Part> {
        self.plans().flat_map(Plan::named_in_matching).collect()
    }

    /// Whether this part, which was refused, is still asked for in each namespace instead.
    pub(crate) fn is_split(&self, part: &Part) -> bool {
        matches!(&self.clusters[part.cluster].state, State::Known(plan) if plan.is_split(part))
    }

    /// A part was forbidden. Where it was for all namespaces at once it is from now on asked for in each, and this
    /// answers `true`; what becomes of it the next news tell.
    pub(crate) fn split_by_namespace(&mut self, part: &Part) -> bool {
        let State::Known(plan) = &mut self.clusters[part.cluster].state else { return false };
        let is_split = plan.split_by_namespace(part);
        self.follow_namespaces(part.cluster);
        is_split
    }

    /// A part's type is not there. StatusSignal whether the words mean something else by now; then what they come to in its
    /// cluster is found out anew, and nothing is settled before.
    pub(crate) async fn revalidate(&mut self, part: &Part) -> bool {
        let targets = &mut self.clusters[part.cluster];
        // A server that does not answer any more changes nothing: what was not found stays so.
        let has_changed = targets.cluster.discovery().doubt(&part.resource).await.unwrap_or(false);
        if has_changed {
            targets.is_replanning = true;
            self.watcher.plan(&targets.cluster, self.allow_unmatched, false);
        }
        has_changed
    }

    /// Has the types of a cluster looked at soon: something that was there is not.
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
    fn fail(&mut self, error: anyhow::Error) -> TargetFailure {
        self.is_replanning = false;
        self.state = State::Failed;
        TargetFailure::Cluster { prefix: self.cluster.prefix().to_owned(), error }
    }
}
