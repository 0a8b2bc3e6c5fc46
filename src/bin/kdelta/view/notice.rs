//! Notices on stderr about the loss and recovery of one watch: each loss is reported once, and so is its end.

use std::time::Duration;

use kdelta::listwatch::Error;
use kdelta::object::Origin;
use kdelta::reflector::ReflectorEvent;

/// Longer waits are reported.
const LONG_WAIT: Duration = Duration::from_secs(2);

/// The longest wait of a watch's own back-off. Longer ones were requested by the server.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Converts the events of one reflector to notices.
#[derive(Debug)]
pub(crate) struct Notices {
    title: String,
    verbose: bool,
    /// The last reported reason of the current loss.
    lost: Option<String>,
    /// Whether the command is one-shot: its losses are reported with the waits that they cost, or by its end.
    is_one_shot: bool,
    /// Whether a wait of this loss was reported: the line covers all later waits of the back-off.
    is_waiting: bool,
}

impl Notices {
    /// Creates the notices of a part with that title. `verbose` includes each retry and silent recoveries.
    pub(crate) fn of(title: String, verbose: bool) -> Self {
        Self { title, verbose, lost: None, is_one_shot: false, is_waiting: false }
    }

    /// Creates the notices of a one-shot command.
    pub(crate) fn of_one_shot(title: String, verbose: bool) -> Self {
        Self { is_one_shot: true, ..Self::of(title, verbose) }
    }

    /// Returns the notice for an event, if it is worth one. It may contain text of the server, which the writer
    /// escapes.
    pub(crate) fn line(&mut self, event: &ReflectorEvent) -> Option<String> {
        let text = match event {
            // The following relist reports it.
            ReflectorEvent::Lost { error: Error::Expired(_), .. } if !self.verbose => return None,
            ReflectorEvent::Lost { error, .. } => self.lost(error)?,
            ReflectorEvent::Retrying { after } if self.verbose => format!("next try in {}", seconds(*after)),
            ReflectorEvent::Retrying { after } => self.waiting(*after)?,
            ReflectorEvent::PageDelayed { empty, after } => {
                let wait = self.long_wait("the next page follows", *after)?;
                format!("{empty} pages in a row of the list were empty, {wait}")
            }
            ReflectorEvent::Relisting { from } => {
                format!("the server no longer knows what happened since {from}, listing again")
            }
            ReflectorEvent::WentBack { from, to } => {
                format!(
                    "the server's versions went back from {from} to {to}, as after a restore, listing again"
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
                format!("no list in pages ({error}), listing without pages in memory")
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

    /// Reports a loss once, and again when its reason changes.
    fn lost(&mut self, error: &Error) -> Option<String> {
        let reason = error.to_string();
        let is_reported = self.lost.as_ref() == Some(&reason);
        let text = format!("lost: {reason}");
        self.lost = Some(reason);
        (self.verbose || !(is_reported || self.is_one_shot)).then_some(text)
    }

    /// Reports a long wait before a try, for a one-shot command with its reason.
    fn waiting(&mut self, after: Duration) -> Option<String> {
        let wait = self.long_wait("trying again", after)?;
        Some(match &self.lost {
            Some(reason) if self.is_one_shot => format!("{reason}, {wait}"),
            _ => wait,
        })
    }

    /// Returns the text for a wait before `what` if it is worth one. The waits of a one-shot command are few and each is
    /// reported. A watch may wait until its server is back: one line covers the waits of its back-off, and those requested
    /// by the server are reported separately.
    fn long_wait(&mut self, what: &str, after: Duration) -> Option<String> {
        let wait = format!("{what} in {}", seconds(after));
        if self.verbose {
            return Some(wait);
        }
        if after <= LONG_WAIT {
            return None;
        }
        if self.is_one_shot || after > LONGEST_WAIT {
            return Some(wait);
        }
        let is_first = !std::mem::replace(&mut self.is_waiting, true);
        is_first.then(|| format!("{wait}, then at least every {}s", LONGEST_WAIT.as_secs()))
    }
}

/// Returns the word for an event that programs read.
pub(crate) fn word(event: &ReflectorEvent) -> &'static str {
    match event {
        ReflectorEvent::Lost { .. } => "lost",
        ReflectorEvent::Retrying { .. } | ReflectorEvent::PageDelayed { .. } => "retrying",
        ReflectorEvent::Relisting { .. } => "relisting",
        ReflectorEvent::WentBack { .. } => "went-back",
        ReflectorEvent::Recovered { .. } => "recovered",
        ReflectorEvent::Listed { .. } => "listed",
        ReflectorEvent::WatchListFellBack { .. } | ReflectorEvent::PagesFellBack { .. } => "fell-back",
        ReflectorEvent::UnexpectedType { .. } | ReflectorEvent::StoreRefused { .. } => "refused",
        _ => "other",
    }
}

/// Whether an error is unusual. Old servers refuse the request with a status, and the following list reports any other
/// refusal; a server that accepts but does not deliver is reported.
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
    fn loss_is_reported_once_per_reason_and_at_its_end() {
        let wait = ReflectorEvent::Retrying { after: Duration::from_secs(1) };
        let events = [lost("EOF"), wait, lost("refused"), lost("refused"), recovered()];
        let expected =
            ["pods: lost: EOF", "pods: lost: refused", "pods: resumed at 7 after 3.2s, nothing was missed"];
        assert_eq!(lines(false, &events), expected);
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
    fn long_waits_between_empty_pages_are_reported() {
        let pages = |notices: Notices| {
            let mut notices = notices;
            let waits = [1, 3, 4].map(|seconds| {
                let after = Duration::from_secs(seconds);
                notices.line(&ReflectorEvent::PageDelayed { empty: 6, after })
            });
            waits.into_iter().flatten().collect::<Vec<_>>()
        };
        let text = "pods: 6 pages in a row of the list were empty, the next page follows in";
        assert_eq!(
            pages(Notices::of("pods".into(), false)),
            [format!("{text} 3.0s, then at least every 5s")]
        );
        assert_eq!(
            pages(Notices::of_one_shot("pods".into(), false)),
            [format!("{text} 3.0s"), format!("{text} 4.0s")]
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
    fn relist_is_reported_with_its_objects() {
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
                "pods: the server no longer knows what happened since 7, listing again",
                "pods: re-listed at 9 after 2.0s, 3 objects"
            ]
        );
    }
}
