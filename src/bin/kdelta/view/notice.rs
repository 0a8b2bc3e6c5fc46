//! What a person reads on stderr of a part that is lost and recovers: each loss once, and its end.

use std::time::Duration;

use kdelta::listwatch::Error;
use kdelta::object::Origin;
use kdelta::reflector::ReflectorEvent;

/// A wait that is longer is reported.
const LONG_WAIT: Duration = Duration::from_secs(2);

/// The longest wait of a watch that the server did not ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Turns the events of one reflector into lines.
#[derive(Debug)]
pub(crate) struct Notices {
    title: String,
    verbose: bool,
    /// Why the part is lost, as it was last told.
    lost: Option<String>,
    /// Whether the command ends with its first answer: its losses are reported with the waits that they cost, or by its
    /// end.
    is_one_shot: bool,
    /// Whether a wait of this loss was reported: the line covers all later ones that the server did not ask for.
    is_waiting: bool,
}

impl Notices {
    /// The lines of the part of that title; `verbose` tells each try, and what recovered by itself.
    pub(crate) fn of(title: String, verbose: bool) -> Self {
        Self { title, verbose, lost: None, is_one_shot: false, is_waiting: false }
    }

    /// The same for a command that asks once.
    pub(crate) fn of_one_shot(title: String, verbose: bool) -> Self {
        Self { is_one_shot: true, ..Self::of(title, verbose) }
    }

    /// The line for an event, if it is worth one. It may hold the server's words: whoever writes it cleans it.
    pub(crate) fn line(&mut self, event: &ReflectorEvent) -> Option<String> {
        let text = match event {
            // What comes of it says it.
            ReflectorEvent::Lost { error: Error::Expired(_), .. } if !self.verbose => return None,
            ReflectorEvent::Lost { error, .. } => self.lost(error)?,
            ReflectorEvent::Retrying { after } if self.verbose => format!("next try in {}", seconds(*after)),
            ReflectorEvent::Retrying { after } => self.waiting(*after)?,
            ReflectorEvent::Relisting { from } => {
                format!("the server no longer knows what happened since {from}, listing anew")
            }
            ReflectorEvent::WentBack { from, to } => {
                format!(
                    "the server's versions went back from {from} to {to}, as after a restore, listing anew"
                )
            }
            ReflectorEvent::Recovered { version, lasted } => {
                (self.lost, self.is_waiting) = (None, false);
                format!("resumed at {version} after {}, nothing was missed", seconds(*lasted))
            }
            ReflectorEvent::Listed { origin: Origin::Relist, version, items, lasted, .. } => {
                (self.lost, self.is_waiting) = (None, false);
                format!("re-listed at {version} after {}, {items} objects", seconds(*lasted))
            }
            ReflectorEvent::Listed { version, items, lasted, .. } => {
                let was_lost = self.lost.take().is_some() && !self.is_one_shot;
                self.is_waiting = false;
                (was_lost || self.verbose)
                    .then(|| format!("listed at {version} after {}, {items} objects", seconds(*lasted)))?
            }
            ReflectorEvent::WatchListFellBack { error, .. } if self.verbose || is_surprising(error) => {
                format!("no initial state through the watch ({error}), listing instead")
            }
            ReflectorEvent::PagesFellBack { error } if self.verbose || is_surprising(error) => {
                format!("no list in pages ({error}), asking in another way")
            }
            ReflectorEvent::UnexpectedType { expected, found, key } => format!(
                "the server sent an object of another type, which is ignored: {} {} {key} instead of {} {}",
                found.api_version, found.kind, expected.api_version, expected.kind
            ),
            ReflectorEvent::StoreRefused { error } => format!("an object was refused: {error}"),
            _ => return None,
        };
        Some(format!("{}: {text}", self.title))
    }

    /// A loss is told once; while it lasts again when its reason changes.
    fn lost(&mut self, error: &Error) -> Option<String> {
        let reason = error.to_string();
        let told = self.lost.as_ref() == Some(&reason);
        let text = format!("lost: {reason}");
        self.lost = Some(reason);
        (self.verbose || !(told || self.is_one_shot)).then_some(text)
    }

