//! Property tests: the machine against a recomputation over the whole history.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::tests::{at, object};
use super::{Quantifier, WaitCondition, WaitMachine, WaitRules, WaitState};
use crate::object::Object;

/// The names of the objects.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A change of one object, by the index of its name: a state with this number, or none.
#[derive(Debug, Clone)]
struct Step {
    /// The seconds since the step before.
    after: u64,
    name: usize,
    number: Option<u64>,
}

#[derive(Debug, Clone)]
struct Case {
    quantifier: Quantifier,
    was: bool,
    stable: u64,
    is_named: bool,
    wait_for_create: bool,
    /// The number of the first steps that belong to the initial state.
    initial: usize,
    steps: Vec<Step>,
}

fn cases() -> impl Strategy<Value = Case> {
    let quantifier = prop_oneof![
        3 => Just(Quantifier::All),
        1 => Just(Quantifier::Any),
        1 => Just(Quantifier::None),
        1 => (1..4_usize).prop_map(Quantifier::AtLeast),
        1 => (0..3_usize).prop_map(Quantifier::AtMost),
    ];
    let step = (0..4_u64, 0..NAMES.len(), prop_oneof![3 => (0..4_u64).prop_map(Some), 1 => Just(None)])
        .prop_map(|(after, name, number)| Step { after, name, number });
    let stable = prop_oneof![Just(0), 1..6_u64];
    (
        quantifier,
        any::<bool>(),
        stable,
        any::<bool>(),
        any::<bool>(),
        0..4_usize,
        prop::collection::vec(step, 1..25),
    )
        .prop_map(|(quantifier, was, stable, is_named, wait_for_create, initial, steps)| Case {
            quantifier,
            was,
            stable,
            is_named,
            wait_for_create,
            initial,
            steps,
        })
}

/// The objects after a step: UID and number by name.
type Snapshot = BTreeMap<&'static str, (u64, u64)>;

/// Every state of the history so far.
#[derive(Debug, Default)]
struct Model {
    /// The time and the objects after each step, and whether the initial state was complete.
    history: Vec<(u64, Snapshot, bool)>,
}

impl Model {
    fn meets((_, number): (u64, u64)) -> bool {
        number >= 2
    }

    /// Whether an object met the condition at a step up to `last`.
    fn has_met(&self, name: &str, uid: u64, last: usize) -> bool {
        self.history[..=last].iter().any(|(_, objects, _)| {
            objects.get(name).is_some_and(|object| object.0 == uid && Self::meets(*object))
        })
    }

    /// Whether the quantifier holds after a step.
    fn holds(&self, case: &Case, step: usize) -> bool {
        let (_, objects, is_synced) = &self.history[step];
        let counts = |name: &str, object: (u64, u64)| {
            if case.was { self.has_met(name, object.0, step) } else { Self::meets(object) }
        };
        let mut gone = BTreeSet::new();
        for (_, earlier, _) in &self.history[..=step] {
            for (name, (uid, _)) in earlier {
                let is_live = objects.get(name).is_some_and(|object| object.0 == *uid);
                if case.was && !is_live && self.has_met(name, *uid, step) {
                    gone.insert((*name, *uid));
                }
            }
        }
        let is_absent = |name: &&&str| {
            case.is_named && !objects.contains_key(**name) && !gone.iter().any(|(other, _)| other == *name)
        };
        let absent = NAMES.iter().filter(is_absent).count();
        let met = gone.len() + objects.iter().filter(|(name, object)| counts(name, **object)).count();
        let total = gone.len() + objects.len();
        if case.wait_for_create && (absent > 0 || total == 0) {
            return false;
        }
        match case.quantifier {
            Quantifier::All => *is_synced && absent == 0 && total > 0 && met == total,
            Quantifier::Any => met > 0,
            Quantifier::AtLeast(least) => met >= least,
            Quantifier::None => *is_synced && met == 0,
            Quantifier::AtMost(most) => *is_synced && met <= most,
        }
    }

