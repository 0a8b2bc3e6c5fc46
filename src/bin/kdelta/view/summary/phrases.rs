//! The text of a group in tables and short texts, escaped.

use std::collections::BTreeMap;

use super::group::ChangeGroup;
use super::reasons::ReasonCounts;
use crate::view::counted::counted;
use crate::view::escape::escape_line;

/// The maximum number of reasons that a phrase names.
const MAX_REASONS: usize = 3;

impl ChangeGroup {
    /// Returns the owner as `deployment.apps/web`.
    pub(crate) fn title(&self) -> String {
        let kind = self.kind.to_lowercase();
        let kind = if self.group.is_empty() { kind } else { format!("{kind}.{}", self.group) };
        escape_line(&format!("{kind}/{}", self.name))
    }

    /// Returns a phrase for each thing that happened, the most important first.
    pub(crate) fn phrases(&self) -> Vec<String> {
        let mut phrases = Vec::new();
        if !self.unready.is_empty() {
            let subject = self.unready_objects();
            phrases.push(format!("{subject}unready{}", reasons(&self.unready_reasons)));
        }
        let life = match (self.root_appeared, self.root_vanished) {
            _ if self.root_recreated => Some("deleted and created again"),
            (true, true) => Some("created and deleted"),
            (true, false) => Some("created"),
            (false, true) => Some("deleted"),
            (false, false) => None,
        };
        phrases.extend(life.map(str::to_owned));
        if !self.recovered.is_empty() {
            let times = times(self.recovered.total());
            phrases.push(format!("unready for some time{times}{}", reasons(&self.recovered)));
        }
        if !self.restarts.is_empty() {
            let text = counted(self.restarts.total(), "restart");
            phrases.push(format!("{text}{}", reasons(&self.restarts)));
        }
        if self.content_changes > 0 {
            let fields = self.fields.join(", ");
            let colon = if fields.is_empty() { "" } else { ": " };
            phrases.push(format!("changed{}{colon}{fields}", times(self.content_changes)));
        }
        for (counts, verb) in [(&self.appeared, "appeared"), (&self.vanished, "vanished")] {
            if !counts.is_empty() {
                phrases.push(format!("{} {verb}", objects(counts)));
            }
        }
        if !self.warnings.is_empty() {
            let text = counted(self.warnings.total(), "warning");
            phrases.push(format!("{text}{}", reasons(&self.warnings)));
        }
        if phrases.is_empty() {
            phrases.push(counted(self.changes, "update"));
        }
        phrases
    }

    /// Returns the unready objects before the predicate; nothing if the only one is the owner itself.
    fn unready_objects(&self) -> String {
        if self.root_unready && self.unready.values().sum::<u64>() == 1 {
            String::new()
        } else {
            format!("{} ", objects(&self.unready))
        }
    }
}

/// Returns `3 pods, 1 replicaset`, with the plurals of the API.
fn objects(counts: &BTreeMap<String, u64>) -> String {
    let texts = counts.iter().map(|(plural, count)| {
        let noun = match count {
            1 => plural.strip_suffix('s').unwrap_or(plural),
            _ => plural.as_str(),
        };
        format!("{count} {}", escape_line(noun))
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns ` (CrashLoopBackOff ×3; Error)`, or nothing without a known reason.
fn reasons(counts: &ReasonCounts) -> String {
    let known = counts.by_count();
    let total = counts.total();
    let shown = known.iter().take(MAX_REASONS).map(|(reason, count)| {
        let reason = escape_line(reason);
        if *count == total { reason } else { format!("{reason} ×{count}") }
    });
    let mut texts: Vec<String> = shown.collect();
    if known.len() > MAX_REASONS {
        texts.push(format!("{} more reasons", known.len() - MAX_REASONS));
    }
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join("; ")) }
}

/// Returns ` 3 times` for more than one time.
fn times(count: u64) -> String {
    if count == 1 { String::new() } else { format!(" {count} times") }
}
