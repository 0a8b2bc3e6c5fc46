//! Background tasks that resolve a selection in each cluster and follow its namespaces and types.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kdelta::api::{Catalog, ResolveError};
use kdelta::informer::{Notification, QueueKind, SharedIndexInformer, Subscription};
use kdelta::kubeconfig;
use kdelta::listwatch::Error;
use kdelta::object::ApiResource;
use kdelta::queue::Mark;
use kdelta::reflector::{Observer, ReflectorEvent};
use kdelta::wire::Representation;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::cluster::ServerSelectors;
use super::cluster::namespaces;
use super::plan::Plan;
use super::recordings::RecordedTypes;
use super::{Cluster, Filter, Part, reflector_options};
use crate::settings::{Namespaces, Print, Selection};

/// The capacity of the channel between an informer and its task.
const SUBSCRIPTION_CAPACITY: usize = 128;
/// The capacity of the update channel. A task that finds it full waits, and so does its informer.
const UPDATE_CAPACITY: usize = 16;

/// The delays of discovery after a type was defined, changed or deleted: a server serves a new type only after a
/// moment.
const RECHECK_DELAYS: [Duration; 6] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];
/// The interval of discovery without a known change: types of aggregated servers are not announced.
const RECHECK_INTERVAL: Duration = Duration::from_secs(30);

/// The first and the longest delay before an unreachable cluster is retried.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const MAX_RETRY: Duration = Duration::from_secs(30);

/// A change found by a background task.
pub(super) struct TargetUpdate {
    /// The position of the cluster in the session.
    pub(super) cluster: usize,
    pub(super) kind: UpdateKind,
}

pub(super) enum UpdateKind {
    /// The resolved selection, or why the cluster can't be used.
    Plan(Box<anyhow::Result<Plan>>),
    /// All existing namespaces with matching labels, or why they can't be listed.
    Namespaces(Result<BTreeSet<Arc<str>>, Error>),
    /// The types that the server serves now.
    Kinds(Arc<Catalog>),
    /// A type does not exist yet, with the message about it.
    MissingType(String),
}

/// The way a selection is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanMode {
    /// A command that resolves its selection once.
    OneShot,
    /// A watch, which retries unreachable clusters.
    Watch,
    /// A watch that waits for types which do not exist yet.
    AwaitTypes,
}

/// The background tasks of all clusters. Dropping it aborts them.
pub(super) struct TargetWatcher {
    selection: Arc<Selection>,
    /// The recordings whose types are awaited if the server does not serve them.
    recorded: Option<RecordedTypes>,
    /// One to three tasks per cluster; dropping the set aborts them.
    tasks: JoinSet<()>,
    /// Bounded by [`UPDATE_CAPACITY`]. This end is kept, so the channel is never closed.
    sender: mpsc::Sender<TargetUpdate>,
    receiver: mpsc::Receiver<TargetUpdate>,
}

impl TargetWatcher {
    pub(super) fn new(selection: &Selection) -> Self {
        let (sender, receiver) = mpsc::channel(UPDATE_CAPACITY);
        let selection = Arc::new(selection.clone());
        Self { selection, recorded: None, tasks: JoinSet::new(), sender, receiver }
    }

    /// Sets the recordings whose types are awaited if the server does not serve them.
    pub(super) fn with_recorded(self, recorded: RecordedTypes) -> Self {
        Self { recorded: Some(recorded), ..self }
    }

