//! Fan-out: selects the recipients of notifications and runs the handlers' tasks.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::coop::consume_budget;
use tokio::task::{self, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::handler_call::{HandlerPanicHook, call_handler};
use super::listener::{Inbox, ProcessorListener};
use super::progress::Progress;
use super::resync::{CheckPeriod, ResyncTimer};
use crate::informer::apply::Dispatch;
use crate::informer::{InformerError, Notification, ResourceEventHandler};

/// Notifications with their recipients, to be sent when no lock is held.
pub(in crate::informer) type Outbox = Vec<(Arc<ProcessorListener>, Notification)>;

/// All handlers of an informer (client-go: `sharedProcessor`).
pub(in crate::informer) struct SharedProcessor {
    /// A std mutex: it is never held across an `.await`. Lock order: the queue's lock first, then this one.
    state: Mutex<State>,
    on_panic: Option<HandlerPanicHook>,
    /// Wakes [`SharedProcessor::stop`], the only waiter, when a handler is removed while it stops.
    removal: Notify,
}

struct State {
    listeners: Vec<RegisteredListener>,
    check: CheckPeriod,
    stage: Stage,
    /// The handlers' tasks, one for each handler. Owned here: awaited by [`SharedProcessor::stop`], aborted when the informer
    /// is dropped.
    tasks: JoinSet<()>,
    /// For each task in `tasks`, the token that is cancelled when its handler is removed.
    tasks_removed: HashMap<task::Id, CancellationToken>,
    /// The handlers of a stopping informer, so that they can still be removed.
    stopping: Vec<(Arc<Progress>, CancellationToken)>,
}

struct RegisteredListener {
    listener: Arc<ProcessorListener>,
    timer: ResyncTimer,
    /// Cancelled when the handler is removed; ends its task.
    removed: CancellationToken,
}

/// The task that calls one handler.
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Stage {
    /// Not started, and possibly without a runtime. Holds the tasks to start, each with the progress and the removal token of
    /// its handler.
    New(Vec<(Arc<Progress>, CancellationToken, Task)>),
    Running(Handle),
    Stopped,
}

impl SharedProcessor {
    pub(in crate::informer) fn new(
        check_period: Option<Duration>,
        on_panic: Option<HandlerPanicHook>,
    ) -> Self {
        let state = State {
            listeners: Vec::new(),
            check: CheckPeriod::new(check_period),
            stage: Stage::New(Vec::new()),
            tasks: JoinSet::new(),
            tasks_removed: HashMap::new(),
            stopping: Vec::new(),
        };
        Self { state: Mutex::new(state), on_panic, removal: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener, which receives all notifications from now on. Callers hold the queue's lock, so that `now` is between
    /// two deltas. `removed` is cancelled when the listener is removed.
    pub(in crate::informer) fn add(
        &self,
        listener: ProcessorListener,
        resync: Option<Duration>,
        now: Instant,
        removed: &CancellationToken,
    ) -> Result<(), InformerError> {
        let mut state = self.lock();
        let State { listeners, check, stage, .. } = &mut *state;
        if matches!(stage, Stage::Stopped) {
            return Err(InformerError::HandlerAfterStop);
        }
        let timer = check.new_timer(resync, now);
        for registered in &mut *listeners {
            registered.timer.update_period(check);
        }
        let removed = removed.clone();
        listeners.push(RegisteredListener { listener: Arc::new(listener), timer, removed });
        Ok(())
    }

    /// Removes the listener with this progress, if there is one.
    pub(in crate::informer) fn remove(&self, progress: &Arc<Progress>) {
        let mut state = self.lock();
        let at = state.listeners.iter().position(|one| Arc::ptr_eq(&one.listener.progress, progress));
        if let Some(at) = at {
            state.listeners.remove(at).removed.cancel();
        }
        if let Some((_, removed)) = state.stopping.iter().find(|(of, _)| Arc::ptr_eq(of, progress)) {
            removed.cancel();
            self.removal.notify_one();
        }
        let never_run = match &mut state.stage {
            Stage::New(waiting) => {
                let at = waiting.iter().position(|(of, ..)| Arc::ptr_eq(of, progress));
                at.map(|at| waiting.remove(at))
            }
            Stage::Running(_) | Stage::Stopped => None,
        };
        drop(state);
        // Dropped without a lock: the handler's `Drop` may call the informer.
        drop(never_run);
    }

    /// Spawns the task that calls a handler for each notification. It ends when the inbox is closed or `removed` is cancelled.
    ///
    /// # Errors
    /// [`InformerError::HandlerAfterStop`]: the informer stopped after the listener was added. The handler is not called.
    pub(in crate::informer) fn spawn<H: ResourceEventHandler>(
        &self,
        handler: H,
        inbox: Inbox,
        progress: Arc<Progress>,
        removed: CancellationToken,
    ) -> Result<(), InformerError> {
        let end = EndOnDrop(Arc::clone(&progress));
        let stop_waiting = removed.clone();
        let task = handle_all(end, handler, inbox, removed, self.on_panic.clone());
        let mut state = self.lock();
        let State { stage, tasks, tasks_removed, .. } = &mut *state;
        while let Some(ended) = tasks.try_join_next_with_id() {
            tasks_removed.remove(&task_id(&ended));
        }
        match stage {
            Stage::New(waiting) => waiting.push((progress, stop_waiting, Box::pin(task))),
            Stage::Running(runtime) => {
                tasks_removed.insert(tasks.spawn_on(task, runtime).id(), stop_waiting);
            }
            Stage::Stopped => return Err(InformerError::HandlerAfterStop),
        }
        Ok(())
    }

    /// Starts the tasks of the registered handlers. Returns the period at which to check for resyncs.
    pub(in crate::informer) fn start(&self, runtime: Handle) -> Option<Duration> {
        let mut state = self.lock();
        let State { stage, tasks, tasks_removed, check, .. } = &mut *state;
        if let Stage::New(waiting) = stage {
            for (_, removed, task) in waiting.drain(..) {
                tasks_removed.insert(tasks.spawn_on(task, &runtime).id(), removed);
            }
            *stage = Stage::Running(runtime);
        }
        check.start();
        check.get()
    }

    /// Checks which handlers are due for a resync, and returns whether any is. Until the next check, these handlers receive
    /// the notifications of unchanged objects.
    pub(in crate::informer) fn should_resync(&self, now: Instant) -> bool {
        let mut any = false;
        for registered in &mut self.lock().listeners {
            any |= registered.timer.check(now);
        }
        any
    }

    /// Returns true if a handler is due for a resync.
    pub(in crate::informer) fn is_resync_due(&self) -> bool {
        self.lock().listeners.iter().any(|registered| registered.timer.is_due())
    }

    /// Selects the recipients of a notification. Callers hold the queue's lock: the snapshot of a handler that registers later
    /// already contains the change.
    pub(in crate::informer) fn distribute(&self, dispatch: Dispatch, outbox: &mut Outbox) {
        let (notification, to_all) = match dispatch {
            Dispatch::All(notification) => (notification, true),
            Dispatch::ResyncDue(notification) => (notification, false),
        };
        for registered in &self.lock().listeners {
            if to_all || registered.timer.is_due() {
                if notification.is_initial() {
                    registered.listener.progress.expect(1);
                }
                outbox.push((Arc::clone(&registered.listener), notification.clone()));
            }
        }
    }

    pub(in crate::informer) fn is_stopped(&self) -> bool {
        matches!(self.lock().stage, Stage::Stopped)
    }

    /// Closes every channel, so that the handlers' tasks end, and returns the tasks with their removal tokens. No handler can
    /// be added afterwards.
    fn close(&self) -> (JoinSet<()>, HashMap<task::Id, CancellationToken>) {
        let mut state = self.lock();
        let never_run = std::mem::replace(&mut state.stage, Stage::Stopped);
        let listeners = std::mem::take(&mut state.listeners);
        let stopping = |one: &RegisteredListener| (Arc::clone(&one.listener.progress), one.removed.clone());
        state.stopping.extend(listeners.iter().map(stopping));
        let tasks = std::mem::take(&mut state.tasks);
        let tasks_removed = std::mem::take(&mut state.tasks_removed);
        drop(state);
        // Dropped without a lock: a handler's `Drop` may call the informer.
        drop((never_run, listeners));
        (tasks, tasks_removed)
    }

    /// Stops the handlers: each receives its buffered notifications, then its task ends. Does not wait for removed handlers,
    /// which may be stuck in a call.
    pub(in crate::informer) async fn stop(&self) {
        let (mut tasks, mut removed) = self.close();
        while !removed.values().all(CancellationToken::is_cancelled) {
            let ended = tokio::select! {
                ended = tasks.join_next_with_id() => ended,
                () = self.removal.notified() => continue,
            };
            let Some(ended) = ended else { break };
            removed.remove(&task_id(&ended));
            // Panics in calls are caught, but the task also drops the handler.
            if let Err(error) = ended {
                tracing::error!(%error, "the task of an event handler failed");
            }
        }
        // The remaining tasks end with the call in progress.
        tasks.detach_all();
        self.lock().stopping.clear();
    }

    /// Aborts the handlers' tasks. Their buffered notifications are lost.
    pub(in crate::informer) fn abort(&self) {
        drop(self.close());
    }
}

/// Calls a handler until its input ends or it is removed. `progress` is the first parameter because it is dropped last:
/// when it reports the end, the handler has been dropped.
async fn handle_all<H: ResourceEventHandler>(
    progress: EndOnDrop,
    handler: H,
    mut inbox: Inbox,
    removed: CancellationToken,
    on_panic: Option<HandlerPanicHook>,
) {
    loop {
        let next = tokio::select! {
            biased;
            () = removed.cancelled() => None,
            next = inbox.next() => next,
        };
        let Some(notification) = next else { return };
        let is_initial = notification.is_initial();
        call_handler(&handler, notification, on_panic.as_ref());
        if is_initial {
            progress.0.handled_one();
        }
        // An inbox that is never empty must not starve the runtime's other tasks.
        consume_budget().await;
    }
}

fn task_id(ended: &Result<(task::Id, ()), JoinError>) -> task::Id {
    ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id)
}

/// Records the end of a handler however its task ends, including before it first ran.
struct EndOnDrop(Arc<Progress>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::delivery::listener::channel;
    use crate::informer::{NotificationFn, SharedIndexInformer};
    use crate::testing::FakeSource;

    /// Registration has two steps, and the informer may stop between them.
    #[tokio::test]
    async fn a_handler_is_rejected_if_the_informer_stops_during_registration() {
        let processor = SharedProcessor::new(None, None);
        processor.start(Handle::current());
        let removed = CancellationToken::new();
        let (listener, inbox) = channel(1, usize::MAX);
        let progress = Arc::clone(&listener.progress);
        processor.add(listener, None, Instant::now(), &removed).expect("it runs");
        processor.stop().await;
        let spawned = processor.spawn(NotificationFn(|_| ()), inbox, Arc::clone(&progress), removed);
        assert_eq!(spawned, Err(InformerError::HandlerAfterStop));
        progress.expect(1);
        assert!(!progress.wait().await, "the wait for the handler ends");
    }

    #[test]
    fn a_handler_removed_before_the_run_is_dropped() {
        let informer = SharedIndexInformer::builder(FakeSource::new()).build();
        let [kept, removed] = [(); 2].map(|()| Arc::new(NotificationFn(|_| ())));
        let registrations = [&kept, &removed]
            .map(|handler| informer.add_event_handler(Arc::clone(handler)).expect("not stopped"));
        informer.remove_event_handler(&registrations[1]);
        assert_eq!((Arc::strong_count(&kept), Arc::strong_count(&removed)), (2, 1));
    }
}
