//! SIGINT and SIGTERM: the first asks for a clean end, the second ends at once, and so does the time. SIGUSR1 asks how it
//! goes.

use std::io;
use std::time::Duration;

use kdelta::api::{end_plugins, kill_plugins};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a clean end may take. Who waits for longer waits for a reader of stdout that does not read.
const CLEAN_END_LIMIT: Duration = Duration::from_secs(2);

/// Which signal came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Interrupt {
    /// The exit code that says so: 128 and the signal's number.
    fn code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Listens for both signals. Its task is aborted when this is dropped, and is a task of its own so that the signals do
/// their work also while the command is stuck writing to a reader that does not read.
pub(crate) struct Interrupts {
    /// A watch channel: the first signal is a state and not an event, whoever asks late still learns of it.
    first: watch::Receiver<Option<Interrupt>>,
    task: JoinHandle<()>,
}

impl Interrupts {
    /// Starts listening; from now on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub(crate) fn listen() -> io::Result<Self> {
        let mut signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let (sender, first) = watch::channel(None);
        let task = tokio::spawn(async move {
            let interrupt = next(&mut signals).await;
            sender.send_replace(Some(interrupt));
            let second = timeout(CLEAN_END_LIMIT, next(&mut signals)).await;
            match second {
                Ok(_) => kill_plugins(),
                Err(_) => end_or_kill_plugins(&mut signals).await,
            }
            std::process::exit(second.unwrap_or(interrupt).code());
        });
        Ok(Self { first, task })
    }

    /// Waits for the first signal, for ever if none comes.
    pub(crate) async fn first(&self) -> Interrupt {
        let mut first = self.first.clone();
        match first.wait_for(Option::is_some).await.ok().and_then(|first| *first) {
            Some(interrupt) => interrupt,
            // The task ended without a signal: there is none to wait for.
            None => std::future::pending().await,
        }
    }
}

/// StatusSignal SIGUSR1, as often as it comes. Its task is aborted when this is dropped, and is a task of its own so that it
/// answers also while the command is stuck writing to a reader that does not read.
pub(crate) struct StatusSignal {
    task: JoinHandle<()>,
}

impl StatusSignal {
    /// From now on, with that.
    ///
    /// # Errors
    /// The system does not let us listen.
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

/// Ends the process at the first of these signals, wherever it is: for a command that has nothing to finish. Its task
/// waits for signals only and is aborted when this is dropped.
pub(crate) struct ExitOnSignal {
    task: JoinHandle<()>,
}

impl ExitOnSignal {
    /// From now on; `last` is done before, with the end of the process as the last thing in it.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub(crate) fn after(last: impl FnOnce(&mut dyn FnMut()) + Send + 'static) -> io::Result<Self> {
        let mut signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let task = tokio::spawn(async move {
            let code = next(&mut signals).await.code();
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

/// Ends the plugins, which may take them a second; another signal ends them at once.
async fn end_or_kill_plugins(signals: &mut (Signal, Signal)) {
    // In a thread that may wait.
    let ended = tokio::task::spawn_blocking(end_plugins);
    tokio::select! {
        _ = ended => {}
        _ = next(signals) => kill_plugins(),
    }
}

async fn next((interrupt, terminate): &mut (Signal, Signal)) -> Interrupt {
    tokio::select! {
        _ = interrupt.recv() => Interrupt::Interrupt,
        _ = terminate.recv() => Interrupt::Terminate,
    }
}
