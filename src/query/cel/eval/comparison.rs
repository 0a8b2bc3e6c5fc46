//! Comparisons of the time with other values, which change at moments that can be computed.

use super::Evaluation;
use crate::query::cel::error::CelError;
use crate::query::cel::plan::Plan;
use crate::query::cel::syntax::Binary;
use crate::query::cel::value::{Value, calculate};

impl<'a> Evaluation<'a> {
    /// Evaluates the operands of a comparison, and records the moment at which it changes.
    pub(super) fn compared(&mut self, operands: &'a [Plan; 2]) -> Result<[Value<'a>; 2], CelError> {
        let (left, left_slope) = self.with_slope(&operands[0])?;
        let (right, right_slope) = self.with_slope(&operands[1])?;
        let slope = left_slope - right_slope;
        if slope != 0
            && let (Some(left), Some(right)) = (nanos(&left), nanos(&right))
        {
            self.validity.change_at_zero(self.variables.now, left - right, slope);
        }
        Ok([left, right])
    }

    /// Returns a value, and how many nanoseconds it grows in each nanosecond: a sum or a difference with the time in it grows
    /// or shrinks evenly.
    fn with_slope(&mut self, plan: &'a Plan) -> Result<(Value<'a>, i128), CelError> {
        match plan {
            Plan::Now => {
                self.budget.charge(1)?;
                Ok((Value::Timestamp(self.variables.now), 1))
            }
            Plan::Binary(operator @ (Binary::Add | Binary::Subtract), operands) => {
                self.budget.charge(1)?;
                let (left, left_slope) = self.with_slope(&operands[0])?;
                let (right, right_slope) = self.with_slope(&operands[1])?;
                let slope = match operator {
                    Binary::Add => left_slope + right_slope,
                    _ => left_slope - right_slope,
                };
                Ok((calculate(*operator, &left, &right, &mut self.budget)?, slope))
            }
            plan => Ok((self.value(plan)?, 0)),
        }
    }
}

/// Returns the nanoseconds of a timestamp or a duration.
fn nanos(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Timestamp(nanos) => Some(*nanos),
        Value::Duration(nanos) => Some(i128::from(*nanos)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use crate::query::{CelFilter, CelInput, CelValidity};

    const OBJECT: &[u8] =
        br#"{"start":"1970-01-01T00:01:40Z","wait":"50s","times":["1970-01-01T00:00:10Z","1970-01-01T00:05:00Z"],"n":1}"#;

    fn at(nanos: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(nanos)
    }

    #[test]
    fn comparisons_with_the_time_change_at_a_known_moment() {
        use CelValidity::{Always, Unknown};
        const SECOND: u64 = 1_000_000_000;
        let until = |seconds: u64| CelValidity::Until(at(seconds * SECOND));
        let just_after = |seconds: u64| CelValidity::Until(at(seconds * SECOND + 1));
        for (text, now, expected) in [
            ("object.n == 1", 5, Always),
            ("now >= timestamp(object.start)", 5, until(100)),
            ("now >= timestamp(object.start)", 100, just_after(100)),
            ("now >= timestamp(object.start)", 101, Always),
            ("timestamp(object.start) < now", 5, until(100)),
            ("now - timestamp(object.start) > duration(object.wait)", 5, until(150)),
            ("duration(object.wait) < now - timestamp(object.start)", 5, until(150)),
            ("timestamp(object.start) - now < duration('10s')", 5, until(90)),
            ("timestamp(object.start) + duration('10s') < now - duration('20s')", 5, until(130)),
            (
                "now - duration('10s') - timestamp(object.start) > duration('10s') - duration('5s')",
                5,
                until(115),
            ),
            ("now - timestamp(object.start) > timestamp(object.start) - now", 5, until(100)),
            ("now - timestamp(object.start) > now - timestamp(object.times[1])", 5, Always),
            ("now == timestamp(object.start)", 5, until(100)),
            ("object.times.exists(t, now > timestamp(t))", 5, until(10)),
            ("object.times.exists(t, now > timestamp(t))", 11, Always),
            ("object.times.all(t, now > timestamp(t))", 11, until(300)),
            // The second comparison is not evaluated, and has no part in the result.
            ("object.n == 2 && now > timestamp(object.start)", 5, Always),
            ("now > timestamp(object.times[0]) || now > timestamp(object.start)", 11, Always),
            ("now > timestamp(object.times[1]) || now > timestamp(object.start)", 11, until(100)),
            ("now > timestamp(object.missing)", 5, Always),
            ("now.getSeconds() > 30", 5, Unknown),
            ("int(now) > 30 && now < timestamp(object.start)", 50, Unknown),
            ("[now].exists(t, t > timestamp(object.start))", 5, Unknown),
            ("now > object.n", 5, Always),
        ] {
            let filter = CelFilter::parse(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
            let input = CelInput::new(OBJECT, at(now * SECOND));
            let (result, validity) = filter.evaluate_with_validity(&input);
            assert_eq!(validity, expected, "{text}");
            assert_eq!(result, filter.evaluate(&input), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn results_stay_the_same_until_their_end(
            (now, first, second, wait) in (0..60_u64, 0..60_u64, 0..60_u64, 0..20_u64),
            operators in proptest::collection::vec(proptest::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]), 3),
            joint in proptest::sample::select(vec!["&&", "||"]),
        ) {
            let time = |seconds: u64| format!("timestamp({seconds})");
            let text = format!(
                "(now {} {} {joint} now - {} {} duration('{wait}s')) || {} - now {} duration('-{wait}s')",
                operators[0], time(first), time(second), operators[1], time(first), operators[2],
            );
            let filter = CelFilter::parse(&text, false).expect(&text);
            let evaluate = |nanos| filter.evaluate_with_validity(&CelInput::new(b"{}", at(nanos)));
            let mut nanos = now * 1_000_000_000;
            // Each comparison changes twice.
            for _ in 0..7 {
                let (result, validity) = evaluate(nanos);
                let end = match validity {
                    CelValidity::Until(end) => end.duration_since(UNIX_EPOCH).expect("after 1970").as_nanos(),
                    _ => 200_000_000_000,
                };
                let end = u64::try_from(end).expect("in this millennium");
                proptest::prop_assert!(end > nanos);
                for between in [nanos + 1, nanos + (end - nanos) / 2, end - 1] {
                    if (nanos..end).contains(&between) {
                        proptest::prop_assert_eq!(&evaluate(between).0, &result, "{} at {}", text, between);
                    }
                }
                if validity == CelValidity::Always {
                    return Ok(());
                }
                nanos = end;
            }
            proptest::prop_assert!(false, "{} changes for ever", text);
        }
    }
}
