//! How soon others may be made for credentials that a server refused.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The shortest wait after a replacement; it doubles with each further one that is refused too, or can't be made.
const FIRST_WAIT: SignedDuration = SignedDuration::from_secs(5);
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// What the server of one client has made of the proofs of an issuer, which other clients may share: what one server
/// takes says nothing of another.
///
/// A std lock: held to look and to count.
#[derive(Default)]
pub(super) struct Standing(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    /// The last proof that was taken, and the last that was refused, by their numbers.
    accepted: u64,
    refused: u64,
    in_a_row: u32,
}

impl Standing {
    /// The server took this proof.
    pub(super) fn accepted(&self, number: u64) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.accepted = taken.accepted.max(number);
        if number >= taken.refused {
            taken.in_a_row = 0;
        }
    }

    /// The server refused this proof. Answers how many it has refused in a row; of what it took before none counts.
    pub(super) fn refused(&self, number: u64) -> u32 {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if number > taken.refused {
            taken.refused = number;
            taken.in_a_row = if taken.accepted >= number { 0 } else { taken.in_a_row.saturating_add(1) };
        }
        taken.in_a_row
    }
}

/// The replacements that an issuer has made for refused credentials, for whichever client.
#[derive(Default)]
pub(super) struct Refusals {
    last: Option<Timestamp>,
    /// How many could not be made since the last that could.
    failures: u32,
}

impl Refusals {
    /// Whether another replacement may be made for a client whose server has refused that many in a row. Of what a
    /// server took before it refused it only the shortest wait is asked: a server that takes and refuses the same in turns
    /// would otherwise have one made each time. That wait is common to all clients, since many may be refused together.
    pub(super) fn may_renew(&self, now: Timestamp, in_a_row: u32) -> bool {
        let Some(last) = self.last else { return true };
        let doublings = match in_a_row {
            0 => 0,
            // The first was not this issuer's answer to a refusal.
            refused => (refused.saturating_sub(2)).max(self.failures.saturating_sub(1)),
        };
        let wait = 1_i32.checked_shl(doublings.min(16)).map_or(LONGEST_WAIT, |times| FIRST_WAIT * times);
        // A clock that was set back would make it wait until then.
        now < last || now.duration_since(last) >= wait.min(LONGEST_WAIT)
    }

    /// A replacement was made, or could not be.
    pub(super) fn renewed(&mut self, now: Timestamp, is_made: bool) {
        self.failures = if is_made { 0 } else { self.failures.saturating_add(1) };
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
        refusals.renewed(late, true);
        assert!(!refusals.may_renew(late, 2));
        assert!(refusals.may_renew(Timestamp::from_second(10).unwrap(), 2));
    }

    #[test]
    fn an_issuer_that_fails_is_asked_ever_more_seldom() {
        let mut refusals = Refusals::default();
        let mut tries = Vec::new();
        for second in 0..1000 {
            let now = Timestamp::from_second(second).unwrap();
            if refusals.may_renew(now, 1) {
                refusals.renewed(now, false);
                tries.push(second);
            }
        }
        assert_eq!(tries, [0, 5, 15, 35, 75, 155, 315, 615, 915]);
    }

    #[test]
    fn what_was_taken_once_begins_a_new_row_and_what_comes_late_does_not() {
        let standing = Standing::default();
        assert_eq!([1, 1, 2, 3, 2].map(|number| standing.refused(number)), [1, 1, 2, 3, 3]);
        standing.accepted(1);
        assert_eq!(standing.refused(3), 3, "the answer to an older request");
        standing.accepted(4);
        assert_eq!([4, 5, 6].map(|number| standing.refused(number)), [0, 1, 2]);
        assert_eq!(Standing::default().refused(7), 1);
    }
}
