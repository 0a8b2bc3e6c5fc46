//! The help texts. They are part of the interface, so each has a snapshot in `tests/snapshots` that shows a change.
//!
//! `KDELTA_UPDATE_SNAPSHOTS=1` rewrites the snapshots.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::TestEnv;

/// The file of each text, and the arguments that print it.
const TEXTS: [(&str, &[&str]); 47] = [
    ("kdelta", &["-h"]),
    ("kdelta.long", &["--help"]),
    ("watch", &["watch", "-h"]),
    ("watch.long", &["watch", "--help"]),
    ("get", &["get", "-h"]),
    ("get.long", &["get", "--help"]),
    ("index", &["index", "-h"]),
    ("index.long", &["index", "--help"]),
    ("history", &["history", "-h"]),
    ("history.long", &["history", "--help"]),
    ("changes", &["changes", "-h"]),
    ("changes.long", &["changes", "--help"]),
    ("tree", &["tree", "-h"]),
    ("tree.long", &["tree", "--help"]),
    ("wait", &["wait", "-h"]),
    ("wait.long", &["wait", "--help"]),
    ("rollout", &["rollout", "-h"]),
    ("rollout.long", &["rollout", "--help"]),
    ("recording", &["recording", "-h"]),
    ("recording.long", &["recording", "--help"]),
    ("run", &["run", "-h"]),
    ("run.long", &["run", "--help"]),
    ("record", &["record", "-h"]),
    ("record.long", &["record", "--help"]),
    ("api-resources", &["api-resources", "-h"]),
    ("api-resources.long", &["api-resources", "--help"]),
    ("api-versions", &["api-versions", "-h"]),
    ("api-versions.long", &["api-versions", "--help"]),
    ("events", &["events", "-h"]),
    ("events.long", &["events", "--help"]),
    ("version", &["version", "-h"]),
    ("version.long", &["version", "--help"]),
    ("explain", &["explain", "-h"]),
    ("explain.long", &["explain", "--help"]),
    ("demo", &["demo", "-h"]),
    ("demo.long", &["demo", "--help"]),
    ("serve", &["serve", "-h"]),
    ("serve.long", &["serve", "--help"]),
    ("completions", &["completions", "-h"]),
    ("completions.long", &["completions", "--help"]),
    ("man", &["man", "-h"]),
    ("man.long", &["man", "--help"]),
    ("options", &["options"]),
    ("options.long", &["options", "--help"]),
    ("exit-codes", &["help", "exit-codes"]),
    ("environment", &["help", "environment"]),
    ("config", &["help", "config"]),
];

fn help(env: &TestEnv, words: &[&str], columns: &str) -> String {
    env.kdelta(words).env("COLUMNS", columns).finish().quiet_success()
}

#[test]
fn help_equals_its_snapshots() {
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
        let advice = "KDELTA_UPDATE_SNAPSHOTS=1 regenerates the snapshots";
        assert_eq!(text, kept, "{}: {advice}", file.display());
    }
}

