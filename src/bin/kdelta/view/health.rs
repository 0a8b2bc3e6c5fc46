//! The health of an object: its conditions, and the restarts and failures of its containers.

use std::fmt;

use kdelta::object::{JsonKind, JsonNode, JsonValue};

use super::rows::is_failure;

/// The fields of a pod's status that have a state for each container.
const CONTAINER_STATUSES: [&str; 3] =
    ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/// The health of one state of an object, as its body describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Health {
    /// Whether the object is being deleted.
    pub(crate) is_deleting: bool,
    /// `status.phase`; empty if there is none.
    pub(crate) phase: String,
    /// `status.reason`, such as Evicted; empty if there is none.
    pub(crate) reason: String,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) containers: Vec<ContainerHealth>,
}

/// A condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) reason: String,
}

/// The state of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContainerHealth {
    pub(crate) name: String,
    pub(crate) restarts: u64,
    /// The reason for which it waits; empty if it does not.
    pub(crate) waiting: String,
    /// The end of its last run, if it has ended.
    pub(crate) last_end: Option<ContainerEnd>,
}

/// The end of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContainerEnd {
    /// Such as `OOMKilled`; empty if there is none.
    pub(crate) reason: String,
    pub(crate) exit_code: Option<i64>,
}

/// A difference between two states of an object that concerns its health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HealthChange {
    /// A container was restarted.
    Restart { container: String, from: u64, to: u64, end: Option<ContainerEnd> },
    /// A container waits because of a failure.
    Waiting { container: String, reason: String },
    /// The status of a condition changed; `None` if the condition is absent.
    Condition { kind: String, from: Option<String>, to: Option<String>, reason: String },
    /// The phase changed to Failed or Unknown, or from one of them.
    Phase { from: String, to: String, reason: String },
    /// The deletion of the object was requested.
    Deletion,
}

impl Health {
    /// Reads an object. Members of the wrong type are skipped.
    pub(crate) fn of(object: JsonNode<'_>) -> Self {
        let mut health = Self::default();
        for (name, value) in object.members().map_while(Result::ok) {
            match &*name {
                "metadata" => {
                    health.is_deleting = !text(value, "deletionTimestamp").is_empty();
                }
                "status" => health.read_status(value),
                _ => {}
            }
        }
        health
    }

    /// Reads the `status` of an object.
    pub(super) fn read_status(&mut self, status: JsonNode<'_>) {
        for (name, value) in status.members().map_while(Result::ok) {
            match &*name {
                "phase" => self.phase = text_of(value),
                "reason" => self.reason = text_of(value),
                "conditions" => {
                    self.conditions = value.elements().map_while(Result::ok).map(Condition::of).collect();
                }
                name if CONTAINER_STATUSES.contains(&name) => {
                    let elements = value.elements().map_while(Result::ok);
                    self.containers.extend(elements.map(ContainerHealth::of));
                }
                _ => {}
            }
        }
    }

    /// Whether the object is ready or, without that condition, available. `None` for an object with neither condition,
    /// and for one that has succeeded.
    pub(crate) fn is_ready(&self) -> Option<bool> {
        if self.phase == "Succeeded" {
            return None;
        }
        let condition = ["Ready", "Available"].iter().find_map(|kind| self.condition(kind));
        condition.map(|condition| condition.status == "True")
    }

    /// Returns the reason for which the object is not healthy: that of a failing container, of its phase, or of the
    /// condition; empty if there is none.
    pub(crate) fn unready_reason(&self) -> &str {
        let waiting = self.containers.iter().map(|container| container.waiting.as_str());
        let condition = ["Ready", "Available"].iter().find_map(|kind| self.condition(kind));
        let reasons = [self.reason.as_str(), condition.map_or("", |condition| condition.reason.as_str())];
        let failing = waiting.clone().find(|reason| is_failure(reason));
        failing.or_else(|| reasons.into_iter().find(|reason| !reason.is_empty())).unwrap_or_default()
    }

    /// Whether the object has failed: by its phase, by its condition, or because a container can't run.
    pub(crate) fn has_failed(&self) -> bool {
        self.phase == "Failed"
            || self.condition("Failed").is_some_and(|condition| condition.status == "True")
            || self.containers.iter().any(|container| is_failure(&container.waiting))
    }

    fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Returns the differences to an earlier state.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<HealthChange> {
        let mut changes = Vec::new();
        if self.is_deleting && !before.is_deleting {
            changes.push(HealthChange::Deletion);
        }
        for container in &self.containers {
            let earlier = before.containers.iter().find(|earlier| earlier.name == container.name);
            container.add_changes(earlier, &mut changes);
        }
        let is_abnormal = |phase: &str| matches!(phase, "Failed" | "Unknown");
        if self.phase != before.phase && (is_abnormal(&self.phase) || is_abnormal(&before.phase)) {
            let (from, to) = (before.phase.clone(), self.phase.clone());
            changes.push(HealthChange::Phase { from, to, reason: self.reason.clone() });
        }
        self.add_condition_changes(before, &mut changes);
        changes
    }

