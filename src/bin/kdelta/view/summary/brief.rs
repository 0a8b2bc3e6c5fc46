//! A summary within a number of bytes, for chat channels and language models.

use super::tracker::ChangeSummary;
use crate::view::counted::counted;

/// The room for the line that counts the groups left out.
const REST: usize = 32;

/// The maximum length of the line of one group, so that one does not take the room of all others.
const MAX_LINE: usize = 240;

/// Returns a text of at most `limit` bytes: the head, which is cut if it is too long, a line for each of the most important
/// groups, and the number of the others.
pub(crate) fn brief(head: &[String], summary: &ChangeSummary, limit: usize) -> String {
    let mut text = String::new();
    for line in head {
        let room = (limit / 2).saturating_sub(text.len() + 1);
        push_line(&mut text, line, room);
    }
    let mut shown = 0;
    for group in &summary.groups {
        let place = if group.namespace.is_empty() { String::new() } else { format!("{} ", group.namespace) };
        let line = format!("{place}{}: {}", group.title(), group.phrases().join("; "));
        let line = cut(&line, MAX_LINE);
        if text.len() + line.len() + 1 + REST > limit {
            break;
        }
        text.push_str(&line);
        text.push('\n');
        shown += 1;
    }
    let rest = u64::try_from(summary.groups.len() - shown).unwrap_or(u64::MAX);
    if rest > 0 {
        let line = format!("and {} more", counted(rest, "group"));
        let room = limit.saturating_sub(text.len() + 1);
        push_line(&mut text, &line, room);
    }
    text
}

fn push_line(text: &mut String, line: &str, room: usize) {
    if room > 0 {
        text.push_str(&cut(line, room));
        text.push('\n');
    }
}

/// Returns a text of at most that many bytes, with dots at the end if something is omitted.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let Some(room) = bytes.checked_sub(3) else { return String::new() };
    format!("{}...", &text[..text.floor_char_boundary(room)])
}
