//! The receiver of a watch's events: a printer of deltas, or an output that follows from the state of all objects.

use std::future::{self, Future};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use tokio::time::Instant;

use super::DeltaPrinter;
use crate::commands::watch::part_event::ResumedEvent;
use crate::output::PrintError;
use crate::session::Part;

/// Receives the events of all parts of a watch, in order.
pub(in crate::commands) trait PartSink {
    /// Adds a part before its first event. `initial` is whether its initial state is printed.
    fn add_part(&mut self, number: usize, part: &Part, initial: bool);

    /// Records that a part runs, with the flag for local selection.
    fn started(&mut self, _number: usize, _selects_locally: Arc<AtomicBool>) {}

    /// Removes a part after its last event.
    fn remove_part(&mut self, number: usize);

    /// Receives a notification of a part.
    fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError>;

    /// Receives an event of a resumed watch.
    fn event(&mut self, _part: usize, _received: Timestamp, _event: ResumedEvent) -> Result<(), PrintError> {
        Ok(())
    }

    /// Receives the error that ends a part.
    fn ended(&mut self, _part: usize, _received: Timestamp, _error: &Error) -> io::Result<()> {
        Ok(())
    }

    /// Stops waiting for the sync of a part that is unavailable.
    fn finish_part(&mut self, _part: usize, _received: Timestamp) -> io::Result<()> {
        Ok(())
    }

    /// Receives the error of a part that was replaced by parts per namespace, which can't be listed either.
    fn refused(&mut self, _part: &Part, _received: Timestamp, _error: &Error) -> io::Result<()> {
        Ok(())
    }

    /// Waits until there is room for more events. Cancel safe.
    fn ready(&self) -> impl Future<Output = ()> {
        future::ready(())
    }

    /// Ends the initial state.
    fn end_initial(&mut self) -> Result<(), PrintError>;

    /// Marks the end of the initial state of all parts; `ends` is whether nothing follows.
    fn mark_initial_state(&mut self, _ends: bool) {}

    /// Returns the time at which the output wants to be flushed again.
    fn redraw_at(&self) -> Option<Instant> {
        None
    }

    /// Leaves the last state on the screen.
    fn end_screen(&mut self) {}

    /// Ends a batch of events.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether an expression failed on an object.
    fn has_failures(&self) -> bool {
        false
    }
}

impl<W: Write> PartSink for DeltaPrinter<W> {
    fn add_part(&mut self, number: usize, part: &Part, initial: bool) {
        Self::add_part(self, number, part, initial);
    }

    fn started(&mut self, number: usize, selects_locally: Arc<AtomicBool>) {
        Self::started(self, number, selects_locally);
    }

    fn remove_part(&mut self, number: usize) {
        Self::remove_part(self, number);
    }

    fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> Result<(), PrintError> {
        Self::notification(self, part, received, notification)
    }

    fn event(&mut self, part: usize, received: Timestamp, event: ResumedEvent) -> Result<(), PrintError> {
        Self::event(self, part, received, event)
    }

    fn ended(&mut self, part: usize, received: Timestamp, error: &Error) -> io::Result<()> {
        Self::ended(self, part, received, error)
    }

    fn finish_part(&mut self, part: usize, received: Timestamp) -> io::Result<()> {
        Self::finish_part(self, part, received)
    }

    fn refused(&mut self, part: &Part, received: Timestamp, error: &Error) -> io::Result<()> {
        Self::refused(self, part, received, error)
    }

    fn end_initial(&mut self) -> Result<(), PrintError> {
        Self::end_initial(self)
    }

    fn mark_initial_state(&mut self, ends: bool) {
        Self::mark_initial_state(self, ends);
    }

    fn redraw_at(&self) -> Option<Instant> {
        Self::redraw_at(self)
    }

    fn end_screen(&mut self) {
        Self::end_screen(self);
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn has_failures(&self) -> bool {
        Self::has_failures(self)
    }
}
