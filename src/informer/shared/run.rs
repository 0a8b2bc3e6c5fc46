//! The run of a shared informer: the state that its handles share, its start, and its end.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::informer::controller::ControllerBackend;
use crate::informer::controller::queue_sink::QueueSink;
use crate::informer::controller::run::{RunFuture, run_with_consumer};
use crate::informer::pump::Pump;
use crate::listwatch::Error;
use crate::object::{Compressor, ResourceVersion};
use crate::reflector::{Observer, ReflectorHandle, ShouldResync};

/// Creates and runs the reflector, once the resync period is known.
pub(in crate::informer) type StartReflector =
    Box<dyn FnOnce(ReflectorStart) -> (ReflectorHandle, RunFuture) + Send>;

/// The end of a run that no error ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::informer) enum RunUntil {
    Stopped,
    Synced,
}

/// The parameters of a reflector's start.
pub(in crate::informer) struct ReflectorStart {
    pub(in crate::informer) queue_sink: Arc<QueueSink>,
    pub(in crate::informer) resync_period: Option<Duration>,
    pub(in crate::informer) should_resync: ShouldResync,
    /// Replaces the observer of the reflector's options.
    pub(in crate::informer) observer: Option<Observer>,
    pub(in crate::informer) until: RunUntil,
    pub(in crate::informer) stop: CancellationToken,
}

/// The settings of an informer that has not been started. Taken by the run.
pub(super) struct NotStarted {
    start_reflector: StartReflector,
    pub(super) observer: Option<Observer>,
}

/// The state that all handles of an informer share.
pub(in crate::informer) struct Shared {
    pub(super) pump: Pump,
    /// Taken by the run. A std mutex: it is never held across an `.await`.
    not_started: Mutex<Option<NotStarted>>,
    reflector: OnceLock<ReflectorHandle>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) default_resync: Option<Duration>,
    /// The store's compressor.
    pub(super) compressor: Option<Arc<Compressor>>,
}

impl ControllerBackend for Shared {
    fn has_synced(&self) -> bool {
        self.pump.queue.has_synced()
    }

    fn last_sync_resource_version(&self) -> ResourceVersion {
        self.reflector.get().map(ReflectorHandle::last_sync_resource_version).unwrap_or_default()
    }

    fn start(self: Arc<Self>, stop: CancellationToken) -> RunFuture {
        Box::pin(async move { self.start_until(RunUntil::Stopped, stop).await.map(|_is_started| ()) })
    }
}

impl Shared {
    pub(in crate::informer) fn new(
        pump: Pump,
        start_reflector: StartReflector,
        clock: Arc<dyn Clock>,
        default_resync: Option<Duration>,
        compressor: Option<Arc<Compressor>>,
    ) -> Self {
        Self {
            pump,
            not_started: Mutex::new(Some(NotStarted { start_reflector, observer: None })),
            reflector: OnceLock::new(),
            clock,
            default_resync,
            compressor,
        }
    }

    pub(super) fn not_started(&self) -> MutexGuard<'_, Option<NotStarted>> {
        self.not_started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends an informer that has not been started, as if it had been run and stopped before it synced.
    pub(super) fn end_unstarted(&self) {
        // Dropped after the lock is released: the source's `Drop` may call the informer.
        let not_started = self.not_started().take();
        if not_started.is_some() {
            drop(AbortOnDrop(&self.pump));
        }
    }

    /// Runs the informer unless it was run already. Returns whether it ran.
    pub(super) async fn start_until(&self, until: RunUntil, stop: CancellationToken) -> Result<bool, Error> {
        let Some(not_started) = self.not_started().take() else {
            tracing::warn!("the informer has been started already");
            return Ok(false);
        };
        self.run(not_started, until, stop).await?;
        Ok(true)
    }

    async fn run(
        &self,
        not_started: NotStarted,
        until: RunUntil,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let pump = &self.pump;
        let _aborted = AbortOnDrop(pump);
        let resync_period = pump.processor.start(Handle::current());
        let should_resync: ShouldResync = {
            let (processor, clock) = (Arc::clone(&pump.processor), Arc::clone(&self.clock));
            Arc::new(move || processor.should_resync(clock.now()))
        };
        let queue_sink = Arc::new(QueueSink(Arc::clone(&pump.queue)));
        let NotStarted { start_reflector, observer } = not_started;
        let (handle, reflecting) = start_reflector(ReflectorStart {
            queue_sink,
            resync_period,
            should_resync,
            observer,
            until,
            stop,
        });
        let _first = self.reflector.set(handle);
        let stopping = CancellationToken::new();
        let detecting = async {
            if let Some(detector) = &pump.detector {
                detector.run(&*self.clock, &stopping).await;
            }
        };
        let consumer = async {
            tokio::join!(pump.process_loop(&stopping), detecting);
            pump.processor.stop().await;
        };
        run_with_consumer(&*pump.queue, reflecting, &stopping, consumer).await
    }
}

/// Closes the queue and aborts the handlers however the run ends.
struct AbortOnDrop<'a>(&'a Pump);

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        self.0.queue.close();
        self.0.processor.abort();
        self.0.synced.end();
    }
}
