//! Recordings of events in one of the two groups that serve them.

use kdelta::lines::ChangeKind;
use serde_json::json;

use super::*;

#[test]
fn events_are_read_in_the_group_that_was_recorded() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    let events =
        Arc::new(ApiResource { group: "events.k8s.io".to_owned(), ..(*resource("events", "Event")).clone() });
    let event = |note: &str, version: u64| {
        json!({
            "metadata": {"name": "e", "namespace": "default", "uid": "u", "resourceVersion": version.to_string()},
            "type": "Normal", "reason": "Started", "note": note, "deprecatedCount": 1,
            "regarding": {"kind": "Pod", "name": "web", "namespace": "default"},
        })
    };
    recorder.json(ChangeKind::Added, &events, &event("Started c", 9), at(0));
    recorder.mark(synced(9), &events, at(0));
    recorder.json(ChangeKind::Modified, &events, &event("Started d", 12), at(5));
    recorder.finish(at(10));
    let recordings = Recordings { env, dir };
    for line in
        ["history events/e", "watch events --since 2026-11-24T03:00:00Z -o json", "get events", "events"]
    {
        let printed = recordings.run(line).quiet_success();
        assert!(printed.contains("Started"), "{line}: {printed}");
    }
}
