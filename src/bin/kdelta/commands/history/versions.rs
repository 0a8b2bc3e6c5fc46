//! The recorded versions of objects, and the times without observation between them.

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::lines::{Change, Mark, MarkKind};
use kdelta::object::ResourceVersion;
use kdelta::recording::{Entry, Gap, Item};

use crate::commands::recorded::{RecordedRange, authored};
use crate::output::{PrintError, WatchOutput};
use crate::session::{Part, Session};
use crate::settings::Range;

/// The versions of objects that were read from recordings.
#[derive(Default)]
pub(super) struct Versions {
    /// With the time and, for versions, the number of the entry; a gap comes before the versions at its end.
    versions: Vec<(Timestamp, Option<u64>, Version)>,
}

/// A version of an object, or a time in which there may be further ones.
pub(super) enum Version {
    Change(Box<Change>),
    Gap(Part, Gap),
}

impl Versions {
    /// Reads the versions of a named object in a range of time.
    ///
    /// # Errors
    /// The object was never recorded, or the recording can't be read.
    pub(super) fn read(&mut self, session: &Session, range: &Range, part: &Part) -> anyhow::Result<()> {
        let range = RecordedRange::open(session, part.cluster, range)?;
        let name = part.name.as_deref().unwrap_or_default();
        let mut is_known = false;
        for resource in range.required_resources(&part.resource)? {
            for entry in range.recording.history(&resource, &part.namespace, name)? {
                is_known = true;
                let Entry { number, received, item } = entry;
                if let Item::Change { change, author } = item
                    && range.includes(received)
                {
                    let version = Version::Change(Box::new(authored(change, author.as_ref())));
                    self.versions.push((received, Some(number), version));
                }
            }
        }
        if !is_known && let Some(error) = part.not_found() {
            return Err(error.into());
        }
        for gap in range.gaps_of(part) {
            let is_same = |(_, _, version): &(_, _, Version)| matches!(version, Version::Gap(other, known) if other.cluster == part.cluster && known == gap);
            if !self.versions.iter().any(is_same) {
                self.versions.push((gap.to, None, Version::Gap(part.clone(), gap.clone())));
            }
        }
        Ok(())
    }

    /// Returns whether nothing was read.
    pub(super) fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Returns everything in the order of time.
    pub(super) fn in_order(mut self) -> impl Iterator<Item = Version> {
        self.versions.sort_by_key(|(time, number, _)| (*time, *number));
        self.versions.into_iter().map(|(.., version)| version)
    }
}

impl Version {
    /// Prints the version, or a line or mark for the gap.
    ///
    /// # Errors
    /// The output can't be written.
    pub(super) fn print(&self, output: &mut WatchOutput, out: &mut impl Write) -> Result<(), PrintError> {
        match self {
            Self::Change(change) => drop(output.change(change, None, out)?),
            Self::Gap(part, gap) => match output {
                WatchOutput::History(rows) => rows.gap(gap.resource.as_deref(), gap.from, gap.to),
                output => output.mark(&mark(part, gap), None, out)?,
            },
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
