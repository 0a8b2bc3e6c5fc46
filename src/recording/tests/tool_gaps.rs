//! The gaps of merged and imported recordings.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::fixtures::{at, at_second, change, mark, nodes, object, options, pods, synced};
use super::tools::{import, lines};
use crate::lines::{Change, ChangeKind, MarkKind};
use crate::object::{ApiResource, Origin};
use crate::recording::{Moment, Recording, Writer, merge};

/// Returns each gap as its resource and its seconds.
fn gaps(recording: &Recording) -> Vec<String> {
    let second = |time: jiff::Timestamp| (time.as_millisecond() - at(0).as_millisecond()) / 1000;
    let gaps = recording.gaps().expect("gaps");
    let gaps = gaps.iter().map(|gap| {
        let resource = gap.resource.as_ref().map_or("all", |resource| &*resource.resource);
        format!("{resource} {} to {}", second(gap.from), second(gap.to))
    });
    gaps.collect()
}

/// Runs a recorder of these types between two seconds. The version of each type at a second is that second.
fn run(dir: &Path, resources: &[Arc<ApiResource>], from: u32, to: u32) {
    let mut writer = Writer::open(dir, "test", options(), at_second(from.into())).expect("a writer");
    for resource in resources {
        writer.mark(&synced(resource, from.into(), i64::from(from) * 1000)).expect("a mark");
    }
    for second in from + 1..to {
        for resource in resources {
            let kind = if second == from + 1 { ChangeKind::Added } else { ChangeKind::Modified };
            let key = if resource.namespaced { "shop/x" } else { "x" };
            let object = object(resource, key, second.into(), "x");
            writer.change(&change(resource, kind, object, i64::from(second) * 1000), None).expect("a change");
        }
    }
    writer.document("/version", to.to_string().as_bytes(), at_second(to.into())).expect("a document");
    writer.finish(at_second(to.into())).expect("finished");
}

/// A run of a recorder: the types and two seconds.
type Run<'a> = (&'a [Arc<ApiResource>], u32, u32);

/// Merges recordings, each of them given by the runs of its recorder.
fn merged(recordings: &[&[Run<'_>]]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let sources = recordings.iter().enumerate().map(|(number, runs)| {
        let path = dir.path().join(number.to_string());
        runs.iter().for_each(|(resources, from, to)| run(&path, resources, *from, *to));
        Recording::open(&path).expect("a recording")
    });
    merge(&sources.collect::<Vec<_>>(), &dir.path().join("merged"), None).expect("merged");
    let merged = Recording::open(&dir.path().join("merged")).expect("a recording");
    assert_eq!(merged.verify().expect("verified"), []);
    gaps(&merged)
}

#[test]
fn a_recorder_of_other_types_does_not_hide_a_gap() {
    let (pods, nodes) = ([pods()], [nodes()]);
    // The second run continues the nodes, or leaves them out.
    assert_eq!(merged(&[&[(&pods, 0, 40)], &[(&nodes, 2, 20), (&nodes, 30, 40)]]), ["nodes 20 to 30"]);
    assert_eq!(merged(&[&[(&pods, 0, 40)], &[(&nodes, 2, 20), (&[], 30, 38)]]), ["nodes 20 to 40"]);
}

#[test]
fn a_gap_that_another_recorder_observed_is_left_out() {
    let (both, nodes) = ([pods(), nodes()], [nodes()]);
    let stopped: [Run<'_>; 2] = [(&nodes, 2, 20), (&nodes, 30, 38)];
    assert_eq!(merged(&[&[(&both, 0, 40)], &stopped]), [""; 0]);
    // Copies of one recording have one gap.
    assert_eq!(merged(&[&stopped, &stopped]), ["all 20 to 30"]);
    // Of recorders that stopped at different times, one observed the rest.
    let other: [Run<'_>; 2] = [(&nodes, 0, 10), (&nodes, 24, 40)];
    assert_eq!(merged(&[&other, &stopped]), ["all 20 to 24", "nodes 20 to 24"]);
}

#[test]
fn types_of_a_recorder_that_ends_first_are_a_gap() {
    let (pods, nodes) = ([pods()], [nodes()]);
    assert_eq!(merged(&[&[(&pods, 0, 10)], &[(&nodes, 2, 20)]]), ["pods 10 to 20"]);
    assert_eq!(
        merged(&[&[(&pods, 0, 10)], &[(&nodes, 2, 20), (&nodes, 30, 40)]]),
        ["all 20 to 30", "pods 10 to 40"]
    );
}

/// Lines have no bookmarks, which end the differences after a gap in a recording.
#[test]
fn differences_at_the_end_of_imported_lines_are_complete() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer =
        Writer::open(&dir.path().join("all"), "test", options(), at_second(0)).expect("a writer");
    writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
    let lasted = Duration::from_secs(5);
    let gap = MarkKind::Gap { from: "10".into(), to: "100".into(), lasted };
    writer.mark(&mark(&pods(), gap, 10_000)).expect("a mark");
    let pod = change(&pods(), ChangeKind::Added, object(&pods(), "a/new", 50, "x"), 10_000);
    writer.change(&Change { origin: Origin::Relist, ..pod }, None).expect("a change");
    let node = change(&nodes(), ChangeKind::Added, object(&nodes(), "node", 110, "x"), 20_000);
    writer.change(&node, None).expect("a change");
    writer.finish(at_second(20)).expect("finished");
    let all = Recording::open(&dir.path().join("all")).expect("a recording");
    assert_eq!(gaps(&all), ["pods 5 to 20"], "the recorder may have been killed");

    let to = dir.path().join("imported");
    import(&to, &lines(&all)).expect("imported");
    let imported = Recording::open(&Writer::directory(&to, "test")).expect("a recording");
    assert_eq!(gaps(&imported), ["pods 5 to 10"]);
    let state = imported.state(Moment::Version(100)).expect("a state");
    assert_eq!(state.objects(&pods(), None).expect("objects").len(), 1);
}
