//! The fields of timestamps and durations.

use jiff::tz::TimeZone;

use super::declaration::{Builtin, Declaration, MISMATCH, invalid, member, quoted};
use crate::query::cel::error::CelError;
use crate::query::cel::time_text::{CivilTime, NANOS};
use crate::query::cel::value::{Outcome, Value};

const fn of_time(name: &'static str, call: Builtin) -> [Declaration; 2] {
    [member(name, "timestamp -> int", call), member(name, "timestamp, string -> int", call)]
}

const YEAR: [Declaration; 2] = of_time("getFullYear", |_, arguments| field(arguments, |civil| civil.year));
const MONTH: [Declaration; 2] = of_time("getMonth", |_, arguments| field(arguments, |civil| civil.month - 1));
const DAY_OF_YEAR: [Declaration; 2] =
    of_time("getDayOfYear", |_, arguments| field(arguments, |civil| civil.day_of_year));
const DAY_OF_MONTH: [Declaration; 2] =
    of_time("getDayOfMonth", |_, arguments| field(arguments, |civil| civil.day - 1));
const DATE: [Declaration; 2] = of_time("getDate", |_, arguments| field(arguments, |civil| civil.day));
const DAY_OF_WEEK: [Declaration; 2] =
    of_time("getDayOfWeek", |_, arguments| field(arguments, |civil| civil.day_of_week));
const HOURS: [Declaration; 2] = of_time("getHours", |_, arguments| field(arguments, |civil| civil.hour));
const MINUTES: [Declaration; 2] =
    of_time("getMinutes", |_, arguments| field(arguments, |civil| civil.minute));
const SECONDS: [Declaration; 2] =
    of_time("getSeconds", |_, arguments| field(arguments, |civil| civil.second));
const MILLISECONDS: [Declaration; 2] =
    of_time("getMilliseconds", |_, arguments| field(arguments, |civil| civil.nanos / 1_000_000));

pub(super) const DECLARATIONS: &[Declaration] = &[
    YEAR[0],
    YEAR[1],
    MONTH[0],
    MONTH[1],
    DAY_OF_YEAR[0],
    DAY_OF_YEAR[1],
    DAY_OF_MONTH[0],
    DAY_OF_MONTH[1],
    DATE[0],
    DATE[1],
    DAY_OF_WEEK[0],
    DAY_OF_WEEK[1],
    HOURS[0],
    HOURS[1],
    MINUTES[0],
    MINUTES[1],
    SECONDS[0],
    SECONDS[1],
    MILLISECONDS[0],
    MILLISECONDS[1],
    member("getHours", "duration -> int", |_, arguments| whole(arguments, 3_600_000_000_000)),
    member("getMinutes", "duration -> int", |_, arguments| whole(arguments, 60_000_000_000)),
    member("getSeconds", "duration -> int", |_, arguments| whole(arguments, 1_000_000_000)),
    member("getMilliseconds", "duration -> int", |_, arguments| whole(arguments, 1_000_000)),
];

/// Returns a field of a time, in UTC or the zone of the second argument.
fn field<'a>(arguments: &[Value<'a>], field: fn(&CivilTime) -> i64) -> Outcome<'a> {
    match arguments {
        [Value::Timestamp(nanos)] => Ok(Value::Int(field(&CivilTime::of(*nanos)))),
        [Value::Timestamp(nanos), Value::Text(zone)] => {
            let nanos = nanos + i128::from(offset(*nanos, zone)?) * NANOS;
            Ok(Value::Int(field(&CivilTime::of(nanos))))
        }
        _ => Err(MISMATCH),
    }
}

/// Returns the seconds between a zone and UTC: of `+01:00`, or of a name in the time zone database.
fn offset(nanos: i128, zone: &str) -> Result<i64, CelError> {
    let unknown = || invalid(format!("unknown time zone {}", quoted(zone)));
    if let Some((hours, minutes)) = zone.split_once(':') {
        let hours: i32 = hours.parse().map_err(|_| unknown())?;
        let minutes: i32 = minutes.parse().map_err(|_| unknown())?;
        let hours = i64::from(hours) * 60;
        let minutes = i64::from(minutes);
        return Ok(60 * if zone.starts_with('-') { hours - minutes } else { hours + minutes });
    }
    if matches!(zone, "" | "UTC") {
        return Ok(0);
    }
    let zone = TimeZone::get(zone).map_err(|_| unknown())?;
    let time = jiff::Timestamp::from_nanosecond(nanos).map_err(|_| CelError::Overflow)?;
    Ok(i64::from(zone.to_offset(time).seconds()))
}

/// Returns a duration in whole units.
fn whole<'a>(arguments: &[Value<'a>], unit: i64) -> Outcome<'a> {
    match arguments {
        [Value::Duration(nanos)] => Ok(Value::Int(nanos / unit)),
        _ => Err(MISMATCH),
    }
}
