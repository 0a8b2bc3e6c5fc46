//! The source files of the library and the program, without comments and tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Reads the product code of the library.
pub(super) fn library() -> Vec<Source> {
    let mut all = sources("src", "bin");
    all.retain(|source| source.room != "lib");
    all
}

/// Reads the product code of the program.
pub(super) fn program() -> Vec<Source> {
    sources("src/bin/kdelta", "")
}

/// A source file.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// The first folder or file below the root of its crate.
    pub(super) room: String,
    /// Whether its `super` is the root of the crate.
    pub(super) is_room_root: bool,
    pub(super) text: String,
    /// The text without comments and tests.
    pub(super) code: String,
}

impl Source {
    /// Returns the root file of a room with this code.
    pub(super) fn with_code(room: &str, code: &str) -> Self {
        Self {
            path: PathBuf::from(room),
            room: room.to_owned(),
            is_room_root: true,
            text: String::new(),
            code: code.to_owned(),
        }
    }
}

/// Reads the product code below `root`, without the folder `skip`.
fn sources(root: &str, skip: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.retain(|path| skip.is_empty() || !path.starts_with(root.join(skip)));
    let tests: Vec<PathBuf> = files.iter().flat_map(|path| test_modules(path)).collect();
    files.retain(|path| {
        !tests.iter().any(|test| path.starts_with(test) || *path == test.with_extension("rs"))
    });
    assert!(!files.is_empty(), "no source under {}", root.display());
    files.into_iter().map(|path| read(&root, path)).collect()
}

/// Adds the Rust files below a folder.
pub(super) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Returns the test-only modules that a file declares: each a file of that name, or the files of a folder.
fn test_modules(path: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(path).expect("a source file");
    let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") | None => path.with_file_name(""),
        Some(_) => path.with_extension(""),
    };
    let gated = text.split("#[cfg(test)]\n").skip(1);
    let named =
        gated.filter_map(|rest| rest.strip_prefix("pub(crate) ").unwrap_or(rest).strip_prefix("mod "));
    named.filter_map(|rest| Some(folder.join(rest.split_once(';')?.0))).collect()
}

/// Returns the text before the module of tests, which is the last item of a file.
fn without_tests(text: &str) -> &str {
    let marks = ["(test)", "(all(test, unix))", "(all(test, target_os = \"linux\"))"]
        .map(|condition| format!("#[cfg{condition}]\nmod "));
    let modules =
        marks.iter().flat_map(|mark| text.match_indices(mark).map(move |(at, _)| (at, at + mark.len())));
    let opened =
        modules.filter(|(_, name)| text[*name..].lines().next().is_some_and(|line| line.ends_with('{')));
    opened.map(|(at, _)| at).min().map_or(text, |end| &text[..end])
}

fn read(root: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).expect("a source file");
    let below = path.strip_prefix(root).expect("below the root").to_owned();
    let first = below.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    let is_room_root = below.components().count() == 1 || below.ends_with(Path::new(&first).join("mod.rs"));
    let name = first.trim_end_matches(".rs").to_owned();
    let code = without_tests(&text)
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    Source { path, room: name, is_room_root, text, code }
}
