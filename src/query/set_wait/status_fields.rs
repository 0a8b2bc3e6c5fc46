//! The fields of an object that show whether it has ended and why it is not ready.

use jiff::Timestamp;
use serde::Deserialize;

/// The fields of an object. All are absent if one of them has an unexpected type.
#[derive(Debug, Default, Deserialize)]
pub(super) struct StatusFields {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    status: Option<Status>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    creation_timestamp: Option<String>,
    deletion_timestamp: Option<String>,

    owner_references: Option<Vec<Owner>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    controller: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    phase: Option<String>,
    reason: Option<String>,
    observed_generation: Option<i64>,
    conditions: Option<Vec<Condition>>,
    init_container_statuses: Option<Vec<Container>>,
    container_statuses: Option<Vec<Container>>,
}

/// A condition. Absent members are empty.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Condition {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    pub(super) reason: Option<String>,
    last_transition_time: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Container {
    #[serde(default)]
    name: String,
    state: Option<ContainerState>,
}

#[derive(Debug, Deserialize)]
struct ContainerState {
    waiting: Option<Waiting>,
}

#[derive(Debug, Deserialize)]
struct Waiting {
    reason: Option<String>,
}

impl Condition {
    /// Returns the time of the last change of the status.
    pub(super) fn since(&self) -> Option<Timestamp> {
        time(self.last_transition_time.as_deref())
    }
}

/// Returns a time; `None` for a text that is none.
fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}

impl StatusFields {
    pub(super) fn of(json: &[u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    pub(super) fn created(&self) -> Option<Timestamp> {
        time(self.metadata.creation_timestamp.as_deref())
    }

    /// Whether the object is being deleted.
    pub(super) fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.as_ref().is_some_and(|time| !time.is_empty())
    }

    /// Returns the API version and the kind of the controller that owns the object.
    pub(super) fn controller(&self) -> Option<(&str, &str)> {
        let owners = self.metadata.owner_references.iter().flatten();
        let mut controllers = owners.filter(|owner| owner.controller == Some(true));
        controllers.next().map(|owner| (owner.api_version.as_str(), owner.kind.as_str()))
    }

    pub(super) fn conditions(&self) -> &[Condition] {
        self.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default()
    }

    /// Returns the condition of this type, if it is true.
    pub(super) fn true_condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions().iter().find(|condition| condition.kind == kind && condition.status == "True")
    }

    pub(super) fn phase(&self) -> &str {
        self.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
    }

    /// Returns the reason of the status itself, such as `Evicted`.
    pub(super) fn reason(&self) -> Option<&str> {
        self.status.as_ref()?.reason.as_deref().filter(|reason| !reason.is_empty())
    }

    /// Whether a controller has written conditions or the generation that it has seen.
    pub(super) fn has_controller_status(&self) -> bool {
        let Some(status) = &self.status else { return false };
        status.observed_generation.is_some() || status.conditions.as_ref().is_some_and(|all| !all.is_empty())
    }

    /// Returns the reasons for which containers wait, each with the name of the container.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (&str, &str)> {
        let containers = self.status.iter().flat_map(|status| {
            status.init_container_statuses.iter().chain(&status.container_statuses).flatten()
        });
        containers.filter_map(|container| {
            let reason = container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()?;
            (!reason.is_empty()).then_some((container.name.as_str(), reason))
        })
    }
}
