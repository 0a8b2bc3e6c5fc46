//! The watches of a live tree: the types and namespaces, and the labels that narrow them.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use kdelta::wire::Representation;

use super::members::Members;
use crate::commands::tree::requests::{MAX_NAMESPACES, RootRequest, is_endpoints};
use crate::commands::tree::status_rules::representation;
use crate::commands::tree::workload_selector::{WorkloadSelector, is_known_owned};
use crate::commands::watch::PartRequests;
use crate::session::{Part, PlannedPart, Session};
use crate::settings::{self, Namespaces, Selection};

/// The number of watches of objects that may be owned. Each needs a stream of a connection, and memory of the server.
pub(super) const MAX_WATCHES: usize = 200;

/// The watches of the objects that may be owned.
pub(super) struct OwnedPlan {
    /// The objects that may belong to the tree, without selectors.
    pub(super) candidates: Selection,
    /// The same with the labels of the selected object.
    narrowed: Option<(WorkloadSelector, Selection)>,
    /// The number of parts that were left out last.
    left_out: Cell<usize>,
}

impl OwnedPlan {
    /// Returns the watches for the selected objects.
    pub(super) fn new(tree: &settings::Tree, members: &Members) -> Self {
        let names: BTreeSet<&str> = members.root_namespaces().map(|namespace| &**namespace).collect();
        let namespaces = if names.contains("") || names.len() > MAX_NAMESPACES || names.is_empty() {
            Namespaces::All
        } else {
            Namespaces::Named(names.into_iter().map(str::to_owned).collect())
        };
        let candidates = tree.candidates(namespaces);
        let roots = members.roots();
        let selector =
            members.workload_selector().filter(|selector| selector.covers(members.index.below(&roots)));
        let narrowed = selector.map(|selector| {
            let labels = Some(selector.labels.clone());
            (selector.clone(), Selection { label_selector: labels, ..candidates.clone() })
        });
        Self { candidates, narrowed, left_out: Cell::new(0) }
    }

    /// Whether these watches still deliver all objects of the tree.
    pub(super) fn covers(&self, tree: &settings::Tree, members: &Members) -> bool {
        let current = Self::new(tree, members);
        let is_selected = match &self.narrowed {
            None => true,
            // Without a selected object there is nothing below it.
            Some(_) if members.roots().is_empty() => true,
            Some((selector, _)) => current.narrowed.is_some_and(|(other, _)| other.labels == selector.labels),
        };
        is_selected && current.candidates.namespaces == self.candidates.namespaces
    }

    /// Returns the number of parts that are not watched because of their number.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.get()
    }
}

impl PartRequests for OwnedPlan {
    fn selected(&self, mut planned: Vec<PlannedPart>) -> Vec<PlannedPart> {
        planned.retain(|planned| !is_endpoints(&planned.part.resource));
        let (planned, left_out) = watched(planned);
        self.left_out.set(left_out);
        planned
    }

    fn request(&self, part: &Part) -> (Cow<'_, Selection>, Representation) {
        match &self.narrowed {
            // Nearly all of these objects are part of the tree, so that they are watched with their status.
            Some((selector, selection)) if selector.applies_to(&part.resource) => {
                (Cow::Borrowed(selection), representation(&part.resource))
            }
            _ => (Cow::Borrowed(&self.candidates), Representation::Metadata),
        }
    }
}

/// Returns the parts that are watched, the well-known types first, and the number of those that are too many.
pub(in crate::commands::tree) fn watched(mut planned: Vec<PlannedPart>) -> (Vec<PlannedPart>, usize) {
    let left_out = planned.len().saturating_sub(MAX_WATCHES);
    if left_out > 0 {
        // A stable sort: the others keep their order.
        planned.sort_by_key(|planned| !is_known_owned(&planned.part.resource));
    }
    planned.truncate(MAX_WATCHES);
    (planned, left_out)
}

/// The watches of the selected objects.
pub(super) struct RootPlan<'a> {
    pub(super) session: &'a Session,
    pub(super) selection: &'a Selection,
}

impl PartRequests for RootPlan<'_> {
    fn selected(&self, planned: Vec<PlannedPart>) -> Vec<PlannedPart> {
        planned
    }

    fn request(&self, part: &Part) -> (Cow<'_, Selection>, Representation) {
        let RootRequest { selection, representation, .. } =
            RootRequest::of(self.session, part, self.selection);
        (Cow::Owned(selection), representation)
    }
}
