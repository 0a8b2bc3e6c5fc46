//! The range of time that a recording covers, and the check of moments against it.

use anyhow::bail;
use jiff::Timestamp;
use kdelta::recording::{Moment, Recording, RecordingError};

use crate::settings::{Range, RequestedMoment};

/// The range of time that a recording covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Coverage {
    context: String,
    pub(crate) beginning: Timestamp,
    pub(crate) end: Timestamp,
}

impl Coverage {
    /// Returns the range of a recording.
    ///
    /// # Errors
    /// The recording is empty, or its files can't be read.
    pub(crate) fn of(recording: &Recording) -> anyhow::Result<Self> {
        let times = recording.beginning().zip(recording.end());
        if times.is_none() {
            // Damaged or newer files have no times either.
            recording.check_tables()?;
        }
        Self::new(recording.context(), times)
    }

    /// Creates the range of a context from its first and last time.
    ///
    /// # Errors
    /// Returns an error if the recording is empty.
    pub(crate) fn new(context: &str, times: Option<(Timestamp, Timestamp)>) -> anyhow::Result<Self> {
        let Some((beginning, end)) = times else {
            bail!("{} is empty", described(context));
        };
        Ok(Self { context: context.to_owned(), beginning, end })
    }

    /// Returns the moment of a flag, if the recording has it.
    ///
    /// # Errors
    /// The moment is outside of the recording, or the files can't be read.
    pub(crate) fn moment(
        &self,
        recording: &Recording,
        flag: &str,
        requested: RequestedMoment,
    ) -> anyhow::Result<Moment> {
        let version = match (requested, self.time(flag, requested)?) {
            (RequestedMoment::Version(version), _) => version,
            (RequestedMoment::End, _) | (_, None) => return Ok(Moment::End),
            (_, Some(time)) => return Ok(Moment::Time(time)),
        };
        let moment = Moment::Version(version);
        match recording.state(moment) {
            Err(RecordingError::BeforeBeginning { version: Some(first), .. }) => {
                Err(self.outside_with(flag, requested, &format!("select a version from rv:{first} on")))
            }
            Err(RecordingError::BeforeBeginning { .. }) => Err(self.outside(flag, requested)),
            Err(error) => Err(error.into()),
            Ok(_) if version > recording.state(Moment::End)?.version() => Err(self.outside(flag, requested)),
            Ok(_) => Ok(moment),
        }
    }

    /// Returns the time of a flag's moment, if the recording has it; `None` for a version, which is not checked.
    ///
    /// # Errors
    /// Returns an error if the time is outside of the recording.
    pub(crate) fn time(&self, flag: &str, requested: RequestedMoment) -> anyhow::Result<Option<Timestamp>> {
        match requested.time(self.end) {
            Some(time) if time < self.beginning || time > self.end => Err(self.outside(flag, requested)),
            time => Ok(time),
        }
    }

    /// Returns the moment at which a range begins: that of `--since`, or the beginning of the recording if that is later, with
    /// a notice for the user.
    ///
    /// # Errors
    /// The moment is after the end of the recording, or the files can't be read.
    pub(crate) fn since(
        &self,
        recording: &Recording,
        requested: RequestedMoment,
    ) -> anyhow::Result<(Moment, Option<String>)> {
        if self.is_before(recording, requested)? {
            return Ok((Moment::Time(self.beginning), Some(self.later_beginning(requested))));
        }
        Ok((self.moment(recording, "since", requested)?, None))
    }

    /// Returns whether a moment is before the beginning of the recording.
    ///
    /// # Errors
    /// The files can't be read.
    fn is_before(&self, recording: &Recording, requested: RequestedMoment) -> anyhow::Result<bool> {
        let RequestedMoment::Version(version) = requested else {
            return Ok(requested.time(self.end).is_some_and(|time| time < self.beginning));
        };
        match recording.state(Moment::Version(version)) {
            Err(RecordingError::BeforeBeginning { .. }) => Ok(true),
            Err(error) => Err(error.into()),
            Ok(_) => Ok(false),
        }
    }

    /// Checks both ends of a range. A range may begin before the recording: the result is then a notice for the user.
    ///
    /// # Errors
    /// Returns an error if one of the ends is outside of the recording.
    pub(super) fn check(&self, range: &Range) -> anyhow::Result<Option<String>> {
        let mut notice = None;
        for (flag, requested) in range.ends() {
            let is_before = requested.time(self.end).is_some_and(|time| time < self.beginning);
            if flag == "since" && is_before {
                notice = Some(self.later_beginning(requested));
            } else {
                self.time(flag, requested)?;
            }
        }
        Ok(notice)
    }

