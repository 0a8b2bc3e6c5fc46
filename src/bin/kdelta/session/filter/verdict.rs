//! The verdict of a filter on one state of an object, and the time until which it holds.

use jiff::Timestamp;

/// Whether an object matches at a moment, and from when on it may be otherwise without a change of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Whether the object matches.
    pub(crate) matches: bool,
    /// The first moment at which this must be evaluated again; `None` if time does not change it.
    pub(crate) until: Option<Timestamp>,
}

impl Verdict {
    /// Returns a verdict that time does not change.
    pub(crate) fn fixed(matches: bool) -> Self {
        Self { matches, until: None }
    }

    /// Returns the verdict of two conditions that must both hold.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self.matches, other.matches) {
            (true, true) => {
                let until = [self.until, other.until].into_iter().flatten().min();
                Self { matches: true, until }
            }
            (true, false) => other,
            (false, true) => self,
            // It fails at least until both may hold, and for ever if one of them does.
            (false, false) => {
                let until = self.until.zip(other.until).map(|(one, another)| one.max(another));
                Self { matches: false, until }
            }
        }
    }

    /// Whether the object matches now or may match later without a change.
    pub(crate) fn may_match(self) -> bool {
        self.matches || self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(matches: bool, until: i64) -> Verdict {
        let until = (until > 0).then(|| Timestamp::from_second(until).expect("in range"));
        Verdict { matches, until }
    }

    #[test]
    fn both_conditions_must_hold() {
        for ((one, other), expected) in [
            (((true, 0), (true, 0)), (true, 0)),
            (((true, 5), (true, 0)), (true, 5)),
            (((true, 5), (true, 3)), (true, 3)),
            (((true, 5), (false, 0)), (false, 0)),
            (((true, 5), (false, 7)), (false, 7)),
            (((false, 5), (false, 7)), (false, 7)),
            (((false, 5), (false, 0)), (false, 0)),
        ] {
            let (one, other) = (verdict(one.0, one.1), verdict(other.0, other.1));
            assert_eq!(one.and(other), verdict(expected.0, expected.1), "{one:?} {other:?}");
            assert_eq!(other.and(one), verdict(expected.0, expected.1), "{other:?} {one:?}");
        }
    }
}
