//! The recorded versions of objects, and the times without observation between them.

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::lines::{Change, Mark, MarkKind};
use kdelta::object::{ApiResource, ResourceVersion};
use kdelta::recording::{Author, Entry, Gap, Item};

use crate::commands::recorded::{RecordedRange, authored};
use crate::output::{PrintError, WatchOutput};
use crate::session::{Part, Session};
use crate::settings::Range;
use crate::view::Comparison;

/// A version of an object, or a time in which there may be further ones.
pub(super) struct Version {
    time: Timestamp,
    /// The number of the entry; `None` for a gap, which comes before the versions at its end.
    number: Option<u64>,
    item: VersionItem,
}

enum VersionItem {
    Change(Change, Option<Author>, Option<Comparison>),
    Gap(Part, Gap),
}

/// The reason why the versions of an object were not read or not printed.
pub(super) enum Failure {
    /// The object was never recorded, or the recording can't be read.
    Read(anyhow::Error),
    Print(PrintError),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Read(error.into())
    }
}

/// Passes the versions of a named object in a range of time to `print` while they are read, in the order of time. Those
/// after damage are passed too.
///
/// # Errors
/// The object was never recorded, a part of its history can't be read, or `print` failed.
pub(super) fn read(
    session: &Session,
    range: &Range,
    part: &Part,
    print: &mut impl FnMut(Version) -> Result<(), PrintError>,
) -> Result<(), Failure> {
    let range = RecordedRange::open(session, part.cluster, range)?;
    let mut gaps = range.gaps_of(part).map(|gap| Version::of_gap(part, gap)).peekable();
    let resources = range.required_resources(&part.resource)?;
    let mut reading = Reading { session, range: &range, part, is_known: false, failure: None };
    if let [resource] = &resources[..] {
        for version in reading.versions(resource)? {
            while let Some(gap) = gaps.next_if(|gap| gap.time <= version.time) {
                print(gap).map_err(Failure::Print)?;
            }
            print(version).map_err(Failure::Print)?;
        }
        reading.result()?;
        return gaps.try_for_each(print).map_err(Failure::Print);
    }
    let mut versions: Vec<_> = gaps.collect();
    for resource in &resources {
        versions.extend(reading.versions(resource)?);
    }
    sort(&mut versions);
    versions.into_iter().try_for_each(print).map_err(Failure::Print)?;
    reading.result()
}

/// Sorts the versions of several objects or types in the order of time.
pub(super) fn sort(versions: &mut [Version]) {
    versions.sort_by_key(|version| (version.time, version.number));
}

/// The reading of the versions of one object.
struct Reading<'a> {
    session: &'a Session,
    range: &'a RecordedRange,
    part: &'a Part,
    /// Whether the object was recorded, possibly outside of the range.
    is_known: bool,
    failure: Option<Failure>,
}

impl Reading<'_> {
    /// Returns the versions in one version of the resource. The first error while they are read is kept.
    fn versions(&mut self, resource: &ApiResource) -> anyhow::Result<impl Iterator<Item = Version>> {
        let Part { cluster, namespace, name, .. } = self.part;
        let object = (&**namespace, name.as_deref().unwrap_or_default());
        let history = self.session.recorded_versions(*cluster, resource, object)?;
        Ok(history.filter_map(|(entry, comparison)| {
            let Entry { number, received, item } = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.failure.get_or_insert(error.into());
                    return None;
                }
            };
            self.is_known = true;
            match item {
                Item::Change { change, author } if self.range.includes(received) => {
                    let item = VersionItem::Change(change, author, comparison);
                    Some(Version { time: received, number: Some(number), item })
                }
                _ => None,
            }
        }))
    }

    fn result(self) -> Result<(), Failure> {
        match (self.failure, self.part.not_found()) {
            (Some(failure), _) => Err(failure),
            (None, Some(error)) if !self.is_known => Err(error.into()),
            (None, _) => Ok(()),
        }
    }
}

impl Version {
    fn of_gap(part: &Part, gap: &Gap) -> Self {
        Self { time: gap.to, number: None, item: VersionItem::Gap(part.clone(), gap.clone()) }
    }

    pub(super) fn is_gap(&self) -> bool {
        matches!(self.item, VersionItem::Gap(..))
    }

    /// Returns whether both are the same gap in the recording of one context.
    pub(super) fn is_same_gap(&self, other: &Self) -> bool {
        match (&self.item, &other.item) {
            (VersionItem::Gap(part, gap), VersionItem::Gap(other, known)) => {
                part.cluster == other.cluster && gap == known
            }
            _ => false,
        }
    }

    /// Prints the version, or a line or mark for the gap.
    ///
    /// # Errors
    /// The output can't be written.
    pub(super) fn print(self, output: &mut WatchOutput, out: &mut impl Write) -> Result<(), PrintError> {
        match (self.item, output) {
            (VersionItem::Change(change, author, comparison), WatchOutput::History(rows)) => {
                rows.recorded(&change, author.as_ref(), comparison, out)?;
            }
            (VersionItem::Change(change, author, _), WatchOutput::JsonLines(lines)) => {
                let author = author.as_ref().map(|author| (&*author.manager, &*author.subresource));
                lines.change_by(author, &change, out)?;
            }
            (VersionItem::Change(change, author, _), output) => {
                output.change(&authored(change, author.as_ref()), None, out)?;
            }
            (VersionItem::Gap(_, gap), WatchOutput::History(rows)) => {
                rows.gap(gap.resource.as_deref(), gap.from, gap.to);
            }
            (VersionItem::Gap(part, gap), output) => output.mark(&mark(&part, &gap), None, out)?,
        }
        Ok(())
    }
}

/// Returns the gap as the mark of a part.
fn mark(part: &Part, gap: &Gap) -> Mark {
    let lasted = gap.to.duration_since(gap.from);
    let (from, to) = (ResourceVersion::UNSET, ResourceVersion::UNSET);
    Mark {
        kind: MarkKind::Gap { from, to, lasted: lasted.try_into().unwrap_or_default() },
        resource: Arc::clone(&part.resource),
        context: Arc::clone(&part.context),
        namespace: Arc::clone(&part.namespace),
        name: part.name.clone(),
        received: gap.to,
    }
}
