//! An object at the moment at which conditions are evaluated.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Duration;

use jiff::Timestamp;

use super::status_fields::StatusFields;
use crate::object::Object;
use crate::query::kstatus::{ComputedStatus, StatusError};

/// A moment: the time of day, which expressions read, and the time since the start, which intervals are measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The time of day.
    pub wall: Timestamp,
    /// The time since the start of the wait. It never decreases.
    pub elapsed: Duration,
}

/// One state of an object, or the fact that it is gone.
pub(super) struct Subject<'a> {
    object: &'a Object,
    json: OnceCell<Cow<'a, [u8]>>,
    pub(super) is_gone: bool,
    /// The time since the start at which it was seen first.
    pub(super) first_seen: Duration,
    /// Whether it existed before the start.
    pub(super) is_initial: bool,
    pub(super) moment: Moment,
    fields: OnceCell<StatusFields>,
    status: OnceCell<Result<ComputedStatus, StatusError>>,
}

impl<'a> Subject<'a> {
    /// Creates the subject of a state that exists.
    pub(super) fn new(object: &'a Object, first_seen: Duration, is_initial: bool, moment: Moment) -> Self {
        let (json, fields, status) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { object, json, is_gone: false, first_seen, is_initial, moment, fields, status }
    }

    /// Returns the subject of an object that is gone.
    pub(super) fn gone(self) -> Self {
        Self { is_gone: true, ..self }
    }

    pub(super) fn object(&self) -> &'a Object {
        self.object
    }

    pub(super) fn json(&self) -> &[u8] {
        self.json.get_or_init(|| self.object.json())
    }

    pub(super) fn fields(&self) -> &StatusFields {
        self.fields.get_or_init(|| StatusFields::of(self.json()))
    }

    /// Returns the status by kstatus' rules.
    pub(super) fn status(&self) -> Result<&ComputedStatus, &StatusError> {
        self.status.get_or_init(|| ComputedStatus::of(self.json(), self.moment.wall)).as_ref()
    }

    /// Returns the group and the kind.
    pub(super) fn group_kind(&self) -> (&'a str, &'a str) {
        let type_meta = self.object.type_meta();
        (type_meta.api_version.split_once('/').map_or("", |(group, _)| group), &type_meta.kind)
    }

    /// Returns the time since the start at which the time of day will be `at`; `None` if that is past.
    pub(super) fn elapsed_at(&self, at: Timestamp) -> Option<Duration> {
        let wait = Duration::try_from(at.duration_since(self.moment.wall)).ok()?;
        (!wait.is_zero()).then(|| self.moment.elapsed + wait)
    }
}
