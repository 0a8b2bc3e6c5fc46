//! A property test that compares [`DeltaFifo`] with a naive queue: a list of keys with their deltas.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::cases::{item_text, known, object};
use crate::object::{DeletedObject, Origin};
use crate::queue::{DeltaFifo, DeltaFifoOptions, Item, KnownObjects, PoppedItem, Queue, QueueOptions};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A `DeltaFifo` without a map: each operation searches the list from the front.
#[derive(Default)]
struct NaiveFifo {
    entries: Vec<(String, Vec<PlainDelta>)>,
    atomic_replace: bool,
    /// The number of entries at the front that are popped together.
    replaced: usize,
    /// Whether anything has been queued, or an initial list was received.
    is_populated: bool,
    /// The number of entries of the initial list that have not been popped.
    initial_left: usize,
    store: BTreeMap<String, u32>,
    /// The keys of a resync that are still to be delivered.
    pending: Vec<String>,
    /// The keys that were queued when the resync started.
    except: Vec<String>,
    /// Whether the resync has the next turn: it alternates with the entries.
    resync_is_next: bool,
}

/// The kind and the version of a change; `T` is a tombstone.
type PlainDelta = (char, u32);

impl NaiveFifo {
    /// Adds a delta to those of its key. Deletes in a row are merged.
    fn queue(&mut self, key: &str, delta: PlainDelta) {
        let Some((_, deltas)) = self.entries.iter_mut().find(|(queued, _)| queued == key) else {
            self.entries.push((key.to_owned(), vec![delta]));
            return;
        };
        match (deltas.last(), delta.0) {
            (Some(('D', _)), 'D' | 'T') => {}
            (Some(('T', _)), 'D' | 'T') => {
                deltas.pop();
                deltas.push(delta);
            }
            _ => deltas.push(delta),
        }
    }

    fn is_queued(&self, key: &str) -> bool {
        self.entries.iter().any(|(queued, _)| queued == key)
    }

    /// Applies a call other than a pop.
    fn call(&mut self, call: &Call) {
        let had_synced = self.is_populated && self.initial_left == 0;
        if !matches!(call, Call::Replace(_) | Call::Resync) {
            self.is_populated = true;
        }
        match call {
            Call::Add(name, state) => self.queue(NAMES[*name], ('A', *state)),
            Call::Update(name, state) => self.queue(NAMES[*name], ('U', *state)),
            Call::Delete(name, state) => {
                let name = NAMES[*name];
                if self.is_queued(name) || self.store.contains_key(name) {
                    self.queue(name, ('D', *state));
                }
            }
            Call::Replace(objects) => {
                for (name, state) in objects {
                    self.queue(NAMES[*name], ('R', *state));
                }
                let listed = |key: &str| objects.iter().any(|(name, _)| NAMES[*name] == key);
                for (key, deltas) in self.entries.clone() {
                    if !listed(&key) {
                        self.queue(&key, ('T', deltas[deltas.len() - 1].1));
                    }
                }
                for (key, state) in self.store.clone() {
                    if !listed(&key) && !self.is_queued(&key) {
                        self.queue(&key, ('T', state));
                    }
                }
                if self.atomic_replace && had_synced {
                    self.replaced = self.entries.len();
                } else if !self.is_populated {
                    self.initial_left = self.entries.len();
                }
                self.is_populated = true;
            }
            Call::Resync => {
                if self.pending.is_empty() {
                    self.except.clear();
                }
                let new: Vec<_> =
                    self.store.keys().filter(|key| !self.pending.contains(*key)).cloned().collect();
                self.pending.extend(new);
                self.except.extend(self.entries.iter().map(|(key, _)| key.clone()));
            }
            Call::Pop => unreachable!("popping is compared"),
        }
    }

    /// Returns the next object of a resync if it is the turn of the resync.
    fn pop_resync(&mut self) -> Option<String> {
        if self.pending.is_empty() || (!self.resync_is_next && !self.entries.is_empty()) {
            self.resync_is_next = !self.pending.is_empty();
            return None;
        }
        while !self.pending.is_empty() {
            let key = self.pending.remove(0);
            let state = self.store.get(&key).filter(|_| !self.is_queued(&key) && !self.except.contains(&key));
            if let Some(state) = state {
                self.resync_is_next = false;
                return Some(format!("S({key}{state})"));
            }
        }
        self.resync_is_next = false;
        None
    }

