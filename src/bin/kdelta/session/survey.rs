//! What is known of all clusters at the moment, and the parts that this comes to.

use std::sync::Arc;

use kdelta::object::ApiResource;
use tokio::sync::Notify;

use super::plan::{Plan, Planned, Remains};
use super::scout::{News, Scouts, What};
use super::{Cluster, Part, Session};
use crate::settings::Selection;

/// Surveys the clusters of a session for one selection, for as long as it is asked what is new.
pub(crate) struct Survey {
    clusters: Vec<Surveyed>,
    scouts: Scouts,
    /// Whether a pattern may match no type for now.
    patient: bool,
    /// What messages begin with about clusters that were out of reach and answer now.
    returned: Vec<String>,
}

struct Surveyed {
    cluster: Arc<Cluster>,
    state: State,
    /// Whether a plan is on its way that takes the place of the one there is.
    is_doubted: bool,
    /// Whether its namespaces are followed.
    follows_namespaces: bool,
    /// Asks for a look at its types.
    look: Arc<Notify>,
}

enum State {
    /// Not yet known what the words mean there.
    Unknown,
    Known(Box<Plan>),
    Failed,
}

/// What a survey has to give up.
#[derive(Debug)]
pub(crate) enum Setback {
    /// Nothing can be asked of this cluster. It has no parts, and had none that were still asked for.
    Cluster {
        /// What a message about it begins with.
        prefix: String,
        error: anyhow::Error,
    },
    /// What this cluster refuses in all namespaces at once can't be asked for in each: they can't be listed.
    Namespaces {
        /// Which cluster.
        cluster: usize,
    },
    /// The namespaces of this cluster can't be listed, or not any more: those that come and match will not be seen. What
    /// is asked for in those that are known or named goes on.
    Matches {
        /// What a message about the cluster begins with.
        prefix: String,
        error: anyhow::Error,
    },
}

impl Survey {
    /// Starts for as long as it is asked: what is out of reach may return, and categories may grow. `patient` is whether
    /// a pattern may match no type for now.
    pub(crate) fn start(session: &Session, selection: &Selection, patient: bool) -> Self {
        Self::of(session, selection, patient, true)
    }

    /// Starts for an answer that is waited for: what the words meant some hours ago is believed at first, and checked by
    /// [`Survey::doubt`] where it is not there any more.
    pub(crate) fn in_haste(session: &Session, selection: &Selection, patient: bool) -> Self {
        Self::of(session, selection, patient, false)
    }

    fn of(session: &Session, selection: &Selection, patient: bool, lasting: bool) -> Self {
        let mut scouts = Scouts::new(selection);
        let survey = |cluster: &Arc<Cluster>| {
            scouts.plan(cluster, patient, lasting);
            Surveyed {
                cluster: Arc::clone(cluster),
                state: State::Unknown,
                is_doubted: false,
                follows_namespaces: false,
                look: Arc::default(),
            }
        };
        let clusters = session.clusters.iter().map(survey).collect();
        Self { clusters, scouts, patient, returned: Vec::new() }
    }

