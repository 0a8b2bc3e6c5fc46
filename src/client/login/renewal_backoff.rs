//! The back-off between renewals of credentials that a server refuses.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The shortest wait after a replacement; it doubles with each further one that is refused or can't be made.
const FIRST_WAIT: SignedDuration = SignedDuration::from_secs(5);
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// The credentials that one client's server has accepted and refused. Clients may share the issuer, but not this: one
/// server's acceptance does not apply to another.
///
/// A std lock: held to read and count.
#[derive(Default)]
pub(super) struct AcceptanceHistory(Mutex<History>);

#[derive(Default)]
struct History {
    /// The numbers of the last accepted and the last refused credentials.
    accepted: u64,
    refused: u64,
    in_a_row: u32,
}

impl AcceptanceHistory {
    /// Records that the server accepted these credentials.
    pub(super) fn accepted(&self, number: u64) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.accepted = taken.accepted.max(number);
        if number >= taken.refused {
            taken.in_a_row = 0;
        }
    }

    /// Records that the server refused these credentials. Returns how many it has refused in a row since it last
    /// accepted some.
    pub(super) fn refused(&self, number: u64) -> u32 {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if number > taken.refused {
            taken.refused = number;
            taken.in_a_row = if taken.accepted >= number { 0 } else { taken.in_a_row.saturating_add(1) };
        }
        taken.in_a_row
    }
}

/// The replacements that an issuer has made for refused credentials, for all clients.
#[derive(Default)]
pub(super) struct RenewalBackoff {
    last: Option<Timestamp>,
    /// The number of failures since the last success.
    failures: u32,
}

impl RenewalBackoff {
    /// Returns whether another replacement may be made for a client whose server has refused that many in a row.
    /// After an acceptance only the shortest wait applies: a server that accepts and refuses in turns would otherwise
    /// cause one each time. That wait is common to all clients, since many may be refused together.
    pub(super) fn may_renew(&self, now: Timestamp, in_a_row: u32) -> bool {
        let Some(last) = self.last else { return true };
        let doublings = match in_a_row {
            0 => 0,
            // The first refused credentials were not a replacement.
            refused => (refused.saturating_sub(2)).max(self.failures.saturating_sub(1)),
        };
        let wait = 1_i32.checked_shl(doublings.min(16)).map_or(LONGEST_WAIT, |times| FIRST_WAIT * times);
        // A clock that was set back would otherwise block renewals until it catches up.
        now < last || now.duration_since(last) >= wait.min(LONGEST_WAIT)
    }

    /// Records the outcome of a replacement.
    pub(super) fn renewed(&mut self, now: Timestamp, is_made: bool) {
        self.failures = if is_made { 0 } else { self.failures.saturating_add(1) };
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_set_back_does_not_block_renewals() {
        let mut refusals = RenewalBackoff::default();
        let late = Timestamp::from_second(1_000_000).unwrap();
        refusals.renewed(late, true);
        assert!(!refusals.may_renew(late, 2));
        assert!(refusals.may_renew(Timestamp::from_second(10).unwrap(), 2));
    }

    #[test]
    fn failing_issuer_is_asked_with_backoff() {
        let mut refusals = RenewalBackoff::default();
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
        let acceptance = AcceptanceHistory::default();
        assert_eq!([1, 1, 2, 3, 2].map(|number| acceptance.refused(number)), [1, 1, 2, 3, 3]);
        acceptance.accepted(1);
        assert_eq!(acceptance.refused(3), 3, "the answer to an older request");
        acceptance.accepted(4);
        assert_eq!([4, 5, 6].map(|number| acceptance.refused(number)), [0, 1, 2]);
        assert_eq!(AcceptanceHistory::default().refused(7), 1);
    }
}
