//! Rows as templates: cells whose ages are computed again for another time.
//!
//! A template is a sequence of cells. Each is a text, or a text before an age, the time that the age is counted from, and
//! a text after it. The time stands in the template, so that a row is rendered without the body of its object, and a row
//! in which only ages have changed has the same template.

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use super::bytes::{Cursor, put_number, put_signed, put_text};
use super::tables::take_string;
use crate::object::{Column, Object, Row, human_duration};

const TEXT: u64 = 0;
const AGE: u64 = 1;

/// The seconds by which a server may have rendered a row before or after its receipt.
const SKEW: [i64; 5] = [0, -1, 1, -2, 2];

/// Returns the template of a row that was received with its object. An age that no time of the object explains stays a
/// text.
pub(in crate::recording) fn to_template(row: &Row, object: &Object, received: Timestamp) -> Vec<u8> {
    let mut template = Vec::new();
    let mut times: Option<Times> = None;
    for (at, cell) in row.cells().enumerate() {
        let column = row.columns().get(at);
        let age = column.and_then(|column| age_in(column, cell)).and_then(|(range, of)| {
            let times = times.get_or_insert_with(|| Times::of(object));
            Some((range.clone(), times.explain(&cell[range], of, received.as_second())?))
        });
        if let Some((range, since)) = age {
            put_number(&mut template, AGE);
            put_text(&mut template, &cell.as_bytes()[..range.start]);
            put_signed(&mut template, since);
            put_text(&mut template, &cell.as_bytes()[range.end..]);
        } else {
            put_number(&mut template, TEXT);
            put_text(&mut template, cell.as_bytes());
        }
    }
    template
}

/// Returns the row of a template with ages as of a time, or `None` if the template is damaged.
pub(in crate::recording) fn render(template: &[u8], columns: &Arc<[Column]>, now: Timestamp) -> Option<Row> {
    let mut cursor = Cursor::new(template);
    let mut cells = Vec::with_capacity(columns.len());
    while !cursor.is_empty() {
        match cursor.take_number()? {
            TEXT => cells.push((take_string(&mut cursor)?, None)),
            AGE => {
                let before = take_string(&mut cursor)?;
                let since = cursor.take_signed()?;
                cells.push((before, Some((since, take_string(&mut cursor)?))));
            }
            _ => return None,
        }
    }
    let now = now.as_second();
    Some(Row::written(Arc::clone(columns), template.len() + 16, cells, |(before, age), text| {
        text.push_str(before);
        if let Some((since, after)) = age {
            text.push_str(&human_duration(now.saturating_sub(since)));
            text.push_str(after);
        }
    }))
}

/// The times that may explain an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Explanation {
    Creation,
    Any,
}

/// Returns the range of the age in a cell whose column has one. Other durations, such as that of a Job, do not grow for
/// ever.
fn age_in(column: &Column, cell: &str) -> Option<(Range<usize>, Explanation)> {
    let is = |name: &str| column.name.eq_ignore_ascii_case(name);
    let (range, of) = if is("Age") {
        (0..cell.len(), Explanation::Creation)
    } else if column.format == "date" || is("Last Seen") || is("First Seen") || is("Last Schedule") {
        (0..cell.len(), Explanation::Any)
    } else if is("Restarts") {
        // `3 (5m ago)`
        let start = cell.find('(')? + 1;
        (start..start + cell[start..].find(" ago)")?, Explanation::Any)
    } else {
        return None;
    };
    let age = &cell[range.clone()];
    let is_age =
        age.starts_with(|first: char| first.is_ascii_digit()) && age.ends_with(['s', 'm', 'h', 'd', 'y']);
    is_age.then_some((range, of))
}

/// The times of an object, in Unix seconds.
struct Times {
    created: Option<i64>,
    all: Vec<i64>,
}

