//! Tests of the version that is safe to continue from.

use kdelta::object::{ResourceVersion, Uid};

use super::*;

fn update(part: PartIndex, key: &str, version: &str) -> StateUpdate {
    let state = (version != "gone").then(|| HandledState { uid: Uid::new("u"), version: version.into() });
    StateUpdate { part, key: key.into(), state }
}

fn progress() -> (Progress, PartIndex) {
    let mut progress = Progress::default();
    let id = PartId {
        context: String::new(),
        group: String::new(),
        resource: "pods".into(),
        namespace: "shop".into(),
        name: None,
        patterns: None,
    };
    let part = progress.part(&id);
    assert_eq!(progress.part(&id), part);
    (progress, part)
}

fn version(progress: &Progress, part: PartIndex) -> Option<String> {
    progress.get(part).version().map(ToString::to_string)
}

#[test]
fn version_is_that_before_the_oldest_open_change() {
    let (mut progress, part) = progress();
    assert_eq!(version(&progress, part), None);
    progress.get_mut(part).received(&"5".into());
    let mut open = Vec::new();
    for at in ["6", "7", "8"] {
        open.push(progress.add_pending(update(part, at, at)));
        progress.get_mut(part).received(&at.into());
    }
    let [six, seven, eight] = <[PendingChange; 3]>::try_from(open).expect("three");
    assert_eq!(version(&progress, part).as_deref(), Some("5"));
    progress.finish(seven);
    assert_eq!(version(&progress, part).as_deref(), Some("5"), "6 is open");
    progress.finish(six);
    assert_eq!(version(&progress, part).as_deref(), Some("7"));
    progress.finish(eight);
    assert_eq!(version(&progress, part).as_deref(), Some("8"));
    let states: Vec<_> = progress.get(part).states().keys().map(|key| &**key).collect();
    assert_eq!(states.len(), 3, "{states:?}");
}

#[test]
fn initial_state_has_no_version_until_it_is_handled() {
    let (mut progress, part) = progress();
    let listed = progress.add_pending(update(part, "a", "3"));
    progress.get_mut(part).received(&"9".into());
    assert_eq!(version(&progress, part), None);
    progress.finish(listed);
    assert_eq!(version(&progress, part).as_deref(), Some("9"));
}

#[test]
fn deleted_object_has_no_state() {
    let (mut progress, part) = progress();
    let added = progress.add_pending(update(part, "a", "3"));
    progress.finish(added);
    let deleted = progress.add_pending(update(part, "a", "gone"));
    assert_eq!(progress.get(part).states().len(), 1);
    progress.finish(deleted);
    assert!(progress.get(part).is_empty());
}

#[test]
fn versions_of_a_server_that_went_back_are_forgotten() {
    let (mut progress, part) = progress();
    let (from, to): (ResourceVersion, ResourceVersion) = ("20".into(), "31".into());
    progress.get_mut(part).received(&from);
    progress.get_mut(part).gap(&from, &to);
    assert_eq!(version(&progress, part).as_deref(), Some("20"), "until the difference is complete");
    let open = progress.add_pending(update(part, "a", "25"));
    progress.get_mut(part).gap(&from, &"9".into());
    assert_eq!(version(&progress, part), None);
    progress.get_mut(part).received(&"9".into());
    progress.finish(open);
    assert_eq!(version(&progress, part).as_deref(), Some("9"));
    progress.get_mut(part).synced(&"4".into());
    assert_eq!(version(&progress, part).as_deref(), Some("4"));
}
