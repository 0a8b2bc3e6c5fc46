//! The meaning of cells: which are abnormal, by the headings and texts of a row. Works for the columns of Kubernetes and
//! for those of custom resources that have the same names.

use crate::view::colour::Colour;

/// The severity of an abnormal cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// On the way to another state, or partly available.
    Warning,
    /// Failed or unavailable.
    Error,
}

impl Severity {
    /// Returns the colour of a cell.
    pub(crate) fn colour(self) -> Colour {
        match self {
            Self::Warning => Colour::Yellow,
            Self::Error => Colour::Red,
        }
    }
}

/// The texts of a status that stand for a failure.
const FAILED: [&str; 30] = [
    "BackoffLimitExceeded",
    "ContainerCannotRun",
    "ContainerStatusUnknown",
    "CreateContainerConfigError",
    "DeadlineExceeded",
    "Degraded",
    "Denied",
    "ErrImageNeverPull",
    "ErrImagePull",
    "Error",
    "Evicted",
    "Failed",
    "InvalidImageName",
    "Lost",
    "NodeAffinity",
    "NodeLost",
    "NodeShutdown",
    "NotReady",
    "OOMKilled",
    "OutOfcpu",
    "OutOfmemory",
    "OutOfpods",
    "Rejected",
    "Stalled",
    "StartError",
    "Shutdown",
    "Terminated",
    "Unhealthy",
    "Unschedulable",
    "Unavailable",
];

/// The texts of a status that leads to another one, or that needs a look.
const PASSING: [&str; 21] = [
    "ContainerCreating",
    "Creating",
    "Deleting",
    "FailureTarget",
    "Missing",
    "OutOfSync",
    "Paused",
    "Pending",
    "PodInitializing",
    "Progressing",
    "Provisioning",
    "Reconciling",
    "Released",
    "Resizing",
    "SchedulingDisabled",
    "SchedulingGated",
    "Suspended",
    "Terminating",
    "Unknown",
    "Updating",
    "Waiting",
];

/// The texts of a status whose containers have ended as they should.
const ENDED: [&str; 3] = ["Complete", "Completed", "Succeeded"];

/// The meaning of a column, by its heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnMeaning {
    /// The kind of change.
    Mark,
    /// A state in words.
    Status,
    /// The number of ready parts, or a condition that should be true.
    Ready,
    /// A condition that should be true.
    GoodCondition,
    /// A condition that should be false.
    BadCondition,
    /// The type of an event.
    EventType,
    /// An address or measurement that may be unknown.
    Value,
}

impl ColumnMeaning {
    fn of(heading: &str) -> Option<Self> {
        Some(match heading {
            "EVENT" => Self::Mark,
            "STATUS" | "PHASE" | "STATE" | "HEALTH" | "HEALTH STATUS" | "SYNC STATUS" | "CONDITION" => {
                Self::Status
            }
            "READY" => Self::Ready,
            "ACCEPTED" | "AVAILABLE" | "ESTABLISHED" | "HEALTHY" | "PROGRAMMED" | "SYNCED" => {
                Self::GoodCondition
            }
            "DEGRADED" | "STALLED" => Self::BadCondition,
            "TYPE" => Self::EventType,
            "EXTERNAL-IP" | "TARGETS" => Self::Value,
            _ => return None,
        })
    }

    /// Returns the severity of a cell in a row with this STATUS and DESIRED.
    fn severity(self, cell: &str, status: Option<&str>, desired: Option<&str>) -> Option<Severity> {
        let warning_if = |is_abnormal: bool| is_abnormal.then_some(Severity::Warning);
        match self {
            Self::Mark => None,
            Self::Status => of_status(cell),
            Self::Ready => of_ready(cell, status, desired),
            Self::GoodCondition => of_condition(cell, "False"),
            Self::BadCondition => of_condition(cell, "True"),
            Self::EventType => warning_if(cell == "Warning"),
            Self::Value => warning_if(cell == "<pending>" || cell.contains("<unknown>")),
        }
    }
}

/// The meanings of the columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowMeaning {
    /// The columns that have one, by index.
    columns: Vec<(usize, ColumnMeaning)>,
    /// The index of the STATUS of the row, which explains why it is not ready.
    status: Option<usize>,
    /// The index of the number that READY should reach.
    desired: Option<usize>,
}

