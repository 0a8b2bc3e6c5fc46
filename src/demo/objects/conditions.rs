//! Edits of status conditions.

use serde_json::{Value, json};

/// Sets a condition in an object's status. Its transition time changes only with its value.
pub(in crate::demo) fn set_condition(object: &mut Value, kind: &str, holds: bool, time: &str) {
    let status = if holds { "True" } else { "False" };
    let fresh = json!({"type": kind, "status": status, "lastTransitionTime": time});
    match object["status"]["conditions"].as_array_mut() {
        None => object["status"]["conditions"] = json!([fresh]),
        Some(conditions) => match conditions.iter_mut().find(|own| own["type"] == kind) {
            Some(own) if own["status"] == status => {}
            Some(own) => *own = fresh,
            None => conditions.push(fresh),
        },
    }
}

/// Sets the reason and message of a condition.
pub(in crate::demo) fn set_reason(object: &mut Value, kind: &str, (reason, message): (&str, &str)) {
    let conditions = object["status"]["conditions"].as_array_mut().into_iter().flatten();
    for own in conditions.filter(|own| own["type"] == kind) {
        own["reason"] = reason.into();
        own["message"] = message.into();
    }
}

/// Sets a condition of a deployment with its reason and message, whose changes set `lastUpdateTime`.
fn set_with_update_time(
    object: &mut Value,
    kind: &str,
    holds: bool,
    (reason, message): (&str, &str),
    time: &str,
) {
    set_condition(object, kind, holds, time);
    let conditions = object["status"]["conditions"].as_array_mut().into_iter().flatten();
    for own in conditions.filter(|own| own["type"] == kind) {
        if own["reason"] != reason || own["message"] != message {
            own["lastUpdateTime"] = time.into();
            own["reason"] = reason.into();
            own["message"] = message.into();
        }
    }
}

/// Sets whether enough of a deployment's pods are ready.
pub(in crate::demo) fn set_available(deployment: &mut Value, holds: bool, time: &str) {
    let explanation = if holds {
        ("MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    set_with_update_time(deployment, "Available", holds, explanation, time);
}

/// Sets the progress of a deployment's newest `ReplicaSet`.
pub(in crate::demo) fn set_progressing(deployment: &mut Value, is_complete: bool, set: &str, time: &str) {
    let (reason, progress) = if is_complete {
        ("NewReplicaSetAvailable", "has successfully progressed")
    } else {
        ("ReplicaSetUpdated", "is progressing")
    };
    let message = format!("ReplicaSet \"{set}\" {progress}.");
    set_with_update_time(deployment, "Progressing", true, (reason, &message), time);
}
