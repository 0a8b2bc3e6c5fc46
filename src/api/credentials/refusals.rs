//! How soon others may be made for credentials that a server refused.

use jiff::{SignedDuration, Timestamp};

/// The wait after the first replacement that was refused too; it doubles with each further one.
const FIRST_WAIT: SignedDuration = SignedDuration::from_secs(5);
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// The replacements that were made for refused credentials.
#[derive(Default)]
pub(super) struct Refusals {
    last: Option<Timestamp>,
    wait: SignedDuration,
}

impl Refusals {
    /// Whether another replacement may be made. Of what a server took before it refused it (`was_good`) only the
    /// shortest wait is asked: a server that takes and refuses the same in turns would otherwise have one made each time.
    pub(super) fn may_renew(&self, now: Timestamp, was_good: bool) -> bool {
        let Some(last) = self.last else { return true };
        let wait = if was_good { self.wait.min(FIRST_WAIT) } else { self.wait };
        // A clock that was set back would make it wait until then.
        now < last || now.duration_since(last) >= wait
    }

    /// A replacement was made, or could not be.
    pub(super) fn renewed(&mut self, now: Timestamp, was_good: bool) {
        let is_first = self.last.is_none() || was_good;
        self.wait = if is_first { FIRST_WAIT } else { (self.wait * 2).min(LONGEST_WAIT) };
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_holds_nobody_up() {
        let mut refusals = Refusals::default();
        let late = Timestamp::from_second(1_000_000).unwrap();
        refusals.renewed(late, false);
        assert!(!refusals.may_renew(late, false));
        assert!(refusals.may_renew(Timestamp::from_second(10).unwrap(), false));
    }
}
