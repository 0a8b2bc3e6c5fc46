//! The objects of one type in a keyframe, without their texts.

use std::num::NonZeroU32;

use crate::recording::bytes::Cursor;
use crate::recording::names::Names;
use crate::recording::tables::{take_size, take_u32};
use crate::recording::type_log::Place;

/// The number in place of a row's length plus 1 if the row is that of the base. No row is that short.
pub(super) const ROW_OF_BASE: u32 = 1;

/// The objects of one type, without their texts.
#[derive(Debug, Default)]
pub(in crate::recording) struct KeyframeObjects {
    pub(in crate::recording) names: Names,
    pub(in crate::recording) objects: Vec<KeyframeObject>,
    /// The objects of the base, if any object refers to one.
    base: Option<Box<Self>>,
}

/// An object of a keyframe.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct KeyframeObject {
    pub(in crate::recording) version: u64,
    /// Whether the object's own version precedes the body.
    pub(in crate::recording) has_own_version: bool,
    pub(in crate::recording) body: Place,
    /// The row, if there is one.
    pub(in crate::recording) row: Option<KeyframeRow>,
    /// The number, plus 1, of the object of the base whose text the body is a frame against; `None` if the text is whole.
    base: Option<NonZeroU32>,
}

/// The place of a row.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) enum KeyframeRow {
    /// In the keyframe.
    Own(Place),
    /// In its base.
    OfBase(Place),
}

impl KeyframeObject {
    /// Returns the number of the object of the base whose text the body is a frame against.
    pub(super) fn base(&self) -> Option<usize> {
        self.base.map(|number| number.get() as usize - 1)
    }
}

impl KeyframeObjects {
    /// Reads a group of names.
    pub(super) fn take_group(
        &mut self,
        block: u32,
        cursor: &mut Cursor<'_>,
        file_len: u64,
        has_base: bool,
    ) -> Option<()> {
        let count = take_size(cursor)?;
        self.names.take(count, cursor, file_len)?;
        let start = self.objects.len();
        let mut version = 0u64;
        for _ in 0..count {
            version = version.wrapping_add_signed(cursor.take_signed()?);
            let body = Place { block, ..Place::default() };
            self.objects.push(KeyframeObject {
                version,
                has_own_version: false,
                body,
                row: None,
                base: None,
            });
        }
        let mut at = 0u32;
        for object in &mut self.objects[start..] {
            let number = cursor.take_number()?;
            object.has_own_version = number & 1 != 0;
            (object.body.at, object.body.len) = (at, u32::try_from(number / 2).ok()?);
            at = at.checked_add(object.body.len)?;
        }
        let mut at = 0u32;
        for object in &mut self.objects[start..] {
            object.row = match take_u32(cursor)? {
                0 => None,
                // Its place is known when the base is read.
                ROW_OF_BASE if has_base => Some(KeyframeRow::OfBase(Place::default())),
                number => {
                    let place = Place { block, at, len: number - 1 };
                    at = at.checked_add(place.len)?;
                    Some(KeyframeRow::Own(place))
                }
            };
        }
        if has_base {
            self.take_bases(start, cursor)?;
        }
        Some(())
    }

    /// Reads the numbers of the objects of the base, each as the difference from the previous one.
    fn take_bases(&mut self, start: usize, cursor: &mut Cursor<'_>) -> Option<()> {
        let mut last = 0u32;
        for object in &mut self.objects[start..] {
            let difference = take_u32(cursor)?;
            if difference > 0 {
                last = last.checked_add(difference)?;
                object.base = NonZeroU32::new(last);
            } else if matches!(object.row, Some(KeyframeRow::OfBase(_))) {
                return None;
            }
        }
        Some(())
    }

    /// Returns the objects of the base, if any object refers to one.
    pub(super) fn base(&self) -> Option<&Self> {
        self.base.as_deref()
    }

    /// Whether any object refers to one of the base.
    pub(super) fn refers_to_base(&self) -> bool {
        self.objects.iter().any(|object| object.base.is_some())
    }

    /// Adds the objects of the base, and the places of their rows. Returns `None` if one is missing.
    pub(super) fn resolve(&mut self, base: Self) -> Option<()> {
        let mut last = None;
        for object in &mut self.objects {
            let Some(number) = object.base() else { continue };
            let of_base = base.objects.get(number)?;
            // Their texts are read in one pass.
            if last.is_some_and(|last| number <= last) {
                return None;
            }
            last = Some(number);
            if let Some(KeyframeRow::OfBase(place)) = &mut object.row {
                let Some(KeyframeRow::Own(row)) = of_base.row else { return None };
                *place = row;
            }
        }
        self.base = Some(Box::new(base));
        Some(())
    }
}
