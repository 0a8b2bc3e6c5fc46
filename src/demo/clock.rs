//! The formats of timestamps in objects.

use jiff::Timestamp;

/// Formats a timestamp of an object, in whole seconds.
pub(super) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a timestamp of a Lease or of an Event's eventTime, in microseconds.
pub(super) fn micro_stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
