//! Row templates: the cells of table rows, whose ages are computed again for another time.
//!
//! A template is a byte that indicates whether it needs the body, then its cells. A cell is a text; the object's
//! name; an age between two texts, with the time from which it is counted; or, for events, values of the body, or
//! an age since one. Because the template has the time of an age, a row is rendered without the body of its object,
//! and a row in which only ages have changed has the same template. The rows of events repeat values of their
//! bodies, and are read together with them.

mod event;
mod times;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use super::bytes::{Cursor, put_number, put_signed, put_text};
use super::tables::{take_size, take_string};
use crate::object::{Column, Object, Row, human_duration};
use event::{CREATION, EventFields, FIRST_SEEN, LAST_SEEN, Piece};
use times::{Since, Times, is_age};

/// The first byte of a template.
const WITHOUT_BODY: u8 = 0;
const WITH_BODY: u8 = 1;

/// The kinds of cells.
const TEXT: u64 = 0;
const AGE: u64 = 1;
const NAME: u64 = 2;
const PIECES: u64 = 3;
const FIELD_AGE: u64 = 4;

/// Returns the template of a row that was received with its object, whose JSON text is `json`. An age that matches no time
/// of the object stays a text.
pub(in crate::recording) fn to_template(
    row: &Row,
    object: &Object,
    json: &[u8],
    received: Timestamp,
) -> Vec<u8> {
    let received = received.as_second();
    if object.type_meta().kind == "Event" && !json.is_empty() {
        return to_event_template(row, object, &EventFields::of(json), received);
    }
    let mut template = vec![WITHOUT_BODY];
    let mut times: Option<Times<'_>> = None;
    for (at, cell) in row.cells().enumerate() {
        let column = row.columns().get(at);
        let found = column.and_then(|column| age_in(column, cell, &object.type_meta().kind));
        let age = found.and_then(|(range, since)| {
            let times = times.get_or_insert_with(|| Times::of(json));
            Some((range.clone(), times.explain(&cell[range], since, received)?))
        });
        if let Some((range, since)) = age {
            put_number(&mut template, AGE);
            put_text(&mut template, &cell.as_bytes()[..range.start]);
            put_signed(&mut template, since);
            put_text(&mut template, &cell.as_bytes()[range.end..]);
        } else {
            put_plain(&mut template, cell, object);
        }
    }
    template
}

fn put_plain(template: &mut Vec<u8>, cell: &str, object: &Object) {
    if !cell.is_empty() && cell == object.name() {
        put_number(template, NAME);
    } else {
        put_number(template, TEXT);
        put_text(template, cell.as_bytes());
    }
}

fn to_event_template(row: &Row, object: &Object, fields: &EventFields<'_>, received: i64) -> Vec<u8> {
    let mut template = vec![WITH_BODY];
    for (at, cell) in row.cells().enumerate() {
        let is =
            |name: &str| row.columns().get(at).is_some_and(|column| column.name.eq_ignore_ascii_case(name));
        let candidates: &[usize] = if is("Last Seen") {
            &LAST_SEEN
        } else if is("First Seen") {
            &FIRST_SEEN
        } else if is("Age") {
            &[CREATION]
        } else {
            &[]
        };
        let explains = |field: &&usize| {
            let time = fields.get(**field).and_then(|text| text.parse::<Timestamp>().ok());
            time.is_some_and(|time| is_age(cell, time.as_second(), received))
        };
        let pieces = fields.pieces(cell);
        if let Some(field) = candidates.iter().find(explains) {
            put_number(&mut template, FIELD_AGE);
            put_number(&mut template, *field as u64);
        } else if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            put_plain(&mut template, cell, object);
        } else {
            put_number(&mut template, PIECES);
            put_number(&mut template, pieces.len() as u64);
            for piece in pieces {
                match piece {
                    Piece::Text(text) => {
                        put_number(&mut template, 0);
                        put_text(&mut template, text.as_bytes());
                    }
                    Piece::Field(field) => put_number(&mut template, field as u64 + 1),
                }
            }
        }
    }
    template
}

/// Returns whether a row can only be rendered with the body of its object.
pub(in crate::recording) fn needs_body(template: &[u8]) -> bool {
    template.first() == Some(&WITH_BODY)
}

/// Returns the cells of a template. `None` if it begins with another byte than templates do.
fn cells_of(template: &[u8]) -> Option<Cursor<'_>> {
    match template.split_first()? {
        (&(WITHOUT_BODY | WITH_BODY), cells) => Some(Cursor::new(cells)),
        _ => None,
    }
}

/// A cell, before it is rendered.
enum Cell<'a> {
    Text(Cow<'a, str>),
    /// Unix seconds, and the texts before and after the age.
    Age(i64, &'a str, &'a str),
}

