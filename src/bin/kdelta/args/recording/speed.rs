//! The value of `--speed`.

use std::num::ParseFloatError;
use std::str::FromStr;

/// A speed relative to that of a clock. The range is checked by its users.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SpeedArg {
    /// `10`, `0.5` or `10x`.
    Times(f64),
    /// `max`: without pauses.
    Max,
}

impl FromStr for SpeedArg {
    type Err = ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "max" {
            return Ok(Self::Max);
        }
        text.strip_suffix('x').unwrap_or(text).parse().map(Self::Times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors_or_max() {
        for (text, expected) in [
            ("10", Some(SpeedArg::Times(10.0))),
            ("0.5", Some(SpeedArg::Times(0.5))),
            ("10x", Some(SpeedArg::Times(10.0))),
            ("-1", Some(SpeedArg::Times(-1.0))),
            ("max", Some(SpeedArg::Max)),
            ("x", None),
            ("", None),
            ("10xx", None),
            ("fast", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }
}