    /// A long wait. A command that asks once makes few, and each is reported with its reason. A watch may wait for as long
    /// as its server is gone: one line covers the waits of its own back-off, and those that the server asks for follow.
    fn waiting(&mut self, after: Duration) -> Option<String> {
        if after <= LONG_WAIT {
            return None;
        }
        let wait = format!("trying again in {}", seconds(after));
        if self.is_one_shot {
            return Some(match &self.lost {
                Some(reason) => format!("{reason}, {wait}"),
                None => wait,
            });
        }
        if after > LONGEST_WAIT {
            return Some(wait);
        }
        let is_first = !std::mem::replace(&mut self.is_waiting, true);
        is_first.then(|| format!("{wait}, then at least every {}s", LONGEST_WAIT.as_secs()))
    }
}

/// A server that is too old for it refuses, and what else it refuses the list will tell; one that accepts and does not
/// deliver is worth a word.
fn is_surprising(error: &Error) -> bool {
    error.status().is_none()
}

fn seconds(time: Duration) -> String {
    format!("{:.1}s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use kdelta::listwatch::Status;
    use kdelta::object::ResourceVersion;
    use kdelta::reflector::Phase;

    use super::*;

    fn lost(reason: &str) -> ReflectorEvent {
        ReflectorEvent::Lost { phase: Phase::Watch, error: Error::Transport(reason.into()) }
    }

    fn recovered() -> ReflectorEvent {
        ReflectorEvent::Recovered { version: "7".into(), lasted: Duration::from_millis(3210) }
    }

    fn lines(verbose: bool, events: &[ReflectorEvent]) -> Vec<String> {
        let mut notices = Notices::of("pods".into(), verbose);
        events.iter().filter_map(|event| notices.line(event)).collect()
    }

    #[test]
    fn a_loss_is_told_once_with_each_new_reason_and_then_its_end() {
        let wait = ReflectorEvent::Retrying { after: Duration::from_secs(1) };
        let events = [lost("EOF"), wait, lost("refused"), lost("refused"), recovered()];
        let told =
            ["pods: lost: EOF", "pods: lost: refused", "pods: resumed at 7 after 3.2s, nothing was missed"];
        assert_eq!(lines(false, &events), told);
        assert_eq!(lines(true, &events).len(), 5);
    }

    fn waits(notices: Notices, waits: &[u64]) -> Vec<String> {
        let mut notices = notices;
        let lines = waits.iter().flat_map(|seconds| {
            let wait = ReflectorEvent::Retrying { after: Duration::from_secs(*seconds) };
            [notices.line(&lost("busy")), notices.line(&wait)]
        });
        lines.flatten().collect()
    }

    #[test]
    fn long_waits_of_a_watch_are_reported_once_unless_the_server_asks_for_them() {
        let notices = Notices::of("pods".into(), false);
        assert_eq!(
            waits(notices, &[1, 2, 3, 5, 4, 30, 3, 30]),
            [
                "pods: lost: busy",
                "pods: trying again in 3.0s, then at least every 5s",
                "pods: trying again in 30.0s",
                "pods: trying again in 30.0s",
            ]
        );
    }

    #[test]
    fn every_long_wait_of_a_one_shot_command_is_reported_with_its_reason() {
        let notices = Notices::of_one_shot("pods".into(), false);
        assert_eq!(
            waits(notices, &[1, 2, 3, 30]),
            ["pods: busy, trying again in 3.0s", "pods: busy, trying again in 30.0s"]
        );
    }

    #[test]
    fn a_relist_is_told_with_what_it_found() {
        let listed = |origin| ReflectorEvent::Listed {
            phase: Phase::List,
            origin,
            version: ResourceVersion::new("9"),
            items: 3,
            lasted: Duration::from_secs(2),
        };
        assert_eq!(lines(false, &[listed(Origin::List)]), [""; 0], "the first list speaks for itself");
        let expired = Error::Expired(Status { reason: "Expired".into(), ..Status::default() });
        let expired = ReflectorEvent::Lost { phase: Phase::Watch, error: expired };
        let events =
            [lost("EOF"), expired, ReflectorEvent::Relisting { from: "7".into() }, listed(Origin::Relist)];
        assert_eq!(
            lines(false, &events)[1..],
            [
                "pods: the server no longer knows what happened since 7, listing anew",
                "pods: re-listed at 9 after 2.0s, 3 objects"
            ]
        );
    }
}