    fn add_condition_changes(&self, before: &Self, changes: &mut Vec<HealthChange>) {
        for condition in &self.conditions {
            let earlier = before.condition(&condition.kind);
            if earlier.is_some_and(|earlier| earlier.status == condition.status) {
                continue;
            }
            changes.push(HealthChange::Condition {
                kind: condition.kind.clone(),
                from: earlier.map(|earlier| earlier.status.clone()),
                to: Some(condition.status.clone()),
                reason: condition.reason.clone(),
            });
        }
        for earlier in before.conditions.iter().filter(|earlier| self.condition(&earlier.kind).is_none()) {
            let (kind, from) = (earlier.kind.clone(), Some(earlier.status.clone()));
            changes.push(HealthChange::Condition { kind, from, to: None, reason: String::new() });
        }
    }
}

impl Condition {
    fn of(node: JsonNode<'_>) -> Self {
        let mut condition = Self::default();
        for (name, value) in node.members().map_while(Result::ok) {
            match &*name {
                "type" => condition.kind = text_of(value),
                "status" => condition.status = text_of(value),
                "reason" => condition.reason = text_of(value),
                _ => {}
            }
        }
        condition
    }
}

impl ContainerHealth {
    fn of(node: JsonNode<'_>) -> Self {
        let mut container = Self::default();
        let mut current_end = None;
        for (name, value) in node.members().map_while(Result::ok) {
            match &*name {
                "name" => container.name = text_of(value),
                "restartCount" => container.restarts = number(value).unwrap_or_default().unsigned_abs(),
                "state" => {
                    if let Ok(Some(waiting)) = value.member("waiting") {
                        container.waiting = text(waiting, "reason");
                    }
                    current_end = ContainerEnd::of(value);
                }
                "lastState" => container.last_end = ContainerEnd::of(value),
                _ => {}
            }
        }
        container.last_end = container.last_end.or(current_end);
        container
    }

    fn add_changes(&self, before: Option<&Self>, changes: &mut Vec<HealthChange>) {
        let (name, from) = (&self.name, before.map_or(0, |before| before.restarts));
        if self.restarts > from {
            let (container, end) = (name.clone(), self.last_end.clone());
            changes.push(HealthChange::Restart { container, from, to: self.restarts, end });
        }
        let waited = before.map_or("", |before| before.waiting.as_str());
        if is_failure(&self.waiting) && self.waiting != waited {
            changes.push(HealthChange::Waiting { container: name.clone(), reason: self.waiting.clone() });
        }
    }
}

impl ContainerEnd {
    /// Returns the end in a state of a container.
    fn of(state: JsonNode<'_>) -> Option<Self> {
        let terminated = state.member("terminated").ok()??;
        (terminated.kind() == JsonKind::Object).then(|| Self {
            reason: text(terminated, "reason"),
            exit_code: terminated.member("exitCode").ok().flatten().and_then(number),
        })
    }
}

impl fmt::Display for ContainerEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.reason.as_str(), self.exit_code) {
            ("", None) => f.write_str("unknown reason"),
            ("", Some(code)) => write!(f, "exit code {code}"),
            (reason, None) => f.write_str(reason),
            (reason, Some(code)) => write!(f, "{reason}, exit code {code}"),
        }
    }
}

/// Prints a difference for people. Texts of the cluster are not escaped.
impl fmt::Display for HealthChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_reason = |f: &mut fmt::Formatter<'_>, reason: &str| {
            if reason.is_empty() { Ok(()) } else { write!(f, " ({reason})") }
        };
        match self {
            Self::Restart { container, from, to, end } => {
                write!(f, "container {container} restarted: {from} → {to}")?;
                end.as_ref().map_or(Ok(()), |end| write!(f, " ({end})"))
            }
            Self::Waiting { container, reason } => write!(f, "container {container} waits: {reason}"),
            Self::Condition { kind, from, to, reason } => {
                let status = |status: &Option<String>| status.clone().unwrap_or_else(|| "<none>".to_owned());
                write!(f, "{kind}: {} → {}", status(from), status(to))?;
                with_reason(f, reason)
            }
            Self::Phase { from, to, reason } => {
                write!(f, "phase: {from} → {to}")?;
                with_reason(f, reason)
            }
            Self::Deletion => f.write_str("deletion requested"),
        }
    }
}

