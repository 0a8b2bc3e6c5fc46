//! The process groups of running calls, which are killed with everything in them.
//!
//! Each command leads a process group. A guard process, started with the first call, knows the running groups and kills them
//! when this process is gone, however it ended: only this process holds the other end of its standard input.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

use super::start::own_program;

/// The hidden command of the guard process.
pub(crate) const GUARD: &str = "__guard";

/// The running process groups. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessGroups(
    /// A std mutex: held to add and remove a group, and to send signals.
    Arc<Mutex<Groups>>,
);

#[derive(Debug, Default)]
struct Groups {
    running: BTreeSet<u32>,
    /// The standard input of the guard process, if it runs.
    guard: Option<ChildStdin>,
}

impl ProcessGroups {
    /// Starts the guard process.
    ///
    /// # Errors
    /// Returns an error if the process can't be started.
    pub(super) fn start_guard(&self) -> io::Result<()> {
        let mut command = Command::new(own_program()?);
        command.arg(GUARD).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals of the terminal must not reach it, and it must not keep a folder in use.
        let mut guard = command.process_group(0).current_dir("/").spawn()?;
        self.lock().guard = guard.stdin.take();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the group that a process leads.
    pub(super) fn add(&self, leader: u32) -> GroupGuard {
        let mut groups = self.lock();
        groups.running.insert(leader);
        groups.notify('+', leader);
        GroupGuard { leader, groups: self.clone() }
    }

    /// Kills all groups.
    pub(super) fn kill_all(&self) {
        self.lock().running.iter().for_each(|leader| signal(*leader, Signal::KILL));
    }
}

impl Groups {
    /// Without a guard process, the drop of a [`GroupGuard`] still kills its group.
    fn notify(&mut self, sign: char, leader: u32) {
        if let Some(guard) = &mut self.guard
            && writeln!(guard, "{sign}{leader}").is_err()
        {
            self.guard = None;
        }
    }
}

/// A running group, which is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct GroupGuard {
    leader: u32,
    groups: ProcessGroups,
}

impl GroupGuard {
    /// Requests the end of all processes of the group.
    pub(super) fn terminate(&self) {
        signal(self.leader, Signal::TERM);
    }

    /// Kills all processes of the group.
    pub(super) fn kill(&self) {
        signal(self.leader, Signal::KILL);
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.kill();
        let mut groups = self.groups.lock();
        groups.running.remove(&self.leader);
        groups.notify('-', self.leader);
    }
}

/// Signals a group. A failure means that it is gone.
fn signal(leader: u32, signal: Signal) {
    if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(leader, signal);
    }
}

/// Runs the guard process: reads `+GROUP` and `-GROUP` until the program that started it is gone, and kills the rest.
pub(crate) fn guard(input: impl BufRead) {
    let mut running = BTreeSet::new();
    for line in input.lines() {
        // An error is the end.
        let Ok(line) = line else { break };
        let Some(leader) = line.get(1..).and_then(|text| text.parse::<u32>().ok()) else { continue };
        if line.starts_with('+') {
            running.insert(leader);
        } else {
            running.remove(&leader);
        }
    }
    for leader in running {
        signal(leader, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> std::process::Child {
        Command::new("sleep").arg("1000").process_group(0).spawn().expect("sleep")
    }

    #[test]
    fn dropped_group_is_killed() {
        let (groups, mut child) = (ProcessGroups::default(), sleeper());
        drop(groups.add(child.id()));
        assert!(!child.wait().expect("a child").success());
        assert!(groups.lock().running.is_empty());
    }

    #[test]
    fn guard_kills_the_groups_that_are_left() {
        let (mut left, mut ended) = (sleeper(), sleeper());
        guard(format!("+{}\n+{}\n-{}\nx\n+\n", left.id(), ended.id(), ended.id()).as_bytes());
        assert!(!left.wait().expect("a child").success());
        assert!(ended.try_wait().expect("a child").is_none());
        ended.kill().and_then(|()| ended.wait()).expect("it runs");
    }
}