impl RowMeaning {
    /// Returns the meanings of the columns with these headings in capitals.
    pub(crate) fn of(headings: &[impl AsRef<str>]) -> Self {
        let place = |of: &str| headings.iter().position(|heading| heading.as_ref() == of);
        let meanings = headings.iter().map(|heading| ColumnMeaning::of(heading.as_ref()));
        Self {
            columns: meanings.enumerate().filter_map(|(at, meaning)| Some((at, meaning?))).collect(),
            status: place("STATUS"),
            desired: place("DESIRED"),
        }
    }

    /// Returns the colours of the cells of a row that have one, with their indices, in order: marks of changes are dim,
    /// abnormal cells yellow or red.
    pub(crate) fn colours(&self, cells: &[&str]) -> impl Iterator<Item = (usize, Colour)> {
        let status = self.status.and_then(|at| cells.get(at)).copied();
        let desired = self.desired.and_then(|at| cells.get(at)).copied();
        self.columns.iter().filter_map(move |(at, meaning)| {
            let cell = *cells.get(*at)?;
            let colour = match meaning {
                ColumnMeaning::Mark => Colour::Dim,
                meaning => meaning.severity(cell, status, desired)?.colour(),
            };
            Some((*at, colour))
        })
    }
}

/// Returns the severity of a cell on its own, below this heading in capitals.
pub(crate) fn severity(heading: &str, cell: &str) -> Option<Severity> {
    ColumnMeaning::of(heading)?.severity(cell, None, None)
}

/// Whether a status or a reason stands for a failure.
pub(crate) fn is_failure(text: &str) -> bool {
    of_status_word(text) == Some(Severity::Error)
}

/// Returns the severity of a status, which may have several words: `Ready,SchedulingDisabled`.
fn of_status(cell: &str) -> Option<Severity> {
    cell.split(',').filter_map(of_status_word).max()
}

fn of_status_word(word: &str) -> Option<Severity> {
    let is_failed = |text: &str| {
        FAILED.contains(&text)
            || text.ends_with("BackOff")
            || text.ends_with("Error")
            || text.starts_with("ExitCode:")
            || text.starts_with("Signal:")
    };
    match word.strip_prefix("Init:") {
        // An init container runs, or has failed.
        Some(init) if is_failed(init) => Some(Severity::Error),
        Some(_) => Some(Severity::Warning),
        None if is_failed(word) => Some(Severity::Error),
        None => PASSING.contains(&word).then_some(Severity::Warning),
    }
}

/// Returns the severity of `1/3`, of a number below `desired`, or of a condition.
fn of_ready(cell: &str, status: Option<&str>, desired: Option<&str>) -> Option<Severity> {
    let number = |text: &str| text.parse::<u64>().ok();
    let counts = match cell.split_once('/') {
        Some((ready, all)) => number(ready).zip(number(all)),
        None => number(cell).zip(desired.and_then(number)),
    };
    let Some((ready, all)) = counts else { return of_condition(cell, "False") };
    if ready >= all || status.is_some_and(|status| ENDED.contains(&status)) {
        return None;
    }
    // Nothing is ready while it starts or ends.
    let is_passing = status.and_then(of_status) == Some(Severity::Warning);
    Some(if ready == 0 && !is_passing { Severity::Error } else { Severity::Warning })
}

