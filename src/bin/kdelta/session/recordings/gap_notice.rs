//! The notice that nothing was observed at the requested moment of a recording.

use std::thread::{self, JoinHandle};

use kdelta::recording::{Gap, Moment, Recording};

use crate::session::cluster::Warn;

/// Looks for a gap at a moment, and warns of it, before it is dropped at the latest.
///
/// The ends of gaps are recorded later than the moment, possibly in the newest entries, which take longest to read.
pub(in crate::session) struct GapNotice {
    /// A std thread: it only reads files. It ends with the search, and the drop waits for it.
    search: Option<JoinHandle<()>>,
}

impl GapNotice {
    pub(super) fn of(recording: &Recording, moment: Moment, warn: Warn) -> Self {
        let Moment::Time(time) = moment else { return Self { search: None } };
        let recording = recording.clone();
        let search = thread::spawn(move || {
            lower_priority();
            match recording.gap_at(time) {
                Ok(Some(gap)) => warn(&format!("{}: this is the state before", gap_notice(&gap))),
                Ok(None) => {}
                Err(error) => warn(&format!("whether this moment was observed can't be read: {error}")),
            }
        });
        Self { search: Some(search) }
    }
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

/// Describes a gap: its time, and what was not observed in it.
pub(crate) fn gap_notice(gap: &Gap) -> String {
    let Gap { from, to, resource, .. } = gap;
    let what = match resource {
        Some(resource) => format!("{} were not observed", resource.group_resource()),
        None => "nothing was recorded".to_owned(),
    };
    format!("{what} from {from} to {to}")
}