    /// Waits for an update. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<TargetUpdate> {
        self.receiver.recv().await
    }

    /// Spawns a task that resolves the selection in a cluster and sends the plan once, after the messages about its missing
    /// types. In a watch, an unreachable cluster is retried; its first failure and its recovery are sent.
    pub(super) fn plan(&mut self, cluster: &Arc<Cluster>, allow_unmatched: bool, mode: PlanMode) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let (selection, recorded) = (Arc::clone(&self.selection), self.recorded.clone());
        let is_watch = mode != PlanMode::OneShot;
        self.tasks.spawn(async move {
            let (mut pause, mut is_reported) = (FIRST_RETRY, false);
            loop {
                let plan = cluster.plan(&selection, recorded.as_ref(), allow_unmatched, is_watch).await;
                for missing in plan.iter().flat_map(Plan::missing_types) {
                    send(&cluster, UpdateKind::MissingType(missing.to_owned()), &sender).await;
                }
                let may_recover = is_watch && plan.as_ref().is_err_and(is_cluster_unreachable);
                if mode == PlanMode::AwaitTypes
                    && let Err(error) = plan.as_ref()
                    && is_unknown_type(error)
                {
                    let missing = UpdateKind::MissingType(error.to_string());
                    send(&cluster, missing, &sender).await;
                    let types = TypeUse::Await { allow_unmatched };
                    follow_types(&cluster, &selection, &Notify::new(), types).await;
                    continue;
                }
                if !(may_recover && is_reported) {
                    send(&cluster, UpdateKind::Plan(Box::new(plan)), &sender).await;
                }
                if !may_recover {
                    return;
                }
                is_reported = true;
                sleep(pause).await;
                pause = (pause * 2).min(MAX_RETRY);
            }
        });
    }

    /// Spawns a task that sends the namespaces of a cluster, first when they are listed and then after each change.
    pub(super) fn namespaces(&mut self, cluster: &Arc<Cluster>) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let labels = match &self.selection.namespaces {
            Namespaces::Matching { labels, .. } => labels.clone(),
            _ => None,
        };
        let selection = Arc::clone(&self.selection);
        self.tasks.spawn(async move {
            let following =
                metadata_informer(&cluster, &selection, Arc::new(namespaces()), labels.as_deref());
            let Some((informer, mut subscription)) = following else { return };
            let forwarding = forward_namespaces(&cluster, &mut subscription, &sender);
            let (ended, ()) = tokio::join!(informer.run(CancellationToken::new()), forwarding);
            if let Err(error) = ended {
                send(&cluster, UpdateKind::Namespaces(Err(error)), &sender).await;
            }
        });
    }

    /// Spawns a task that sends the types of a cluster after each change. `recheck` triggers a discovery at once.
    pub(super) fn kinds(&mut self, cluster: &Arc<Cluster>, recheck: Arc<Notify>) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let selection = Arc::clone(&self.selection);
        self.tasks.spawn(async move {
            follow_types(&cluster, &selection, &recheck, TypeUse::Send(sender)).await;
        });
    }
}

/// The use of the types that a task follows.
enum TypeUse {
    /// The task sends the types after each change.
    Send(mpsc::Sender<TargetUpdate>),
    /// The task ends once the types of the selection exist, or resolving it fails for another reason.
    Await { allow_unmatched: bool },
}

/// Discovers the types of a cluster after each change of their definitions, from time to time, and when `recheck` requests
/// it.
async fn follow_types(cluster: &Cluster, selection: &Selection, recheck: &Notify, types: TypeUse) {
    let mut schedule = RecheckSchedule::new(Instant::now());
    let mut known: Option<Arc<Catalog>> = None;
    let Some((informer, mut definitions)) = metadata_informer(cluster, selection, definitions(), None) else {
        return;
    };
    // If definitions may not be watched, only the regular discovery remains.
    let mut run = std::pin::pin!(informer.run(CancellationToken::new()));
    let mut is_running = true;
    loop {
        tokio::select! {
            _ended = &mut run, if is_running => is_running = false,
            Some(notification) = definitions.recv() => {
                match notification {
                    // Covers definitions that changed between the last discovery and this watch.
                    Notification::Mark(_) => schedule.request(Instant::now()),
                    initial if initial.is_initial() => {}
                    _ => schedule.type_changed(Instant::now()),
                }
            }
            () = recheck.notified() => schedule.request(Instant::now()),
            () = sleep_until(schedule.next) => {
                schedule.record_check(Instant::now());
                let Ok(catalog) = cluster.discovery().refresh().await else { continue };
                match &types {
                    TypeUse::Send(sender) => {
                        if known.as_ref() != Some(&catalog) {
                            send(cluster, UpdateKind::Kinds(Arc::clone(&catalog)), sender).await;
                        }
                        known = Some(catalog);
                    }
                    TypeUse::Await { allow_unmatched } => {
                        let plan = cluster.plan(selection, None, *allow_unmatched, true).await;
                        if !plan.is_err_and(|error| is_unknown_type(&error)) {
                            return;
                        }
                    }
                }
            }
        }
    }
}

/// Whether the server could not be reached, which may pass.
pub(crate) fn is_unreachable(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::Tls(_)
            | Error::TlsAlert(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::Unavailable { .. }
    )
}

fn is_unknown_type(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ResolveError::Unknown { .. }))
}

