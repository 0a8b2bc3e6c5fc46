//! A plugin and what it has started, ended together.
//!
//! Without a terminal a plugin leads a process group of its own, which is killed as one. At a terminal it stays in ours:
//! Ctrl-C then reaches all of them by itself, and a plugin that asks for a password at `/dev/tty` by its own decision
//! would be stopped for ever in any other group.

use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};

/// Where a plugin is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the terminal, which it has to itself.
    Terminal,
    /// Beside us: without input, in our process group.
    Beside,
    /// Without input, in a process group of its own.
    Apart,
}

impl Place {
    /// The place of a plugin that asks nobody.
    pub(super) fn of_the_silent() -> Self {
        #[cfg(unix)]
        if std::fs::File::open("/dev/tty").is_err() {
            return Self::Apart;
        }
        Self::Beside
    }

    pub(super) fn prepare(self, command: &mut Command) {
        #[cfg(unix)]
        if self == Self::Apart {
            command.process_group(0);
        }
        // Of a plugin beside us this is all that is killed.
        command.kill_on_drop(true);
    }
}

/// A plugin that runs, by its process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups to kill"))]
    id: u32,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups to kill"))]
    apart: bool,
}

impl Member {
    /// Failing, it is gone already.
    #[cfg(unix)]
    fn kill(self) {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let Some(id) = i32::try_from(self.id).ok().and_then(Pid::from_raw) else { return };
        let _ =
            if self.apart { kill_process_group(id, Signal::KILL) } else { kill_process(id, Signal::KILL) };
    }

    #[cfg(not(unix))]
    fn kill(self) {}
}

/// Those that run. A std mutex: held to put one in, to take it out, and to kill them all; as many as there are log-ins
/// under way.
static RUNNING: Mutex<Vec<Member>> = Mutex::new(Vec::new());

/// Kills the credential plugins that run in this process, and what they have started, where that can be told. For a
/// program that ends without dropping its clients: a plugin would go on, and without a terminal nobody else ends it.
pub fn end_plugins() {
    for member in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        member.kill();
    }
}

/// Kills a plugin and what it has started when it is dropped, unless the plugin has ended.
pub(super) struct Leash(Option<Member>);

impl Leash {
    pub(super) fn on(child: &Child, place: Place) -> Self {
        let member = child.id().map(|id| Member { id, apart: place == Place::Apart });
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).extend(member);
        Self(member)
    }

    /// The plugin has ended: its number may soon be another's. What it has left running is meant to run.
    pub(super) fn release(mut self) {
        self.forget();
    }

    fn forget(&mut self) -> Option<Member> {
        let member = self.0.take()?;
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().position(|other| *other == member).map(|at| running.swap_remove(at))
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(member) = self.forget() {
            member.kill();
        }
    }
}
