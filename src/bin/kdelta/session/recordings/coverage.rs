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
            recording.resources()?;
        }
        Self::new(recording.context(), times)
    }

    /// Creates the range of a context from its first and last time.
    ///
    /// # Errors
    /// Returns an error if the recording is empty.
    pub(crate) fn new(context: &str, times: Option<(Timestamp, Timestamp)>) -> anyhow::Result<Self> {
        let Some((beginning, end)) = times else {
            bail!("the recording of the context {context:?} is empty");
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

    /// Checks both ends of a range.
    ///
    /// # Errors
    /// Returns an error if one of the ends is outside of the recording.
    pub(super) fn check(&self, range: &Range) -> anyhow::Result<()> {
        let mut ends = range.ends();
        ends.try_for_each(|(flag, requested)| self.time(flag, requested).map(|_| ()))
    }

    /// Returns the error of a moment that the recording does not have.
    pub(crate) fn outside(&self, flag: &str, requested: RequestedMoment) -> anyhow::Error {
        let Self { context, beginning, end } = self;
        let moment = match (requested, requested.time(*end)) {
            (RequestedMoment::Version(version), _) => format!("rv:{version}"),
            (_, time) => time.unwrap_or(*end).to_string(),
        };
        anyhow::anyhow!(
            "--{flag} {moment} is outside of the recording of the context {context:?}, which is from {beginning} to {end}: select a moment in this range"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
