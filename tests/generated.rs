//! What is kept in the repository and printed by the program: the scripts in `completions/` and the manual in `man/`.
//!
//! `KDELTA_UPDATE_SNAPSHOTS=1` writes the manual anew; the scripts are sources, which the program takes in when it is
//! built.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{TestEnv, tell};

/// The files of `completions/`, by the shells they are for.
const SCRIPTS: [(&str, &str); 5] = [
    ("bash", "kdelta.bash"),
    ("zsh", "_kdelta"),
    ("fish", "kdelta.fish"),
    ("powershell", "kdelta.ps1"),
    ("nushell", "kdelta.nu"),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files of a folder, by their names.
fn kept(name: &str) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder(name)).expect(name).map(|entry| entry.expect("an entry"));
    let text = |path: PathBuf| fs::read_to_string(path).expect("a text");
    files.map(|file| (file.file_name().to_string_lossy().into_owned(), text(file.path()))).collect()
}

fn printed(words: &[&str]) -> String {
    TestEnv::new().kdelta(words).finish().quiet_success()
}

/// The commands that there are pages for: those that the program completes `man` with.
fn commands() -> Vec<String> {
    let answer = printed(&["__complete", "man", ""]);
    let words = answer.lines().filter(|line| !line.starts_with(':'));
    words.map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect()
}

fn pages() -> BTreeMap<String, String> {
    let commands = commands().into_iter().filter(|command| command != "help");
    let of = |command: String| (format!("kdelta-{command}.1"), printed(&["man", &command]));
    let own = ("kdelta.1".to_owned(), printed(&["man"]));
    commands.map(of).chain([own]).collect()
}

#[test]
fn the_folders_hold_what_the_program_prints_and_nothing_else() {
    let scripts: BTreeMap<String, String> =
        SCRIPTS.iter().map(|(shell, file)| ((*file).to_owned(), printed(&["completions", shell]))).collect();
    assert!(kept("completions") == scripts, "completions/ is not what the program prints: build it anew");
    let pages = pages();
    assert!(pages.len() > 5, "{:?}", pages.keys());
    if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        for name in kept("man").keys().filter(|name| !pages.contains_key(*name)) {
            fs::remove_file(folder("man").join(name)).expect("a page that is gone");
        }
        for (name, page) in &pages {
            fs::write(folder("man").join(name), page).expect("a page");
        }
    }
    let kept = kept("man");
    assert_eq!(
        kept.keys().collect::<Vec<_>>(),
        pages.keys().collect::<Vec<_>>(),
        "KDELTA_UPDATE_SNAPSHOTS=1 writes man/ anew"
    );
    for (name, page) in &pages {
        assert!(kept[name] == *page, "man/{name}: KDELTA_UPDATE_SNAPSHOTS=1 writes man/ anew");
    }
}

#[test]
fn every_page_shows_its_examples_as_they_are_typed() {
    for (name, page) in kept("man") {
        let examples = page.split(".SH EXAMPLES\n.nf\n").nth(1).and_then(|rest| rest.split("\n.fi").next());
        let examples = examples.unwrap_or_else(|| panic!("{name} has no examples"));
        assert!(examples.contains("kdelta"), "{name}: {examples}");
    }
}

#[test]
fn a_formatter_of_manuals_has_no_complaints() {
    let groff = |page: &Path| {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8", "-Kutf8"]).arg(page).stdin(Stdio::null()).output()
    };
    for name in kept("man").keys() {
        let Ok(output) = groff(&folder("man").join(name)) else {
            tell(&format!("NOT FORMATTED, because groff is not on this machine: man/{name}"));
            continue;
        };
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "man/{name}: {complaints}");
        assert!(output.stdout.len() > 1000, "man/{name}");
    }
}
