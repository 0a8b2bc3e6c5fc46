//! States at versions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::fixtures::{at, change, mark, nodes, object, options, pods, synced};
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::listwatch::Status;
use crate::object::{ApiResource, Origin};
use crate::recording::{Moment, Recording, RecordingError, Writer, WriterOptions};

pub(super) fn open(dir: &Path, options: WriterOptions) -> Writer {
    Writer::open(dir, "test", options, at(0)).expect("a writer")
}

/// Records an object of a list.
pub(super) fn list(writer: &mut Writer, resource: &Arc<ApiResource>, name: &str, version: u64) {
    let change = change(resource, ChangeKind::Added, object(resource, name, version, "x"), 0);
    writer.change(&Change { origin: Origin::List, ..change }, None).expect("a change");
    // Each entry has a segment of its own if the options say so.
    writer.flush(at(0)).expect("flushed");
    writer.settle().expect("settled");
}

pub(super) fn update(writer: &mut Writer, resource: &Arc<ApiResource>, name: &str, version: u64) {
    let change = change(resource, ChangeKind::Modified, object(resource, name, version, "y"), 1);
    writer.change(&change, None).expect("a change");
}

/// Returns the names and versions of the objects of all resources that the state has, or the first version that the
/// error names.
pub(super) fn state(recording: &Recording, version: u64) -> Result<Vec<String>, Option<u64>> {
    let state = match recording.state(Moment::Version(version)) {
        Err(RecordingError::BeforeBeginning { version, .. }) => return Err(version),
        state => state.expect("a state"),
    };
    let mut all = Vec::new();
    for resource in state.resources().expect("resources") {
        let objects = state.objects(&resource, None).expect("objects");
        let texts = objects.iter().map(|object| format!("{}@{}", object.key(), object.resource_version()));
        all.push(format!("{}: {}", resource.resource, texts.collect::<Vec<_>>().join(" ")));
        let rows = state.rows(&resource, None).expect("rows");
        assert!(rows.is_none_or(|rows| rows.len() == objects.len()));
    }
    Ok(all)
}

#[test]
fn version_before_the_first_list_is_before_the_beginning() {
    for entries in [1, 2, 3, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        list(&mut writer, &pods(), "a/new", 9);
        list(&mut writer, &pods(), "a/old", 5);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        update(&mut writer, &pods(), "a/old", 12);
        writer.finish(at(2)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        for before in [0, 4, 5, 9] {
            assert_eq!(state(&recording, before), Err(Some(10)), "{before}, {entries}");
        }
        assert_eq!(state(&recording, 10), Ok(vec!["pods: a/new@9 a/old@5".to_owned()]), "{entries}");
        assert_eq!(state(&recording, 12), Ok(vec!["pods: a/new@9 a/old@12".to_owned()]), "{entries}");
    }
}

#[test]
fn each_type_is_recorded_from_its_first_list_on() {
    for entries in [1, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        writer.mark(&mark(&nodes(), MarkKind::Error(Status::default()), 0)).expect("a mark");
        list(&mut writer, &pods(), "a/one", 5);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        list(&mut writer, &nodes(), "early", 3);
        list(&mut writer, &nodes(), "late", 11);
        writer.mark(&synced(&nodes(), 15, 0)).expect("a mark");
        writer.finish(at(2)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        assert_eq!(state(&recording, 9), Err(Some(10)), "{entries}");
        assert_eq!(state(&recording, 14), Ok(vec!["pods: a/one@5".to_owned()]), "{entries}");
        let both = vec!["nodes: early@3 late@11".to_owned(), "pods: a/one@5".to_owned()];
        assert_eq!(state(&recording, 15), Ok(both), "{entries}");
    }
}

#[test]
fn namespace_that_is_listed_later_leaves_earlier_states_as_they_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path(), options());
    let of = |namespace: &str, version| Mark { namespace: namespace.into(), ..synced(&pods(), version, 0) };
    list(&mut writer, &pods(), "a/one", 5);
    writer.mark(&of("a", 10)).expect("a mark");
    update(&mut writer, &pods(), "a/one", 12);
    list(&mut writer, &pods(), "b/two", 7);
    writer.mark(&of("b", 20)).expect("a mark");
    writer.finish(at(2)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, 11), Ok(vec!["pods: a/one@5".to_owned()]));
    assert_eq!(state(&recording, 19), Ok(vec!["pods: a/one@12".to_owned()]));
    assert_eq!(state(&recording, 20), Ok(vec!["pods: a/one@12 b/two@7".to_owned()]));
}

