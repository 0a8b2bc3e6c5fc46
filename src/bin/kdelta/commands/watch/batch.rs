//! A bounded batch of events for the printer.

use super::part_event::PartEvent;

/// Appends events to a list, up to a number of events and a number of bytes. The event that reaches a limit is included.
pub(super) struct Batch<'a> {
    events: &'a mut Vec<PartEvent>,
    /// The length of the list when the batch began.
    start: usize,
    /// The room for further events, and for their bytes.
    room: usize,
    bytes: usize,
}

impl<'a> Batch<'a> {
    pub(super) fn new(events: &'a mut Vec<PartEvent>, room: usize, bytes: usize) -> Self {
        Self { start: events.len(), events, room, bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.len() == self.start
    }

    pub(super) fn has_room(&self) -> bool {
        self.room > 0 && self.bytes > 0
    }

    /// Appends an event, whether or not there is room.
    pub(super) fn push(&mut self, event: PartEvent) {
        self.room = self.room.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(event.weight());
        self.events.push(event);
    }
}
