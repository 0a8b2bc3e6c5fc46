//! The handling of a part that failed, the same for one-shot commands and watches.

use kdelta::listwatch::Error;

use crate::session::{PlannedPart, is_unreachable};

/// The reaction of a command to a part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureAction {
    /// The type is not served: it is resolved again, since discovery may be old.
    Resolve,
    /// The named object does not exist. With a namespace pattern, another namespace may have it.
    ReportMissing,
    /// The user may not list or watch it: its namespaces are tried one by one, if all of them were requested at once.
    /// A part that the user did not name is left out then, and any other is reported.
    SplitByNamespace {
        /// Whether the user did not name the part.
        or_leave_out: bool,
    },
    /// The cluster can't be reached: with several clusters, the others continue, and this one may return.
    WaitForCluster,
    /// It is reported.
    Report,
}

impl FailureAction {
    /// Returns the action for the error of a part.
    pub(super) fn of(planned: &PlannedPart, error: &Error) -> Self {
        match error {
            Error::Forbidden(_) => {
                Self::SplitByNamespace { or_leave_out: planned.open_type || planned.open_namespace }
            }
            Error::NotFound(_) if !is_missing(error) => Self::Resolve,
            Error::NotFound(_) if planned.part.name.is_some() => Self::ReportMissing,
            error if is_unreachable(error) => Self::WaitForCluster,
            _ => Self::Report,
        }
    }
}

/// Whether the object is missing, but not its type: a server that does not serve the type names no object.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::NotFound(status) if status.name.is_some())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::listwatch::Status;

    use super::*;
    use crate::session::Part;
    use crate::session::part_fixtures::{resource, template};

    fn planned(name: Option<&str>, open_type: bool, open_namespace: bool) -> PlannedPart {
        let part = Part { resource: resource("pods"), name: name.map(Arc::from), ..template("home") };
        PlannedPart { part, open_type, open_namespace }
    }

    #[test]
    fn refusal_splits_a_part_and_leaves_it_out_unless_it_was_named() {
        let forbidden = Error::Forbidden(Status::default());
        for (open_type, open_namespace) in [(false, false), (true, false), (false, true)] {
            assert_eq!(
                FailureAction::of(&planned(None, open_type, open_namespace), &forbidden),
                FailureAction::SplitByNamespace { or_leave_out: open_type || open_namespace }
            );
        }
    }

    #[test]
    fn missing_object_differs_from_a_missing_type() {
        let missing =
            |name: Option<&str>| Error::NotFound(Status { name: name.map(Into::into), ..Status::default() });
        for (part_name, name, action) in [
            (Some("web"), Some("web"), FailureAction::ReportMissing),
            (Some("web"), None, FailureAction::Resolve),
            (None, None, FailureAction::Resolve),
            (None, Some("web"), FailureAction::Report),
        ] {
            assert_eq!(FailureAction::of(&planned(part_name, false, false), &missing(name)), action);
        }
    }

    #[test]
    fn only_failures_of_the_connection_may_pass() {
        let of = |error| FailureAction::of(&planned(None, false, false), &error);
        assert_eq!(of(Error::Refused(String::new())), FailureAction::WaitForCluster);
        assert_eq!(of(Error::Invalid(Status::default())), FailureAction::Report);
    }
}