#[test]
fn complete_list_without_objects_is_an_empty_state() {
    for entries in [1, 2, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        writer.flush(at(0)).expect("flushed");
        writer.settle().expect("settled");
        list(&mut writer, &nodes(), "node", 5);
        let watch = Mark { namespace: "a".into(), ..synced(&pods(), 12, 0) };
        writer.mark(&watch).expect("a mark");
        writer.flush(at(0)).expect("flushed");
        writer.settle().expect("settled");
        writer.mark(&synced(&nodes(), 20, 0)).expect("a mark");
        let added = change(&pods(), ChangeKind::Added, object(&pods(), "a/one", 30, "x"), 1000);
        writer.change(&added, None).expect("a change");
        writer.finish(at(1000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        assert_eq!(state(&recording, 9), Err(Some(10)));
        for (version, highest) in [(10, 10), (11, 10), (12, 12), (19, 12)] {
            let state = recording.state(Moment::Version(version)).expect("a state");
            assert_eq!(state.objects(&pods(), None).expect("objects").len(), 0);
            assert_eq!((state.time(), state.version()), (Some(at(0)), highest), "{entries} {version}");
        }
        let [of_nodes, of_pods] = &state(&recording, 30).expect("a state")[..] else { panic!("two types") };
        assert_eq!((&**of_nodes, &**of_pods), ("nodes: node@5", "pods: a/one@30"));
    }
}

#[test]
fn recording_whose_beginning_was_dropped_names_the_version_of_its_first_keyframe() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(10))).seal_entries(4);
    let mut writer = open(dir.path(), keep);
    list(&mut writer, &pods(), "a/one", 5);
    writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
    for second in 1..60 {
        update(&mut writer, &pods(), "a/one", 10 + second);
        writer.flush(at(second.cast_signed() * 1000)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.finish(at(60_000)).expect("finished");
    let recording = Recording::open(dir.path()).expect("a recording");
    let Err(Some(first)) = state(&recording, 10) else { panic!("before the beginning") };
    assert!((11..70).contains(&first), "{first}");
    assert_eq!(state(&recording, first - 1), Err(Some(first)));
    assert_eq!(state(&recording, first), Ok(vec![format!("pods: a/one@{first}")]));
}

#[test]
fn time_of_a_version_is_not_that_of_a_later_list() {
    for entries in [1, 100] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut writer = open(dir.path(), options().seal_entries(entries));
        list(&mut writer, &pods(), "a/one", 5);
        writer.mark(&synced(&pods(), 10, 0)).expect("a mark");
        let second = change(&pods(), ChangeKind::Modified, object(&pods(), "a/one", 20, "y"), 60_000);
        writer.change(&second, None).expect("a change");
        let late = change(&nodes(), ChangeKind::Added, object(&nodes(), "node", 7, "y"), 36_000_000);
        writer.change(&Change { origin: Origin::List, ..late }, None).expect("a change");
        writer.document("/version", b"{}", at(36_000_000)).expect("a document");
        writer.mark(&synced(&nodes(), 200, 36_000_000)).expect("a mark");
        writer.flush(at(36_000_000)).expect("flushed");
        writer.settle().expect("settled");
        writer.finish(at(36_000_000)).expect("finished");
        let recording = Recording::open(dir.path()).expect("a recording");
        let time = |version| recording.state(Moment::Version(version)).expect("a state").time();
        assert_eq!([10, 20, 120].map(time), [at(0), at(60_000), at(60_000)].map(Some), "{entries}");
        assert_eq!(time(200), Some(at(36_000_000)));
    }
}

#[test]
fn first_version_may_be_that_of_a_list_which_a_keyframe_interrupted() {
    let dir = tempfile::tempdir().expect("a directory");
    let keep = options().keep(Some(Duration::from_secs(400))).seal_entries(1);
    let mut writer = open(dir.path(), keep);
    writer.mark(&synced(&nodes(), 12, 0)).expect("a mark");
    for second in [0, 1, 150, 300] {
        let name = format!("a/{second}");
        let listed = change(&pods(), ChangeKind::Added, object(&pods(), &name, 5, "x"), second * 1000);
        writer.change(&Change { origin: Origin::List, ..listed }, None).expect("a change");
        writer.flush(at(second * 1000)).expect("flushed");
        writer.settle().expect("settled");
    }
    writer.mark(&synced(&pods(), 10, 301_000)).expect("a mark");
    writer.finish(at(301_000)).expect("finished");
    assert!(!super::damage::files(dir.path(), "keyframe").is_empty());
    let recording = Recording::open(dir.path()).expect("a recording");
    assert_eq!(state(&recording, 4), Err(Some(10)));
    assert!(state(&recording, 10).is_ok());
}
