//! Cuts of a namespace whose objects change rarely: the time at which a recorder was running does not depend on them.

use std::path::Path;

use super::fixtures::{at_second, change, mark, nodes, object, options, pods, synced, text};
use crate::lines::{Change, ChangeKind, MarkKind};
use crate::listwatch::Status;
use crate::recording::{CutOptions, EntryFilter, Item, Moment, Recording, Writer, cut};

/// The change of a pod at a second, which is its version too.
fn pod(kind: ChangeKind, key: &str, second: u32) -> Change {
    change(&pods(), kind, object(&pods(), key, second.into(), "x"), i64::from(second) * 1000)
}

/// Records a namespace in which little happens and one in which much does. No recorder is running from second 20 to 30.
fn record(dir: &Path) -> Recording {
    let mut writer = Writer::open(dir, "test", options(), at_second(1)).expect("a writer");
    for key in ["quiet/web", "busy/web"] {
        writer.change(&pod(ChangeKind::Added, key, 1), None).expect("a change");
    }
    writer.mark(&synced(&pods(), 1, 1000)).expect("a mark");
    writer.change(&pod(ChangeKind::Modified, "quiet/web", 5), None).expect("a change");
    writer.change(&pod(ChangeKind::Modified, "busy/web", 20), None).expect("a change");
    writer.finish(at_second(20)).expect("finished");
    let mut writer = Writer::open(dir, "test", options(), at_second(30)).expect("a writer");
    writer.mark(&synced(&pods(), 20, 30_000)).expect("a mark");
    writer.change(&pod(ChangeKind::Modified, "quiet/web", 35), None).expect("a change");
    writer.change(&pod(ChangeKind::Modified, "busy/web", 40), None).expect("a change");
    writer.finish(at_second(40)).expect("finished");
    Recording::open(dir).expect("a recording")
}

#[test]
fn a_cut_of_a_quiet_namespace_is_observed_as_long_as_the_original() {
    let dir = tempfile::tempdir().expect("a directory");
    let all = record(&dir.path().join("all"));
    let quiet = || EntryFilter { namespaces: Some(vec!["quiet".to_owned()]), ..EntryFilter::default() };
    let cut_until = |name: &str, until: Option<i64>| {
        let options = CutOptions::default().filter(quiet()).until(until.map(at_second));
        cut(&all, &dir.path().join(name), &options).expect("cut");
        Recording::open(&dir.path().join(name)).expect("a recording")
    };
    let whole = cut_until("whole", None);
    assert_eq!(whole.verify().expect("verified"), []);
    assert_eq!((whole.beginning(), whole.end()), (all.beginning(), all.end()));
    assert_eq!(whole.gaps().expect("gaps"), all.gaps().expect("gaps"));
    for second in 1..=40 {
        let of = |recording: &Recording| {
            let state = recording.state(Moment::Time(at_second(second))).expect("a state");
            let objects = state.objects(&pods(), Some("quiet")).expect("objects");
            objects.iter().map(|object| text(object)).collect::<Vec<_>>()
        };
        assert_eq!(of(&whole), of(&all), "{second}");
    }
    // A range that ends without an entry, and one that ends where no recorder was running.
    for (until, end) in [(10, 10), (25, 20), (38, 38)] {
        let part = cut_until(&until.to_string(), Some(until));
        assert_eq!(part.end(), Some(at_second(end)), "{until}");
    }
}

#[test]
fn a_cut_does_not_extend_the_time_of_a_watch_that_has_ended() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("all");
    let mut writer = Writer::open(&path, "test", options(), at_second(1)).expect("a writer");
    writer.change(&pod(ChangeKind::Added, "quiet/web", 1), None).expect("a change");
    writer.mark(&synced(&pods(), 1, 1000)).expect("a mark");
    writer.mark(&synced(&nodes(), 1, 1000)).expect("a mark");
    let refused = MarkKind::Error(Status { message: "forbidden".into(), ..Status::default() });
    writer.mark(&mark(&pods(), refused, 10_000)).expect("a mark");
    writer
        .change(&change(&nodes(), ChangeKind::Added, object(&nodes(), "node-1", 40, "x"), 40_000), None)
        .expect("a change");
    writer.finish(at_second(40)).expect("finished");
    let all = Recording::open(&path).expect("a recording");
    let filter = EntryFilter { namespaces: Some(vec!["quiet".to_owned()]), ..EntryFilter::default() };
    cut(&all, &dir.path().join("cut"), &CutOptions::default().filter(filter)).expect("cut");
    let part = Recording::open(&dir.path().join("cut")).expect("a recording");
    let gap_start = |recording: &Recording| {
        let end = recording.end().expect("an end");
        recording.gap_at(end).expect("gaps").map(|gap| gap.from)
    };
    assert_eq!((gap_start(&all), all.end()), (Some(at_second(10)), Some(at_second(40))));
    // The cut has no other watch, so that nothing shows until when the recorder was running.
    assert_eq!((gap_start(&part), part.end()), (Some(at_second(10)), Some(at_second(10))));
}

