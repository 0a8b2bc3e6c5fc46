//! Errors of recorders, and recorders that were killed during a write.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;

use kdelta::recording::Recording;

use super::{changes, demo, record};
use crate::support::{Kdelta, TestEnv, eventually, open_recording};

#[test]
fn second_recorder_of_a_directory_is_refused() {
    let (env, demo, dir) = demo("0.001");
    let mut first = record(&env, &demo, &dir, &["ns"]).start();
    eventually("the first records", || (changes(&dir) > 0).then_some(()));
    let error = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish().failure(1);
    assert!(error.contains("another recorder writes to this directory"), "{error}");
    first.signal("INT");
    assert_eq!(first.wait(), 130);
    assert!(first.stderr.drain().contains("recorded in "));
    let done = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn incomplete_write_is_cut_and_reported() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (_, path) = Recording::contexts(&dir).expect("a directory").remove(0);
    let journal = fs::read_dir(path).expect("files").map(|file| file.expect("a file").path());
    let journal = journal.filter(|path| path.extension().is_some_and(|ending| ending == "journal")).max();
    let journal = journal.expect("a journal");
    OpenOptions::new().append(true).open(&journal).expect("a file").write_all(&[7; 5]).expect("written");
    let before = changes(&dir);
    let done = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("5 bytes of an incomplete write are cut"), "{}", done.stderr);
    assert!(changes(&dir) > before);
}

#[test]
fn state_that_can_not_be_read_is_a_warning() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    // A part that is cut has a keyframe at its end.
    let (from, to) = (dir.to_str().expect("UTF-8"), env.home().join("cut"));
    let words = ["recording", "cut", from, "--to", to.to_str().expect("UTF-8")];
    let cut = env.kdelta(&words).finish();
    assert_eq!(cut.code, 0, "{}", cut.stderr);
    let (_, path) = Recording::contexts(&to).expect("a directory").remove(0);
    for file in fs::read_dir(path).expect("files").map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|ending| ending == "keyframe" || ending == "segment") {
            let mut bytes = fs::read(&file).expect("a file");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&file, bytes).expect("written");
        }
    }
    let done = record(&env, &demo, &to, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let warning = done.stderr.lines().find(|line| line.starts_with("Warning: "));
    let warning = warning.unwrap_or_else(|| panic!("{}", done.stderr));
    assert!(warning.starts_with("Warning: the recorded state can't be read: "), "{warning}");
    assert!(warning.contains("damaged at byte") && !done.stderr.contains("kdelta::"), "{}", done.stderr);
}

#[test]
fn other_selectors_are_refused() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["pods", "-l", "app=web", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = record(&env, &demo, &dir, &["pods", "--until-synced"]).finish().failure(1);
    let expected = r#"its selector is "app=web", and that of this command """#;
    assert!(error.contains(expected), "{error}");
    let flags = ["pods,deploy", "-l", "app=web", "--until-synced"];
    let done = record(&env, &demo, &dir, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(open_recording(&dir).resources().expect("resources").len(), 2);
}

#[test]
fn other_redaction_is_refused() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["secrets", "-A", "--secrets", "keep", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = record(&env, &demo, &dir, &["secrets", "-A", "--until-synced"]).finish().failure(1);
    let expected = r#"its secrets is "keep", and that of this command "hash""#;
    assert!(error.contains(expected), "{error}");
}

#[test]
fn selections_without_a_state_are_usage_errors() {
    let env = TestEnv::new();
    for (flags, expected) in [
        (
            &["--older-than", "1h"][..],
            "record can't use filters that depend on the time, such as --older-than",
        ),
        (&["--where", "old == null"], "a recording has all changes of its objects"),
        (&["--keep", "0"], "--keep must be more than 0"),
        (&["--max-size", "5 apples"], "--max-size must be a number of bytes"),
        (&["--redact", "a["], "--redact: "),
    ] {
        let words = [&["record", "pods", "--demo", "--to", "d"], flags].concat();
        let error = env.kdelta(&words).finish().failure(2);
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
    let error = env.kdelta(&["record", "pods", "--demo"]).finish().failure(2);
    assert!(error.contains(r#"required flag(s) "to" not set"#), "{error}");
    assert!(!env.home().join("d").exists());
}

#[test]
fn directory_that_can_not_be_written_is_an_error() {
    let (env, demo, dir) = demo("0.001");
    fs::write(&dir, "a file").expect("a file");
    let error = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish().failure(1);
    let path = dir.to_str().expect("text");
    assert!(error.starts_with(&format!("error: {path}")), "{error}");
}

#[test]
fn write_that_fails_ends_the_recording_with_an_error() {
    let (env, demo, dir) = demo("20");
    // A limit of 20 KB for each file, as a disk that becomes full.
    let limited = "ulimit -f 40; trap '' XFSZ; exec \"$@\"";
    let words = ["-c", limited, "sh", env!("CARGO_BIN_EXE_kdelta"), "record", "--all-kinds", "-A", "-s"];
    let mut command = Command::new("sh");
    command.args(words).arg(&demo.url).arg("--to").arg(&dir).env_clear().env("HOME", env.home());
    let done = Kdelta::other(command).finish();
    assert_eq!(done.code, 1, "{}", done.stderr);
    let error = done.stderr.lines().last().unwrap_or_default();
    assert!(error.starts_with("error: ") && error.contains("recordings"), "{}", done.stderr);
    assert!(changes(&dir) > 0, "what was written stays readable");
}
