//! Random changes to objects compared with groups that are computed from their last states.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// The values of an object in each index, and its numbers.
type State = (Vec<Vec<String>>, Vec<String>);

fn member((values, numbers): &State) -> Member {
    let values = values.iter().map(|values| values.iter().map(|value| value.as_str().into()).collect());
    let numbers = numbers.iter().filter_map(|number| Number::parse(number)).collect();
    Member::new(0, values.collect(), vec![numbers]).expect("few groups")
}

fn state(indices: usize) -> impl Strategy<Value = State> {
    let values = prop::collection::vec("[a-c]", 0..3);
    let numbers = prop::sample::select(vec!["1", "-2", "1500m", "1Gi", "0.25", "3k", "none"]);
    let numbers = prop::collection::vec(numbers.prop_map(str::to_owned), 0..3);
    (prop::collection::vec(values, indices), numbers)
}

/// Computes the groups by comparing every object with every possible key.
fn recomputed(objects: &BTreeMap<u8, State>, indices: usize) -> BTreeMap<GroupKey, Vec<State>> {
    let letters: Vec<Option<Arc<str>>> =
        [None, Some("a"), Some("b"), Some("c")].map(|letter| letter.map(Arc::from)).to_vec();
    let mut keys: Vec<Vec<Option<Arc<str>>>> = vec![Vec::new()];
    for _ in 0..indices {
        keys = keys
            .iter()
            .flat_map(|key| {
                letters.iter().map(|letter| [key.as_slice(), std::slice::from_ref(letter)].concat())
            })
            .collect();
    }
    let is_group = |key: &Vec<Option<Arc<str>>>| {
        let (_, rows) = key.split_last().expect("an index");
        let is_row = rows.iter().all(Option::is_some);
        let is_total = indices > 1 && rows.iter().all(Option::is_none);
        (is_row || is_total) && (indices > 1 || key.iter().all(Option::is_some))
    };
    let has = |state: &State, key: &[Option<Arc<str>>]| {
        key.iter().zip(&state.0).all(|(wanted, values)| match wanted {
            Some(value) => values.iter().any(|other| **other == **value),
            None => !values.is_empty(),
        })
    };
    let members = |key: Vec<Option<Arc<str>>>| {
        let members: Vec<State> = objects.values().filter(|state| has(state, &key)).cloned().collect();
        (GroupKey { scope: 0, values: key.into() }, members)
    };
    keys.into_iter().filter(is_group).map(members).filter(|(_, members)| !members.is_empty()).collect()
}

/// Returns an aggregate of the numbers as billionths, computed from their texts.
fn expected(members: &[State], aggregate: Aggregate) -> Option<i128> {
    let numbers = members.iter().flat_map(|(_, numbers)| numbers);
    let nanos: Vec<i128> =
        numbers.filter_map(|number| crate::query::Quantity::parse(number).ok()?.as_nanos()).collect();
    match aggregate {
        Aggregate::Sum => (!nanos.is_empty()).then(|| nanos.iter().sum()),
        Aggregate::Min => nanos.iter().copied().min(),
        Aggregate::Max => nanos.iter().copied().max(),
        Aggregate::Avg => None,
    }
}

proptest! {
    #[test]
    fn groups_after_changes_equal_recomputed_ones(
        changes in (1..4_usize).prop_flat_map(|indices| prop::collection::vec(
            (0..6_u8, prop::option::weighted(0.8, state(indices))), 0..40,
        )),
    ) {
        let indices = changes.iter().find_map(|(_, state)| Some(state.as_ref()?.0.len())).unwrap_or(1);
        let (mut groups, mut objects) = (Groups::default(), BTreeMap::new());
        let mut shown = BTreeMap::new();
        for (key, state) in changes {
            groups.set(key, state.as_ref().map(member));
            match state {
                Some(state) => objects.insert(key, state),
                None => objects.remove(&key),
            };
            for key in groups.take_changed() {
                match groups.get(&key) {
                    Some(group) => shown.insert(key, group.clone()),
                    None => shown.remove(&key),
                };
            }
        }
        let recomputed = recomputed(&objects, indices);
        prop_assert_eq!(groups.objects(), objects.len());
        prop_assert_eq!(groups.iter().map(|(key, _)| key).collect::<Vec<_>>(), recomputed.keys().collect::<Vec<_>>());
        for (key, members) in &recomputed {
            let group = groups.get(key).expect("the keys are equal");
            prop_assert_eq!(group.count(), members.len(), "{:?}", key);
            prop_assert_eq!(shown.get(key), Some(group), "the changes lead to the groups");
            for aggregate in [Aggregate::Sum, Aggregate::Min, Aggregate::Max] {
                let found = group.aggregate(aggregate, 0).map(Number::nanos);
                prop_assert_eq!(found, expected(members, aggregate), "{:?} of {:?}", aggregate, key);
            }
        }
        prop_assert_eq!(shown.len(), recomputed.len());
        let mut fresh = Groups::default();
        for (key, state) in &objects {
            fresh.set(*key, Some(member(state)));
        }
        prop_assert!(fresh.iter().eq(groups.iter()), "averages and notations included");
    }
}

fn count(groups: &Groups<u8>, values: &[Option<&str>]) -> usize {
    let values = values.iter().map(|value| value.map(Arc::from)).collect();
    groups.get(&GroupKey { scope: 0, values }).map_or(0, Group::count)
}

#[test]
fn totals_count_each_object_once() {
    let mut groups = Groups::default();
    let of = |node: &[&str], image: &[&str]| {
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        member(&(vec![owned(node), owned(image)], Vec::new()))
    };
    groups.set(1, Some(of(&["a"], &["b", "c", "b"])));
    groups.set(2, Some(of(&["a"], &["b"])));
    groups.set(3, Some(of(&["b"], &[])));
    assert_eq!(count(&groups, &[Some("a"), Some("b")]), 2);
    assert_eq!(count(&groups, &[Some("a"), Some("c")]), 1);
    assert_eq!(count(&groups, &[Some("a"), None]), 2, "not three");
    assert_eq!(count(&groups, &[None, Some("b")]), 2);
    assert_eq!(count(&groups, &[None, None]), 2, "an object without an image is in no cell");
    assert_eq!(count(&groups, &[Some("b"), None]), 0);
    assert_eq!(groups.objects(), 3);
    groups.remove_where(|key| *key != 2);
    assert_eq!((groups.objects(), count(&groups, &[None, None])), (1, 1));
}

#[test]
fn an_object_with_very_many_combinations_is_refused() {
    let many: Vec<Arc<str>> = (0..5000).map(|number| number.to_string().into()).collect();
    let new = |values: Vec<Vec<Arc<str>>>| Member::new(0, values, Vec::new());
    assert_eq!(new(vec![many.clone(), vec!["a".into()]]), Err(TooManyGroups));
    assert_eq!(new(vec![many.clone(); 7]), Err(TooManyGroups));
    assert!(new(vec![many]).is_ok());
}

#[test]
fn an_unchanged_object_changes_no_group() {
    let mut groups = Groups::default();
    let state = || Some(member(&(vec![vec!["a".to_owned()]], vec!["1".to_owned()])));
    groups.set(1, state());
    assert_eq!(groups.take_changed().len(), 1);
    groups.set(1, state());
    assert!(groups.take_changed().is_empty());
}