    /// Returns the notice that the recording begins after `--since`.
    fn later_beginning(&self, since: RequestedMoment) -> String {
        let (recording, since) = (described(&self.context), self.text(since));
        format!("{recording} begins at {}, after --since {since}: the range begins there", self.beginning)
    }

    /// Returns a moment as the text of a flag.
    fn text(&self, moment: RequestedMoment) -> String {
        match (moment, moment.time(self.end)) {
            (RequestedMoment::Version(version), _) => format!("rv:{version}"),
            (_, time) => time.unwrap_or(self.end).to_string(),
        }
    }

    /// Returns the error of a moment that the recording does not have.
    pub(crate) fn outside(&self, flag: &str, requested: RequestedMoment) -> anyhow::Error {
        self.outside_with(flag, requested, "select a moment in this range")
    }

    /// Returns the error of a moment that the recording does not have, with this advice or reason.
    pub(crate) fn outside_with(&self, flag: &str, requested: RequestedMoment, advice: &str) -> anyhow::Error {
        let Self { context, beginning, end } = self;
        let (moment, recording) = (self.text(requested), described(context));
        anyhow::anyhow!(
            "--{flag} {moment} is outside of {recording}, which is from {beginning} to {end}: {advice}"
        )
    }
}

/// Describes the recording of a context, whose name is empty where there was none.
pub(super) fn described(context: &str) -> String {
    if context.is_empty() {
        return "the recording".to_owned();
    }
    format!("the recording of the context {context:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::RangeArgs;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn coverage() -> Coverage {
        let times = Some((time("2026-11-24T03:00:00Z"), time("2026-11-24T04:00:00Z")));
        Coverage::new("prod", times).expect("times")
    }

    #[test]
    fn both_ends_are_inside() {
        let hour = RequestedMoment::BeforeEnd(jiff::SignedDuration::from_hours(1));
        for (requested, expected) in [
            (RequestedMoment::End, Some(time("2026-11-24T04:00:00Z"))),
            (RequestedMoment::Time(time("2026-11-24T04:00:00Z")), Some(time("2026-11-24T04:00:00Z"))),
            (hour, Some(time("2026-11-24T03:00:00Z"))),
            (RequestedMoment::Version(7), None),
        ] {
            assert_eq!(coverage().time("at", requested).expect("inside"), expected, "{requested:?}");
        }
    }

    #[test]
    fn range_may_begin_before_the_recording_but_not_end_there() {
        let range = |since: &str, until: &str| {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let args = RangeArgs { since: text(since), until: text(until) };
            let range = Range::read(&args, || "2026-11-24T12:00:00Z[UTC]".parse().expect("a time"));
            coverage().check(&range.expect("a range"))
        };
        assert_eq!(range("", "").expect("whole"), None);
        assert_eq!(range("2026-11-24T03:00:00Z", "-1m").expect("inside"), None);
        assert_eq!(
            range("-61m", "").expect("a range").as_deref(),
            Some(
                "the recording of the context \"prod\" begins at 2026-11-24T03:00:00Z, after --since \
                 2026-11-24T02:59:00Z: the range begins there"
            )
        );
        for (since, until) in [("2026-11-24T04:00:01Z", ""), ("", "-61m"), ("-62m", "-61m")] {
            assert!(range(since, until).is_err(), "{since} {until}");
        }
    }

    #[test]
    fn error_names_the_flag_the_moment_and_the_range() {
        for outside in ["2026-11-24T02:59:59Z", "2026-11-24T04:00:01Z"] {
            let error = coverage().time("until", RequestedMoment::Time(time(outside))).expect_err(outside);
            assert_eq!(
                error.to_string(),
                format!(
                    "--until {outside} is outside of the recording of the context \"prod\", which is from \
                     2026-11-24T03:00:00Z to 2026-11-24T04:00:00Z: select a moment in this range"
                )
            );
        }
        let error = coverage().outside("move-to", RequestedMoment::Version(7)).to_string();
        assert!(error.starts_with("--move-to rv:7 is outside of"), "{error}");
        let error = Coverage::new("prod", None).expect_err("empty").to_string();
        assert_eq!(error, "the recording of the context \"prod\" is empty");
        let error = Coverage::new("", None).expect_err("empty").to_string();
        assert_eq!(error, "the recording is empty");
    }
}
