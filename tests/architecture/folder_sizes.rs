//! The rule that a folder holds few source files: a reader sees at once what is in it.

use std::path::{Path, PathBuf};

/// The number of Rust files directly in one folder.
const LIMIT: usize = 16;

#[test]
fn folders_hold_few_source_files() {
    let mut folders: Vec<PathBuf> = ["src", "tests", "benches", "examples"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
        .into();
    let mut files = 0;
    let mut large = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut here = 0;
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                here += 1;
            }
        }
        files += here;
        if here > LIMIT {
            large.push(format!("{here} files in {}", folder.display()));
        }
    }
    assert!(files > 300, "{files} files were found");
    assert!(large.is_empty(), "divide these folders by job: {large:#?}");
}
