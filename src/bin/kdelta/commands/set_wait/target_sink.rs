//! The receiver of a target's events.

use std::collections::HashMap;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::object::{DeletedFinalStateUnknown, DeletedObject, Object};
use kdelta::queue::Mark;

use super::progress::SharedProgress;
use crate::commands::watch::PartSink;
use crate::output::PrintError;
use crate::session::Part;
use crate::settings::Namespaces;

/// Passes the events of a target to the shared state.
pub(super) struct TargetSink<'a> {
    progress: SharedProgress,
    /// The position of the target.
    target: usize,
    namespaces: &'a Namespaces,
    /// The shared number of each part.
    numbers: HashMap<usize, usize>,
}

impl<'a> TargetSink<'a> {
    pub(super) fn new(progress: SharedProgress, target: usize, namespaces: &'a Namespaces) -> Self {
        Self { progress, target, namespaces, numbers: HashMap::new() }
    }

    /// Whether the part is for an object that must exist. A name in matching namespaces may be in any of them.
    fn is_named(&self, part: &Part) -> bool {
        let is_certain = match self.namespaces {
            Namespaces::Matching { always, .. } => {
                !part.resource.namespaced || always.iter().any(|namespace| **namespace == *part.namespace)
            }
            _ => true,
        };
        part.name.is_some() && is_certain
    }
}

impl PartSink for TargetSink<'_> {
    fn add_part(&mut self, number: usize, part: &Part, _initial: bool) {
        let is_named = self.is_named(part);
        let shared = self.progress.borrow_mut().add_part(self.target, part, is_named);
        self.numbers.insert(number, shared);
    }

    fn remove_part(&mut self, number: usize) {
        if let Some(shared) = self.numbers.remove(&number) {
            self.progress.borrow_mut().remove_part(shared);
        }
    }

    fn notification(
        &mut self,
        part: usize,
        _received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        let Some(&number) = self.numbers.get(&part) else { return Ok(()) };
        let mut progress = self.progress.borrow_mut();
        match notification {
            Notification::Added { object, is_in_initial_list, .. } => {
                progress.observe(number, &object, is_in_initial_list);
            }
            Notification::Updated { new, .. } => progress.observe(number, &new, false),
            Notification::Deleted { object: DeletedObject::Known(last), .. } => {
                progress.delete(number, &last);
            }
            Notification::Deleted { object: DeletedObject::FinalStateUnknown(last), .. } => match last {
                DeletedFinalStateUnknown { object: Some(last), .. } => progress.delete(number, &last),
                DeletedFinalStateUnknown { key, .. } => {
                    let Some(part) = progress.part(number) else { return Ok(()) };
                    let (namespace, name) = key.split_once('/').unwrap_or(("", &key));
                    let last = Object::named(part.resource.type_meta(), namespace, name);
                    progress.delete(number, &last);
                }
            },
            Notification::Mark(Mark::Synced { .. }) => progress.synced(number),
            Notification::Mark(Mark::Gap { .. }) => progress.gap(),
            Notification::Mark(_) => {}
        }
        Ok(())
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        self.progress.borrow_mut().complete(self.target);
        Ok(())
    }
}
