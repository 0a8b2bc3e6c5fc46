//! Queries on a recording, each run in its own process.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use kdelta::lines::{LineOptions, LineWriter};
use kdelta::object::ApiResource;
use kdelta::recording::{EntryFilter, Item, Moment, Recording};

use crate::record::resources;

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The rows of all pods at a moment, as lines of text.
    Table,
    /// All pods at a moment as JSON.
    Json,
    /// The versions of one pod as JSON lines with their changed fields.
    History,
    /// All entries of an hour in order.
    Entries,
    /// The changes of an hour by object, as `kdelta changes` reads them.
    Changes,
}

impl Question {
    pub(crate) const ALL: [Self; 5] = [Self::Table, Self::Json, Self::History, Self::Entries, Self::Changes];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::History => "history",
            Self::Entries => "entries",
            Self::Changes => "changes",
        }
    }
}

/// Runs a query, writes its result to `out`, and returns the number of rows, objects, versions or entries. `at` is
/// the moment, or the beginning of the hour.
pub(crate) fn answer(
    dir: &Path,
    question: Question,
    at: i64,
    pod: (&str, &str),
    out: &mut impl Write,
) -> io::Result<usize> {
    let recording = Recording::open(dir).expect("a recording");
    let pods = &resources()[0];
    let time = Timestamp::from_millisecond(at).expect("a time of this century");
    match question {
        Question::Table => {
            let state = recording.state(Moment::Time(time)).expect("a state");
            let rows = state.rows(pods, None).expect("rows").expect("each pod has a row");
            for object in &rows {
                out.write_all(object.namespace().as_bytes())?;
                for cell in object.row().expect("a row").cells() {
                    out.write_all(b"\t")?;
                    out.write_all(cell.as_bytes())?;
                }
                out.write_all(b"\n")?;
            }
            Ok(rows.len())
        }
        Question::Json => {
            let state = recording.state(Moment::Time(time)).expect("a state");
            let objects = state.objects(pods, None).expect("objects");
            for object in &objects {
                out.write_all(&object.json())?;
                out.write_all(b"\n")?;
            }
            Ok(objects.len())
        }
        Question::History => {
            let entries = recording.history(pods, pod.0, pod.1).expect("a history");
            let mut writer = LineWriter::new(LineOptions::default().changes(true));
            let mut line = Vec::new();
            for entry in &entries {
                if let Item::Change { change, author } = &entry.item {
                    line.clear();
                    let author = author.as_ref().map(|author| (&*author.manager, &*author.subresource));
                    writer.change_by(author, change, None, &mut line);
                    out.write_all(&line)?;
                }
            }
            Ok(entries.len())
        }
        Question::Entries | Question::Changes => {
            let until = Timestamp::from_millisecond(at + 3_600_000).expect("a time of this century");
            let entries =
                recording.entries(Some(time), Some(until), EntryFilter::default()).expect("entries");
            if question == Question::Changes {
                let is_event = |resource: &ApiResource| resource.resource == "events";
                let folded = entries
                    .fold_objects(&|resource| !is_event(resource), &|count: &mut usize, _| *count += 1);
                return Ok(folded.values.iter().sum());
            }
            Ok(entries.fold(0, |count, entry| count + usize::from(entry.is_ok())))
        }
    }
}