/// Cuts a recording from second 15 on.
fn cut_since_15(all: &Path, to: &Path, filter: EntryFilter) -> Recording {
    let options = CutOptions::default().since(Some(at_second(15))).filter(filter);
    cut(&Recording::open(all).expect("a recording"), to, &options).expect("cut");
    Recording::open(to).expect("a recording")
}

/// The resources and the seconds of gaps.
fn gaps(recording: &Recording) -> Vec<String> {
    let second = |time: jiff::Timestamp| time.duration_since(at_second(0)).as_secs();
    let all = recording.gaps().expect("gaps").into_iter().map(|gap| {
        let resource = gap.resource.map_or_else(|| "all".to_owned(), |resource| resource.resource.clone());
        format!("{resource} {} to {}", second(gap.from), second(gap.to))
    });
    all.collect()
}

#[test]
fn a_cut_that_begins_in_the_gap_of_a_type_has_the_rest_of_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("all");
    let mut writer = Writer::open(&path, "test", options(), at_second(1)).expect("a writer");
    writer.change(&pod(ChangeKind::Added, "quiet/web", 1), None).expect("a change");
    writer.mark(&synced(&pods(), 1, 1000)).expect("a mark");
    writer.mark(&synced(&nodes(), 1, 1000)).expect("a mark");
    let node = |second: u32| object(&nodes(), "node", second.into(), "x");
    writer.change(&change(&nodes(), ChangeKind::Added, node(2), 2000), None).expect("a change");
    writer.finish(at_second(2)).expect("finished");
    let mut writer = Writer::open(&path, "test", options(), at_second(10)).expect("a writer");
    writer.mark(&synced(&nodes(), 2, 10_000)).expect("a mark");
    writer.change(&change(&nodes(), ChangeKind::Modified, node(20), 20_000), None).expect("a change");
    writer.finish(at_second(20)).expect("finished");
    let part = cut_since_15(&path, &dir.path().join("cut"), EntryFilter::default());
    assert_eq!((gaps(&part), part.verify().expect("verified")), (vec!["pods 15 to 20".to_owned()], vec![]));
    assert_eq!(part.unobserved_at(at_second(16)).expect("lists").incomplete_lists, []);
    let only_nodes = EntryFilter { resources: Some(vec![(*nodes()).clone()]), ..EntryFilter::default() };
    assert_eq!(gaps(&cut_since_15(&path, &dir.path().join("nodes"), only_nodes)), [""; 0]);
    // Both recordings are continued from the same versions.
    let positions =
        |dir: &Path| Writer::open(dir, "test", options(), at_second(30)).expect("a writer").positions();
    assert_eq!(positions(part.path()), positions(&path));
    assert_eq!(positions(&path).len(), 2);
}

#[test]
fn a_cut_that_begins_after_the_error_of_a_watch_has_the_rest_of_its_gap() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("all");
    let mut writer = Writer::open(&path, "test", options(), at_second(1)).expect("a writer");
    writer.change(&pod(ChangeKind::Added, "quiet/web", 1), None).expect("a change");
    writer.mark(&synced(&pods(), 1, 1000)).expect("a mark");
    writer.mark(&synced(&nodes(), 1, 1000)).expect("a mark");
    let refused = MarkKind::Error(Status { message: "forbidden".into(), ..Status::default() });
    writer.mark(&mark(&pods(), refused, 10_000)).expect("a mark");
    let node = object(&nodes(), "node-1", 40, "x");
    writer.change(&change(&nodes(), ChangeKind::Added, node, 40_000), None).expect("a change");
    writer.finish(at_second(40)).expect("finished");
    let part = cut_since_15(&path, &dir.path().join("cut"), EntryFilter::default());
    assert_eq!(gaps(&part), ["pods 15 to 40"]);
    assert_eq!(part.unobserved_at(at_second(16)).expect("lists").incomplete_lists, []);
    let marks = part.marks().expect("marks");
    assert!(
        marks
            .iter()
            .filter_map(|item| if let Item::Mark(mark) = item { Some(&mark.kind) } else { None })
            .any(|kind| matches!(kind, MarkKind::Error(status) if &*status.message == "forbidden"))
    );
    let positions = |dir: &Path| {
        let writer = Writer::open(dir, "test", options(), at_second(50)).expect("a writer");
        writer.positions().into_iter().map(|position| position.resource.resource.clone()).collect::<Vec<_>>()
    };
    assert_eq!(positions(part.path()), ["nodes"]);
}
