//! Finds out what there is in a cluster, and goes on telling what becomes of it: namespaces and types that come and go.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kdelta::api::{self, Catalog, Representation, ResolveError};
use kdelta::informer::{Notification, QueueKind, SharedIndexInformer, Subscription};
use kdelta::listwatch::Error;
use kdelta::object::ApiResource;
use kdelta::queue::Mark;
use kdelta::reflector::{Observer, ReflectorEvent, ReflectorOptions};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::cluster::Selected;
use super::names::namespaces;
use super::plan::Plan;
use super::{Cluster, Filter, Part, reflector_options};
use crate::settings::{Namespaces, Print, Selection};

/// Notifications between an informer and its scout.
const SUBSCRIBED: usize = 128;
/// News that nobody has read yet. A scout that finds no room waits, and its informer with it.
const NEWS: usize = 16;

/// When the server is asked anew what it offers after one of its types was defined, changed or taken away: it takes a
/// moment until it serves what it has accepted.
const LOOKS: [Duration; 6] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];
/// And when nothing is known to have changed: types of aggregated servers are announced to nobody.
const REGULAR: Duration = Duration::from_secs(30);

/// When a cluster that is out of reach is asked again: soon at first, then twice a minute.
const RETURN: Duration = Duration::from_secs(2);
const RETURN_AT_MOST: Duration = Duration::from_secs(30);

/// Something that a scout found out.
pub(super) struct News {
    /// Which of the session's clusters.
    pub(super) cluster: usize,
    pub(super) what: What,
}

pub(super) enum What {
    /// What is asked for, as far as words tell; or the cluster can't be asked.
    Plan(Box<anyhow::Result<Plan>>),
    /// All that are there and match by their labels; or they can't be listed.
    Namespaces(Result<BTreeSet<Arc<str>>, Error>),
    /// What the server offers now.
    Kinds(Arc<Catalog>),
}

/// The scouts of all clusters. Dropping it ends them.
pub(super) struct Scouts {
    selection: Arc<Selection>,
    /// One or two tasks for each cluster; aborted with this.
    tasks: JoinSet<()>,
    /// Bounded by [`NEWS`]; this end is kept, so it is never closed.
    sender: mpsc::Sender<News>,
    receiver: mpsc::Receiver<News>,
}

impl Scouts {
    pub(super) fn new(selection: &Selection) -> Self {
        let (sender, receiver) = mpsc::channel(NEWS);
        Self { selection: Arc::new(selection.clone()), tasks: JoinSet::new(), sender, receiver }
    }

    /// Waits for news. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<News> {
        self.receiver.recv().await
    }

    /// Finds out what the words mean in a cluster; told once. A cluster that is out of reach is asked again where the plan
    /// is `lasting`, and that it is told when it answers.
    pub(super) fn plan(&mut self, cluster: &Arc<Cluster>, patient: bool, lasting: bool) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let selection = Arc::clone(&self.selection);
        self.tasks.spawn(async move {
            let (mut pause, mut is_told) = (RETURN, false);
            loop {
                let plan = cluster.plan(&selection, patient, lasting).await;
                let may_return = lasting && plan.as_ref().is_err_and(is_out_of_reach);
                if !(may_return && is_told) {
                    tell(&cluster, What::Plan(Box::new(plan)), &sender).await;
                }
                if !may_return {
                    return;
                }
                is_told = true;
                sleep(pause).await;
                pause = (pause * 2).min(RETURN_AT_MOST);
            }
        });
    }

    /// Follows the namespaces of a cluster: told when they are known, and with each change.
    pub(super) fn namespaces(&mut self, cluster: &Arc<Cluster>) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let labels = match &self.selection.namespaces {
            Namespaces::Matching { labels, .. } => labels.clone(),
            _ => None,
        };
        let selection = Arc::clone(&self.selection);
        self.tasks.spawn(async move {
            let follow = follow(&cluster, &selection, Arc::new(namespaces()), labels.as_deref());
            let Some((informer, mut subscription)) = follow else { return };
            let told = tell_namespaces(&cluster, &mut subscription, &sender);
            let (ended, ()) = tokio::join!(informer.run(CancellationToken::new()), told);
            if let Err(error) = ended {
                tell(&cluster, What::Namespaces(Err(error)), &sender).await;
            }
        });
    }

    /// Follows the types of a cluster: told with each change. `look` asks for a look at once.
    pub(super) fn kinds(&mut self, cluster: &Arc<Cluster>, look: Arc<Notify>) {
        let (cluster, sender) = (Arc::clone(cluster), self.sender.clone());
        let selection = Arc::clone(&self.selection);
        self.tasks.spawn(async move {
            let mut looks = Looks::new(Instant::now());
            let mut known: Option<Arc<Catalog>> = None;
            let Some((informer, mut definitions)) = follow(&cluster, &selection, definitions(), None) else {
                return;
            };
            // Whoever may not watch the definitions is left with the regular looks.
            let mut run = std::pin::pin!(informer.run(CancellationToken::new()));
            let mut is_running = true;
            loop {
                tokio::select! {
                    _ended = &mut run, if is_running => is_running = false,
                    Some(notification) = definitions.recv() => {
                        match notification {
                            // What was defined since the server was asked, and before this was followed.
                            Notification::Mark(_) => looks.asked(Instant::now()),
                            initial if initial.is_initial() => {}
                            _ => looks.changed(Instant::now()),
                        }
                    }
                    () = look.notified() => looks.asked(Instant::now()),
                    () = sleep_until(looks.next) => {
                        looks.taken(Instant::now());
                        let Ok(catalog) = cluster.discovery().refresh().await else { continue };
                        if known.as_ref() != Some(&catalog) {
                            tell(&cluster, What::Kinds(Arc::clone(&catalog)), &sender).await;
                        }
                        known = Some(catalog);
                    }
                }
            }
        });
    }
}