fn is_cluster_unreachable(error: &anyhow::Error) -> bool {
    let api_error = match error.downcast_ref() {
        Some(ResolveError::Discovery(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    let status = match api_error {
        Some(kubeconfig::Error::Server(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    status.is_some_and(is_unreachable)
}

async fn send(cluster: &Cluster, kind: UpdateKind, sender: &mpsc::Sender<TargetUpdate>) {
    // Only fails if the receiver is gone.
    let _ = sender.send(TargetUpdate { cluster: cluster.index(), kind }).await;
}

/// Creates an informer that requests metadata only, with a subscription to it.
fn metadata_informer(
    cluster: &Cluster,
    selection: &Selection,
    resource: Arc<ApiResource>,
    labels: Option<&str>,
) -> Option<(SharedIndexInformer, Subscription)> {
    let selectors = ServerSelectors { labels, ..ServerSelectors::default() };
    let part = cluster.all_objects_of(resource);
    let (print, filter) = (Print::default(), Filter::default());
    let source = cluster.source(&part, selectors, &print, Representation::Metadata, filter);
    let options = reflector_options(selection, &source, Some(warn_once_if_forbidden(cluster, &part)))
        .give_up(Some(source.gives_up(true)));
    let informer = SharedIndexInformer::builder(source).queue(QueueKind::Ordered).reflector(options).build();
    let subscription = informer.subscribe(SUBSCRIPTION_CAPACITY, None).ok()?;
    Some((informer, subscription))
}

/// Returns an observer that warns once if a listed resource may not be watched. The parts report all other losses.
fn warn_once_if_forbidden(cluster: &Cluster, part: &Part) -> Observer {
    let (warn, resource) = (cluster.warn(), part.resource.group_resource());
    let is_reported = AtomicBool::new(false);
    Arc::new(move |event| {
        if let ReflectorEvent::Lost { error: error @ Error::Forbidden(_), .. } = event
            && !is_reported.swap(true, Ordering::Relaxed)
        {
            warn(&format!("{resource} can't be watched, so new ones are not noticed: {error}"));
        }
    })
}

async fn forward_namespaces(
    cluster: &Cluster,
    subscription: &mut Subscription,
    sender: &mpsc::Sender<TargetUpdate>,
) {
    let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut synced = false;
    while let Some(first) = subscription.recv().await {
        // Drains everything that has arrived into one update.
        let mut next = Some(first);
        let mut is_changed = false;
        while let Some(notification) = next {
            is_changed |= match notification {
                // The key of a cluster-scoped object is its name.
                Notification::Added { object, .. } => names.insert(Arc::clone(object.key())),
                Notification::Deleted { object, .. } => names.remove(object.key()),
                Notification::Mark(Mark::Synced { .. }) => !std::mem::replace(&mut synced, true),
                Notification::Updated { .. } | Notification::Mark(_) => false,
            };
            next = subscription.try_recv();
        }
        if synced && is_changed {
            send(cluster, UpdateKind::Namespaces(Ok(names.clone())), sender).await;
        }
    }
}

/// The schedule of discovery.
struct RecheckSchedule {
    next: Instant,
    /// Discoveries since the last change.
    checked: usize,
}

impl RecheckSchedule {
    fn new(now: Instant) -> Self {
        Self { next: now + RECHECK_INTERVAL, checked: RECHECK_DELAYS.len() }
    }

    /// Schedules a series of discoveries after a type changed. Continuous changes do not postpone the next one.
    fn type_changed(&mut self, now: Instant) {
        self.checked = 0;
        self.request(now);
    }

    /// Schedules a discovery soon, or keeps an earlier one.
    fn request(&mut self, now: Instant) {
        self.next = self.next.min(now + RECHECK_DELAYS[0]);
    }

    fn record_check(&mut self, now: Instant) {
        self.checked += 1;
        self.next = now + RECHECK_DELAYS.get(self.checked).copied().unwrap_or(RECHECK_INTERVAL);
    }
}

fn definitions() -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: "apiextensions.k8s.io".into(),
        version: "v1".into(),
        resource: "customresourcedefinitions".into(),
        kind: "CustomResourceDefinition".into(),
        namespaced: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discovery_backs_off_after_change() {
        let start = Instant::now();
        let mut schedule = RecheckSchedule::new(start);
        assert_eq!(schedule.next, start + RECHECK_INTERVAL);
        schedule.type_changed(start);
        let mut waits = Vec::new();
        let mut now = start;
        for _ in 0..8 {
            waits.push((schedule.next - now).as_millis());
            now = schedule.next;
            schedule.record_check(now);
        }
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 30_000, 30_000]);
    }

    #[test]
    fn continuous_changes_do_not_postpone_discovery() {
        let start = Instant::now();
        let mut schedule = RecheckSchedule::new(start);
        for millis in 0..1000 {
            schedule.type_changed(start + Duration::from_millis(millis));
        }
        assert_eq!(schedule.next, start + RECHECK_DELAYS[0]);
        schedule.record_check(schedule.next);
        schedule.request(start + Duration::from_secs(1));
        assert_eq!(
            schedule.next,
            start + RECHECK_DELAYS[0] + RECHECK_DELAYS[1],
            "a request does not postpone discovery"
        );
    }
}
