//! From what a part tells to what is printed: a line for each delta, marks where the format has them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool};

use jiff::Timestamp;
use kdelta::diff::Scope;
use kdelta::informer::Notification;
use kdelta::listwatch::{Error, Status};
use kdelta::object::{DeletedObject, Object, Origin, ResourceVersion};
use kdelta::queue;

use super::collections::Collections;
use super::resumed::Event;
use crate::commands::watched::Watched;
use crate::output::Stream;
use crate::session::Part;
use crate::view::{Change, ChangeKind, Mark, MarkKind};

/// What is printed of what is told.
pub(super) struct Selected {
    /// Updates that change something there.
    pub(super) scope: Scope,
    /// Whether one can go on from a version: not where deltas are merged, which are told in another order than they
    /// happened, nor where the selection knows what was before.
    pub(super) resumable: bool,
}

/// Prints deltas and counts them.
pub(super) struct Printer<W> {
    stream: Stream,
    /// The parts by their number.
    parts: HashMap<usize, Member>,
    /// Which of them select here what the server could not select. Relaxed is enough: it is set before the first object
    /// is sent, through channels.
    selects_locally: HashMap<usize, Arc<AtomicBool>>,
    collections: Collections,
    selected: Selected,
    watched: Watched,
    out: W,
}

/// What is known of a part.
struct Member {
    part: Part,
    /// Whether its initial state is printed.
    initial: bool,
    /// The last version that was said one can go on from.
    resume: Option<ResourceVersion>,
}

impl<W: Write> Printer<W> {
    pub(super) fn new(stream: Stream, selected: Selected, watched: &Watched, out: W) -> Self {
        let collections = Collections::default();
        let (parts, selects_locally) = (HashMap::new(), HashMap::new());
        Self { stream, parts, selects_locally, collections, selected, watched: watched.clone(), out }
    }

    /// A part joins, before anything is told of it. `initial` is whether its initial state is printed.
    pub(super) fn join(&mut self, place: usize, part: &Part, initial: bool) {
        self.collections.join(place, part);
        self.parts.insert(place, Member { part: part.clone(), initial, resume: None });
    }

    /// A part runs, and this will say whether it selects here.
    pub(super) fn started(&mut self, place: usize, selects_locally: Arc<AtomicBool>) {
        self.selects_locally.insert(place, selects_locally);
    }

    /// A part leaves: nothing more is told of it.
    pub(super) fn leave(&mut self, place: usize) {
        self.collections.leave(place);
        self.selects_locally.remove(&place);
        self.parts.remove(&place);
    }

    /// Prints what a part tells.
    pub(super) fn notification(
        &mut self,
        part: usize,
        received: Timestamp,
        notification: Notification,
    ) -> io::Result<()> {
        let Some(Member { part: own, .. }) = self.parts.get(&part) else { return Ok(()) };
        let (kind, object, old, origin, inferred) = match notification {
            Notification::Mark(mark) => return self.told_mark(part, received, mark),
            Notification::Added { object, origin, .. } => (ChangeKind::Added, object, None, origin, false),
            Notification::Updated { new, origin: Origin::Resync, .. } => {
                (ChangeKind::Sync, new, None, Origin::Resync, false)
            }
            Notification::Updated { old, new, origin } => {
                (ChangeKind::Modified, new, Some(old), origin, false)
            }
            Notification::Deleted { object, origin } => {
                let inferred = object.is_final_state_unknown();
                (ChangeKind::Deleted, last_state(own, &object), None, origin, inferred)
            }
        };
        let change = change(own, received, kind, object, origin);
        self.delta(part, &Change { final_state_unknown: inferred, old, ..change })
    }

    /// Prints what a part tells that goes on from a version.
    pub(super) fn event(&mut self, part: usize, received: Timestamp, event: Event) -> io::Result<()> {
        let Some(Member { part: own, .. }) = self.parts.get(&part) else { return Ok(()) };
        let Event { kind, object, old } = event;
        let change = change(own, received, kind, object, Origin::Watch);
        self.delta(part, &Change { old, ..change })
    }

