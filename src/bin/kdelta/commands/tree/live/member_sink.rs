//! The receiver of watched events that keeps the objects of a tree.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;

use super::members::{Members, Watches};
use crate::commands::watch::{PartRequests, PartSink};
use crate::output::PrintError;
use crate::session::Part;

/// Passes events to the shared objects.
pub(super) struct MemberSink<'a> {
    pub(super) members: Rc<RefCell<Members>>,
    pub(super) watches: Watches,
    pub(super) requests: &'a dyn PartRequests,
}

impl PartSink for MemberSink<'_> {
    fn add_part(&mut self, number: usize, part: &Part, _initial: bool) {
        let mut members = self.members.borrow_mut();
        let resource = part.resource.clone();
        members.add_part((self.watches, number), resource, self.requests.request(part).1);
        if self.watches == Watches::Roots {
            members.add_root_namespace(number, part.namespace.clone());
        }
    }

    fn remove_part(&mut self, number: usize) {
        self.members.borrow_mut().remove_part((self.watches, number));
    }

    fn notification(
        &mut self,
        part: usize,
        _received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        self.members.borrow_mut().apply((self.watches, part), &notification, Timestamp::now());
        Ok(())
    }

    fn ended(&mut self, _part: usize, _received: Timestamp, _error: &Error) -> io::Result<()> {
        self.members.borrow_mut().is_partial = true;
        Ok(())
    }

    fn finish_part(&mut self, part: usize, _received: Timestamp) -> io::Result<()> {
        self.members.borrow_mut().mark_refused((self.watches, part));
        Ok(())
    }

    fn refused(&mut self, _part: &Part, _received: Timestamp, _error: &Error) -> io::Result<()> {
        self.members.borrow_mut().is_partial = true;
        Ok(())
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        self.members.borrow_mut().mark_synced(self.watches);
        Ok(())
    }
}
