//! The current states of the objects of one type.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::recording::last_state::CurrentState;

/// The number of states in a page. Without pages, a table would take up to twice the space of its states, and three times
/// while it grows.
const PAGE: usize = 512;

/// States by key.
#[derive(Default)]
pub(super) struct ObjectTable {
    /// The numbers of the states, by the keys of their objects.
    numbers: HashTable<u32>,
    pages: Pages,
    hasher: RandomState,
}

/// The states by number. All pages but the last are full.
#[derive(Default)]
struct Pages(Vec<Vec<CurrentState>>);

impl ObjectTable {
    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the state of an object.
    pub(super) fn get(&self, key: &str) -> Option<&CurrentState> {
        let number =
            self.numbers.find(self.hasher.hash_one(key), |number| *self.pages.key(*number) == *key)?;
        Some(self.pages.get(*number))
    }

    /// Returns the state of an object, to replace its object by another of the same key.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut CurrentState> {
        let Self { numbers, pages, hasher } = self;
        let number = numbers.find(hasher.hash_one(key), |number| *pages.key(*number) == *key)?;
        Some(pages.get_mut(*number))
    }

    /// Returns all states.
    pub(super) fn iter(&self) -> impl Iterator<Item = &CurrentState> {
        self.pages.0.iter().flatten()
    }

    /// Returns all states, to replace their objects by others of the same keys.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut CurrentState> {
        self.pages.0.iter_mut().flatten()
    }

    /// Adds a state, or replaces that of its object.
    pub(super) fn insert(&mut self, state: CurrentState) {
        let Self { numbers, pages, hasher } = self;
        let key = Arc::clone(state.object.key());
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let entry = numbers.entry(
            hasher.hash_one(&*key),
            |number| *pages.key(*number) == *key,
            |number| hasher.hash_one(pages.key(*number)),
        );
        match entry {
            Entry::Occupied(known) => *pages.get_mut(*known.get()) = state,
            Entry::Vacant(place) => {
                place.insert(next);
                pages.push(state);
            }
        }
    }

    /// Removes the state of an object.
    pub(super) fn remove(&mut self, key: &str) {
        let Self { numbers, pages, hasher } = self;
        let found = numbers.find_entry(hasher.hash_one(key), |number| *pages.key(*number) == *key);
        let Ok(found) = found else { return };
        let (number, _) = found.remove();
        let last = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        if number != last {
            // The last state takes its place.
            if let Some(moved) = numbers.find_mut(hasher.hash_one(pages.key(last)), |number| *number == last)
            {
                *moved = number;
            }
        }
        pages.swap_remove(number);
    }
}

impl Pages {
    fn get(&self, number: u32) -> &CurrentState {
        &self.0[number as usize / PAGE][number as usize % PAGE]
    }

    fn get_mut(&mut self, number: u32) -> &mut CurrentState {
        &mut self.0[number as usize / PAGE][number as usize % PAGE]
    }

    fn key(&self, number: u32) -> &str {
        self.get(number).object.key()
    }

    fn push(&mut self, state: CurrentState) {
        if let Some(page) = self.0.last_mut().filter(|page| page.len() < PAGE) {
            page.push(state);
        } else {
            let mut page = Vec::with_capacity(PAGE);
            page.push(state);
            self.0.push(page);
        }
    }

    /// Removes a state, whose place the last one takes.
    fn swap_remove(&mut self, number: u32) {
        let Some(last) = self.0.last_mut().and_then(Vec::pop) else { return };
        if self.0.last().is_some_and(Vec::is_empty) {
            self.0.pop();
        }
        if let Some(state) =
            self.0.get_mut(number as usize / PAGE).and_then(|page| page.get_mut(number as usize % PAGE))
        {
            *state = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::object::{Object, TypeMeta};

    #[test]
    fn states_are_found_after_others_were_removed() {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
        let mut random = fastrand::Rng::with_seed(7);
        let (mut table, mut expected) = (ObjectTable::default(), HashMap::new());
        for version in 0..20_000u64 {
            let name = random.u32(0..1500).to_string();
            if random.u32(0..3) == 0 || (5000..8000).contains(&version) {
                table.remove(&name);
                expected.remove(&name);
            } else {
                let object = Arc::new(Object::named(Arc::clone(&type_meta), "", &name));
                table.insert(CurrentState { object, version, row: None });
                expected.insert(name, version);
            }
            assert_eq!(table.len(), expected.len());
            assert_eq!(table.iter().count(), expected.len());
        }
        assert!(expected.len() > PAGE);
        for (name, version) in expected {
            assert_eq!(table.get(&name).map(|state| state.version), Some(version));
        }
    }
}
