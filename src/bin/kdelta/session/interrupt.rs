//! SIGINT and SIGTERM: the first asks for a clean end, the second ends at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

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

/// Listens for both signals. Its task waits for signals only, is aborted when this is dropped, and is a task of its
/// own so that a second signal is heard while the command is stuck writing to a reader that does not read.
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
            sender.send_replace(Some(next(&mut signals).await));
            std::process::exit(next(&mut signals).await.code());
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

/// Ends the process at the first of these signals, wherever it is: for a command that has nothing to finish. Its task
/// waits for signals only and is aborted when this is dropped.
pub(crate) struct EndsAtOnce {
    task: JoinHandle<()>,
}

impl EndsAtOnce {
    /// From now on; `last` is done before, with the end of the process as the last thing in it.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub(crate) fn after(last: impl FnOnce(&mut dyn FnMut()) + Send + 'static) -> io::Result<Self> {
        let mut signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let task = tokio::spawn(async move {
            let code = next(&mut signals).await.code();
            last(&mut || std::process::exit(code));
        });
        Ok(Self { task })
    }
}

impl Drop for EndsAtOnce {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn next((interrupt, terminate): &mut (Signal, Signal)) -> Interrupt {
    tokio::select! {
        _ = interrupt.recv() => Interrupt::Interrupt,
        _ = terminate.recv() => Interrupt::Terminate,
    }
}
