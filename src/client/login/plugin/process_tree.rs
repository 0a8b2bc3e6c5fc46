//! A plugin and what it has started, ended together.
//!
//! Without a terminal a plugin leads a process group of its own, which is killed as one. At a terminal it stays in ours:
//! Ctrl-C then reaches all of them by itself, and a plugin that asks for a password at `/dev/tty` by its own decision
//! would be stopped for ever in any other group.
//!
//! Whoever is ended may be putting away what it has just spent something for: it is asked to end (SIGTERM), and killed
//! where it has not after a second.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::kubeconfig::finish_writes;

/// How often it is looked whether a plugin that was asked to end has ended.
const TICK: Duration = Duration::from_millis(10);
/// How many of them it has: a second. They are counted, and not the time by the clock: on a machine that has stood still
/// it has had nothing of that.
const GRACE: u32 = 100;

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
        // Elsewhere there is no way to ask it.
        command.kill_on_drop(cfg!(not(unix)));
    }
}

/// A plugin that runs, by its process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Member {
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    id: u32,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
    apart: bool,
}

#[cfg(unix)]
impl Member {
    fn ask(self) {
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Failing, it is gone already.
    fn signal(self, signal: rustix::process::Signal) {
        use rustix::process::{kill_process, kill_process_group};
        let Some(id) = self.id() else { return };
        let _ = if self.apart { kill_process_group(id, signal) } else { kill_process(id, signal) };
    }

    /// Whether it runs, or anything in its group. One that has ended is buried: nobody else may be there to do it.
    fn lives(self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, test_kill_process_group, waitid};
        let Some(id) = self.id() else { return false };
        match waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(None) => true,
            // Its number is not given to another while anybody is in its group.
            _ => self.apart && test_kill_process_group(id).is_ok(),
        }
    }

    fn id(self) -> Option<rustix::process::Pid> {
        i32::try_from(self.id).ok().and_then(rustix::process::Pid::from_raw)
    }
}

/// Where there are no signals the runtime kills a plugin when it is dropped.
#[cfg(not(unix))]
impl Member {
    fn ask(self) {}

    fn kill(self) {}

    fn lives(self) -> bool {
        false
    }
}

/// Those that there are.
struct Family {
    /// As many as there are log-ins under way.
    running: Vec<Member>,
    /// Those that have been asked to end, each for a second at most.
    ending: Vec<Member>,
    /// Whether the program ends: who is started by now is too late.
    is_over: bool,
}

/// A std mutex: held to put one in, to take it out, and to signal.
static FAMILY: Mutex<Family> = Mutex::new(Family { running: Vec::new(), ending: Vec::new(), is_over: false });

fn family() -> MutexGuard<'static, Family> {
    FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the credential plugins that run in this process, and what they have started, where that can be told: asks them
/// to end, and kills them after a second. Tokens that are being put into a kubeconfig are put there first, and none
/// afterwards. For a program that ends without dropping its clients: a plugin would go on, and without a terminal nobody
/// else ends it. Blocks for two seconds at most, and not at all where nothing runs; requests that wait for a plugin go on
/// waiting.
pub fn end_plugins() {
    finish_writes();
    let members = {
        let mut family = family();
        family.is_over = true;
        let running = mem::take(&mut family.running);
        for member in &running {
            member.ask();
        }
        family.ending.extend(running);
        family.ending.clone()
    };
    see_out(&members);
}

/// The same at once, for a user who has waited long enough.
pub fn kill_plugins() {
    finish_writes();
    let mut family = family();
    family.is_over = true;
    let running = mem::take(&mut family.running);
    running.iter().chain(&family.ending).for_each(|member| member.kill());
}

/// Whether a credential plugin runs in this process. One that is cut off may lose what it has just spent something for.
#[must_use]
pub fn a_plugin_runs() -> bool {
    !family().running.is_empty()
}

/// Waits for the end of those that have been asked, and kills who is left.
fn see_out(members: &[Member]) {
    for _ in 0..GRACE {
        if !members.iter().any(|member| member.lives()) {
            return;
        }
        thread::sleep(TICK);
    }
    members.iter().filter(|member| member.lives()).for_each(|member| member.kill());
}

/// Ends a plugin and what it has started when it is dropped, unless the plugin has ended.
pub(super) struct Leash(Option<Member>);

impl Leash {
    pub(super) fn on(child: &Child, place: Place) -> Self {
        let member = child.id().map(|id| Member { id, apart: place == Place::Apart });
        let mut family = family();
        if family.is_over {
            if let Some(member) = member {
                member.kill();
            }
        } else {
            family.running.extend(member);
        }
        Self(member)
    }

    /// Whether all are ended with the program, this one too.
    pub(super) fn is_cut(&self) -> bool {
        self.0.is_some_and(|member| !family().running.contains(&member))
    }

    /// The plugin has ended: its number may soon be another's. What it has left running is meant to run.
    pub(super) fn release(mut self) {
        if let Some(member) = self.0.take() {
            family().running.retain(|other| *other != member);
        }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        let Some(member) = self.0.take() else { return };
        {
            let mut family = family();
            let Some(at) = family.running.iter().position(|other| *other == member) else { return };
            family.running.swap_remove(at);
            family.ending.push(member);
            member.ask();
        }
        // A thread of its own, since nothing waits in a drop and the runtime may be about to end; it ends after a second
        // at most.
        let spawned = thread::Builder::new().spawn(move || {
            see_out(&[member]);
            family().ending.retain(|other| *other != member);
        });
        if spawned.is_err() {
            member.kill();
        }
    }
}
