//! A replay of a recording.

use super::Range;
use crate::args::SpeedArg;
use crate::settings::UsageError;

/// The fastest speed of a replay, relative to the recording.
const MAX_SPEED: f64 = 1_000_000.0;

/// A replay of a range of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Replay {
    pub(crate) range: Range,
    /// The speed relative to the recording, above 0; `None` for the fastest.
    pub(crate) speed: Option<f64>,
}

/// The speed is never NaN.
impl Eq for Replay {}

impl Replay {
    /// Returns the replay of a range at the fastest speed; `None` if no range is given.
    pub(in crate::settings) fn of(range: Range) -> Option<Self> {
        range.first_flag().map(|_| Self { range, speed: None })
    }

    /// Sets the speed; without the flag the fastest.
    pub(in crate::settings) fn with_speed(self, speed: Option<SpeedArg>) -> Result<Self, UsageError> {
        Ok(Self { speed: replay_speed(speed.unwrap_or(SpeedArg::Max))?, ..self })
    }
}

/// Returns the speed relative to the recording; `None` for the fastest.
pub(in crate::settings) fn replay_speed(speed: SpeedArg) -> Result<Option<f64>, UsageError> {
    match speed {
        SpeedArg::Max => Ok(None),
        SpeedArg::Times(speed) if speed > 0.0 && speed <= MAX_SPEED => Ok(Some(speed)),
        SpeedArg::Times(_) => Err(UsageError::ReplaySpeed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_above_zero() {
        let replay = Replay { range: Range::default(), speed: None };
        assert_eq!(replay.with_speed(None), Ok(replay));
        assert_eq!(replay.with_speed(Some(SpeedArg::Max)), Ok(replay));
        let slow = replay.with_speed(Some(SpeedArg::Times(0.5)));
        assert_eq!(slow, Ok(Replay { speed: Some(0.5), ..replay }));
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let result = replay.with_speed(Some(SpeedArg::Times(speed)));
            assert_eq!(result, Err(UsageError::ReplaySpeed), "{speed}");
        }
    }
}