/// Returns the severity of a condition's status, which a reason may follow: `False (MissingEndpoints)`.
fn of_condition(cell: &str, bad: &str) -> Option<Severity> {
    match cell.split_once(" (").map_or(cell, |(status, _)| status) {
        status if status.eq_ignore_ascii_case(bad) => Some(Severity::Error),
        "Unknown" => Some(Severity::Warning),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Option<Severity> = Some(Severity::Error);
    const YELLOW: Option<Severity> = Some(Severity::Warning);

    #[test]
    fn status_of_each_type_has_its_severity() {
        for (cell, expected) in [
            ("Running", None),
            ("Completed", None),
            ("Active", None),
            ("Bound", None),
            ("Ready", None),
            ("Synced", None),
            ("", None),
            ("stored artifact for revision 'main@sha1:0'", None),
            ("True", None),
            ("False", None),
            ("Pending", YELLOW),
            ("ContainerCreating", YELLOW),
            ("Terminating", YELLOW),
            ("Init:0/2", YELLOW),
            ("Init:PodInitializing", YELLOW),
            ("Ready,SchedulingDisabled", YELLOW),
            ("OutOfSync", YELLOW),
            ("Error", RED),
            ("CrashLoopBackOff", RED),
            ("ImagePullBackOff", RED),
            ("ErrImagePull", RED),
            ("CreateContainerError", RED),
            ("Init:CrashLoopBackOff", RED),
            ("Init:ExitCode:1", RED),
            ("ExitCode:137", RED),
            ("OOMKilled", RED),
            ("NotReady", RED),
            ("NotReady,SchedulingDisabled", RED),
            ("Lost", RED),
            ("Failed", RED),
        ] {
            assert_eq!(severity("STATUS", cell), expected, "{cell:?}");
        }
        assert_eq!(severity("PHASE", "Failed"), RED);
        assert_eq!(severity("NAME", "Failed"), None);
    }

    #[test]
    fn conditions_are_abnormal_where_the_heading_says_so() {
        for (heading, cell, expected) in [
            ("READY", "True", None),
            ("READY", "False", RED),
            ("READY", "false", RED),
            ("READY", "Unknown", YELLOW),
            ("SYNCED", "False", RED),
            ("AVAILABLE", "False (MissingEndpoints)", RED),
            ("AVAILABLE", "3", None),
            ("DEGRADED", "True", RED),
            ("DEGRADED", "False", None),
            ("SUSPEND", "True", None),
            ("PROGRESSING", "True", None),
            ("SUSPEND", "False", None),
            ("TYPE", "Warning", YELLOW),
            ("TYPE", "ClusterIP", None),
        ] {
            assert_eq!(severity(heading, cell), expected, "{heading} {cell}");
        }
    }

    /// Returns the coloured cells of a row.
    fn coloured(headings: &[&str], cells: &[&str]) -> Vec<(String, Colour)> {
        let meaning = RowMeaning::of(headings);
        meaning.colours(cells).map(|(at, colour)| (cells[at].to_owned(), colour)).collect()
    }

    #[test]
    fn only_abnormal_cells_and_marks_are_coloured() {
        let pods = ["EVENT", "NAME", "READY", "STATUS", "RESTARTS", "AGE"];
        for (ready, status, expected) in [
            ("1/1", "Running", &[][..]),
            ("0/1", "Completed", &[]),
            ("0/1", "Pending", &[("0/1", Colour::Yellow), ("Pending", Colour::Yellow)]),
            ("0/1", "Running", &[("0/1", Colour::Red)]),
            ("1/2", "Running", &[("1/2", Colour::Yellow)]),
            ("0/1", "CrashLoopBackOff", &[("0/1", Colour::Red), ("CrashLoopBackOff", Colour::Red)]),
        ] {
            let cells = ["ADDED   ", "web", ready, status, "0", "1s"];
            let expected: Vec<_> = [("ADDED   ", Colour::Dim)].iter().chain(expected).copied().collect();
            let found = coloured(&pods, &cells);
            let found: Vec<_> = found.iter().map(|(cell, colour)| (cell.as_str(), *colour)).collect();
            assert_eq!(found, expected, "{cells:?}");
        }
    }

    #[test]
    fn ready_replicas_are_compared_with_the_desired_ones() {
        let sets = ["NAME", "DESIRED", "CURRENT", "READY", "AGE"];
        assert_eq!(coloured(&sets, &["web", "3", "3", "3", "1s"]), []);
        assert_eq!(coloured(&sets, &["web", "3", "3", "2", "1s"]), [("2".into(), Colour::Yellow)]);
        assert_eq!(coloured(&sets, &["web", "3", "3", "0", "1s"]), [("0".into(), Colour::Red)]);
        assert_eq!(coloured(&sets, &["web", "0", "0", "0", "1s"]), []);
        assert_eq!(coloured(&["NAME", "READY"], &["web", "0/0"]), []);
        assert_eq!(coloured(&["NAME", "READY"], &["web", "0"]), []);
        assert_eq!(coloured(&["NAME", "READY"], &["web"]), [], "a short row");
    }

    #[test]
    fn pending_addresses_and_unknown_metrics_are_coloured() {
        let services = ["NAME", "EXTERNAL-IP"];
        assert_eq!(coloured(&services, &["web", "<pending>"]), [("<pending>".into(), Colour::Yellow)]);
        assert_eq!(coloured(&services, &["web", "<none>"]), []);
        let metric = "cpu: <unknown>/80%";
        assert_eq!(coloured(&["TARGETS"], &[metric]), [(metric.into(), Colour::Yellow)]);
    }
}