/// Returns a member that is a string; empty for any other.
pub(super) fn text(node: JsonNode<'_>, name: &str) -> String {
    node.member(name).ok().flatten().map(text_of).unwrap_or_default()
}

/// Returns a string; empty for any other value.
pub(super) fn text_of(node: JsonNode<'_>) -> String {
    if node.kind() != JsonKind::Scalar {
        return String::new();
    }
    match node.scalar() {
        Ok(JsonValue::Text(text)) => text.into_owned(),
        _ => String::new(),
    }
}

pub(super) fn number(node: JsonNode<'_>) -> Option<i64> {
    if node.kind() != JsonKind::Scalar {
        return None;
    }
    match node.scalar() {
        Ok(JsonValue::Int(number)) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn health(object: &Value) -> Health {
        Health::of(JsonNode::root(object.to_string().as_bytes()))
    }

    fn pod(ready: &str, restarts: u64, waiting: Option<&str>) -> Value {
        let state = match waiting {
            Some(reason) => json!({"waiting": {"reason": reason}}),
            None => json!({"running": {"startedAt": "2026-11-24T03:00:00Z"}}),
        };
        json!({"metadata": {"name": "web"}, "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": ready, "reason": "ContainersNotReady"},
                {"type": "PodScheduled", "status": "True"},
            ],
            "containerStatuses": [{
                "name": "web", "restartCount": restarts, "state": state,
                "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}},
            }],
        }})
    }

    fn changes(before: &Value, after: &Value) -> Vec<String> {
        health(after).changes_since(&health(before)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn restarts_and_conditions_are_named() {
        assert_eq!(
            changes(&pod("True", 3, None), &pod("False", 4, Some("CrashLoopBackOff"))),
            [
                "container web restarted: 3 → 4 (OOMKilled, exit code 137)",
                "container web waits: CrashLoopBackOff",
                "Ready: True → False (ContainersNotReady)",
            ]
        );
        assert_eq!(changes(&pod("True", 3, None), &pod("True", 3, None)), [""; 0]);
        assert_eq!(
            changes(&pod("False", 4, Some("CrashLoopBackOff")), &pod("True", 4, None)),
            ["Ready: False → True (ContainersNotReady)"]
        );
    }

    #[test]
    fn deletions_phases_and_vanished_conditions_are_named() {
        let mut failed = pod("False", 3, None);
        failed["metadata"]["deletionTimestamp"] = json!("2026-11-24T03:00:00Z");
        failed["status"]["phase"] = json!("Failed");
        failed["status"]["reason"] = json!("Evicted");
        failed["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
        assert_eq!(
            changes(&pod("True", 3, None), &failed),
            [
                "deletion requested",
                "phase: Running → Failed (Evicted)",
                "Ready: True → False",
                "PodScheduled: True → <none>",
            ]
        );
    }

    #[test]
    fn readiness_is_that_of_ready_or_available() {
        let with = |conditions: Value, phase: &str| {
            health(&json!({"status": {"phase": phase, "conditions": conditions}})).is_ready()
        };
        let ready = json!([{"type": "Available", "status": "False"}, {"type": "Ready", "status": "True"}]);
        assert_eq!(with(ready.clone(), ""), Some(true));
        assert_eq!(with(ready, "Succeeded"), None);
        assert_eq!(with(json!([{"type": "Available", "status": "Unknown"}]), ""), Some(false));
        assert_eq!(with(json!([{"type": "Progressing", "status": "True"}]), ""), None);
        assert_eq!(with(json!("x"), ""), None);
    }

    #[test]
    fn reason_of_a_failing_container_is_first() {
        let failing = health(&pod("False", 3, Some("ImagePullBackOff")));
        assert!(failing.has_failed());
        assert_eq!(failing.unready_reason(), "ImagePullBackOff");
        let starting = health(&pod("False", 0, Some("ContainerCreating")));
        assert!(!starting.has_failed());
        assert_eq!(starting.unready_reason(), "ContainersNotReady");
        let job = json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}});
        assert!(health(&job).has_failed());
    }

    #[test]
    fn unusual_bodies_have_no_health() {
        for body in
            [json!(null), json!([]), json!({"status": 7}), json!({"status": {"conditions": {"a": 1}}})]
        {
            assert_eq!(health(&body), Health::default(), "{body}");
        }
        let odd = json!({"status": {"conditions": [7, {"type": 1}], "containerStatuses": ["x"]}});
        assert_eq!(health(&odd).conditions, vec![Condition::default(); 2]);
        assert_eq!(Health::of(JsonNode::root(b"{\"status\":{\"phase\":\"Fai")), Health::default());
    }
}
