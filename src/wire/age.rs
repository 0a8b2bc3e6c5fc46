//! The age of an object, for servers that render no Tables.

use jiff::Timestamp;

use crate::object::human_duration;

/// Returns the age of an object by its `creationTimestamp`; `<unknown>` if it is missing or invalid.
#[must_use]
pub(crate) fn age(created: Option<&str>, now: Timestamp) -> String {
    match created.and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(created) => human_duration(now.duration_since(created).as_secs()),
        None => "<unknown>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_needs_a_creation_time() {
        let now = "2026-11-21T12:00:00Z".parse().expect("a time");
        assert_eq!(age(Some("2026-11-21T11:59:15Z"), now), "45s");
        for none in [None, Some(""), Some("yesterday")] {
            assert_eq!(age(none, now), "<unknown>");
        }
    }
}