impl Times {
    fn of(object: &Object) -> Self {
        let json = object.json();
        let mut times = Self { created: None, all: Vec::new() };
        for quote in memchr::memchr_iter(b'"', &json) {
            // The shortest time of the API is `"2026-11-24T03:12:00Z"`.
            let Some(text) = json.get(quote + 1..quote + 21) else { break };
            if !text[0].is_ascii_digit() || text[10] != b'T' {
                continue;
            }
            let length = json[quote + 1..].iter().take(40).position(|byte| *byte == b'"');
            let time = length.and_then(|length| str::from_utf8(&json[quote + 1..quote + 1 + length]).ok());
            if let Some(time) = time.and_then(|time| time.parse::<Timestamp>().ok()) {
                if json[..quote].ends_with(br#""creationTimestamp":"#) {
                    times.created = times.created.or(Some(time.as_second()));
                }
                times.all.push(time.as_second());
            }
        }
        times
    }

    /// Returns the time from which an age is counted.
    fn explain(&self, age: &str, of: Explanation, received: i64) -> Option<i64> {
        let explains = |time: &&i64| SKEW.iter().any(|skew| human_duration(received + skew - **time) == age);
        match of {
            Explanation::Creation => self.created.as_ref().filter(explains).copied(),
            Explanation::Any => self.all.iter().rev().find(explains).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Ingest, TypeMeta};

    fn object() -> Object {
        let type_meta = TypeMeta { api_version: "v1".to_owned(), kind: "Pod".to_owned() };
        let json = r#"{"metadata":{"name":"web","creationTimestamp":"2026-11-24T03:00:00Z"},"status":{"finishedAt":"2026-11-24T03:10:00Z","at":"2026-11-24T03:11:59.123456Z"}}"#;
        Object::from_json(json.as_bytes(), &Ingest::of(Arc::new(type_meta))).expect("an object")
    }

    fn columns(names: &[&str]) -> Arc<[Column]> {
        let column = |name: &&str| Column { name: (*name).to_owned(), format: String::new(), priority: 0 };
        names.iter().map(column).collect()
    }

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn ages_are_those_of_the_time_and_other_cells_stay() {
        let columns = columns(&["Name", "Restarts", "Duration", "Last Seen", "Age"]);
        let cells = ["web", "3 (2m1s ago)", "12m", "1s", "12m"];
        let row = Row::new(Arc::clone(&columns), cells);
        let template = to_template(&row, &object(), time("2026-11-24T03:12:00Z"));
        let at = |text: &str| {
            let row = render(&template, &columns, time(text)).expect("a row");
            row.cells().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(at("2026-11-24T03:13:00Z"), ["web", "3 (3m ago)", "12m", "61s", "13m"]);
        assert_eq!(at("2026-11-25T05:00:00Z"), ["web", "3 (25h ago)", "12m", "25h", "26h"]);
        // A second before or after the receipt.
        assert_eq!(at("2026-11-24T03:12:00Z")[4], "12m");
        let later = Row::new(Arc::clone(&columns), ["web", "3 (3m1s ago)", "12m", "61s", "13m"]);
        assert_eq!(
            to_template(&later, &object(), time("2026-11-24T03:13:01Z")),
            template,
            "only the ages have changed"
        );
    }

    #[test]
    fn ages_without_a_time_stay_texts() {
        let columns = columns(&["Age", "Age", "Restarts", "Restarts"]);
        for cells in [["<unknown>", "5d", "0", "7 (x ago)"], ["", "3", "(", "1 (9y ago)"]] {
            let row = Row::new(Arc::clone(&columns), cells);
            let template = to_template(&row, &object(), time("2026-11-24T03:12:00Z"));
            let rendered = render(&template, &columns, time("2027-01-01T00:00:00Z")).expect("a row");
            assert_eq!(rendered.cells().collect::<Vec<_>>(), cells);
        }
    }

    #[test]
    fn damaged_templates_are_refused() {
        let columns = columns(&["Age"]);
        for template in [&[2u8][..], &[0, 5, b'a'], &[1, 0], &[0, 1, 0xff], &[0xff; 12]] {
            assert_eq!(render(template, &columns, Timestamp::UNIX_EPOCH), None, "{template:?}");
        }
    }
}
