//! The hash that the objects of one workload share, by which similar objects are compressed together.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::envelope::Metadata;
use crate::object::compression::checksum;

/// The mark of the controller among the owners of an object. Building a finder takes longer than a search of most texts.
static CONTROLLER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""controller":true"#));

/// Labels whose value names the one object that carries them.
static SINGLE_OBJECT_LABELS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| {
    [br#""kubernetes.io/hostname":"#.as_slice(), br#""kubernetes.io/metadata.name":"#].map(Finder::new)
});

impl Metadata<'_> {
    /// Returns a hash that similar objects share: of their controller, or else of their labels; 0 without either.
    ///
    /// The texts are hashed as the server wrote them, which is the same for siblings. Labels that identify a single
    /// object are ignored, so that all nodes are siblings, and all namespaces are.
    pub(super) fn workload(&self) -> u32 {
        let owners = self.owner_references.unwrap_or_default().as_bytes();
        if CONTROLLER.find(owners).is_some() {
            return checksum(shared_owner(self.owner_references.unwrap_or_default()).as_bytes()).max(1);
        }
        let labels = self.labels.unwrap_or_default().as_bytes();
        match labels.len() {
            0..=2 => 0,
            _ if SINGLE_OBJECT_LABELS.iter().any(|label| label.find(labels).is_some()) => 1,
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
