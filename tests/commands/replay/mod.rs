//! Replays of a recording by `kdelta watch`, and waits on a recording.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Finished, Incident, TestEnv};

/// Returns the type, the name and the time of each JSON line.
fn lines(ended: &Finished) -> Vec<String> {
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let minutes = field("ts").get(14..16).unwrap_or_default().to_owned();
        assert_eq!(line["resume"], Value::Null, "{line}");
        format!("{minutes} {} {}", field("type"), field("name")).trim_end().to_owned()
    };
    ended.stdout.lines().map(line).collect()
}

#[test]
fn state_at_the_beginning_is_followed_by_every_change() {
    let incident = Incident::new();
    let expected = [
        "13 ADDED db-0",
        "13 ADDED web-1-a",
        "13 ADDED web-1-b",
        "13 ADDED web-2-c",
        "13 SYNCED",
        "15 MODIFIED web-2-c",
        "20 DELETED web-1-a",
        "20 DELETED db-0",
        "20 ADDED db-0",
        "40 GAP",
        "40 DELETED web-1-b",
    ];
    let ended = incident.run("watch pods -o json --since 2026-11-24T03:13:00Z");
    assert!(
        ended.stderr.contains("pods were not observed from 2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z")
    );
    assert_eq!(lines(&ended), expected);
    let ended = incident.run("watch pods -o json --since -47m --until 2026-11-24T03:20:00Z --watch-only");
    assert_eq!(lines(&ended), expected[4..9]);
}

#[test]
fn whole_recording_begins_with_its_lists() {
    let ended = Incident::new().run("watch cm,no -o json --until 2026-11-24T04:00:00Z");
    assert_eq!(
        lines(&ended),
        [
            "00 ADDED worker-1",
            "00 SYNCED",
            "00 ADDED settings",
            "00 SYNCED",
            "44 MODIFIED settings",
            "45 DELETED settings",
            "50 MODIFIED worker-1",
        ]
    );
}

#[test]
fn objects_that_begin_or_cease_to_match_are_added_and_deleted() {
    let incident = Incident::new();
    let line = "watch pods -o json --since 2026-11-24T03:11:30Z --until -30m";
    assert_eq!(
        lines(&incident.run(&format!("{line} --not-ready"))),
        ["11 ADDED web-2-c", "11 SYNCED", "12 DELETED web-2-c", "15 ADDED web-2-c"]
    );
    let by = format!("{line} --by owner=ReplicaSet/web-2");
    assert_eq!(
        lines(&incident.run(&by)),
        ["11 ADDED web-2-c", "11 SYNCED", "12 MODIFIED web-2-c", "15 MODIFIED web-2-c"]
    );
    let fields = format!("{line} --field-selector metadata.name=db-0");
    assert_eq!(
        lines(&incident.run(&fields)),
        ["11 ADDED db-0", "11 SYNCED", "20 DELETED db-0", "20 ADDED db-0"]
    );
}

#[test]
fn rows_have_recorded_times_and_authors() {
    let text = Incident::new().run("watch deploy/web --since -55m --changes --ts rfc3339 --no-headers");
    assert_eq!(text.code, 0, "{}", text.stderr);
    let rows: Vec<&str> = text.stdout.lines().collect();
    assert!(rows[0].starts_with("2026-11-24T03:05:00.000Z   ADDED"), "{rows:?}");
    assert!(rows[1].starts_with("2026-11-24T03:10:00.000Z   MODIFIED"), "{rows:?}");
    assert_eq!(
        rows[2..],
        ["  spec.template.spec.containers[web].image: web:1 → web:2", "  by helm"],
        "{rows:?}"
    );
}

#[test]
fn replay_ends_at_a_count_or_a_missing_name() {
    let incident = Incident::new();
    assert_eq!(lines(&incident.run("watch cm,no -o json --since -50m --count 2 --watch-only")).len(), 4);
    let ended = incident.run("watch cm -o json --since -50m --count 9");
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    let ended = incident.run("watch pod/none --since -50m");
    assert!(ended.code == 1 && ended.stderr.contains("pods \"none\" not found"), "{ended:?}");
}

#[test]
fn speed_keeps_the_pauses() {
    let incident = Incident::new();
    let started = Instant::now();
    let line = "watch pods -o name --since 2026-11-24T03:11:00Z --until 2026-11-24T03:12:00Z";
    // A minute of the recording.
    assert_eq!(incident.run(&format!("{line} --speed 60x")).code, 0);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(incident.run(&format!("{line} --speed max")).code, 0);
    let error = incident.run(&format!("{line} --speed 0")).failure(2);
    assert!(error.contains("--speed of a replay must be a number above 0"), "{error}");
}

#[test]
fn ranges_need_a_recording_and_exclude_a_moment() {
    let incident = Incident::new();
    for command in ["watch pods", "history pod/db-0", "changes"] {
        for flag in ["since", "until"] {
            let error = incident.run(&format!("{command} --{flag} -1m --at -5m")).failure(2);
            assert!(error.contains(&format!("--at selects one moment, and --{flag} a range")), "{error}");
        }
    }
    let env = TestEnv::new();
    for line in ["watch pods --demo --since -1h", "wait pods --for ready --demo --since -1h"] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let error = env.kdelta(&words).finish().failure(2);
        assert!(error.contains("--since needs --from"), "{error}");
    }
}

#[test]
fn wait_finds_the_time_at_which_a_condition_held() {
    let incident = Incident::new();
    for (line, expected) in [
        ("wait pod/web-2-c --for=condition=Ready", "at 2026-11-24T03:12:00Z"),
        ("wait pod/db-0 --for=delete", "at 2026-11-24T03:20:00Z"),
        ("wait node/worker-1 --for !ready", "at 2026-11-24T03:50:00Z"),
    ] {
        let text = incident.run(line).quiet_success();
        assert!(text.starts_with("condition met: ") && text.trim_end().ends_with(expected), "{line}: {text}");
    }
    let text = incident.run("wait pod/web-2-c --for ready --stable 2m -o json").quiet_success();
    let result: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&result["since"], &result["at"]),
        (&"2026-11-24T03:12:00Z".into(), &"2026-11-24T03:14:00Z".into())
    );
}

#[test]
fn wait_ends_with_the_range() {
    let incident = Incident::new();
    let ended = incident.run("wait pod/web-2-c --for ready --stable 10m");
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("the range ended without the condition on pods/web-2-c"),
        "{}",
        ended.stderr
    );
    let ended = incident.run("wait pod/web-2-c --for ready --until 2026-11-24T03:11:30Z");
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    let ended = incident.run("wait pod/web-2-c --for ready --stable 10m --fail-fast");
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    let error = incident.run("wait pod/web-2-c --for ready --at -5m").failure(2);
    assert!(error.contains("use --since and --until in place of --at"), "{error}");
}