    /// Waits until more is known. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<(), Setback> {
        let Some(News { cluster, what }) = self.scouts.next().await else { return Ok(()) };
        let surveyed = &mut self.clusters[cluster];
        match what {
            What::Plan(plan) => match *plan {
                Ok(mut plan) => {
                    let is_second = std::mem::take(&mut surveyed.is_doubted);
                    if let State::Known(first) = &surveyed.state {
                        plan.take_over(first);
                    }
                    if plan.needs_kinds() && !is_second {
                        self.scouts.kinds(&surveyed.cluster, Arc::clone(&surveyed.look));
                    }
                    if matches!(surveyed.state, State::Failed) {
                        self.returned.push(surveyed.cluster.prefix().to_owned());
                    }
                    surveyed.state = State::Known(Box::new(plan));
                }
                Err(error) => return Err(surveyed.fail(error)),
            },
            What::Kinds(catalog) => {
                if let State::Known(plan) = &mut surveyed.state {
                    plan.learn_kinds(catalog.resources(), catalog.missing());
                }
            }
            What::Namespaces(Ok(live)) => {
                if let State::Known(plan) = &mut surveyed.state {
                    plan.learn_namespaces(live);
                }
            }
            What::Namespaces(Err(error)) => {
                let remains = match &mut surveyed.state {
                    State::Known(plan) => plan.give_up_namespaces(),
                    State::Unknown | State::Failed => Remains::Nothing,
                };
                return Err(match remains {
                    Remains::AllButRefused => Setback::Namespaces { cluster },
                    Remains::Known => {
                        let prefix = surveyed.cluster.prefix().to_owned();
                        Setback::Matches { prefix, error: error.into() }
                    }
                    Remains::Nothing => surveyed.fail(error.into()),
                });
            }
        }
        self.follow_namespaces(cluster);
        Ok(())
    }

    /// What messages begin with about the clusters that were out of reach, which has been told, and answer now.
    pub(crate) fn take_returned(&mut self) -> Vec<String> {
        std::mem::take(&mut self.returned)
    }

    /// Whether the parts are all that there are at the moment.
    pub(crate) fn is_settled(&self) -> bool {
        self.clusters.iter().all(|surveyed| match &surveyed.state {
            State::Unknown => false,
            State::Known(plan) => plan.is_settled() && !surveyed.is_doubted,
            State::Failed => true,
        })
    }

    /// Whether any cluster can be asked.
    pub(crate) fn has_plan(&self) -> bool {
        self.clusters.iter().any(|surveyed| matches!(surveyed.state, State::Known(_)))
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
    pub(crate) fn parts(&self) -> Vec<Planned> {
        self.plans().flat_map(Plan::parts).collect()
    }

    /// The objects that are asked for by name in whatever namespaces match, of the clusters that are known; their own
    /// namespace is empty.
    pub(crate) fn sought(&self) -> Vec<Part> {
        self.plans().flat_map(Plan::sought).collect()
    }

    /// Whether this part, which was refused, is still asked for in each namespace instead.
    pub(crate) fn is_refused(&self, part: &Part) -> bool {
        matches!(&self.clusters[part.cluster].state, State::Known(plan) if plan.is_refused(part))
    }

    /// A part was forbidden. Where it was for all namespaces at once it is from now on asked for in each, and this
    /// answers `true`; what becomes of it the next news tell.
    pub(crate) fn refuse(&mut self, part: &Part) -> bool {
        let State::Known(plan) = &mut self.clusters[part.cluster].state else { return false };
        let refused = plan.refuse(part);
        self.follow_namespaces(part.cluster);
        refused
    }

    /// A part's type is not there. Answers whether the words mean something else by now; then what they come to in its
    /// cluster is found out anew, and nothing is settled before.
    pub(crate) async fn doubt(&mut self, part: &Part) -> bool {
        let surveyed = &mut self.clusters[part.cluster];
        // A server that does not answer any more changes nothing: what was not found stays so.
        let is_else = surveyed.cluster.discovery().doubt(&part.resource).await.unwrap_or(false);
        if is_else {
            surveyed.is_doubted = true;
            self.scouts.plan(&surveyed.cluster, self.patient, false);
        }
        is_else
    }

    /// Has the types of a cluster looked at soon: something that was there is not.
    pub(crate) fn look(&self, cluster: usize) -> Arc<Notify> {
        Arc::clone(&self.clusters[cluster].look)
    }

    fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.clusters.iter().filter_map(|surveyed| match &surveyed.state {
            State::Known(plan) => Some(&**plan),
            State::Unknown | State::Failed => None,
        })
    }

    fn follow_namespaces(&mut self, cluster: usize) {
        let surveyed = &mut self.clusters[cluster];
        let State::Known(plan) = &surveyed.state else { return };
        if plan.needs_namespaces() && !std::mem::replace(&mut surveyed.follows_namespaces, true) {
            self.scouts.namespaces(&surveyed.cluster);
        }
    }
}

impl Surveyed {
    fn fail(&mut self, error: anyhow::Error) -> Setback {
        self.is_doubted = false;
        self.state = State::Failed;
        Setback::Cluster { prefix: self.cluster.prefix().to_owned(), error }
    }
}
