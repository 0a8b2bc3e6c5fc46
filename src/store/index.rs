//! The four words of an index: `IndexFunc` (object → values), `Index` (value → keys), `Indexers` (name → function)
//! and `Indices` (name → index); and how a store keeps one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::items::Slot;
use super::memory::ALLOCATION;
use crate::object::{Key, Object, ObjectError};

/// Why an index function refused an object, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IndexFuncError(pub String);

impl From<ObjectError> for IndexFuncError {
    fn from(error: ObjectError) -> Self {
        Self(error.to_string())
    }
}

type Visit = dyn Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync;

/// Object → the values it is found under; none, one or many, and the same one twice does no harm. The empty text is
/// a value like any other.
///
/// An index function is pure: it runs once for each state of an object that comes into a store, and its values are
/// kept. It may read any store but write to none that it indexes. One that panics has refused the object.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::store::{Cache, IndexFunc, Indexer, Store};
///
/// #[derive(serde::Deserialize)]
/// struct Shop { items: Vec<String> }
/// let by_item = IndexFunc::returning(|object| Ok(object.parse::<Shop>()?.items));
/// let store = Cache::with_indexers([("item".to_owned(), by_item)].into());
/// store.add(pod(r#"{"metadata":{"name":"corner"},"items":["bread","milk"]}"#))?;
/// store.add(pod(r#"{"metadata":{"name":"broken"},"items":"none"}"#))?;
/// assert_eq!(store.index_keys("item", "milk")?, ["corner".into()]);
/// assert_eq!((store.list().len(), store.index_errors("item")), (2, 1));
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct IndexFunc(Arc<Visit>);

/// The indices a store is asked to keep: name → function.
pub type Indexers = BTreeMap<String, IndexFunc>;

/// A copy of one index as it was at a moment: value → keys, both sorted. A value that no object has is not there.
pub type Index = BTreeMap<String, BTreeSet<Key>>;

/// A copy of all indices of a store as they were at one moment: name → index.
///
/// ```
/// # use kdelta::store::{Cache, Store, index_funcs};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let store = Cache::with_indexers([("namespace".to_owned(), index_funcs::namespace())].into());
/// store.replace(source.objects(), &source.version())?;
/// assert_eq!(store.indices()["namespace"]["shop"], ["shop/web".into()].into());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub type Indices = BTreeMap<String, Index>;

/// The indices a store keeps: name → index.
pub(super) type KeptIndices = BTreeMap<String, KeptIndex>;

impl IndexFunc {
    /// An index function that hands each value to the visitor it is given, so that a value needs no allocation of
    /// its own.
    pub fn new<F>(visit: F) -> Self
    where
        F: Fn(&Object, &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> + Send + Sync + 'static,
    {
        Self(Arc::new(visit))
    }

    /// An index function that returns its values.
    pub fn returning<F>(values: F) -> Self
    where
        F: Fn(&Object) -> Result<Vec<String>, IndexFuncError> + Send + Sync + 'static,
    {
        Self::new(move |object, visit| {
            values(object)?.iter().for_each(|value| visit(value));
            Ok(())
        })
    }

    /// Hands each value of the object to `visit`.
    ///
    /// # Errors
    /// [`IndexFuncError`] when the function refuses the object, or panics; the values visited before then mean nothing.
    pub fn visit(&self, object: &Object, visit: &mut dyn FnMut(&str)) -> Result<(), IndexFuncError> {
        // What a function leaves behind when it panics is its own; of ours there is only the visitor, which is done with.
        catch_unwind(AssertUnwindSafe(|| (self.0)(object, visit)))
            .unwrap_or_else(|_| Err(IndexFuncError("the index function panicked".into())))
    }

    /// The values of the object, in the order the function finds them.
    ///
    /// # Errors
    /// As [`IndexFunc::visit`].
    pub fn values(&self, object: &Object) -> Result<Vec<String>, IndexFuncError> {
        let mut values = Vec::new();
        self.visit(object, &mut |value| values.push(value.to_owned()))?;
        Ok(values)
    }
}

impl fmt::Debug for IndexFunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFunc")
    }
}

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
    LeftOut,
}

impl Values {
    fn as_slice(&self) -> &[Arc<str>] {
        match self {
            Self::None | Self::LeftOut => &[],
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
pub(super) struct KeptIndex {
    func: IndexFunc,
    sets: HashMap<Arc<str>, SlotSet>,
    /// By slot; a slot beyond the end has no values.
    values: Vec<Values>,
    left_out: usize,
}

impl KeptIndex {
    pub(super) fn new(func: IndexFunc) -> Self {
        Self { func, sets: HashMap::new(), values: Vec::new(), left_out: 0 }
    }

    pub(super) fn func(&self) -> &IndexFunc {
        &self.func
    }

    /// Runs the function; the store does not change.
    pub(super) fn compute(&self, object: &Object) -> Result<Values, IndexFuncError> {
        let mut first = None;
        let mut more = Vec::new();
        self.func.visit(object, &mut |text| {
            let value =
                self.sets.get_key_value(text).map_or_else(|| text.into(), |(known, _)| Arc::clone(known));
            if let Some(second) = first.replace(value) {
                more.push(second);
            }
        })?;
        more.extend(first);
        more.sort_unstable();
        more.dedup();
        Ok(if more.len() > 1 {
            Values::Many(more.into())
        } else {
            more.pop().map_or(Values::None, Values::One)
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
        let is_out = *new == Values::LeftOut;
        self.left_out = self.left_out + usize::from(is_out) - usize::from(old == Values::LeftOut);
        is_out
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

    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }
}
