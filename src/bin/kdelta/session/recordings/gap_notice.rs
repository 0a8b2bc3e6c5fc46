//! The notice that nothing was observed at the requested moment of a recording.

use std::thread::{self, JoinHandle};

use kdelta::recording::{IncompleteList, Moment, NamespaceLimit, Recording, RecordingError, Unobserved};

use super::requested_types::RequestedTypes;
use crate::session::cluster::Cluster;
use crate::settings::Task;

/// The maximum number of resources that a notice names.
const MAX_NAMES: usize = 4;

/// Looks for a gap at a moment, and warns of it, before it is dropped at the latest.
///
/// The ends of gaps are recorded later than the moment, possibly in the newest entries, which take longest to read.
pub(in crate::session) struct GapNotice {
    /// A std thread: it only reads files. It ends with the search, and the drop waits for it.
    search: Option<JoinHandle<()>>,
}

impl GapNotice {
    pub(super) fn of(recording: &Recording, moment: Moment, task: &Task, cluster: &Cluster) -> Self {
        // What reads a range reports its gaps, and a server those of its moment.
        let reads_moment =
            matches!(task, Task::Get(_) | Task::Watch(_) | Task::Index(_) | Task::Tree(_) | Task::Events(_));
        match moment {
            Moment::Time(_) | Moment::Version(_) => {}
            Moment::End if reads_moment && task.range().is_none() => {}
            Moment::End => return Self { search: None },
        }
        let (recording, task, warn) = (recording.clone(), task.clone(), cluster.warn());
        let namespace = cluster.namespace().to_owned();
        let search = thread::spawn(move || {
            lower_priority();
            match notices(&recording, moment, &task, &namespace) {
                Ok(notices) => notices.iter().for_each(|notice| warn(notice)),
                Err(error) => warn(&format!("whether this moment was observed can't be read: {error}")),
            }
        });
        Self { search: Some(search) }
    }
}

/// Returns the notices about a moment: at most one about gaps, one about lists, and one about the namespaces of each type.
fn notices(
    recording: &Recording,
    moment: Moment,
    task: &Task,
    namespace: &str,
) -> Result<Vec<String>, RecordingError> {
    let unobserved = match (moment, recording.end()) {
        (Moment::Version(version), _) => recording.unobserved_at_version(version)?,
        (Moment::Time(time), _) | (Moment::End, Some(time)) => recording.unobserved_at(time)?,
        (Moment::End, None) => Unobserved::default(),
    };
    let Unobserved { gaps, incomplete_lists, limits } = unobserved;
    let requested = RequestedTypes::of(task, &recording.resources()?, namespace);
    let gaps: Vec<_> = gaps.iter().filter(|gap| requested.includes_gap(gap)).collect();
    let of_gaps = gaps.first().map(|first| {
        let what = match &first.resource {
            None => first.to_string(),
            Some(_) => format!(
                "{} were not observed from {} to {}",
                joined(gaps.iter().map(|gap| gap.subject())),
                gaps.iter().map(|gap| gap.from).min().unwrap_or(first.from),
                gaps.iter().map(|gap| gap.to).max().unwrap_or(first.to),
            ),
        };
        format!("{what}: this is the state before")
    });
    let lists: Vec<_> = incomplete_lists.iter().filter(|list| requested.includes(&list.resource)).collect();
    let of_lists = (!lists.is_empty()).then(|| {
        let names = joined(lists.iter().map(|list| list.resource.group_resource()));
        let until = lists.iter().map(|IncompleteList { until, .. }| *until).min().flatten();
        let when = match until {
            Some(until) => format!("before {until}"),
            None if moment == Moment::End => "when the recording ended".to_owned(),
            None => "at this moment".to_owned(),
        };
        format!("the first list of {names} was not complete {when}: objects may be missing")
    });
    let of_namespaces = unrecorded_namespaces(&limits, &requested);
    Ok(of_gaps.into_iter().chain(of_lists).chain(of_namespaces).collect())
}

/// Returns a notice for each requested type that was not recorded in a requested namespace. Of all namespaces, those that were
/// recorded are named.
fn unrecorded_namespaces(limits: &[NamespaceLimit], requested: &RequestedTypes) -> Vec<String> {
    let notice = |limit: &NamespaceLimit| {
        if requested.has_all_namespaces() {
            return Some(limit.to_string());
        }
        let NamespaceLimit { resource, namespaces } = limit;
        let names = requested.named_namespaces().iter();
        let mut missing = names.filter(|name| !limit.includes(name)).cloned().peekable();
        missing.peek()?;
        Some(format!(
            "{} in the namespace {} were not recorded: the recording has those in {}",
            resource.group_resource(),
            joined(missing),
            joined(namespaces.iter().map(ToString::to_string)),
        ))
    };
    let is_requested =
        |limit: &&NamespaceLimit| limit.resource.namespaced && requested.includes(&limit.resource);
    limits.iter().filter(is_requested).filter_map(notice).collect()
}

/// Joins names, the first of which are printed.
fn joined(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<_> = names.collect();
    names.dedup();
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// Lowers the priority of this thread: what the command prints is more urgent than the notice.
fn lower_priority() {
    // On Linux, a nice value is that of a thread; elsewhere of the whole process. A refusal changes only the order.
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::nice(10);
}

impl Drop for GapNotice {
    fn drop(&mut self) {
        if let Some(search) = self.search.take() {
            // A panic was reported by its thread.
            let _ended = search.join();
        }
    }
}
