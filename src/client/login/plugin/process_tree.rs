//! Ends a plugin together with the processes that it started.
//!
//! Without a terminal a plugin leads a process group of its own, which is killed as a whole. At a terminal it stays
//! in the group of this process: Ctrl-C then reaches all of them, and a plugin that prompts at `/dev/tty` would be
//! stopped forever in any other group.
//!
//! A plugin may be saving a token that it has just spent another one for: it receives SIGTERM first, and is killed
//! after a second.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::kubeconfig::finish_writes;

/// The interval for checking whether a plugin has ended after SIGTERM.
const TICK: Duration = Duration::from_millis(10);
/// The number of such intervals: a second. Intervals are counted instead of clock time, because a suspended machine
/// gives a plugin no time.
const GRACE: u32 = 100;

/// The terminal and process group of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    /// At the terminal, exclusively.
    Terminal,
    /// Without input, in the process group of this process.
    SameGroup,
    /// Without input, in a process group of its own.
    OwnGroup,
}

impl Placement {
    /// Returns the placement of a plugin that never prompts.
    pub(super) fn without_terminal() -> Self {
        #[cfg(unix)]
        if std::fs::File::open("/dev/tty").is_err() {
            return Self::OwnGroup;
        }
        Self::SameGroup
    }

    pub(super) fn prepare(self, command: &mut Command) {
        #[cfg(unix)]
        if self == Self::OwnGroup {
            command.process_group(0);
        }
        // Other systems have no SIGTERM.
        command.kill_on_drop(cfg!(not(unix)));
    }
}

/// A running plugin, by its process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    id: u32,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    own_group: bool,
}

#[cfg(unix)]
impl Process {
    fn terminate(self) {
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// A failure means that the process is gone.
    fn signal(self, signal: rustix::process::Signal) {
        use rustix::process::{kill_process, kill_process_group};
        let Some(id) = self.id() else { return };
        let _ = if self.own_group { kill_process_group(id, signal) } else { kill_process(id, signal) };
    }

    /// Returns whether the plugin, or a process in its group, is running. A zombie is reaped, since no other code may
    /// do it.
    fn is_running(self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, test_kill_process_group, waitid};
        let Some(id) = self.id() else { return false };
        match waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(None) => true,
            // Its process id is not reused while its group has processes.
            _ => self.own_group && test_kill_process_group(id).is_ok(),
        }
    }

    fn id(self) -> Option<rustix::process::Pid> {
        i32::try_from(self.id).ok().and_then(rustix::process::Pid::from_raw)
    }
}

/// Without signals the runtime kills a plugin when it is dropped.
#[cfg(not(unix))]
impl Process {
    fn terminate(self) {}

    fn kill(self) {}

    fn is_running(self) -> bool {
        false
    }
}

/// The running credential plugins of the clients that were made with this value or a clone of it.
///
/// A program that exits without dropping its clients first [ends](Self::end) their plugins: one without a terminal would
/// keep running. Clients with the same plugin share its runs, which belong to the first of these clients.
#[derive(Clone, Default)]
pub struct CredentialPlugins(
    /// A std mutex: held to add and remove a plugin, and to send signals.
    Arc<Mutex<RunningPlugins>>,
);

#[derive(Default)]
struct RunningPlugins {
    /// As many as there are logins under way.
    running: Vec<Process>,
    /// Plugins that received SIGTERM, for at most a second each.
    ending: Vec<Process>,
    /// Whether the program is exiting: no plugin starts any more.
    is_shut_down: bool,
}

impl CredentialPlugins {
    /// Ends the running plugins and the processes that they started, as far as those are known: sends SIGTERM, and kills
    /// them after a second. No further plugin starts. Tokens that this process is saving in a kubeconfig are saved first,
    /// and none afterwards. Blocks for at most two seconds, and not at all without plugins; requests that wait for a
    /// plugin keep waiting.
    pub fn end(&self) {
        finish_writes();
        self.end_processes();
    }

    pub(super) fn end_processes(&self) {
        let processes = {
            let mut plugins = self.lock();
            plugins.is_shut_down = true;
            let running = mem::take(&mut plugins.running);
            for process in &running {
                process.terminate();
            }
            plugins.ending.extend(running);
            plugins.ending.clone()
        };
        await_exit(&processes);
    }

    /// Kills them at once, for a user who has waited long enough.
    pub fn kill(&self) {
        finish_writes();
        let mut plugins = self.lock();
        plugins.is_shut_down = true;
        let running = mem::take(&mut plugins.running);
        running.iter().chain(&plugins.ending).for_each(|process| process.kill());
    }

    /// Returns whether a plugin is running. An interrupted one may lose a token that it has just obtained.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.lock().running.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, RunningPlugins> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints no process.
impl fmt::Debug for CredentialPlugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialPlugins").finish_non_exhaustive()
    }
}

/// Waits for processes that received SIGTERM to end, and kills the others.
fn await_exit(processes: &[Process]) {
    for _ in 0..GRACE {
        if !processes.iter().any(|process| process.is_running()) {
            return;
        }
        thread::sleep(TICK);
    }
    processes.iter().filter(|process| process.is_running()).for_each(|process| process.kill());
}

/// Ends a plugin and the processes that it started when dropped, unless the plugin has ended.
pub(super) struct ProcessGuard {
    process: Option<Process>,
    plugins: CredentialPlugins,
}

impl ProcessGuard {
    pub(super) fn on(child: &Child, placement: Placement, plugins: &CredentialPlugins) -> Self {
        let process = child.id().map(|id| Process { id, own_group: placement == Placement::OwnGroup });
        let mut locked = plugins.lock();
        if locked.is_shut_down {
            if let Some(process) = process {
                process.kill();
            }
        } else {
            locked.running.extend(process);
        }
        Self { process, plugins: plugins.clone() }
    }

    /// Returns whether the program is exiting and has ended this plugin.
    pub(super) fn is_shut_down(&self) -> bool {
        self.process.is_some_and(|process| !self.plugins.lock().running.contains(&process))
    }

    /// Marks the plugin as ended: its process id may soon be reused. Processes that it left running are meant to run.
    pub(super) fn release(mut self) {
        if let Some(process) = self.process.take() {
            self.plugins.lock().running.retain(|other| *other != process);
        }
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        {
            let mut plugins = self.plugins.lock();
            let Some(at) = plugins.running.iter().position(|other| *other == process) else { return };
            plugins.running.swap_remove(at);
            plugins.ending.push(process);
            process.terminate();
        }
        let plugins = self.plugins.clone();
        // A thread of its own, since a drop must not block and the runtime may be ending; it ends after at most a
        // second.
        let spawned = thread::Builder::new().spawn(move || {
            await_exit(&[process]);
            plugins.lock().ending.retain(|other| *other != process);
        });
        if spawned.is_err() {
            process.kill();
        }
    }
}
