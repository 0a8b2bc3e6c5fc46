//! A range of time of a recording.

use jiff::{Timestamp, Zoned};

use super::moment::RequestedMoment;
use crate::args::RangeArgs;
use crate::settings::UsageError;

/// A range of time; both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Range {
    since: Option<RequestedMoment>,
    until: Option<RequestedMoment>,
}

impl Range {
    /// Reads the flags. `now` is the local time.
    pub(crate) fn read(args: &RangeArgs, now: fn() -> Zoned) -> Result<Self, UsageError> {
        let time = |flag, text: &Option<String>| match text.as_deref() {
            None => Ok(None),
            Some(text) => match RequestedMoment::parse(flag, text, now) {
                Err(_) => Err(UsageError::RangeTime { flag, text: text.to_owned() }),
                Ok(RequestedMoment::Version(_)) => Err(UsageError::VersionInRange(flag)),
                Ok(moment) => Ok(Some(moment)),
            },
        };
        Ok(Self { since: time("since", &args.since)?, until: time("until", &args.until)? })
    }

    /// Returns the name of a flag that was given, if any.
    pub(in crate::settings) fn first_flag(&self) -> Option<&'static str> {
        self.ends().next().map(|(flag, _)| flag)
    }

    /// Returns the given ends with the names of their flags.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (&'static str, RequestedMoment)> + use<> {
        let ends = [("since", self.since), ("until", self.until)];
        ends.into_iter().filter_map(|(flag, moment)| Some((flag, moment?)))
    }

    /// Returns the first and the last time in a recording that ends at `end`; `None` without a limit.
    ///
    /// # Errors
    /// The range ends before it begins.
    pub(crate) fn times(&self, end: Timestamp) -> Result<(Option<Timestamp>, Option<Timestamp>), UsageError> {
        let time = |moment: Option<RequestedMoment>| moment.and_then(|moment| moment.time(end));
        match (time(self.since), time(self.until)) {
            (Some(since), Some(until)) if since > until => Err(UsageError::EmptyRange),
            times => Ok(times),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(since: &str, until: &str) -> Result<Range, UsageError> {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let args = RangeArgs { since: text(since), until: text(until) };
        Range::read(&args, || "2026-11-24T12:00:00Z[UTC]".parse().expect("a time"))
    }

    #[test]
    fn ends_are_times_and_ages() {
        let end = "2026-11-24T10:00:00Z".parse().expect("a time");
        let times = |since, until| read(since, until).expect("a range").times(end);
        let time = |text: &str| Some(text.parse::<Timestamp>().expect("a time"));
        assert_eq!(times("", ""), Ok((None, None)));
        assert_eq!(times("-1h", "09:30"), Ok((time("2026-11-24T09:00:00Z"), time("2026-11-24T09:30:00Z"))));
        assert_eq!(times("", "-1m"), Ok((None, time("2026-11-24T09:59:00Z"))));
        assert_eq!(times("-1m", "-2m"), Err(UsageError::EmptyRange));
        assert_eq!(read("rv:7", ""), Err(UsageError::VersionInRange("since")));
        let error = UsageError::RangeTime { flag: "until", text: "soon".into() };
        assert!(!error.to_string().contains("rv:"), "versions are refused: {error}");
        assert_eq!(read("", "soon"), Err(error));
        assert_eq!(read("", "-1m").expect("a range").first_flag(), Some("until"));
    }
}
