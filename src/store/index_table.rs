//! How a store keeps an index: values → slots of objects, and the values of each slot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use smallvec::SmallVec;

use super::memory::ALLOCATION;
use super::slots::Slot;
use super::{IndexFunc, IndexFuncError};
use crate::object::Object;

/// The indices a store keeps: name → index.
pub(super) type IndexTables = BTreeMap<String, IndexTable>;

/// The values one index has of one object. The texts are those of the index's sets, so a million objects in one
/// namespace share one.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) enum Values {
    #[default]
    None,
    One(Arc<str>),
    /// Sorted, each once, at least two.
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

/// What a slot takes in a set, about: a node of the tree holds eleven, and is about three quarters full.
const SLOT_IN_A_SET: usize = 8;

/// The slots under one value. Most values of a unique field have one object, and a set would cost more than it.
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

    /// Takes the slot out and tells whether nothing is left.
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

/// Value → the objects that have it, with the function that says so, and the values of each object. Kept values make
/// an update cheap: the function never sees the old object again.
pub(super) struct IndexTable {
    func: IndexFunc,
    sets: HashMap<Arc<str>, SlotSet>,
    /// By slot; a slot beyond the end has no values.
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

    /// Runs the function; the store does not change.
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

    /// Gives the object in this slot these values, and tells whether it was left out by that. A set that becomes
    /// empty goes, or short-lived values would fill the index for ever.
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

    /// Renumbers the slots: the object in slot `old[n]` is now in slot `n`. `old` is sorted and names every slot with values.
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

    /// The slots under a value, in order.
    pub(super) fn slots(&self, value: &str) -> impl Iterator<Item = Slot> {
        self.sets.get(value).into_iter().flat_map(SlotSet::iter)
    }

    /// Every value with the slots under it, in no order.
    pub(super) fn sets(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = Slot>)> {
        self.sets.iter().map(|(value, slots)| (&**value, slots.iter()))
    }

    /// Every value with the number of objects under it, in no order.
    pub(super) fn counts(&self) -> impl ExactSizeIterator<Item = (&str, usize)> {
        self.sets.iter().map(|(value, slots)| (&**value, slots.len()))
    }

    /// What it takes, about: the texts of the values once, the sets that hold slots, and the values of each slot.
    pub(super) fn bytes(&self) -> usize {
        let of_value = |(value, slots): (&Arc<str>, &SlotSet)| {
            value.len() + ALLOCATION + if slots.len() == 1 { 0 } else { slots.len() * SLOT_IN_A_SET }
        };
        let places = self.sets.capacity() * size_of::<(Arc<str>, SlotSet)>();
        places + self.sets.iter().map(of_value).sum::<usize>() + self.values.capacity() * size_of::<Values>()
    }

    pub(super) fn refused(&self) -> usize {
        self.refused
    }
}
