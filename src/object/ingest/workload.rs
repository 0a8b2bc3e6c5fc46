//! The hash that the objects of one workload share, by which similar objects are compressed together.

use memchr::memmem;

use super::envelope::Metadata;
use crate::object::compression::checksum;

/// Labels whose value names the one object that carries them.
const SINGLE_OBJECT_LABELS: [&[u8]; 2] =
    [br#""kubernetes.io/hostname":"#, br#""kubernetes.io/metadata.name":"#];

impl Metadata<'_> {
    /// Returns a hash that similar objects share: of their controller, or else of their labels; 0 without either.
    ///
    /// The texts are hashed as the server wrote them, which is the same for siblings. Labels that identify a single
    /// object are ignored, so that all nodes are siblings, and all namespaces are.
    pub(super) fn workload(&self) -> u32 {
        let owners = self.owner_references.unwrap_or_default().as_bytes();
        if memmem::find(owners, br#""controller":true"#).is_some() {
            return checksum(shared_owner(self.owner_references.unwrap_or_default()).as_bytes()).max(1);
        }
        let labels = self.labels.unwrap_or_default().as_bytes();
        match labels.len() {
            0..=2 => 0,
            _ if SINGLE_OBJECT_LABELS.iter().any(|label| memmem::find(labels, label).is_some()) => 1,
            _ => checksum(labels).max(1),
        }
    }
}

/// Returns the part of the owner references that siblings share: all of it, unless each object has an owner of its own.
/// The exceptions are pods of Jobs that a `CronJob` created, whose names end in the time, and `EndpointSlices`, of which
/// most Services have one.
fn shared_owner(owners: &str) -> &str {
    if owners.contains(r#""kind":"Service""#) {
        return "";
    }
    let job = owners.contains(r#""kind":"Job""#).then(|| owners.split_once(r#""name":""#)).flatten();
    let name = job.and_then(|(_, rest)| rest.split('"').next());
    name.map_or(owners, |name| name.trim_end_matches(|last: char| last.is_ascii_digit()))
}
