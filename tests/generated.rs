//! Generated files in the repository: the scripts in `completions/` and the manual in `man/`.
//!
//! `KDELTA_UPDATE_SNAPSHOTS=1` rewrites the manual; the scripts are sources, which the build embeds in the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{TestEnv, print_line};

/// The files of `completions/` with their shells.
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

/// Returns the files of a folder by name.
fn files_of(name: &str) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder(name)).expect(name).map(|entry| entry.expect("an entry"));
    let text = |path: PathBuf| fs::read_to_string(path).expect("a text");
    files.map(|file| (file.file_name().to_string_lossy().into_owned(), text(file.path()))).collect()
}

fn printed(words: &[&str]) -> String {
    TestEnv::new().kdelta(words).finish().quiet_success()
}

/// Returns the commands with manual pages: those that the program completes after `man`.
fn commands() -> Vec<String> {
    let output = printed(&["__complete", "man", ""]);
    let words = output.lines().filter(|line| !line.starts_with(':'));
    words.map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect()
}

fn pages() -> BTreeMap<String, String> {
    let commands = commands().into_iter().filter(|command| command != "help");
    let of = |command: String| (format!("kdelta-{command}.1"), printed(&["man", &command]));
    let own = ("kdelta.1".to_owned(), printed(&["man"]));
    commands.map(of).chain([own]).collect()
}

#[test]
fn generated_folders_equal_the_programs_output() {
    let scripts: BTreeMap<String, String> =
        SCRIPTS.iter().map(|(shell, file)| ((*file).to_owned(), printed(&["completions", shell]))).collect();
    assert!(
        files_of("completions") == scripts,
        "completions/ is not what the program prints: build it again"
    );
    let pages = pages();
    assert!(pages.len() > 5, "{:?}", pages.keys());
    if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        for name in files_of("man").keys().filter(|name| !pages.contains_key(*name)) {
            fs::remove_file(folder("man").join(name)).expect("a page that is gone");
        }
        for (name, page) in &pages {
            fs::write(folder("man").join(name), page).expect("a page");
        }
    }
    let files_of = files_of("man");
    assert_eq!(
        files_of.keys().collect::<Vec<_>>(),
        pages.keys().collect::<Vec<_>>(),
        "KDELTA_UPDATE_SNAPSHOTS=1 regenerates man/"
    );
    for (name, page) in &pages {
        assert!(files_of[name] == *page, "man/{name}: KDELTA_UPDATE_SNAPSHOTS=1 regenerates man/");
    }
}

#[test]
fn manual_pages_show_examples_verbatim() {
    for (name, page) in files_of("man") {
        let examples = page.split(".SH EXAMPLES\n.nf\n").nth(1).and_then(|rest| rest.split("\n.fi").next());
        let examples = examples.unwrap_or_else(|| panic!("{name} has no examples"));
        assert!(examples.contains("kdelta"), "{name}: {examples}");
    }
}

#[test]
fn mandoc_accepts_every_page() {
    let groff = |page: &Path| {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8", "-Kutf8"]).arg(page).stdin(Stdio::null()).output()
    };
    for name in files_of("man").keys() {
        let Ok(output) = groff(&folder("man").join(name)) else {
            print_line(&format!("NOT FORMATTED, because groff is not on this machine: man/{name}"));
            continue;
        };
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "man/{name}: {complaints}");
        assert!(output.stdout.len() > 1000, "man/{name}");
    }
}
