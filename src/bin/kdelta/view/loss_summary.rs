//! A summary of watches that are lost and recover together: each reason is reported once, and so is the recovery of
//! all.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use kdelta::object::Origin;
use kdelta::reflector::ReflectorEvent;

/// Merges the notices of single parts. Bounded by the number of parts lost at a time.
#[derive(Debug, Default)]
pub(crate) struct LossSummary {
    /// The last reason of each lost part.
    lost: HashMap<usize, LossReason>,
    groups: HashMap<LossReason, Group>,
}

/// The message prefix, which is common to the parts of a cluster, and the error.
type LossReason = (String, String);

/// The parts lost for one reason.
#[derive(Debug, Default)]
struct Group {
    lost: HashSet<usize>,
    /// Whether the loss of the server's history was reported.
    relisting: bool,
    resumed: usize,
    relisted: usize,
    longest: Duration,
}

impl LossSummary {
    /// Returns the notice to print for an event of a part. `notice` is what the part would print if it were the only one.
    /// `prefix` is common to the parts of a cluster.
    pub(crate) fn line(
        &mut self,
        prefix: &str,
        part: usize,
        event: &ReflectorEvent,
        notice: Option<String>,
    ) -> Option<String> {
        match event {
            ReflectorEvent::Lost { error, .. } if notice.is_some() => {
                let is_new = self.add_loss(part, (prefix.to_owned(), error.to_string()));
                notice.filter(|_| is_new)
            }
            ReflectorEvent::Relisting { .. } | ReflectorEvent::WentBack { .. } => {
                let group = self.lost.get(&part).and_then(|reason| self.groups.get_mut(reason));
                let is_reported = group.is_some_and(|group| std::mem::replace(&mut group.relisting, true));
                notice.filter(|_| !is_reported)
            }
            ReflectorEvent::Recovered { lasted, .. } => self.recover(part, false, *lasted, notice),
            ReflectorEvent::Listed { origin, lasted, .. } => {
                self.recover(part, *origin == Origin::Relist, *lasted, notice)
            }
            // One part reports the waits of all parts lost for the same reason.
            ReflectorEvent::Retrying { .. } => notice.filter(|_| self.reports_waits(part)),
            _ => notice,
        }
    }

    /// Whether the part reports the waits of its group.
    fn reports_waits(&self, part: usize) -> bool {
        let group = self.lost.get(&part).and_then(|reason| self.groups.get(reason));
        group.is_none_or(|group| group.lost.iter().min() == Some(&part))
    }

    /// Removes a part. If it was the last lost part of its group, returns the notice about the recovered ones.
    pub(crate) fn remove(&mut self, part: usize) -> Option<String> {
        let reason = self.lost.remove(&part)?;
        let group = self.groups.get_mut(&reason)?;
        group.lost.remove(&part);
        if !group.lost.is_empty() {
            return None;
        }
        let group = self.groups.remove(&reason)?;
        (group.resumed + group.relisted > 0).then(|| group.line(&reason.0))
    }

    /// Records a loss. Returns whether its reason is new.
    fn add_loss(&mut self, part: usize, reason: LossReason) -> bool {
        let before = self.lost.insert(part, reason.clone());
        if before.as_ref() == Some(&reason) {
            return false;
        }
        // Recovered parts of the previous group are counted with the new one.
        let mut earlier = Group::default();
        if let Some(before) = before
            && let Some(group) = self.groups.get_mut(&before)
        {
            group.lost.remove(&part);
            if group.lost.is_empty() {
                earlier = self.groups.remove(&before).unwrap_or_default();
            }
        }
        let is_new = !self.groups.contains_key(&reason);
        let group = self.groups.entry(reason).or_default();
        group.lost.insert(part);
        group.resumed += earlier.resumed;
        group.relisted += earlier.relisted;
        group.longest = group.longest.max(earlier.longest);
        is_new
    }

    fn recover(
        &mut self,
        part: usize,
        relisted: bool,
        lasted: Duration,
        notice: Option<String>,
    ) -> Option<String> {
        let Some(reason) = self.lost.remove(&part) else { return notice };
        let group = self.groups.get_mut(&reason)?;
        group.lost.remove(&part);
        group.resumed += usize::from(!relisted);
        group.relisted += usize::from(relisted);
        group.longest = group.longest.max(lasted);
        if !group.lost.is_empty() {
            return None;
        }
        let group = self.groups.remove(&reason)?;
        if group.resumed + group.relisted == 1 { notice } else { Some(group.line(&reason.0)) }
    }
}

