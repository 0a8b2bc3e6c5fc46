//! Relations of a tree's objects that are not ownership.

mod edges;
mod event;
mod fields;
mod kinds;
mod needs;
mod pod_spec;
mod reference;
mod related_rows;
mod relations;
#[cfg(test)]
mod tests;

pub(crate) use event::EventNote;
pub(crate) use kinds::KindName;
pub(crate) use needs::{ListNeed, ListScope, Needs};
pub(crate) use reference::Target;
pub(crate) use relations::Relations;

/// The kind of a relation, in the order in which those of an object are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EdgeKind {
    /// An ingress sends requests to a service.
    Routes,
    /// A service has the endpoints of a slice.
    BackedBy,
    /// An endpoint slice names a pod.
    Endpoint,
    /// An autoscaler scales a workload.
    Scales,
    /// A pod runs on a node.
    RunsOn,
    /// A claim and a volume are bound to each other.
    Bound,
    /// A pod, a pod template or an ingress uses a config map, a secret, a service account or a claim.
    Uses,
    /// An event is about an object.
    About,
}

impl EdgeKind {
    /// Returns the name in documents and graphs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Routes => "routes",
            Self::BackedBy => "backedBy",
            Self::Endpoint => "endpoint",
            Self::Scales => "scales",
            Self::RunsOn => "runsOn",
            Self::Bound => "bound",
            Self::Uses => "uses",
            Self::About => "about",
        }
    }

    /// Returns the words in front of the object to which a relation leads.
    fn forward(self) -> &'static str {
        match self {
            Self::Routes => "routes to",
            Self::BackedBy => "backed by",
            Self::Endpoint => "sends to",
            Self::Scales => "scales",
            Self::RunsOn => "runs on",
            Self::Bound => "bound to",
            Self::Uses => "uses",
            Self::About => "about",
        }
    }

    /// Returns the words in front of the object from which a relation leads.
    fn backward(self) -> &'static str {
        match self {
            Self::Routes => "routed to by",
            Self::BackedBy => "backs",
            Self::Endpoint => "endpoint of",
            Self::Scales => "scaled by",
            Self::RunsOn => "runs",
            Self::Bound => "bound to",
            Self::Uses => "used by",
            Self::About => "event",
        }
    }
}

/// The relation between a row and the row above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) kind: EdgeKind,
    /// Whether the relation leads from this row's object to the one above.
    pub(crate) is_reverse: bool,
    /// The other row of the same object, which has its relations.
    pub(crate) repeats: Option<Repetition>,
    /// The number of further events, on the last event of an object.
    pub(crate) further_events: usize,
}

/// A second row of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Nothing is below the first row.
    OfLeaf,
    Above,
    Below,
}

impl Link {
    /// Returns the words in front of the row's object.
    pub(crate) fn words(self) -> &'static str {
        if self.is_reverse { self.kind.backward() } else { self.kind.forward() }
    }
}