#[test]
fn help_fits_the_terminal_width() {
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
fn help_flag_subcommand_and_no_arguments_print_help() {
    let env = TestEnv::new();
    assert_eq!(help(&env, &["help", "get"], "80"), help(&env, &["get", "--help"], "80"));
    let nothing = env.kdelta(&[]).env("COLUMNS", "80").finish().quiet_success();
    assert_eq!(nothing, help(&env, &["-h"], "80"));
}

/// Returns the two columns of a list in a help text, with continued lines joined.
fn rows(text: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in text.lines().skip(2).filter(|line| !line.is_empty()) {
        match (line.strip_prefix("  ").and_then(|line| line.split_once("  ")), rows.last_mut()) {
            (Some((word, what)), _) if !word.is_empty() => rows.push((word.into(), what.trim().into())),
            (_, Some((_, what))) => *what = format!("{what} {}", line.trim()),
            (_, None) => panic!("{line:?} in {text}"),
        }
    }
    rows
}

#[test]
fn docs_and_help_list_equal_exit_codes() {
    let reported = rows(&help(&TestEnv::new(), &["help", "exit-codes"], "80"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/exit-codes.md");
    let page = fs::read_to_string(page).expect("docs/exit-codes.md");
    let table = page.split("| Exit code | Meaning |\n|---|---|\n").nth(1).expect("the table");
    let table =
        table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let table: Vec<_> = table.map(|(codes, what)| (codes.to_owned(), what.to_owned())).collect();
    assert_eq!(table, reported);
}

/// Returns a page with the rows of one table replaced; the table is the one with these column headings.
fn with_rows(page: &str, headings: &str, rows: &[(String, String)]) -> String {
    let heading = format!("{headings}\n|---|---|\n");
    let (before, rest) = page.split_once(&heading).expect(headings);
    let after: String = rest.split_inclusive('\n').skip_while(|line| line.starts_with("| ")).collect();
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "\\<");
    let rows: Vec<String> = rows.iter().map(|(key, what)| format!("| {key} | {} |\n", cell(what))).collect();
    format!("{before}{heading}{}{after}", rows.concat())
}

#[test]
fn docs_list_keys_and_refusals_of_the_help() {
    let text = help(&TestEnv::new(), &["help", "config"], "200");
    let (_, text) = text.split_once("Keys:\n").expect("the keys");
    let (keys, refusals) = text.split_once("No default:\n").expect("the refusals");
    let keys: Vec<_> =
        rows(&format!("\n\n{keys}")).into_iter().map(|(key, what)| (format!("`{key}`"), what)).collect();
    let code = |flags: &str| flags.split(", ").map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ");
    let refusals = refusals.replace('\n', " ");
    let refusals = refusals.split("- ").filter_map(|entry| entry.trim_end().split_once(": "));
    let refusals: Vec<_> = refusals.map(|(flags, reason)| (code(flags), reason.to_owned())).collect();
    assert!(keys.len() > 30 && refusals.len() > 5, "{keys:#?} {refusals:#?}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md");
    let page = fs::read_to_string(&file).expect("docs/config.md");
    let expected = with_rows(&page, "| Key | Meaning |", &keys);
    let expected = with_rows(&expected, "| Flags | Reason |", &refusals);
    if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        fs::write(&file, &expected).expect("docs/config.md");
    } else {
        assert_eq!(page, expected, "KDELTA_UPDATE_SNAPSHOTS=1 regenerates the tables");
    }
}

/// Returns the quoted texts of a source that look like names of variables.
fn variables(source: &str) -> BTreeSet<&str> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let is_name = |text: &&str| {
        text.len() > 3
            && text.starts_with(|c: char| c.is_ascii_uppercase())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && text.chars().take(4).all(|c| c.is_ascii_uppercase() || c == '_')
    };
    code.split('"').skip(1).step_by(2).filter(is_name).collect()
}

#[test]
fn help_lists_exactly_the_variables_that_are_read() {
    // Read by the TLS library and clap.
    let of_libraries = ["SSL_CERT_FILE", "SSL_CERT_DIR", "COLUMNS"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(root.join(file)).expect(file);
    let text = rows(&help(&TestEnv::new(), &["help", "environment"], "200"));
    let reported: BTreeSet<&str> = text.iter().map(|(name, _)| name.as_str()).collect();
    let program = read("src/bin/kdelta/settings/environment.rs");
    let (table, reading) = program.split_once("impl Environment").expect("both");
    let sources = [reading.to_owned(), read("src/kubeconfig/options.rs")];
    let mut known: BTreeSet<&str> = sources.iter().flat_map(|source| variables(source)).collect();
    assert!(known.len() > 12 && table.contains("VARIABLES"), "{known:?}");
    // Two that count only together, and the executable suffixes, on Windows.
    known.retain(|name| !["HOMEDRIVE", "HOMEPATH", "PATHEXT"].contains(name));
    known.extend(of_libraries);
    // The variables of flags are read by their prefix.
    assert!(known.remove("KDELTA_") && known.insert("KDELTA_<FLAG>"));
    assert_eq!(reported, known);
}