    /// Returns the time at which the quantifier has held long enough, by the last step and the time until the next.
    fn met_at(&self, case: &Case, until: u64) -> Option<u64> {
        let last = self.history.len() - 1;
        let runs = (0..=last).filter(|first| (*first..=last).all(|step| self.holds(case, step)));
        let ends = runs.map(|first| self.history[first].0 + case.stable);
        ends.min().map(|end| end.max(self.history[last].0)).filter(|end| *end <= until)
    }
}

fn state(name: &str, (uid, number): (u64, u64)) -> Arc<Object> {
    object(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": number,
        "metadata": {"name": name, "uid": format!("{name}-{uid}")}}))
}

fn machine(case: &Case) -> WaitMachine {
    let rules = WaitRules {
        conditions: vec![Arc::new(WaitCondition::parse("object.data >= 2").expect("an expression"))],
        quantifier: case.quantifier,
        was: case.was,
        stable: Duration::from_secs(case.stable),
        wait_for_create: case.wait_for_create,
        ..WaitRules::default()
    };
    let mut machine = WaitMachine::new(rules);
    for part in 0..if case.is_named { NAMES.len() } else { 1 } {
        machine.add_part(part, case.is_named);
    }
    machine
}

/// Calls [`WaitMachine::advance`] at each moment that the machine requests, up to a time.
fn advance(machine: &mut WaitMachine, until: u64) {
    while let Some(next) = machine.next_check().filter(|next| next.as_secs() <= until) {
        machine.advance(at(next.as_secs()));
    }
}

fn check(case: &Case) {
    let (mut machine, mut model) = (machine(case), Model::default());
    let (mut now, mut next_uid, mut objects) = (0, 0, Snapshot::new());
    machine.set_parts_complete(true, true, at(0));
    for (place, step) in case.steps.iter().enumerate() {
        now += step.after;
        if !model.history.is_empty() {
            let met_at = model.met_at(case, now);
            advance(&mut machine, now);
            assert_state(&machine, case, met_at, &model);
            if machine.state() != &WaitState::Pending {
                return;
            }
        }
        if place == case.initial {
            for part in 0..NAMES.len() {
                machine.synced(part, at(now));
            }
        }
        let (name, is_initial) = (NAMES[step.name], place < case.initial);
        let part = if case.is_named { step.name } else { 0 };
        if place == case.initial {
            model.history.push((now, objects.clone(), true));
            let met_at = model.met_at(case, now);
            assert_state(&machine, case, met_at, &model);
            if machine.state() != &WaitState::Pending {
                return;
            }
        }
        match step.number {
            Some(number) => {
                let uid = objects.get(name).map_or_else(
                    || {
                        next_uid += 1;
                        next_uid
                    },
                    |(uid, _)| *uid,
                );
                objects.insert(name, (uid, number));
                machine.observe(part, &state(name, (uid, number)), is_initial, at(now));
            }
            None => {
                if let Some(last) = objects.remove(name) {
                    machine.delete(part, &state(name, last), at(now));
                }
            }
        }
        model.history.push((now, objects.clone(), place >= case.initial));
        let met_at = model.met_at(case, now);
        assert_state(&machine, case, met_at, &model);
        if machine.state() != &WaitState::Pending {
            return;
        }
    }
    let met_at = model.met_at(case, now + 100);
    advance(&mut machine, now + 100);
    assert_state(&machine, case, met_at, &model);
}

/// Compares the machine with the model, which knows when the conditions were met.
fn assert_state(machine: &WaitMachine, case: &Case, met_at: Option<u64>, model: &Model) {
    match machine.state() {
        WaitState::Met(met) => assert_eq!(Some(met.at.elapsed.as_secs()), met_at, "{case:?} {model:?}"),
        WaitState::Pending => assert_eq!(met_at, None, "{case:?} {model:?}"),
        // Too many objects have met the condition once.
        WaitState::Failed(_) => {
            assert!(case.was && met_at.is_none(), "{case:?} {model:?}");
            assert!(matches!(case.quantifier, Quantifier::None | Quantifier::AtMost(_)), "{case:?}");
            assert!(!model.holds(case, model.history.len() - 1), "{case:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn machine_equals_recomputation(case in cases()) {
        check(&case);
    }
}
