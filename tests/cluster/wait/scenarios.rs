//! `wait` next to kubectl's, on objects that change, appear and disappear.

use serde_json::json;

use super::{Outcome, assert_both, create_pod, delete_pod, pods, running, set_status, start_kdelta};
use crate::support::TestEnv;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn condition_is_met_by_a_change() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let change = || {
        set_status(&on, "a", &running("False"));
        set_status(&on, "a", &running("True"));
    };
    assert_both(&on, "wait pod/a --for=condition=Ready", change, &Outcome::met(&["pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn path_gets_its_value_and_several_conditions_are_printed_each() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let words = "wait pod/a --for=jsonpath={.status.phase}=Running --for=condition=Ready";
    let change = || set_status(&on, "a", &running("True"));
    assert_both(&on, words, change, &Outcome::met(&["pod/a", "pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn pod_that_has_finished_ends_the_wait_for_it() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    create_pod(&on, "b");
    set_status(&on, "b", &running("True"));
    let mut waiting = start_kdelta(&on, "wait pods a b --for=condition=Ready --timeout=1h");
    waiting.stderr.find("the watched object", |line| line.contains(": listed at "));
    set_status(&on, "a", &json!({"phase": "Failed", "reason": "Evicted"}));
    let reason = "the pod has failed (Evicted) and is not started again";
    let stderr = format!("error: pods/a can't meet the condition any more: {reason}");
    let expected = Outcome { stderr, success: false, ..Outcome::met(&["pod/b"]) };
    assert_eq!(Outcome::of(&mut waiting), expected);
    // The state at the start is enough.
    assert_eq!(
        Outcome::of(&mut start_kdelta(&on, "wait pods a b --for=condition=Ready --timeout=1h")),
        expected
    );
    // A checked state is reported as kubectl does.
    let checked = start_kdelta(&on, "wait pod/a --for=condition=Ready --timeout=0");
    let not_met = Outcome::failed("error: condition not met for pods/a");
    assert_eq!(Outcome::of(&mut { checked }), not_met);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn objects_are_waited_for_in_order() {
    let on = TestEnv::on_server();
    for name in ["a", "b", "c"] {
        create_pod(&on, name);
    }
    let change = || {
        for name in ["c", "b", "a"] {
            set_status(&on, name, &running("True"));
        }
    };
    let expected = Outcome::met(&["pod/a", "pod/b", "pod/c"]);
    assert_both(&on, "wait pods -l app=web --for=condition=Ready", change, &expected);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn object_that_leaves_its_selector_is_still_waited_for() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let words = "wait pods --field-selector status.phase=Pending --for=condition=Ready";
    let change = || set_status(&on, "a", &running("True"));
    assert_both(&on, words, change, &Outcome::met(&["pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn object_that_is_created_again_is_still_waited_for() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let change = || {
        delete_pod(&on, "a");
        create_pod(&on, "a");
        set_status(&on, "a", &running("True"));
    };
    assert_both(&on, "wait pod/a --for=condition=Ready", change, &Outcome::met(&["pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn listed_object_that_is_gone_at_its_turn_is_missing() {
    let on = TestEnv::on_server();
    for name in ["a", "b"] {
        create_pod(&on, name);
    }
    let change = || {
        delete_pod(&on, "b");
        set_status(&on, "a", &running("True"));
    };
    let error = "Error from server (NotFound): pods \"b\" not found";
    let expected = Outcome { stderr: error.to_owned(), success: false, ..Outcome::met(&["pod/a"]) };
    assert_both(&on, "wait pods --all --for=condition=Ready", change, &expected);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn object_is_waited_for_until_it_exists() {
    let on = TestEnv::on_server();
    let words = "wait pod/a --for=condition=Ready --for=create";
    let change = || {
        create_pod(&on, "a");
        set_status(&on, "a", &running("True"));
    };
    assert_both(&on, words, change, &Outcome::met(&["pod/a", "pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn selection_is_waited_for_until_it_has_an_object() {
    let on = TestEnv::on_server();
    let change = || create_pod(&on, "a");
    assert_both(&on, "wait pods -l app=web --for=create", change, &Outcome::met(&["pod/a"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deletion_is_waited_for() {
    let on = TestEnv::on_server();
    for name in ["a", "b"] {
        create_pod(&on, name);
    }
    let change = || {
        for name in ["a", "b"] {
            delete_pod(&on, name);
        }
    };
    assert_both(&on, "wait pods -l app=web --for=delete", change, &Outcome::met(&["pod/a", "pod/b"]));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn condition_that_is_not_met_in_time_fails() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let change = || set_status(&on, "a", &running("False"));
    let expected = Outcome::failed("error: timed out waiting for the condition on pods/a");
    assert_both(&on, "wait pod/a --for=condition=Ready --timeout=2s", change, &expected);
    assert_both(&on, "wait pod/a --for=delete --timeout=2s", || {}, &expected);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn path_with_several_values_fails_when_they_appear() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let words = "wait pod/a --for=jsonpath={.status.conditions[*].type}=Ready";
    let change = || {
        let conditions =
            json!([{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}]);
        set_status(&on, "a", &json!({"conditions": conditions}));
    };
    let expected = Outcome::failed("error: given jsonpath expression matches more than one value");
    assert_both(&on, words, change, &expected);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn last_state_is_printed_as_a_document() {
    let on = TestEnv::on_server();
    create_pod(&on, "a");
    let mut waiting = start_kdelta(&on, "wait pod/a --for=condition=Ready -o json");
    waiting.stderr.find("the watched object", |line| line.contains(": listed at "));
    set_status(&on, "a", &running("True"));
    assert_eq!(waiting.wait(), 0);
    let printed: serde_json::Value = serde_json::from_str(&waiting.stdout.drain()).expect("one document");
    let mut stored = on.api.get(&format!("{}/a", pods(&on)));
    stored["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    assert_eq!(printed, stored);
}
