//! The rows of a stream: one header for several kinds, clipping, times, colours, and the end of the initial state.

use std::process::Command;

use serde_json::json;

use crate::support::{Api, DemoServer, Kdelta, TestEnv};

/// Returns the output on a terminal of that many columns, created by `script`.
fn on_terminal(env: &TestEnv, columns: usize, words: &str) -> String {
    let line = format!("stty cols {columns}; exec {} {words}", env!("CARGO_BIN_EXE_kdelta"));
    let mut command = Command::new("script");
    command.args(["-qefc", &line, "/dev/null"]).env_clear().current_dir(env.home());
    command.env("HOME", env.home()).env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh").env("TERM", "xterm");
    let finished = Kdelta::other(command).finish();
    assert_eq!(finished.code, 0, "{}", finished.stdout);
    finished.stdout.replace('\r', "")
}

/// Removes the program's colours.
fn plain(text: &str) -> String {
    ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[2m", "\x1b[0m"]
        .iter()
        .fold(text.to_owned(), |text, colour| text.replace(colour, ""))
}

#[test]
fn several_kinds_have_one_header() {
    let env = TestEnv::new();
    let words = ["watch", "deploy,nodes,svc", "-n", "shop", "--demo", "--until-synced"];
    let stdout = env.kdelta(&words).finish().quiet_success();
    let mut lines = stdout.lines();
    let first = lines.next().expect("a header");
    let headings: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(headings, ["EVENT", "KIND", "NAME", "READY", "STATUS", "AGE", "DETAILS"], "{stdout}");
    let place = |heading: &str| first.find(heading).expect("a heading");
    let kinds: Vec<&str> = lines.filter_map(|line| line.get(place("KIND")..)?.split(' ').next()).collect();
    for kind in ["Deployment", "Node", "Service"] {
        assert!(kinds.contains(&kind), "{stdout}");
    }
    let ready = stdout.lines().find(|line| line.contains(" Node ")).expect("a node");
    assert!(ready[place("STATUS")..].starts_with("Ready "), "{stdout}");
    assert_eq!(stdout.matches("EVENT").count(), 1, "{stdout}");
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn terminal_rows_are_clipped_unless_they_are_wanted_whole() {
    let env = TestEnv::new();
    let words = "watch pods,deploy -A --demo --until-synced --color never";
    let shown = on_terminal(&env, 60, words);
    let rows: Vec<&str> = shown.lines().filter(|line| line.starts_with("ADDED")).collect();
    assert!(rows.len() > 20 && rows.iter().all(|row| row.chars().count() <= 60), "{shown}");
    assert!(rows.iter().any(|row| row.contains('…')), "{shown}");
    let whole = on_terminal(&env, 60, &format!("{words} --no-trunc"));
    assert!(!whole.contains('…'), "{whole}");
    assert!(whole.lines().any(|line| line.starts_with("ADDED") && line.len() > 80), "{whole}");
    let words: Vec<&str> = words.split(' ').collect();
    assert!(!env.kdelta(&words).finish().quiet_success().contains('…'));
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn terminal_shows_where_the_initial_state_ends() {
    let env = TestEnv::new();
    let nodes = "watch nodes --demo --speed 20 --count";
    let shown = plain(&on_terminal(&env, 200, &format!("{nodes} 6")));
    let lines: Vec<&str> = shown.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("── ")).expect("a mark");
    let initial = lines[1..end].len();
    assert_eq!(lines[end], format!("── synced, {initial} objects ──"), "{shown}");
    assert!(lines[1..end].iter().all(|line| line.starts_with("ADDED")), "{shown}");
    let empty = on_terminal(&env, 80, "watch pods --demo -l none=such --until-synced");
    assert!(plain(&empty).contains("synced, 0 objects\n"), "{empty}");
    assert!(empty.contains("\x1b[2msynced, 0 objects\x1b[0m\n"), "{empty}");
    let words = ["watch", "pods", "--demo", "-l", "none=such", "--until-synced", "--color", "always"];
    assert_eq!(env.kdelta(&words).finish().quiet_success(), "", "a pipe has no mark");
}

#[test]
fn time_of_each_row_is_in_front() {
    let env = TestEnv::new();
    let rows = |form: &str| {
        let words = ["watch", "pods", "--demo", "--ts", form, "--count", "3"];
        let stdout = env.kdelta(&words).finish().quiet_success();
        stdout.lines().map(|line| line.split(' ').next().expect("a cell").to_owned()).collect::<Vec<_>>()
    };
    let digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
    for (form, heading, expected) in [
        ("rfc3339", "TIME", "0000-00-00T00:00:00.000Z"),
        ("time", "TIME", "00:00:00.000"),
        ("relative", "ELAPSED", "0.000s"),
        ("delta", "DELTA", "+0.000s"),
    ] {
        let found = rows(form);
        assert_eq!(found[0], heading);
        assert!(found[1..].iter().all(|time| digits(time).ends_with(expected)), "{found:?}");
    }
    let error = env.kdelta(&["watch", "pods", "-o", "json", "--ts", "time"]).finish().failure(2);
    assert!(error.starts_with("error: --ts needs a table: a JSON line has the field ts\n"), "{error}");
}

#[test]
fn abnormal_cells_are_coloured_in_every_command_with_rows() {
    let env = TestEnv::new();
    let stdout = |words: &[&str], color: &str| {
        env.kdelta(&[words, &["--demo", "--color", color]].concat()).finish().quiet_success()
    };
    let red = "\x1b[31mImagePullBackOff\x1b[0m";
    for words in [&["get", "pods"][..], &["watch", "pods", "--until-synced"]] {
        let coloured = stdout(words, "always");
        assert!(coloured.contains(red) && !coloured.contains("\x1b[32m"), "{coloured}");
        assert!(
            coloured.lines().any(|line| line.contains("Running") && !line.contains("\x1b[3")),
            "{coloured}"
        );
        for color in ["never", "auto"] {
            assert!(!stdout(words, color).contains('\x1b'), "{words:?} {color}");
        }
    }
    assert!(stdout(&["watch", "pods", "--until-synced"], "always").contains("\x1b[2mADDED   \x1b[0m"));
    let index = stdout(&["index", "pods", "-A", "--by", "field:status.phase"], "always");
    assert!(index.contains("\x1b[33mPending\x1b[0m") && index.contains("\nRunning "), "{index}");
    assert!(!stdout(&["api-resources"], "always").contains('\x1b'));
}

#[test]
fn warnings_are_coloured_among_events() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let event = json!({
        "metadata": {"name": "e"}, "type": "Warning", "reason": "Failed", "message": "m",
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default"},
    });
    Api::open(&demo.url).create("/api/v1/namespaces/default/events", &event);
    let coloured = "\x1b[33mWarning\x1b[0m   Failed   ";
    for words in [&["events"][..], &["get", "events"]] {
        let stdout = |color: &str| {
            env.kdelta(&[words, &["-s", &demo.url, "--color", color]].concat()).finish().quiet_success()
        };
        assert!(stdout("always").contains(coloured), "{}", stdout("always"));
        assert!(!stdout("never").contains('\x1b'));
    }
}
