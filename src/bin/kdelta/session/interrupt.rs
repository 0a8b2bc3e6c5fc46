//! Signal handling: the first SIGINT or SIGTERM requests a clean end; the second, or a timeout, ends the process at
//! once. SIGUSR1 prints a status line.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::credential_plugins::credential_plugins;

/// The time limit of a clean end. Only a reader of stdout that does not read makes it take longer.
const CLEAN_END_LIMIT: Duration = Duration::from_secs(2);

/// The signal that arrived first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "it is the name of the signal")]
pub(crate) enum Interrupt {
    /// SIGINT, as sent by Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP, as sent when a terminal closes. Only commands that have something to finish or to remove handle it.
    HangUp,
}

impl Interrupt {
    /// Returns the exit code: 128 plus the signal number.
    fn code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}

/// A listener for SIGINT and SIGTERM, and SIGHUP if requested. It runs as a task so that signals take effect while the
/// command is blocked on a write to stdout; dropping the listener aborts the task.
pub(crate) struct Interrupts {
    /// A watch channel, because the first signal is state and not an event: a late caller still sees it.
    first: watch::Receiver<Option<Interrupt>>,
    task: JoinHandle<()>,
}

impl Interrupts {
    /// Starts listening. From now on the signals no longer end the process directly.
    ///
    /// # Errors
    /// The system refuses the signal handlers.
    pub(crate) fn listen() -> io::Result<Self> {
        Signals::listen().map(Self::of)
    }

    /// Starts listening for SIGHUP too.
    ///
    /// # Errors
    /// The system refuses the signal handlers.
    pub(crate) fn listen_with_hang_up() -> io::Result<Self> {
        Signals::listen_with_hang_up().map(Self::of)
    }

    fn of(mut signals: Signals) -> Self {
        let (sender, first) = watch::channel(None);
        let task = tokio::spawn(async move {
            let interrupt = signals.next().await;
            sender.send_replace(Some(interrupt));
            let second = timeout(CLEAN_END_LIMIT, signals.next()).await;
            match second {
                Ok(_) => credential_plugins().kill(),
                Err(_) => end_or_kill_plugins(&mut signals).await,
            }
            std::process::exit(second.unwrap_or(interrupt).code());
        });
        Self { first, task }
    }

    /// Waits for the first signal, forever if none arrives.
    pub(crate) async fn first(&self) -> Interrupt {
        let mut first = self.first.clone();
        match first.wait_for(Option::is_some).await.ok().and_then(|first| *first) {
            Some(interrupt) => interrupt,
            // The task ended without a signal, so none will arrive.
            None => std::future::pending().await,
        }
    }
}

/// A listener for the signals that end a command which has work to finish: the first requests the end, the second the end at
/// once. Nothing limits the time between them. It runs as a task, as [`Interrupts`] does.
pub(crate) struct EndSignals {
    /// The signals so far, at most two.
    received: watch::Receiver<Vec<Interrupt>>,
    task: JoinHandle<()>,
}

impl EndSignals {
    /// Starts listening. If the command has not ended a moment after the second signal, `last` runs, and the process ends.
    ///
    /// # Errors
    /// The system refuses the signal handlers.
    pub(crate) fn listen(last: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let mut signals = Signals::listen_with_hang_up()?;
        let (sender, received) = watch::channel(Vec::new());
        let task = tokio::spawn(async move {
            let mut code = 0;
            for _ in 0..2 {
                let interrupt = signals.next().await;
                code = interrupt.code();
                sender.send_modify(|received| received.push(interrupt));
            }
            tokio::time::sleep(CLEAN_END_LIMIT).await;
            last();
            credential_plugins().kill();
            std::process::exit(code);
        });
        Ok(Self { received, task })
    }

    /// Waits for the first signal, forever if none arrives.
    pub(crate) async fn first(&self) -> Interrupt {
        self.nth(0).await
    }

    /// Waits for the second signal, as [`EndSignals::first`].
    pub(crate) async fn second(&self) -> Interrupt {
        self.nth(1).await
    }

    async fn nth(&self, index: usize) -> Interrupt {
        let mut received = self.received.clone();
        let interrupt = received.wait_for(|received| received.len() > index).await;
        match interrupt.ok().and_then(|received| received.get(index).copied()) {
            Some(interrupt) => interrupt,
            None => std::future::pending().await,
        }
    }
}

impl Drop for EndSignals {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A handler for SIGUSR1. It runs as a task so that it also works while the command is blocked on a write to stdout;
/// dropping the handler aborts the task.
pub(crate) struct StatusSignal {
    task: JoinHandle<()>,
}

impl StatusSignal {
    /// Starts calling `report` for each SIGUSR1.
    ///
    /// # Errors
    /// The system refuses the signal handler.
    pub(crate) fn start(report: impl Fn() + Send + 'static) -> io::Result<Self> {
        let mut requests = signal(SignalKind::user_defined1())?;
        let task = tokio::spawn(async move {
            while requests.recv().await.is_some() {
                report();
            }
        });
        Ok(Self { task })
    }
}

impl Drop for StatusSignal {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A handler that ends the process at the first signal, for commands with nothing to finish. Its task only waits for
/// signals; dropping the handler aborts it.
pub(crate) struct ExitOnSignal {
    task: JoinHandle<()>,
}

impl ExitOnSignal {
    /// Starts listening. On a signal, `last` runs and ends the process by calling its argument.
    ///
    /// # Errors
    /// The system refuses the signal handlers.
    pub(crate) fn after(last: impl FnOnce(&mut dyn FnMut()) + Send + 'static) -> io::Result<Self> {
        let mut signals = Signals::listen()?;
        let task = tokio::spawn(async move {
            let code = signals.next().await.code();
            end_or_kill_plugins(&mut signals).await;
            last(&mut || std::process::exit(code));
        });
        Ok(Self { task })
    }
}

impl Drop for ExitOnSignal {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Ends the credential plugins, which may take them a second. Another signal kills them.
async fn end_or_kill_plugins(signals: &mut Signals) {
    // Blocks, so it needs a thread of its own.
    let ended = tokio::task::spawn_blocking(|| credential_plugins().end());
    tokio::select! {
        _ = ended => {}
        _ = signals.next() => credential_plugins().kill(),
    }
}

/// The handled signals.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(Self { interrupt, terminate, hang_up: None })
    }

    fn listen_with_hang_up() -> io::Result<Self> {
        let hang_up = Some(signal(SignalKind::hangup())?);
        Ok(Self { hang_up, ..Self::listen()? })
    }

    /// Waits for the next signal.
    async fn next(&mut self) -> Interrupt {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => drop(hang_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::Interrupt,
            _ = self.terminate.recv() => Interrupt::Terminate,
            () = hang_up => Interrupt::HangUp,
        }
    }
}
