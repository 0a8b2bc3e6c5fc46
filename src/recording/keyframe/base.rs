//! The states in an earlier keyframe, against which those of the next one are encoded.

use std::collections::HashMap;
use std::sync::Arc;

use super::objects::{KeyframeObjects, KeyframeRow};
use super::read::Keyframe;
use super::texts::Texts;
use crate::object::{ApiResource, Column};
use crate::recording::last_state::CurrentState;
use crate::recording::payload::split_row;

/// The states of the objects of one type. They are read in ascending order of the objects.
pub(super) struct BaseStates<'a> {
    keyframe: &'a Keyframe,
    resource: &'a ApiResource,
    objects: &'a KeyframeObjects,
    texts: Texts<'a>,
    /// The number of the block of rows that is loaded, and its payload.
    rows: Option<(u32, Vec<u8>)>,
}

/// The columns and the template of a row.
pub(super) type RowParts<'a> = (&'a Arc<[Column]>, &'a [u8]);

/// The state of an object in the base.
pub(super) struct BaseState<'a> {
    pub(super) version: u64,
    pub(super) text: &'a [u8],
    /// Whether its row equals the one with which it was compared.
    pub(super) has_same_row: bool,
}

impl<'a> BaseStates<'a> {
    /// Returns the states of a type, if there are any.
    pub(super) fn of(
        keyframe: &'a Keyframe,
        resource: &'a ApiResource,
        objects: &'a KeyframeObjects,
    ) -> Option<Self> {
        Some(Self { keyframe, resource, objects, texts: Texts::of(keyframe, resource, objects)?, rows: None })
    }

    /// Returns the state of an object, or `None` if its text can't be read. The number must be higher than in the previous
    /// call. `row` are the columns and the template of the row with which that of the state is compared.
    pub(super) fn read(&mut self, number: usize, row: Option<RowParts<'_>>) -> Option<BaseState<'_>> {
        let has_same_row = row.is_some_and(|row| self.has_row(number, row));
        let version = self.objects.objects[number].version;
        let (_, text) = self.texts.read(number).ok()?;
        Some(BaseState { version, text, has_same_row })
    }

    /// Whether an object has this row.
    fn has_row(&mut self, number: usize, row: RowParts<'_>) -> bool {
        let Some(KeyframeRow::Own(place)) = self.objects.objects[number].row else { return false };
        if self.rows.as_ref().is_none_or(|(loaded, _)| *loaded != place.block) {
            self.rows = self.keyframe.rows(self.resource, place.block).ok().map(|rows| (place.block, rows));
        }
        let payload = self.rows.as_ref().and_then(|(_, rows)| place.of(rows));
        let columns = &self.keyframe.footer().tables.columns;
        payload.and_then(|payload| split_row(payload, columns)).is_some_and(|of_base| of_base == row)
    }
}

/// Returns for each object its number in the base, if it is there. The numbers increase: an object whose place among the
/// others has changed may have none.
pub(super) fn numbers_in(base: &KeyframeObjects, objects: &[CurrentState]) -> Vec<Option<usize>> {
    let by_key: HashMap<&str, usize> =
        (0..base.objects.len()).map(|number| (base.names.get(number).0, number)).collect();
    let mut numbers: Vec<_> =
        objects.iter().map(|known| by_key.get(&**known.object.key()).copied()).collect();
    keep_increasing(&mut numbers);
    numbers
}

/// Keeps as many of the numbers as possible such that each is higher than the previous one.
fn keep_increasing(numbers: &mut [Option<usize>]) {
    // For each length, the position at which the increasing sequence with the lowest last number ends; and for each
    // position, the position before it in such a sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![None; numbers.len()];
    for at in 0..numbers.len() {
        if numbers[at].is_some() {
            let length = ends.partition_point(|end| numbers[*end] < numbers[at]);
            before[at] = length.checked_sub(1).map(|length| ends[length]);
            if length == ends.len() {
                ends.push(at);
            } else {
                ends[length] = at;
            }
        }
    }
    let mut kept = ends.last().copied();
    for at in (0..numbers.len()).rev() {
        if kept == Some(at) {
            kept = before[at];
        } else {
            numbers[at] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(numbers: &[usize]) -> Vec<usize> {
        let mut all: Vec<_> = numbers.iter().copied().map(Some).collect();
        keep_increasing(&mut all);
        all.into_iter().flatten().collect()
    }

    #[test]
    fn as_many_numbers_as_possible_increase() {
        assert_eq!(kept(&[]), [0; 0]);
        assert_eq!(kept(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(kept(&[90, 1, 2, 3]), [1, 2, 3]);
        assert_eq!(kept(&[1, 90, 91, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(kept(&[1, 5, 0, 6, 2, 7]), [1, 5, 6, 7]);
    }
}