    fn delta(&mut self, part: usize, change: &Change) -> io::Result<()> {
        let initial = self.parts.get(&part).is_some_and(|member| member.initial);
        if change.origin == Origin::List && !initial {
            return Ok(());
        }
        self.watched.count_told();
        if !self.is_in_scope(change) {
            self.watched.count_shown(false);
            return Ok(());
        }
        // A watch tells everything in order, so its delta says up to where all has been told. A list does not, nor does a
        // delete that was inferred, which shows an old state.
        // A resync comes between the deltas and takes none away: what could be said before it still holds.
        let is_told_in_order = change.origin == Origin::Watch && !change.final_state_unknown;
        let is_resumable = self.is_resumable(part);
        let member = self.parts.get_mut(&part).filter(|_| is_resumable);
        let resume = member.and_then(|member| {
            if is_told_in_order {
                let version = change.object.resource_version();
                member.resume = Some(later(member.resume.take(), version));
            }
            member.resume.as_ref().filter(|_| is_told_in_order || change.origin == Origin::Resync)
        });
        // Whoever has read a line must find it counted, so what leaves at once is counted before.
        let leaves_at_once = self.stream.writes_at_once();
        if leaves_at_once {
            self.watched.count_shown(true);
        }
        let printed = self.stream.change(change, resume, &mut self.out)?;
        if !leaves_at_once {
            self.watched.count_shown(printed);
        }
        Ok(())
    }

    /// Whether one can go on from where a part is: a watch of one name says nothing of the others.
    fn is_resumable(&self, part: usize) -> bool {
        let selects_locally =
            self.selects_locally.get(&part).is_some_and(|here| here.load(atomic::Ordering::Relaxed));
        self.selected.resumable && !selects_locally && self.collections.is_whole(part)
    }

    /// Whether something changed that is asked for. What came and went always is, and so is what nobody can compare.
    fn is_in_scope(&self, change: &Change) -> bool {
        let scope = &self.selected.scope;
        let Some(old) = change.old.as_ref().filter(|_| !scope.is_all()) else { return true };
        let (old, new) = (old.json(), change.object.json());
        // The text of an object is UTF-8.
        let text = |json| std::str::from_utf8(json).unwrap_or_default();
        scope.differs(text(&old), text(&new))
    }

    /// A part has ended with an error: the last line of its stream.
    pub(super) fn ended(&mut self, part: usize, received: Timestamp, error: &Error) -> io::Result<()> {
        self.mark(part, received, error_of(error), None)?;
        self.left_out(part, received)
    }

    /// A part can't be had for now: its collection does not wait for it.
    pub(super) fn left_out(&mut self, part: usize, received: Timestamp) -> io::Result<()> {
        match self.collections.ended(part) {
            Some(version) => self.synced(part, received, version),
            None => Ok(()),
        }
    }

    /// A part that is not there can't be had, and neither can what was asked for instead.
    pub(super) fn refused(&mut self, part: &Part, received: Timestamp, error: &Error) -> io::Result<()> {
        let mark = mark(part, received, error_of(error));
        self.stream.mark(&mark, None, &mut self.out)
    }

    /// Writes what waits to be written; for the end of a batch.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush(&mut self.out)
    }

    fn told_mark(&mut self, part: usize, received: Timestamp, mark: queue::Mark) -> io::Result<()> {
        match mark {
            queue::Mark::Synced { resource_version } => {
                match self.collections.synced(part, &resource_version) {
                    Some(version) => self.synced(part, received, version),
                    None => Ok(()),
                }
            }
            queue::Mark::Gap { from, to, lasted } => {
                // The server has forgotten that version, and the difference is still to be printed.
                if let Some(member) = self.parts.get_mut(&part) {
                    member.resume = None;
                }
                self.mark(part, received, MarkKind::Gap { from, to, lasted }, None)
            }
        }
    }

    /// The collection of a part has synced.
    fn synced(&mut self, part: usize, received: Timestamp, version: ResourceVersion) -> io::Result<()> {
        let resume = self.is_resumable(part).then(|| version.clone());
        if let Some(member) = self.parts.get_mut(&part) {
            member.resume.clone_from(&resume);
        }
        self.mark(part, received, MarkKind::Synced { version }, resume.as_ref())
    }

    fn mark(
        &mut self,
        part: usize,
        received: Timestamp,
        kind: MarkKind,
        resume: Option<&ResourceVersion>,
    ) -> io::Result<()> {
        let Some(Member { part, .. }) = self.parts.get(&part) else { return Ok(()) };
        self.stream.mark(&mark(part, received, kind), resume, &mut self.out)
    }
}

