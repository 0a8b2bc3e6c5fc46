//! The range of a recording that a summary covers.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::object::human_duration;
use kdelta::recording::Gap;

use crate::view::escape_line;
use crate::view::summary::ChangeSummary;

/// The maximum number of gaps that have a line of their own.
const MAX_GAPS: usize = 3;

/// The range of a recording that a summary covers.
#[derive(Debug, Clone)]
pub(crate) struct SummaryRange {
    pub(crate) context: Arc<str>,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The times in the range during which changes were not observed.
    pub(crate) gaps: Vec<Gap>,
}

impl SummaryRange {
    /// Returns the line of the range with the numbers, and those of the gaps.
    pub(super) fn head(&self, summary: &ChangeSummary) -> Vec<String> {
        let Self { context, since, until, gaps } = self;
        let length = human_duration(until.duration_since(*since).as_secs());
        let ChangeSummary { changes, objects, groups } = summary;
        let counted = |count: u64, noun: &str| {
            if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
        };
        let groups = counted(u64::try_from(groups.len()).unwrap_or(u64::MAX), "group");
        let (changes, objects) = (counted(*changes, "change"), counted(*objects, "object"));
        // A recording of a server without a context has an empty name.
        let context = if context.is_empty() { String::new() } else { format!("{}: ", escape_line(context)) };
        let mut head =
            vec![format!("{context}{changes} of {objects} in {groups}, {since} to {until} ({length})")];
        head.extend(gaps.iter().take(MAX_GAPS).map(gap_line));
        if gaps.len() > MAX_GAPS {
            head.push(format!("and {} more times without observation", gaps.len() - MAX_GAPS));
        }
        head
    }
}

fn gap_line(gap: &Gap) -> String {
    let Gap { from, to, resource, .. } = gap;
    match resource {
        Some(resource) => {
            let types = escape_line(&resource.group_resource());
            format!("{types} were not observed from {from} to {to}: changes may be missing")
        }
        None => format!("nothing was recorded from {from} to {to}: changes may be missing"),
    }
}