/// Whether a server was not reached, which may be otherwise in a while.
pub(crate) fn out_of_reach(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::Tls(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::Unavailable { .. }
    )
}

fn is_out_of_reach(error: &anyhow::Error) -> bool {
    let asked = match error.downcast_ref() {
        Some(ResolveError::Discovery(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    let answer = match asked {
        Some(api::Error::Server(answer)) => Some(answer),
        _ => error.downcast_ref(),
    };
    answer.is_some_and(out_of_reach)
}

async fn tell(cluster: &Cluster, what: What, sender: &mpsc::Sender<News>) {
    // Fails when nobody wants to know any more.
    let _ = sender.send(News { cluster: cluster.place(), what }).await;
}

/// An informer that knows no more of its objects than their metadata, and what it tells.
fn follow(
    cluster: &Cluster,
    selection: &Selection,
    resource: Arc<ApiResource>,
    labels: Option<&str>,
) -> Option<(SharedIndexInformer, Subscription)> {
    let selected = Selected { labels, ..Selected::default() };
    let part = cluster.whole(resource);
    let (print, filter) = (Print::default(), Filter::default());
    // Without a field selector there is none that can't be read.
    let source = cluster.source(&part, selected, &print, Representation::Metadata, filter).ok()?;
    let options = ReflectorOptions {
        give_up: Some(source.gives_up(true)),
        ..reflector_options(selection, &source, Some(forbidden_once(cluster, &part)))
    };
    let informer = SharedIndexInformer::builder(source).queue(QueueKind::Ordered).reflector(options).build();
    let subscription = informer.subscribe(SUBSCRIBED, None).ok()?;
    Some((informer, subscription))
}

/// Losses are told by the parts; that what was listed may not be watched is told here.
fn forbidden_once(cluster: &Cluster, part: &Part) -> Observer {
    let (warn, what) = (cluster.warn(), part.resource.group_resource());
    let told = AtomicBool::new(false);
    Arc::new(move |event| {
        if let ReflectorEvent::Lost { error: error @ Error::Forbidden(_), .. } = event
            && !told.swap(true, Ordering::Relaxed)
        {
            warn(&format!("{what} that are new will not be seen: {error}"));
        }
    })
}

async fn tell_namespaces(cluster: &Cluster, subscription: &mut Subscription, sender: &mpsc::Sender<News>) {
    let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut synced = false;
    while let Some(first) = subscription.recv().await {
        // What has come in with it is the same news.
        let mut next = Some(first);
        let mut is_news = false;
        while let Some(notification) = next {
            is_news |= match notification {
                // What lives in no namespace has its name as its key.
                Notification::Added { object, .. } => names.insert(Arc::clone(object.key())),
                Notification::Deleted { object, .. } => names.remove(object.key()),
                Notification::Mark(Mark::Synced { .. }) => !std::mem::replace(&mut synced, true),
                Notification::Updated { .. } | Notification::Mark(_) => false,
            };
            next = subscription.try_recv();
        }
        if synced && is_news {
            tell(cluster, What::Namespaces(Ok(names.clone())), sender).await;
        }
    }
}

/// When to look at what the server offers.
struct Looks {
    next: Instant,
    /// Looks taken since something changed.
    taken: usize,
}

impl Looks {
    fn new(now: Instant) -> Self {
        Self { next: now + REGULAR, taken: LOOKS.len() }
    }

    /// A type has changed: look soon, and again until it must have come through. Changes that do not end put nothing
    /// off.
    fn changed(&mut self, now: Instant) {
        self.taken = 0;
        self.asked(now);
    }

    /// Somebody wonders: look soon.
    fn asked(&mut self, now: Instant) {
        self.next = self.next.min(now + LOOKS[0]);
    }

    fn taken(&mut self, now: Instant) {
        self.taken += 1;
        self.next = now + LOOKS.get(self.taken).copied().unwrap_or(REGULAR);
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
    fn after_a_change_looks_come_often_and_then_regularly() {
        let start = Instant::now();
        let mut looks = Looks::new(start);
        assert_eq!(looks.next, start + REGULAR);
        looks.changed(start);
        let mut waits = Vec::new();
        let mut now = start;
        for _ in 0..8 {
            waits.push((looks.next - now).as_millis());
            now = looks.next;
            looks.taken(now);
        }
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 30_000, 30_000]);
    }

    #[test]
    fn changes_without_an_end_put_no_look_off() {
        let start = Instant::now();
        let mut looks = Looks::new(start);
        for millis in 0..1000 {
            looks.changed(start + Duration::from_millis(millis));
        }
        assert_eq!(looks.next, start + LOOKS[0]);
        looks.taken(looks.next);
        looks.asked(start + Duration::from_secs(1));
        assert_eq!(looks.next, start + LOOKS[0] + LOOKS[1], "nothing is asked for later than it was due");
    }
}
