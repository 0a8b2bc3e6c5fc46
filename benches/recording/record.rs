//! Records the changes of the simulated cluster.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::lines::{Change, ChangeKind, Mark, MarkKind};
use kdelta::object::{ApiResource, Column, Ingest, Object, Origin, ResourceVersion, Row};
use kdelta::recording::{Author, Writer, WriterOptions};

use crate::generator::{COLUMNS, RESOURCES, START};
use crate::process;
use crate::stream::{Kind, Message};

/// The measurements of a writer process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Written {
    /// The number of changes after the initial state, and of those in it.
    pub(crate) versions: f64,
    pub(crate) listed: f64,
    /// CPU seconds of the process after the initial state.
    pub(crate) cpu: f64,
    /// Peak resident memory in MB, and its value before recording began.
    pub(crate) peak: f64,
    pub(crate) base: f64,
    /// The longest call of the writer in milliseconds.
    pub(crate) longest: f64,
}

/// Returns the resources in the order of their numbers.
pub(crate) fn resources() -> Vec<Arc<ApiResource>> {
    let resource = |(group, plural, kind, namespaced): (&str, &str, &str, bool)| {
        Arc::new(ApiResource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            resource: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced,
        })
    };
    RESOURCES.map(resource).to_vec()
}

fn columns() -> Vec<Arc<[Column]>> {
    let columns = |(names, wide_from): &(&[&str], usize)| {
        let column = |(at, name): (usize, &&str)| Column {
            name: (*name).to_owned(),
            format: if *name == "Name" { "name" } else { "" }.to_owned(),
            priority: i32::from(at >= *wide_from && *name != "Message"),
        };
        names.iter().enumerate().map(column).collect()
    };
    COLUMNS.iter().map(columns).collect()
}

fn timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).expect("a time of this century")
}

/// Reads all messages and records them in a directory; without one, only parses them.
pub(crate) fn record(messages: &mut impl BufRead, dir: Option<&Path>) -> Written {
    let resources = resources();
    let ingests: Vec<Ingest> = resources.iter().map(|resource| Ingest::of(resource.type_meta())).collect();
    let columns = columns();
    let options = WriterOptions::default().sync(false);
    let mut writer = dir.map(|dir| Writer::open(dir, "bench", options, timestamp(START)).expect("a writer"));
    let mut written = Written { base: process::peak(), ..Written::default() };
    let mut flushed = START;
    let mut cpu = None;
    let mut now = START;
    while let Some(message) = Message::read(messages).expect("a pipe") {
        let resource = &resources[usize::from(message.resource)];
        now = message.received;
        if !message.is_listed && cpu.is_none() {
            cpu = Some(process::cpu());
        }
        let received = timestamp(now);
        let began = std::time::Instant::now();
        if message.kind == Kind::Synced {
            let kind = MarkKind::Synced { version: ResourceVersion::new(&message.json) };
            let (context, namespace) = ("bench".into(), "".into());
            let mark =
                Mark { kind, resource: Arc::clone(resource), context, namespace, name: None, received };
            if let Some(writer) = &mut writer {
                writer.mark(&mark).expect("a mark");
            }
            continue;
        }
        *if message.is_listed { &mut written.listed } else { &mut written.versions } += 1.0;
        let number = usize::from(message.resource);
        let change = change(&message, resource, &ingests[number], &columns[number], received);
        let subresource = if message.author == "kubelet" { "status" } else { "" };
        let author = Author { manager: message.author.into(), subresource: subresource.into() };
        if let Some(writer) = &mut writer {
            writer.change(&change, Some(&author).filter(|_| !message.author.is_empty())).expect("a change");
            if now - flushed >= 1000 {
                writer.flush(received).expect("a flush");
                flushed = now;
                written.longest = written.longest.max(began.elapsed().as_secs_f64() * 1e3);
                // A simulated day passes in minutes, so the background work would fall behind.
                writer.settle().expect("work in the background");
            }
        }
    }
    if let Some(writer) = writer {
        writer.finish(timestamp(now)).expect("finished");
    }
    written.cpu = process::cpu() - cpu.unwrap_or_default();
    written.peak = process::peak();
    written
}

fn change(
    message: &Message,
    resource: &Arc<ApiResource>,
    ingest: &Ingest,
    columns: &Arc<[Column]>,
    received: Timestamp,
) -> Change {
    let object = Object::from_json(message.json.as_bytes(), ingest).expect("an object");
    let kind = match message.kind {
        Kind::Added | Kind::Synced => ChangeKind::Added,
        Kind::Modified => ChangeKind::Modified,
        Kind::Deleted => ChangeKind::Deleted,
    };
    Change {
        kind,
        object: Arc::new(object.with_row(Row::new(Arc::clone(columns), &message.cells))),
        old: None,
        origin: if message.is_listed { Origin::List } else { Origin::Watch },
        final_state_unknown: false,
        resource: Arc::clone(resource),
        context: "bench".into(),
        received,
    }
}

impl Written {
    /// Returns a line for the parent process.
    pub(crate) fn line(&self) -> String {
        let Self { versions, listed, cpu, peak, base, longest } = self;
        format!("written {versions} {listed} {cpu} {peak} {base} {longest}")
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("written "))?;
        let mut words = line.split(' ').map(str::parse::<f64>);
        let mut next = || words.next()?.ok();
        Some(Self {
            versions: next()?,
            listed: next()?,
            cpu: next()?,
            peak: next()?,
            base: next()?,
            longest: next()?,
        })
    }
}
