//! An index of a store: from a value to slots of objects, and from a slot to its values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use smallvec::SmallVec;

use super::memory::ALLOCATION;
use super::slots::Slot;
use super::{IndexFunc, IndexFuncError};
use crate::object::Object;

/// The indices of a store by name.
pub(super) type IndexTables = BTreeMap<String, IndexTable>;

/// The values of one object in one index. The texts are shared with the keys of the index, so a million objects in one
/// namespace share one text.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) enum Values {
    #[default]
    None,
    One(Arc<str>),
    /// At least two values, sorted and unique.
    Many(Box<[Arc<str>]>),
    /// The index function refused the object.
    Refused,
}

impl Values {
    fn as_slice(&self) -> &[Arc<str>] {
        match self {
            Self::None | Self::Refused => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    fn contains(&self, value: &Arc<str>) -> bool {
        self.as_slice().contains(value)
    }
}

/// The estimated bytes of a slot in a set: a node of the tree has room for eleven and is about three quarters full.
const SLOT_IN_A_SET: usize = 8;

/// The slots of one value. A single slot needs no set: most values of a unique field have one object, and a set would
/// be larger than the slot.
enum SlotSet {
    One(Slot),
    Many(BTreeSet<Slot>),
}

impl SlotSet {
    fn insert(&mut self, slot: Slot) {
        match self {
            Self::One(first) if *first == slot => {}
            Self::One(first) => *self = Self::Many(BTreeSet::from([*first, slot])),
            Self::Many(slots) => {
                slots.insert(slot);
            }
        }
    }

    /// Removes the slot. Returns true if the set is empty now.
    fn remove(&mut self, slot: Slot) -> bool {
        match self {
            Self::One(first) => *first == slot,
            Self::Many(slots) => {
                slots.remove(&slot);
                slots.is_empty()
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(slots) => slots.len(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Slot> {
        let (one, many) = match self {
            Self::One(slot) => (Some(*slot), None),
            Self::Many(slots) => (None, Some(slots)),
        };
        one.into_iter().chain(many.into_iter().flatten().copied())
    }
}

/// An index function, the objects by value, and the values of each object. With the stored values, an update does not
/// call the function for the old object.
pub(super) struct IndexTable {
    func: IndexFunc,
    sets: HashMap<Arc<str>, SlotSet>,
    /// The values by slot; a slot beyond the end has none.
    values: Vec<Values>,
    refused: usize,
}

impl IndexTable {
    pub(super) fn new(func: IndexFunc) -> Self {
        Self { func, sets: HashMap::new(), values: Vec::new(), refused: 0 }
    }

    pub(super) fn func(&self) -> &IndexFunc {
        &self.func
    }

    /// Calls the index function and returns the values. Does not change the index.
    pub(super) fn compute(&self, object: &Object) -> Result<Values, IndexFuncError> {
        let mut values: SmallVec<[Arc<str>; 4]> = SmallVec::new();
        self.func.visit(object, &mut |text| {
            values.push(
                self.sets.get_key_value(text).map_or_else(|| text.into(), |(known, _)| Arc::clone(known)),
            );
        })?;
        values.sort_unstable();
        values.dedup();
        Ok(if values.len() > 1 {
            Values::Many(values.into_boxed_slice())
        } else {
            values.pop().map_or(Values::None, Values::One)
        })
    }

    pub(super) fn values_of(&self, slot: Slot) -> &Values {
        self.values.get(slot as usize).unwrap_or(&Values::None)
    }

    /// Sets the values of the object in this slot. Returns true if the object is newly refused. An empty set is
    /// removed, because short-lived values would otherwise accumulate.
    pub(super) fn set(&mut self, slot: Slot, new: Values) -> bool {
        let at = slot as usize;
        if self.values.len() <= at {
            self.values.resize_with(at + 1, Values::default);
        }
        if self.values[at] == new {
            return false;
        }
        let old = mem::replace(&mut self.values[at], new);
        let new = &self.values[at];
        for value in old.as_slice().iter().filter(|value| !new.contains(value)) {
            if self.sets.get_mut(value).is_some_and(|slots| slots.remove(slot)) {
                self.sets.remove(value);
            }
        }
        for value in new.as_slice().iter().filter(|value| !old.contains(value)) {
            match self.sets.get_mut(value) {
                Some(slots) => slots.insert(slot),
                None => {
                    self.sets.insert(Arc::clone(value), SlotSet::One(slot));
                }
            }
        }
        let is_refused = *new == Values::Refused;
        self.refused = self.refused + usize::from(is_refused) - usize::from(old == Values::Refused);
        is_refused
    }

    /// Renumbers the slots: the object in slot `old[n]` is now in slot `n`. `old` is sorted and names every slot with
    /// values.
    pub(super) fn compact(&mut self, old: &[Slot]) {
        let mut values = Vec::with_capacity(old.len());
        values.extend(
            old.iter().map(|slot| self.values.get_mut(*slot as usize).map(mem::take).unwrap_or_default()),
        );
        self.values = values;
        let new_of = |slot: Slot| Slot::try_from(old.partition_point(|&known| known < slot)).unwrap_or(slot);
        for slots in self.sets.values_mut() {
            *slots = match mem::replace(slots, SlotSet::One(0)) {
                SlotSet::One(slot) => SlotSet::One(new_of(slot)),
                SlotSet::Many(slots) => SlotSet::Many(slots.into_iter().map(new_of).collect()),
            };
        }
        self.sets.shrink_to_fit();
    }

    /// Returns the slots of a value, in order.
    pub(super) fn slots(&self, value: &str) -> impl Iterator<Item = Slot> {
        self.sets.get(value).into_iter().flat_map(SlotSet::iter)
    }

    /// Returns every value with its slots, in no particular order.
    pub(super) fn sets(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Slot>)> {
        self.sets.iter().map(|(value, slots)| (&**value, slots.iter()))
    }

    /// Returns every value with its number of objects, in no particular order.
    pub(super) fn counts(&self) -> impl ExactSizeIterator<Item = (&str, usize)> {
        self.sets.iter().map(|(value, slots)| (&**value, slots.len()))
    }

    /// Returns the estimated bytes of the index: each text once, the sets of slots, and the values of each slot.
    pub(super) fn bytes(&self) -> usize {
        let of_value = |(value, slots): (&Arc<str>, &SlotSet)| {
            value.len() + ALLOCATION + if slots.len() == 1 { 0 } else { slots.len() * SLOT_IN_A_SET }
        };
        let entries = self.sets.capacity() * size_of::<(Arc<str>, SlotSet)>();
        entries + self.sets.iter().map(of_value).sum::<usize>() + self.values.capacity() * size_of::<Values>()
    }

    pub(super) fn refused(&self) -> usize {
        self.refused
    }
}
