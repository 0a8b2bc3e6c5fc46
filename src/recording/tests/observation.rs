//! The times at which collections were not observed, and first lists that are not complete.

use std::path::Path;
use std::sync::Arc;

use super::fixtures::{at, at_second, change, mark, nodes, object, options, pods, synced};
use crate::lines::{ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::{Gap, IncompleteList, Recording, Writer};

fn open(dir: &Path, second: i64) -> Writer {
    Writer::open(dir, "test", options(), at_second(second)).expect("a writer")
}

fn marked(writer: &mut Writer, mark: &Mark) {
    writer.mark(mark).expect("a mark");
}

fn list(writer: &mut Writer, resource: &Arc<ApiResource>, key: &str, second: i64) {
    let change = change(resource, ChangeKind::Added, object(resource, key, 1, "x"), 1000 * second);
    let change = crate::lines::Change { origin: Origin::List, ..change };
    writer.change(&change, None).expect("a change");
}

fn in_namespace(namespace: &str, mark: Mark) -> Mark {
    Mark { namespace: namespace.into(), ..mark }
}

/// Returns each gap as its resource and namespace and its seconds.
fn gaps(gaps: &[Gap]) -> Vec<String> {
    let text = |gap: &Gap| {
        let resource = gap.resource.as_ref().map_or("all", |resource| &*resource.resource);
        let second = |time: jiff::Timestamp| (time.as_millisecond() - at(0).as_millisecond()) / 1000;
        let but = if gap.except.is_empty() { "" } else { " but " };
        let (from, to) = (second(gap.from), second(gap.to));
        format!("{resource}/{} {from} to {to}{but}{}", gap.namespace, gap.except.join(","))
    };
    gaps.iter().map(text).collect()
}

fn opened(dir: &Path) -> Recording {
    Recording::open(dir).expect("a recording")
}

#[test]
fn a_collection_that_a_later_recorder_does_not_watch_is_a_gap_until_the_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &synced(&pods(), 1, 1000));
    marked(&mut writer, &synced(&nodes(), 1, 2000));
    writer.finish(at_second(3)).expect("finished");
    let mut writer = open(dir.path(), 10);
    marked(&mut writer, &synced(&nodes(), 1, 10_000));
    writer.bookmark(&nodes(), &"".into(), &"5".into(), at_second(20)).expect("a bookmark");
    writer.finish(at_second(20)).expect("finished");
    let recording = opened(dir.path());
    assert_eq!(gaps(&recording.gaps().expect("gaps")), ["all/ 2 to 10", "pods/ 2 to 20"]);
    for (second, expected) in [
        (1, &[][..]),
        (5, &["all/ 2 to 10", "pods/ 2 to 20"]),
        (15, &["pods/ 2 to 20"]),
        (20, &["pods/ 2 to 20"]),
    ] {
        let found = recording.unobserved_at(at_second(second)).expect("gaps");
        assert_eq!(gaps(&found.gaps), expected, "{second}");
    }
    // The third recorder lists the pods again.
    let mut writer = open(dir.path(), 30);
    marked(&mut writer, &synced(&nodes(), 5, 30_000));
    let version = |number: &str| ResourceVersion::new(number);
    let kind =
        MarkKind::Gap { from: version("1"), to: version("9"), lasted: std::time::Duration::from_secs(11) };
    marked(&mut writer, &mark(&pods(), kind, 31_000));
    marked(&mut writer, &synced(&pods(), 9, 31_000));
    writer.finish(at_second(31)).expect("finished");
    let recording = opened(dir.path());
    assert_eq!(gaps(&recording.gaps().expect("gaps")), ["all/ 2 to 10", "all/ 20 to 30", "pods/ 2 to 31"]);
    assert_eq!(recording.gap_at(at_second(31)).expect("gaps"), None);
}

#[test]
fn an_error_that_ends_a_watch_begins_a_gap() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    let error = || MarkKind::Error(Status::default());
    // Never complete, so never observed.
    marked(&mut writer, &mark(&nodes(), error(), 0));
    marked(&mut writer, &synced(&pods(), 1, 1000));
    marked(&mut writer, &mark(&pods(), error(), 5000));
    marked(&mut writer, &synced(&pods(), 3, 8000));
    writer.finish(at_second(9)).expect("finished");
    // The error of the next recorder does not shorten the gap.
    let mut writer = open(dir.path(), 20);
    marked(&mut writer, &mark(&pods(), error(), 25_000));
    writer.finish(at_second(26)).expect("finished");
    let recording = opened(dir.path());
    let found = gaps(&recording.gaps().expect("gaps"));
    assert_eq!(found, ["pods/ 5 to 8", "all/ 8 to 20", "pods/ 8 to 25"]);
}

#[test]
fn a_watch_that_can_not_be_continued_is_a_gap_since_the_recorder_before() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &synced(&pods(), 1, 1000));
    writer.finish(at_second(2)).expect("finished");
    let mut writer = open(dir.path(), 20);
    marked(&mut writer, &mark(&pods(), MarkKind::Error(Status::default()), 21_000));
    writer.document("/version", b"{}", at_second(30)).expect("a document");
    writer.finish(at_second(30)).expect("finished");
    let found = gaps(&opened(dir.path()).gaps().expect("gaps"));
    assert_eq!(found, ["all/ 1 to 20", "pods/ 1 to 30"]);
}