/// The version to resume at after an event of that version. Never an older one: a server may send a delete with the
/// version of the object's last update, and a reader that resumed there would be told again what it has read. A version
/// that has no order does not replace one that has.
fn later(resume: Option<ResourceVersion>, version: &ResourceVersion) -> ResourceVersion {
    let is_ordered = |version: &ResourceVersion| version.compare(version).is_ok();
    match resume {
        Some(resume) if is_ordered(&resume) && resume.compare(version) != Ok(Ordering::Less) => resume,
        _ => version.clone(),
    }
}

fn mark(part: &Part, received: Timestamp, kind: MarkKind) -> Mark {
    let Part { context, resource, namespace, name, .. } = part.clone();
    // The names of a collection sync as one; each is watched by itself.
    let name = name.filter(|_| !matches!(kind, MarkKind::Synced { .. }));
    Mark { kind, resource, context, namespace, name, received }
}

/// What the server said, or what stands for it.
fn error_of(error: &Error) -> MarkKind {
    let spoken = || Status { message: error.to_string(), ..Status::default() };
    let status = error.status().cloned().unwrap_or_else(spoken);
    // Credentials that could not be had are no server's answer, and have no reason.
    let code = code_of(error).filter(|_| !status.reason.is_empty());
    MarkKind::Error { status, code }
}

/// The number of a server's answer that means this error.
fn code_of(error: &Error) -> Option<u16> {
    Some(match error {
        Error::Expired(_) => 410,
        Error::TooLargeResourceVersion(_) => 504,
        Error::TooManyRequests { .. } => 429,
        Error::Unavailable { .. } => 503,
        Error::Internal(_) => 500,
        Error::Unauthorized(_) => 401,
        Error::Forbidden(_) => 403,
        Error::NotFound(_) => 404,
        Error::NotSupported(_) => 405,
        Error::Invalid(_) => 400,
        _ => return None,
    })
}

/// A change of a part's object, with no state before it.
fn change(part: &Part, received: Timestamp, kind: ChangeKind, object: Arc<Object>, origin: Origin) -> Change {
    Change {
        kind,
        object,
        old: None,
        origin,
        final_state_unknown: false,
        resource: Arc::clone(&part.resource),
        context: Arc::clone(&part.context),
        received,
    }
}

/// What a delete shows: the last state that is known, or the name alone.
fn last_state(part: &Part, deleted: &DeletedObject) -> Arc<Object> {
    if let Some(object) = deleted.object() {
        return Arc::clone(object);
    }
    let key = deleted.key();
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    Arc::new(Object::named(part.resource.type_meta(), namespace, name))
}

#[cfg(test)]
mod tests {
    use kdelta::informer::Notification::{Added, Deleted};
    use kdelta::object::{DeletedFinalStateUnknown, Ingest};

    use super::*;
    use crate::output::{LineOptions, Messages};
    use crate::session::part_fixtures::{resource, template};

    /// A printer of JSON lines with one part, and who counts.
    fn printer(initial: bool) -> (Printer<Vec<u8>>, Watched) {
        let watched = Watched::new(Arc::new(Messages::stderr(false, false)), false);
        let stream = Stream::json_lines(LineOptions::default());
        let selected = Selected { scope: Scope::default(), resumable: true };
        let mut printer = Printer::new(stream, selected, &watched, Vec::new());
        printer.join(0, &Part { resource: resource("pods"), ..template("shop") }, initial);
        (printer, watched)
    }

