//! Ends a plugin together with the processes that it started.
//!
//! Without a terminal a plugin leads a process group of its own, which is killed as a whole. At a terminal it stays
//! in the group of this process: Ctrl-C then reaches all of them, and a plugin that prompts at `/dev/tty` would be
//! stopped forever in any other group.
//!
//! A plugin may be saving a token that it has just spent another one for: it receives SIGTERM first, and is killed
//! after a second.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
            // Its process id is not reused while its group has members.
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

/// The plugins of this process.
struct RunningPlugins {
    /// As many as there are logins under way.
    running: Vec<Process>,
    /// Plugins that received SIGTERM, for at most a second each.
    ending: Vec<Process>,
    /// Whether the program is exiting: no plugin starts any more.
    is_shut_down: bool,
}

/// A std mutex: held to add and remove a plugin, and to send signals.
static RUNNING_PLUGINS: Mutex<RunningPlugins> =
    Mutex::new(RunningPlugins { running: Vec::new(), ending: Vec::new(), is_shut_down: false });

fn running_plugins() -> MutexGuard<'static, RunningPlugins> {
    RUNNING_PLUGINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the running credential plugins of this process and the processes that they started, as far as those are
/// known: sends SIGTERM, and kills them after a second. Tokens that are being saved in a kubeconfig are saved first,
/// and none afterwards. For a program that exits without dropping its clients: a plugin without a terminal would keep
/// running. Blocks for at most two seconds, and not at all without plugins; requests that wait for a plugin keep
/// waiting.
pub fn end_plugins() {
    finish_writes();
    let members = {
        let mut family = running_plugins();
        family.is_shut_down = true;
        let running = mem::take(&mut family.running);
        for process in &running {
            process.terminate();
        }
        family.ending.extend(running);
        family.ending.clone()
    };
    await_exit(&members);
}

/// Kills them at once, for a user who has waited long enough.
pub fn kill_plugins() {
    finish_writes();
    let mut family = running_plugins();
    family.is_shut_down = true;
    let running = mem::take(&mut family.running);
    running.iter().chain(&family.ending).for_each(|process| process.kill());
}

/// Returns whether a credential plugin is running in this process. An interrupted one may lose a token that it has
/// just obtained.
#[must_use]
pub fn is_plugin_running() -> bool {
    !running_plugins().running.is_empty()
}

/// Waits for processes that received SIGTERM to end, and kills the others.
fn await_exit(members: &[Process]) {
    for _ in 0..GRACE {
        if !members.iter().any(|process| process.is_running()) {
            return;
        }
        thread::sleep(TICK);
    }
    members.iter().filter(|process| process.is_running()).for_each(|process| process.kill());
}

/// Ends a plugin and the processes that it started when dropped, unless the plugin has ended.
pub(super) struct ProcessGuard(Option<Process>);

impl ProcessGuard {
    pub(super) fn on(child: &Child, placement: Placement) -> Self {
        let process = child.id().map(|id| Process { id, own_group: placement == Placement::OwnGroup });
        let mut family = running_plugins();
        if family.is_shut_down {
            if let Some(process) = process {
                process.kill();
            }
        } else {
            family.running.extend(process);
        }
        Self(process)
    }

    /// Returns whether the program is exiting and has ended this plugin.
    pub(super) fn is_shut_down(&self) -> bool {
        self.0.is_some_and(|process| !running_plugins().running.contains(&process))
    }

    /// Marks the plugin as ended: its process id may soon be reused. Processes that it left running are meant to run.
    pub(super) fn release(mut self) {
        if let Some(process) = self.0.take() {
            running_plugins().running.retain(|other| *other != process);
        }
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        let Some(process) = self.0.take() else { return };
        {
            let mut family = running_plugins();
            let Some(at) = family.running.iter().position(|other| *other == process) else { return };
            family.running.swap_remove(at);
            family.ending.push(process);
            process.terminate();
        }
        // A thread of its own, since a drop must not block and the runtime may be ending; it ends after at most a
        // second.
        let spawned = thread::Builder::new().spawn(move || {
            await_exit(&[process]);
            running_plugins().ending.retain(|other| *other != process);
        });
        if spawned.is_err() {
            process.kill();
        }
    }
}
