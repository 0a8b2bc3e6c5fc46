//! The result of a condition for one state of an object.

use std::time::Duration;

/// Whether a condition holds for a state of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    True,
    False,
    /// False for this object, whatever happens to it.
    Never,
    /// An expression has no result.
    Unknown,
}

/// The truth of a condition, and the moment at which it must be evaluated again without a change of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evaluation {
    pub(super) truth: Truth,
    /// The time since the start.
    pub(super) until: Option<Duration>,
}

impl Evaluation {
    /// Returns a result that time does not change.
    pub(super) fn fixed(truth: Truth) -> Self {
        Self { truth, until: None }
    }

    pub(super) fn is_true(self) -> bool {
        self.truth == Truth::True
    }

    /// Returns the result of `!`.
    pub(super) fn negated(self) -> Self {
        let truth = match self.truth {
            Truth::True => Truth::False,
            Truth::False | Truth::Never => Truth::True,
            Truth::Unknown => Truth::Unknown,
        };
        Self { truth, ..self }
    }

    /// Returns the result of terms that must all hold, or, with `is_any`, of terms one of which must hold.
    pub(super) fn joined(results: impl Iterator<Item = Self>, is_any: bool) -> Self {
        let (mut truths, mut until) = (Vec::new(), None);
        for result in results {
            truths.push(result.truth);
            until = earlier(until, result.until);
        }
        let has = |truth| truths.contains(&truth);
        // As in CEL, a term without a result does not matter where another decides.
        let truth = match is_any {
            true if has(Truth::True) => Truth::True,
            true if has(Truth::Unknown) => Truth::Unknown,
            true if has(Truth::Never) && !has(Truth::False) => Truth::Never,
            true => Truth::False,
            false if has(Truth::Never) => Truth::Never,
            false if has(Truth::False) => Truth::False,
            false if has(Truth::Unknown) => Truth::Unknown,
            false => Truth::True,
        };
        Self { truth, until }
    }
}

/// Returns the earlier of two moments.
pub(super) fn earlier(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Truth::{False, Never, True, Unknown};

    #[test]
    fn terms_decide_as_in_cel() {
        for (terms, all, any) in [
            (&[True, True][..], True, True),
            (&[True, False], False, True),
            (&[True, Unknown], Unknown, True),
            (&[False, Unknown], False, Unknown),
            (&[Never, True], Never, True),
            (&[Never, False], Never, False),
            (&[Never, Never], Never, Never),
            (&[Never, Unknown], Never, Unknown),
        ] {
            let joined =
                |is_any| Evaluation::joined(terms.iter().copied().map(Evaluation::fixed), is_any).truth;
            assert_eq!((joined(false), joined(true)), (all, any), "{terms:?}");
        }
    }

    #[test]
    fn earliest_moment_counts() {
        let at = |seconds| Evaluation { truth: False, until: Some(Duration::from_secs(seconds)) };
        let joined = Evaluation::joined([at(5), Evaluation::fixed(True), at(3)].into_iter(), false);
        assert_eq!(joined, at(3));
    }
}