#[test]
fn a_watch_that_was_continued_is_observed_until_its_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &synced(&pods(), 1, 1000));
    writer.finish(at_second(2)).expect("finished");
    let mut writer = open(dir.path(), 120);
    marked(&mut writer, &synced(&pods(), 1, 120_000));
    list(&mut writer, &pods(), "shop/a", 3000);
    marked(&mut writer, &mark(&pods(), MarkKind::Error(Status::default()), 3_300_000));
    writer.document("/version", b"{}", at_second(3400)).expect("a document");
    writer.finish(at_second(3400)).expect("finished");
    let found = gaps(&opened(dir.path()).gaps().expect("gaps"));
    assert_eq!(found, ["all/ 1 to 120", "pods/ 3300 to 3400"]);
}

/// The server of the second recorder does not respond for a while.
#[test]
fn a_watch_that_is_continued_late_is_a_gap() {
    for (second, expected) in [(25, &["all/ 1 to 20"][..]), (40, &["all/ 1 to 20", "pods/ 1 to 40"])] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), 0);
        marked(&mut writer, &synced(&pods(), 1, 1000));
        writer.finish(at_second(2)).expect("finished");
        let mut writer = open(dir.path(), 20);
        writer.document("/version", b"{}", at_second(22)).expect("a document");
        writer.flush(at_second(22)).expect("flushed");
        let before = gaps(&opened(dir.path()).gaps().expect("gaps"));
        assert_eq!(before, ["all/ 1 to 20", "pods/ 1 to 22"]);
        marked(&mut writer, &synced(&pods(), 1, 1000 * second));
        writer.finish(at_second(50)).expect("finished");
        assert_eq!(gaps(&opened(dir.path()).gaps().expect("gaps")), expected, "{second}");
    }
}

#[test]
fn marks_of_many_namespaces_are_followed_in_a_short_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    for number in 0..20_000 {
        marked(&mut writer, &in_namespace(&format!("n-{number}"), synced(&pods(), 1, 0)));
    }
    marked(&mut writer, &synced(&pods(), 1, 5000));
    writer.finish(at_second(5)).expect("finished");
    let (recording, begun) = (opened(dir.path()), std::time::Instant::now());
    assert_eq!(recording.gaps().expect("gaps"), []);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_namespace_is_observed_by_its_own_watch_or_by_that_of_all() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &in_namespace("shop", synced(&pods(), 1, 0)));
    marked(&mut writer, &synced(&pods(), 1, 5000));
    writer.finish(at_second(5)).expect("finished");
    let mut writer = open(dir.path(), 10);
    marked(&mut writer, &in_namespace("shop", synced(&pods(), 1, 10_000)));
    writer.finish(at_second(11)).expect("finished");
    let recording = opened(dir.path());
    assert_eq!(gaps(&recording.gaps().expect("gaps")), ["all/ 5 to 10", "pods/ 5 to 10 but shop"]);
}

#[test]
fn a_first_list_is_incomplete_before_its_mark() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &synced(&nodes(), 1, 0));
    list(&mut writer, &pods(), "shop/a", 1);
    list(&mut writer, &pods(), "web/a", 1);
    drop(writer);
    let incomplete = |second: i64, dir: &Path| {
        opened(dir).unobserved_at(at_second(second)).expect("lists").incomplete_lists
    };
    // A killed recorder leaves what was written.
    let mut writer = open(dir.path(), 10);
    assert_eq!(writer.complete_lists(&pods()), []);
    list(&mut writer, &pods(), "shop/b", 10);
    list(&mut writer, &pods(), "web/b", 10);
    writer.flush(at_second(11)).expect("flushed");
    let never = IncompleteList { resource: pods(), until: None };
    assert_eq!(incomplete(10, dir.path()), [never]);
    marked(&mut writer, &in_namespace("shop", synced(&pods(), 1, 12_000)));
    marked(&mut writer, &in_namespace("web", synced(&pods(), 1, 15_000)));
    assert_eq!(writer.complete_lists(&pods()).len(), 2);
    writer.finish(at_second(16)).expect("finished");
    for (second, until) in [(11, Some(12)), (12, Some(15)), (14, Some(15)), (15, None)] {
        let expected: Vec<_> = until
            .map(|until| IncompleteList { resource: pods(), until: Some(at_second(until)) })
            .into_iter()
            .collect();
        assert_eq!(incomplete(second, dir.path()), expected, "{second}");
    }
}

/// A server that was restored from a backup assigns its versions again.
#[test]
fn a_watch_continues_from_the_versions_of_a_list_after_a_gap() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), 0);
    marked(&mut writer, &synced(&pods(), 900, 0));
    let version = |number: &str| ResourceVersion::new(number);
    let kind = MarkKind::Gap { from: version("900"), to: version("20"), lasted: std::time::Duration::ZERO };
    marked(&mut writer, &mark(&pods(), kind, 1000));
    let added = change(&pods(), ChangeKind::Added, object(&pods(), "shop/a", 21, "x"), 2000);
    writer.change(&added, None).expect("a change");
    let position = |writer: &Writer| writer.positions().first().map(|position| position.version.to_string());
    assert_eq!(position(&writer).as_deref(), Some("21"));
    writer.finish(at_second(3)).expect("finished");
    assert_eq!(position(&open(dir.path(), 4)).as_deref(), Some("21"));
}
