//! The messages of the watch to the thread of a recording.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use bytes::Bytes;
use jiff::Timestamp;
use kdelta::lines::{Change, MarkKind};
use kdelta::object::ResourceVersion;
use kdelta::recording::Author;

use crate::session::{KnownState, Part};

/// The number that the watch assigns to a part.
pub(super) type PartNumber = usize;

/// A message to the thread of a recording.
pub(super) enum Message {
    /// A part begins.
    Begin(PartNumber, Part),
    /// The state from which a part can continue is requested. The channel takes one response, so that the thread never waits.
    Known(Part, SyncSender<Option<KnownState>>),
    Change(PartNumber, Box<Change>, Option<Author>),
    Mark(PartNumber, MarkKind, Timestamp),
    /// A mark about a part that does not run.
    Refused(Part, MarkKind, Timestamp),
    Bookmark(PartNumber, ResourceVersion, Timestamp),
    /// A document of the server.
    Document(Arc<str>, Bytes, Timestamp),
    /// A part has ended or left.
    End(PartNumber),
}

impl Message {
    /// Returns the bytes that it holds, approximately.
    pub(super) fn weight(&self) -> usize {
        let held = match self {
            Self::Change(_, change, _) => {
                change.object.weight() + change.old.as_ref().map_or(0, |old| old.weight())
            }
            Self::Document(_, body, _) => body.len(),
            _ => 0,
        };
        held + size_of::<Self>()
    }

    /// Returns the time at which its content was received.
    pub(super) fn received(&self) -> Option<Timestamp> {
        match self {
            Self::Change(_, change, _) => Some(change.received),
            Self::Mark(_, _, received)
            | Self::Refused(_, _, received)
            | Self::Bookmark(_, _, received)
            | Self::Document(_, _, received) => Some(*received),
            Self::Begin(..) | Self::Known(..) | Self::End(_) => None,
        }
    }
}
