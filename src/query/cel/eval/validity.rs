//! The time for which a result holds.

/// The time for which a result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::query::cel) struct Validity {
    /// The first moment at which a comparison that was evaluated may change, in nanoseconds since 1970.
    pub(in crate::query::cel) until: Option<i128>,
    /// Whether the time was read for anything other than such a comparison.
    pub(in crate::query::cel) is_unknown: bool,
}

impl Validity {
    pub(super) fn read_now(&mut self) {
        self.is_unknown = true;
    }

    /// Records that a comparison changes when a difference that grows with this slope reaches zero, and when it leaves it.
    pub(super) fn change_at_zero(&mut self, now: i128, difference: i128, slope: i128) {
        let (difference, slope) = (difference * slope.signum(), slope.abs());
        let reaches = -difference.div_euclid(slope);
        let leaves = (-difference).div_euclid(slope) + 1;
        if let Some(wait) = [reaches, leaves].into_iter().find(|wait| *wait > 0) {
            let moment = now + wait;
            self.until = Some(self.until.map_or(moment, |until| until.min(moment)));
        }
    }
}