    fn pod(uid: &str, version: &str) -> Arc<Object> {
        let metadata =
            serde_json::json!({"name": "a", "namespace": "shop", "uid": uid, "resourceVersion": version});
        let json = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}).to_string();
        let ingest = Ingest::of(resource("pods").type_meta());
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    fn told(printer: &mut Printer<Vec<u8>>, notifications: impl IntoIterator<Item = Notification>) {
        for notification in notifications {
            printer.notification(0, Timestamp::UNIX_EPOCH, notification).expect("a Vec takes all");
        }
    }

    #[test]
    fn nobody_goes_on_from_the_old_state_that_an_inferred_delete_shows() {
        let (mut printer, _) = printer(true);
        let old = pod("u-1", "7");
        let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
        let gone = Deleted { object: DeletedObject::FinalStateUnknown(tombstone), origin: Origin::Watch };
        let new = Added { object: pod("u-2", "20"), is_in_initial_list: false, origin: Origin::Watch };
        let known = Deleted { object: DeletedObject::Known(pod("u-2", "21")), origin: Origin::Watch };
        told(&mut printer, [gone, new, known]);
        let resumes: Vec<_> = lines_of(printer).iter().map(|line| line["resume"].clone()).collect();
        assert_eq!(resumes, [serde_json::Value::Null, "20".into(), "21".into()]);
    }

    fn lines_of(printer: Printer<Vec<u8>>) -> Vec<serde_json::Value> {
        let text = String::from_utf8(printer.out).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn who_goes_on_from_what_is_told_again_misses_nothing() {
        let (mut printer, _) = printer(true);
        let again =
            || Notification::Updated { old: pod("u-1", "7"), new: pod("u-1", "7"), origin: Origin::Resync };
        let synced = Notification::Mark(queue::Mark::Synced { resource_version: "9".into() });
        let new = Added { object: pod("u-2", "20"), is_in_initial_list: false, origin: Origin::Watch };
        let lasted = std::time::Duration::ZERO;
        let gap = Notification::Mark(queue::Mark::Gap { from: "20".into(), to: "31".into(), lasted });
        told(&mut printer, [again(), synced, again(), new, again(), gap, again()]);
        let resumes: Vec<_> = lines_of(printer).iter().map(|line| line["resume"].clone()).collect();
        let [none, at_9, at_20] = [serde_json::Value::Null, "9".into(), "20".into()];
        assert_eq!(resumes, [&none, &at_9, &at_9, &at_20, &at_20, &none, &none].map(Clone::clone));
    }

    #[test]
    fn resume_never_goes_down_between_two_gaps() {
        let (mut printer, _) = printer(true);
        let synced =
            |version: &str| Notification::Mark(queue::Mark::Synced { resource_version: version.into() });
        let live =
            |version| Added { object: pod("u-1", version), is_in_initial_list: false, origin: Origin::Watch };
        let gone =
            |version| Deleted { object: DeletedObject::Known(pod("u-1", version)), origin: Origin::Watch };
        let lasted = std::time::Duration::ZERO;
        let gap = Notification::Mark(queue::Mark::Gap { from: "20".into(), to: "9".into(), lasted });
        let notifications = [
            synced("9"),
            live("8"),
            live("20"),
            gone("19"),
            live("x"),
            live(""),
            live("100"),
            live("30"),
            gap,
            live("11"),
            gone("10"),
        ];
        told(&mut printer, notifications);
        let lines = lines_of(printer);
        let resumes: Vec<_> = lines.iter().map(|line| line["resume"].as_str().unwrap_or("none")).collect();
        assert_eq!(resumes, ["9", "9", "20", "20", "20", "20", "100", "100", "none", "11", "11"]);
    }

    #[test]
    fn an_error_says_which_of_several_names_it_is_of() {
        let (mut printer, _) = printer(true);
        for (place, name) in [(1, "x"), (2, "y")] {
            let part = Part { resource: resource("pods"), name: Some(name.into()), ..template("shop") };
            printer.join(place, &part, true);
            let error = part.not_found().expect("it is a name");
            printer.ended(place, Timestamp::UNIX_EPOCH, &error).expect("a Vec takes all");
        }
        printer.ended(0, Timestamp::UNIX_EPOCH, &Error::Refused("nobody".into())).expect("a Vec takes all");
        let told: Vec<_> = lines_of(printer)
            .iter()
            .map(|line| {
                [&line["name"], &line["object"]["details"]["name"], &line["object"]["code"]].map(Clone::clone)
            })
            .collect();
        let none = serde_json::Value::Null;
        assert_eq!(
            told,
            [
                ["x".into(), "x".into(), 404.into()],
                ["y".into(), "y".into(), 404.into()],
                [none.clone(), none.clone(), none]
            ]
        );
    }

    #[test]
    fn what_was_not_asked_for_is_not_counted_as_received() {
        let (mut printer, watched) = printer(false);
        let listed = Added { object: pod("u-1", "7"), is_in_initial_list: true, origin: Origin::List };
        let gone = Deleted { object: DeletedObject::Known(pod("u-1", "9")), origin: Origin::Watch };
        told(&mut printer, [listed, gone]);
        let wanted = "1 received, 1 printed, 0 suppressed, ";
        assert!(watched.summary().starts_with(wanted), "{}", watched.summary());
    }
}