    fn pop(&mut self) -> Option<String> {
        if let Some(text) = self.pop_resync() {
            return Some(text);
        }
        if self.entries.is_empty() {
            return None;
        }
        if self.replaced > 0 {
            let all = (0..std::mem::take(&mut self.replaced)).map(|_| self.pop_entry());
            return Some(format!("RA[{}]", all.collect::<Vec<_>>().join(" ")));
        }
        Some(self.pop_entry())
    }

    fn pop_entry(&mut self) -> String {
        let (key, deltas) = self.entries.remove(0);
        self.initial_left = self.initial_left.saturating_sub(1);
        for (kind, state) in &deltas {
            if matches!(kind, 'D' | 'T') {
                self.store.remove(&key);
            } else {
                self.store.insert(key.clone(), *state);
            }
        }
        let text = deltas.iter().map(|(kind, state)| match kind {
            'T' => format!("D(T({key},{key}{state}))"),
            _ => format!("{kind}({key}{state})"),
        });
        text.collect::<Vec<_>>().join(",")
    }
}

#[derive(Debug, Clone)]
enum Call {
    Add(usize, u32),
    Update(usize, u32),
    Delete(usize, u32),
    Replace(Vec<(usize, u32)>),
    Resync,
    Pop,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let (name, state) = (0..NAMES.len(), 1..9u32);
    let call = prop_oneof![
        2 => (name.clone(), state.clone()).prop_map(|(name, state)| Call::Add(name, state)),
        2 => (name.clone(), state.clone()).prop_map(|(name, state)| Call::Update(name, state)),
        2 => (name.clone(), state.clone()).prop_map(|(name, state)| Call::Delete(name, state)),
        1 => proptest::collection::vec((name, state), 0..4).prop_map(Call::Replace),
        1 => Just(Call::Resync),
        3 => Just(Call::Pop),
    ];
    proptest::collection::vec(call, 0..60)
}

proptest! {
    #[test]
    fn delta_fifo_equals_a_list_of_keys_with_deltas(calls in calls(), atomic_replace in any::<bool>()) {
        let store = known(&[]);
        let options = DeltaFifoOptions::default()
            .known_objects(Some(Arc::clone(&store) as KnownObjects))
            .queue(QueueOptions::default().atomic_replace(atomic_replace));
        let queue = DeltaFifo::new(options);
        let mut naive = NaiveFifo { atomic_replace, ..NaiveFifo::default() };
        let pop = || {
            let mut text = None;
            let mut more = true;
            while more && text.is_none() {
                let process = &mut |popped: PoppedItem| {
                    text = item_text(&popped.item);
                    let all = match popped.item {
                        Item::Deltas(deltas) => vec![deltas],
                        Item::ReplacedAll(all) => all,
                        Item::Mark(_) | Item::Bookmark => Vec::new(),
                    };
                    all.iter().flat_map(|deltas| &**deltas).for_each(|delta| store.apply(delta));
                };
                more = queue.try_pop(process).expect("open");
            }
            text
        };
        for call in &calls {
            match call {
                Call::Add(name, state) => queue.add(object(NAMES[*name], *state), Origin::Watch),
                Call::Update(name, state) => queue.update(object(NAMES[*name], *state), Origin::Watch),
                Call::Delete(name, state) => {
                    queue.delete(DeletedObject::Known(object(NAMES[*name], *state)), Origin::Watch)
                }
                Call::Replace(objects) => {
                    let objects = objects.iter().map(|(name, state)| object(NAMES[*name], *state)).collect();
                    queue.replace(objects, &"9".into(), Origin::Relist)
                }
                Call::Resync => {
                    queue.resync();
                    Ok(())
                }
                Call::Pop => {
                    prop_assert_eq!(pop(), naive.pop());
                    continue;
                }
            }
            .expect("keys");
            naive.call(call);
        }
        loop {
            let popped = pop();
            prop_assert_eq!(&popped, &naive.pop());
            if popped.is_none() { break }
        }
    }
}
