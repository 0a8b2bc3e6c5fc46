//! `kdelta recording cut`: parts of recordings.

use kdelta::lines::ChangeKind;

use super::{Recordings, at, pod, resource};
use crate::support::{Recorder, synced};

#[test]
fn cut_is_a_recording_of_its_own() {
    let recordings = Recordings::of(&["prod"]);
    let report = recordings.report("cut @rec --since 2026-11-24T03:15:00Z --until -1m --to @new");
    assert!(report.contains("prod: ") && report.contains(" from 2026-11-24T03:15:00Z to "), "{report}");
    assert_eq!(recordings.names_in("new", ""), "pod/web\n");
    assert_eq!(recordings.names_in("new", "--at 2026-11-24T03:20:00Z"), "pod/late\npod/web\n");
    assert_eq!(recordings.tool("verify @new").quiet_success().matches("no damage").count(), 1);
    // Only one type, and short names of the recorded documents.
    recordings.report("cut @rec ev --to @events");
    let info = recordings.tool("info @events").quiet_success();
    assert!(info.contains("\nevents ") && !info.contains("\npods "), "{info}");
}

#[test]
fn cut_without_objects_is_an_error_and_writes_nothing() {
    let recordings = Recordings::of(&["prod"]);
    for (line, expected) in [
        ("-n defualt", "no object in the namespace \"defualt\" was recorded: did you mean \"default\"?"),
        ("-n other", "no object in the namespace \"other\" was recorded, the recording has: default"),
        ("pods -n other,shop", "no object of pods in the namespaces \"other\", \"shop\" was recorded"),
        ("evnts", "\"evnts\" was not recorded: did you mean \"events\"?"),
        (
            "-n other --since 2026-11-24T03:10:00Z",
            "no object in the namespace \"other\" was recorded in this range, the recording has: default",
        ),
    ] {
        let error = recordings.tool(&format!("cut @rec {line} --to @new")).failure(1);
        assert!(error.contains(expected), "{line}: {error}");
        assert!(!recordings.env.home().join("new").exists(), "{line}");
    }
}

#[test]
fn contexts_without_the_part_are_left_out_of_a_cut() {
    let recordings = Recordings::of(&["prod"]);
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&recordings.dir, "dev", at(0));
    let mut other = pod("web", 10, "Running");
    other["metadata"]["namespace"] = "shop".into();
    recorder.json(ChangeKind::Added, &pods, &other, at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.finish(at(5));
    let report = recordings.report("cut @rec -n shop --to @new");
    assert!(report.contains("prod: nothing of the excerpt was recorded\n"), "{report}");
    assert_eq!(recordings.names_in("new", "-n shop"), "pod/web\n");
}
