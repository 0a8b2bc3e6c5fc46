//! The flags of a change.

use crate::lines::{Change, ChangeKind};
use crate::object::Origin;

/// The kind and origin of a change, and the form in which it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recording) struct Flags(u16);

const KIND: u16 = 0b11;
const ORIGIN_SHIFT: u32 = 2;
const ORIGIN: u16 = 0b111 << ORIGIN_SHIFT;

impl Flags {
    /// A deletion was inferred.
    pub(in crate::recording) const FINAL_STATE_UNKNOWN: u16 = 1 << 5;
    /// The text does not depend on the object's previous state.
    pub(in crate::recording) const WHOLE: u16 = 1 << 6;
    /// The version in the columns is not that of the object, which precedes the text.
    pub(in crate::recording) const OWN_VERSION: u16 = 1 << 7;
    /// A row is stored. Without this flag and [`Flags::NO_ROW`], the row is that of the previous state.
    pub(in crate::recording) const NEW_ROW: u16 = 1 << 8;
    /// The object has no row.
    pub(in crate::recording) const NO_ROW: u16 = 1 << 9;
    const ALL: u16 = (1 << 10) - 1;

    /// Returns the flags of kind and origin; `None` for a resync, which is not recorded.
    pub(in crate::recording) fn of(change: &Change) -> Option<Self> {
        let kind = match change.kind {
            ChangeKind::Added => 0,
            ChangeKind::Modified => 1,
            ChangeKind::Deleted => 2,
            ChangeKind::Sync => return None,
        };
        let origin = match change.origin {
            Origin::List => 0,
            Origin::Watch => 1,
            Origin::Relist => 2,
            Origin::Resync => 3,
            Origin::Filter => 4,
        };
        let unknown = if change.final_state_unknown { Self::FINAL_STATE_UNKNOWN } else { 0 };
        Some(Self(kind | origin << ORIGIN_SHIFT | unknown))
    }

    pub(in crate::recording) fn from_number(number: u64) -> Option<Self> {
        let bits = u16::try_from(number).ok().filter(|bits| bits & !Self::ALL == 0)?;
        let flags = Self(bits);
        (bits & KIND != KIND && bits & ORIGIN <= 4 << ORIGIN_SHIFT).then_some(flags)
    }

    pub(in crate::recording) fn number(self) -> u64 {
        self.0.into()
    }

    pub(in crate::recording) fn with(self, bits: u16) -> Self {
        Self(self.0 | bits)
    }

    pub(in crate::recording) fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    pub(in crate::recording) fn kind(self) -> ChangeKind {
        match self.0 & KIND {
            0 => ChangeKind::Added,
            1 => ChangeKind::Modified,
            _ => ChangeKind::Deleted,
        }
    }

    pub(in crate::recording) fn origin(self) -> Origin {
        match (self.0 & ORIGIN) >> ORIGIN_SHIFT {
            0 => Origin::List,
            1 => Origin::Watch,
            2 => Origin::Relist,
            3 => Origin::Resync,
            _ => Origin::Filter,
        }
    }
}