/// Returns the row of a template with ages as of a time, or `None` if the template is damaged. The object must have
/// its body if the template needs it.
pub(in crate::recording) fn render(
    template: &[u8],
    columns: &Arc<[Column]>,
    object: &Object,
    now: Timestamp,
) -> Option<Row> {
    let json = if needs_body(template) { object.json() } else { Cow::Borrowed(&[][..]) };
    let fields = needs_body(template).then(|| EventFields::of(&json));
    let mut cursor = cells_of(template)?;
    let mut cells = Vec::with_capacity(columns.len());
    while !cursor.is_empty() {
        cells.push(take_cell(&mut cursor, object.name(), fields.as_ref())?);
    }
    let now = now.as_second();
    let room = template.len() + 64;
    Some(Row::written(Arc::clone(columns), room, cells, |cell, text| cell.push(now, text)))
}

/// Returns whether [`write_row`] can write the row of a template: it is not damaged, and needs no body.
#[cfg(any(test, feature = "serve"))]
pub(in crate::recording) fn is_writable(template: &[u8]) -> bool {
    let Some(mut cursor) = cells_of(template).filter(|_| !needs_body(template)) else { return false };
    while !cursor.is_empty() {
        if take_cell(&mut cursor, "", None).is_none() {
            return false;
        }
    }
    true
}

/// Passes the cells of a template that [is writable](is_writable) to `write`, for an object with this name, with ages as of
/// a time.
#[cfg(any(test, feature = "serve"))]
pub(in crate::recording) fn write_row(
    template: &[u8],
    name: &str,
    now: Timestamp,
    write: &mut dyn FnMut(&str),
) {
    let Some(mut cursor) = cells_of(template) else { return };
    let mut text = String::new();
    while !cursor.is_empty() {
        match take_cell(&mut cursor, name, None) {
            Some(Cell::Text(cell)) => write(&cell),
            Some(cell) => {
                text.clear();
                cell.push(now.as_second(), &mut text);
                write(&text);
            }
            None => return,
        }
    }
}

impl Cell<'_> {
    /// Appends the text of a cell, with an age as of a time in Unix seconds.
    fn push(&self, now: i64, text: &mut String) {
        match self {
            Self::Text(cell) => text.push_str(cell),
            Self::Age(since, before, after) => {
                text.push_str(before);
                text.push_str(&human_duration(now.saturating_sub(*since)));
                text.push_str(after);
            }
        }
    }
}

/// Takes a cell of an object with this name, or `None` if the template is damaged. The cells of events need the fields of
/// their bodies.
fn take_cell<'a>(
    cursor: &mut Cursor<'a>,
    name: &'a str,
    fields: Option<&EventFields<'_>>,
) -> Option<Cell<'a>> {
    Some(match cursor.take_number()? {
        TEXT => Cell::Text(take_string(cursor)?.into()),
        NAME => Cell::Text(name.into()),
        AGE => {
            let before = take_string(cursor)?;
            let since = cursor.take_signed()?;
            Cell::Age(since, before, take_string(cursor)?)
        }
        PIECES => Cell::Text(take_pieces(cursor, fields?)?.into()),
        FIELD_AGE => {
            let text = fields?.get(take_size(cursor)?)?;
            Cell::Age(text.parse::<Timestamp>().ok()?.as_second(), "", "")
        }
        _ => return None,
    })
}

fn take_pieces(cursor: &mut Cursor<'_>, fields: &EventFields<'_>) -> Option<String> {
    let mut cell = String::new();
    for _ in 0..cursor.take_number()? {
        match take_size(cursor)?.checked_sub(1) {
            None => cell.push_str(take_string(cursor)?),
            Some(field) => cell.push_str(fields.get(field)?),
        }
    }
    Some(cell)
}

/// Returns the range of the age in a cell whose column has one, and the field that it is counted from.
fn age_in(column: &Column, cell: &str, kind: &str) -> Option<(Range<usize>, Since)> {
    let is = |name: &str| column.name.eq_ignore_ascii_case(name);
    let (range, since) = if is("Age") {
        (0..cell.len(), Since::Creation)
    } else if is("Last Schedule") {
        (0..cell.len(), Since::LastSchedule)
    } else if is("Duration") && kind == "Job" {
        (0..cell.len(), Since::Start)
    } else if is("Restarts") {
        // `3 (5m ago)`
        let start = cell.find('(')? + 1;
        (start..start + cell[start..].find(" ago)")?, Since::LastRestart)
    } else if column.format == "date" {
        (0..cell.len(), Since::Any)
    } else {
        return None;
    };
    let age = &cell[range.clone()];
    let is_age =
        age.starts_with(|first: char| first.is_ascii_digit()) && age.ends_with(['s', 'm', 'h', 'd', 'y']);
    // The server prints `<invalid>` for a time in the future, as its clock may be behind.
    (is_age || age == "<invalid>").then_some((range, since))
}

#[cfg(test)]
mod tests;