impl Group {
    /// Returns the notice that the remaining parts have recovered.
    fn line(&self, prefix: &str) -> String {
        let Self { resumed, relisted, longest, .. } = self;
        let count = resumed + relisted;
        let are = if count == 1 { "watch is" } else { "watches are" };
        format!(
            "{prefix}{count} {are} back after {:.1}s: {resumed} resumed, {relisted} re-listed",
            longest.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use kdelta::listwatch::Error;
    use kdelta::reflector::Phase;

    use super::*;

    fn lost(summary: &mut LossSummary, part: usize, reason: &str) -> Option<String> {
        let event = ReflectorEvent::Lost { phase: Phase::Watch, error: Error::Transport(reason.into()) };
        summary.line("", part, &event, Some(format!("{part} lost: {reason}")))
    }

    fn resumed(summary: &mut LossSummary, part: usize) -> Option<String> {
        let event =
            ReflectorEvent::Recovered { version: "7".into(), lasted: Duration::from_secs(part as u64) };
        summary.line("", part, &event, Some(format!("{part} resumed")))
    }

    fn relisted(summary: &mut LossSummary, part: usize) -> Option<String> {
        let event = ReflectorEvent::Listed {
            phase: Phase::List,
            origin: Origin::Relist,
            version: "9".into(),
            items: 1,
            lasted: Duration::from_millis(500),
        };
        summary.line("", part, &event, Some(format!("{part} re-listed")))
    }

    #[test]
    fn single_part_reports_its_own_notice() {
        let mut summary = LossSummary::default();
        assert_eq!(lost(&mut summary, 1, "EOF").as_deref(), Some("1 lost: EOF"));
        assert_eq!(lost(&mut summary, 1, "refused").as_deref(), Some("1 lost: refused"));
        assert_eq!(resumed(&mut summary, 1).as_deref(), Some("1 resumed"));
        assert_eq!(relisted(&mut summary, 1).as_deref(), Some("1 re-listed"), "of one that was not lost");
        assert!(summary.lost.is_empty() && summary.groups.is_empty());
    }

    #[test]
    fn parts_lost_for_one_reason_are_reported_once() {
        let mut summary = LossSummary::default();
        assert_eq!(lost(&mut summary, 1, "EOF").as_deref(), Some("1 lost: EOF"));
        assert_eq!(lost(&mut summary, 2, "EOF"), None);
        assert_eq!(lost(&mut summary, 3, "EOF"), None);
        assert_eq!(lost(&mut summary, 2, "refused").as_deref(), Some("2 lost: refused"));
        assert_eq!(lost(&mut summary, 1, "refused"), None);
        assert_eq!(lost(&mut summary, 3, "refused"), None);
        assert_eq!(resumed(&mut summary, 2), None);
        assert_eq!(relisted(&mut summary, 1), None);
        assert_eq!(
            resumed(&mut summary, 3).as_deref(),
            Some("3 watches are back after 3.0s: 2 resumed, 1 re-listed")
        );
        assert!(summary.lost.is_empty() && summary.groups.is_empty());
    }

    #[test]
    fn one_part_reports_the_waits_of_a_group() {
        let mut summary = LossSummary::default();
        (1..=3).for_each(|part| drop(lost(&mut summary, part, "EOF")));
        lost(&mut summary, 4, "refused");
        let wait = ReflectorEvent::Retrying { after: Duration::from_secs(3) };
        let mut waits = |part| summary.line("", part, &wait, Some("in 3s".to_owned())).is_some();
        assert_eq!([1, 2, 3, 4, 5].map(&mut waits), [true, false, false, true, true]);
    }

    #[test]
    fn other_losses_do_not_delay_recovery_notice() {
        let mut summary = LossSummary::default();
        lost(&mut summary, 9, "not today");
        lost(&mut summary, 1, "EOF");
        lost(&mut summary, 2, "EOF");
        resumed(&mut summary, 1);
        assert_eq!(
            resumed(&mut summary, 2).as_deref(),
            Some("2 watches are back after 2.0s: 2 resumed, 0 re-listed")
        );
    }

    #[test]
    fn removed_part_is_not_waited_for() {
        let mut summary = LossSummary::default();
        lost(&mut summary, 1, "EOF");
        lost(&mut summary, 2, "EOF");
        assert_eq!(summary.remove(2), None);
        assert_eq!(resumed(&mut summary, 1).as_deref(), Some("1 resumed"));
        lost(&mut summary, 3, "EOF");
        assert_eq!(summary.remove(3), None);
        assert_eq!(lost(&mut summary, 4, "EOF").as_deref(), Some("4 lost: EOF"));
    }

    #[test]
    fn removing_last_lost_part_reports_recovery() {
        let mut summary = LossSummary::default();
        (1..=3).for_each(|part| drop(lost(&mut summary, part, "EOF")));
        assert_eq!((resumed(&mut summary, 1), resumed(&mut summary, 2)), (None, None));
        let line = summary.remove(3);
        assert_eq!(line.as_deref(), Some("2 watches are back after 2.0s: 2 resumed, 0 re-listed"));
        assert!(summary.lost.is_empty() && summary.groups.is_empty());
    }

    #[test]
    fn lost_history_is_reported_once() {
        let mut summary = LossSummary::default();
        lost(&mut summary, 1, "EOF");
        lost(&mut summary, 2, "EOF");
        let mut relisting = |part| {
            let event = ReflectorEvent::Relisting { from: "7".into() };
            summary.line("", part, &event, Some("listing again".into()))
        };
        assert_eq!(relisting(1).as_deref(), Some("listing again"));
        assert_eq!(relisting(2), None);
    }
}
