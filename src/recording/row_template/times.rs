//! The times of an object that its cells are counted from.

use jiff::Timestamp;

use crate::object::human_duration;

/// The seconds by which a server may have rendered a row before or after its receipt.
const SKEW: [i64; 5] = [0, -1, 1, -2, 2];

/// The field that a cell is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// `metadata.creationTimestamp`.
    Creation,
    /// `finishedAt` of the last state of a container.
    LastRestart,
    /// `status.startTime` of a Job that has no `completionTime`.
    Start,
    /// `status.lastScheduleTime`.
    LastSchedule,
    /// A field that the columns of a custom resource name: the creation, or any other time.
    Any,
}

/// The times of an object, with the names of their members.
pub(super) struct Times<'a>(Vec<(&'a [u8], i64)>);

impl<'a> Times<'a> {
    pub(super) fn of(json: &'a [u8]) -> Self {
        let mut times = Vec::new();
        for quote in memchr::memchr_iter(b'"', json) {
            // The shortest time of the API is `"2026-11-24T03:12:00Z"`.
            let Some(text) = json.get(quote + 1..quote + 21) else { break };
            if !text[0].is_ascii_digit() || text[10] != b'T' {
                continue;
            }
            let length = json[quote + 1..].iter().take(40).position(|byte| *byte == b'"');
            let time = length.and_then(|length| str::from_utf8(&json[quote + 1..quote + 1 + length]).ok());
            if let Some(time) = time.and_then(|time| time.parse::<Timestamp>().ok()) {
                times.push((member(&json[..quote]), time.as_second()));
            }
        }
        Self(times)
    }

    /// Returns the time that explains an age at the time of receipt.
    pub(super) fn explain(&self, age: &str, since: Since, received: i64) -> Option<i64> {
        let explains = |time: &i64| is_age(age, *time, received);
        let named = |name: &'static [u8]| {
            self.0.iter().filter(move |(member, _)| *member == name).map(|(_, time)| *time)
        };
        let last =
            |name: &'static [u8]| self.0.iter().rfind(|(member, _)| *member == name).map(|(_, time)| *time);
        let created = || named(b"creationTimestamp").next().filter(explains);
        match since {
            Since::Creation => created(),
            // The server prints the latest restart of all containers.
            Since::LastRestart => named(b"lastState.finishedAt").max().filter(explains),
            Since::Start if named(b"completionTime").next().is_some() => None,
            Since::Start => last(b"startTime").filter(explains),
            Since::LastSchedule => last(b"lastScheduleTime").filter(explains),
            Since::Any => created().or_else(|| self.0.iter().rev().map(|(_, time)| *time).find(explains)),
        }
    }
}

/// Returns whether an age is that of a time when it was received.
pub(super) fn is_age(age: &str, time: i64, received: i64) -> bool {
    SKEW.iter().any(|skew| human_duration(received + skew - time) == age)
}

/// Returns the name of the member whose value follows; that of a container's last state begins with `lastState.`.
fn member(before: &[u8]) -> &[u8] {
    const LAST: &[u8] = b"\"lastState\":";
    let Some(front) = before.strip_suffix(b"\":") else { return b"" };
    let Some(quote) = memchr::memrchr(b'"', front) else { return b"" };
    let name = &front[quote + 1..];
    if name != b"finishedAt" {
        return name;
    }
    let last = memchr::memmem::rfind(front, LAST);
    let other = memchr::memmem::rfind(front, b"\"state\":");
    if last > other { b"lastState.finishedAt" } else { name }
}
