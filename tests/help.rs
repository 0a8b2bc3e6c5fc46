//! The help texts: part of the interface, so each is kept in `tests/snapshots` and a change to one is seen.
//!
//! `KDELTA_UPDATE_SNAPSHOTS=1` writes them anew.

use std::fs;
use std::path::Path;

use crate::support::TestEnv;

/// The file of a text, and the words that ask for it.
const TEXTS: [(&str, &[&str]); 12] = [
    ("kdelta", &["-h"]),
    ("kdelta.long", &["--help"]),
    ("watch", &["watch", "-h"]),
    ("watch.long", &["watch", "--help"]),
    ("get", &["get", "-h"]),
    ("get.long", &["get", "--help"]),
    ("index", &["index", "-h"]),
    ("index.long", &["index", "--help"]),
    ("api-resources", &["api-resources", "-h"]),
    ("api-resources.long", &["api-resources", "--help"]),
    ("demo", &["demo", "-h"]),
    ("demo.long", &["demo", "--help"]),
];

fn help(env: &TestEnv, words: &[&str], columns: &str) -> String {
    env.kdelta(words).env("COLUMNS", columns).finish().quiet_success()
}

#[test]
fn help_texts_are_those_in_the_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let update = std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1");
    let env = TestEnv::new();
    for (name, words) in TEXTS {
        let file = folder.join(name).with_added_extension("txt");
        let text = help(&env, words, "80");
        if update {
            fs::create_dir_all(&folder).expect("tests/snapshots");
            fs::write(&file, &text).expect("a snapshot");
        }
        let kept = fs::read_to_string(&file).unwrap_or_default();
        let advice = "KDELTA_UPDATE_SNAPSHOTS=1 writes the snapshots anew";
        assert_eq!(text, kept, "{}: {advice}", file.display());
    }
}

#[test]
fn help_keeps_to_the_width_of_the_terminal() {
    let env = TestEnv::new();
    for (_, words) in TEXTS {
        for (columns, width) in [("80", 80), ("100", 100)] {
            let text = help(&env, words, columns);
            let long = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(long, None, "{words:?} in {columns} columns");
        }
    }
}

#[test]
fn help_of_a_command_is_reached_by_both_ways_and_without_words_there_is_help_too() {
    let env = TestEnv::new();
    assert_eq!(help(&env, &["help", "get"], "80"), help(&env, &["get", "--help"], "80"));
    let nothing = env.kdelta(&[]).env("COLUMNS", "80").finish().failure(2);
    assert_eq!(nothing, help(&env, &["-h"], "80"));
}
