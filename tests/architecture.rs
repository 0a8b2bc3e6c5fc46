//! The import rules of the house, read from the source: data flows one way, and no room knows what stands above it.
//!
//! It reads text, so a macro could slip by; what the compiler can forbid (library → program) it leaves to the compiler.

use std::fs;
use std::path::{Path, PathBuf};

/// Each room of the library, with the rooms it may name.
const LIBRARY: &[(&str, &[&str])] = &[
    ("object", &[]),
    ("listwatch", &["object"]),
    ("store", &["object"]),
    ("queue", &["object"]),
    ("reflector", &["listwatch", "object"]),
    ("api", &["listwatch", "object"]),
    ("testing", &["listwatch", "object"]),
    ("informer", &["listwatch", "object", "queue", "reflector", "store"]),
    ("watchtools", &["informer", "listwatch", "object", "store"]),
];

/// Each room of the program, with the rooms it may name.
const PROGRAM: &[(&str, &[&str])] = &[
    ("args", &[]),
    ("exit", &[]),
    ("view", &[]),
    ("output", &["view"]),
    ("settings", &["args"]),
    ("session", &["settings"]),
    ("commands", &["args", "exit", "output", "session", "settings", "view"]),
    ("cli", &["args", "commands", "exit", "output", "session", "settings"]),
    ("main", &["args", "cli", "exit"]),
];

/// One source file: its room, where it stands, and its text without comments and tests.
struct Source {
    path: PathBuf,
    room: String,
    is_room_root: bool,
    text: String,
    code: String,
}

fn sources(root: &str, skip: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.retain(|path| skip.is_empty() || !path.starts_with(root.join(skip)));
    assert!(!files.is_empty(), "no source under {}", root.display());
    files.into_iter().map(|path| read(&root, path)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn read(root: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).expect("a source file");
    let below = path.strip_prefix(root).expect("below the root").to_owned();
    let first = below.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    let is_room_root = below.components().count() == 1 || below.ends_with(Path::new(&first).join("mod.rs"));
    let name = first.trim_end_matches(".rs").to_owned();
    let code = text
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default()
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    Source { path, room: name, is_room_root, text, code }
}

/// The first names after every `prefix` in `code`, those of a `{…}` group included.
fn names_after(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => names.push(ident(rest)),
            Some(group) => names.extend(top_level_of_group(group)),
        }
    }
    names
}

fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn top_level_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut item = String::new();
    let mut names = Vec::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.push(ident(std::mem::take(&mut item).trim())),
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                item.push(c);
            }
        }
    }
    names.push(ident(item.trim()));
    names.retain(|name| !name.is_empty());
    names
}

fn violations(rules: &[(&str, &[&str])], sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let Some((_, allowed)) = rules.iter().find(|(room, _)| *room == source.room) else {
            found.push(format!("{}: room {:?} is not in the rules", source.path.display(), source.room));
            continue;
        };
        let mut named = names_after(&source.code, "crate::");
        if source.is_room_root {
            named.extend(names_after(&source.code, "super::"));
        }
        for name in named {
            // `super::super` has a rule of its own below.
            if name != "super" && name != source.room && !allowed.contains(&name.as_str()) {
                found.push(format!("{}: {} may not name {name:?}", source.path.display(), source.room));
            }
        }
        if source.code.contains("super::super") {
            found.push(format!("{}: super::super hides an import", source.path.display()));
        }
    }
    found
}

fn library() -> Vec<Source> {
    let mut all = sources("src", "bin");
    all.retain(|source| source.room != "lib");
    all
}

fn program() -> Vec<Source> {
    sources("src/bin/kdelta", "")
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_library_imports_downwards_only() {
    assert_none(&violations(LIBRARY, &library()));
}

#[test]
fn the_program_imports_downwards_only() {
    assert_none(&violations(PROGRAM, &program()));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    let silent: Vec<_> = library()
        .iter()
        .chain(&program())
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path.display().to_string())
        .collect();
    assert_none(&silent);
}

#[test]
fn only_api_knows_the_numbers_of_http() {
    let numbers = ["400", "401", "403", "404", "405", "406", "409", "410", "422", "429", "500", "503", "504"];
    let found: Vec<_> = library()
        .iter()
        .filter(|source| !["api", "testing"].contains(&source.room.as_str()))
        .flat_map(|source| {
            let words: Vec<_> = source.code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            // The page size of a list is 500 in client-go, and no status.
            let page_size = source.code.contains("PAGE_SIZE");
            numbers
                .iter()
                .filter(|number| words.contains(number) && !(page_size && **number == "500"))
                .map(|number| format!("{}: {number}", source.path.display()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none(&found);
}

#[test]
fn the_library_reads_the_environment_in_api_only() {
    let found: Vec<_> = library()
        .iter()
        .filter(|source| source.room != "api" && source.code.contains("env::"))
        .map(|source| source.path.display().to_string())
        .collect();
    assert_none(&found);
}

#[test]
fn main_fits_a_screen() {
    let main = program().into_iter().find(|source| source.room == "main").expect("main.rs");
    assert!(main.text.lines().count() <= 40, "main.rs has {} lines", main.text.lines().count());
}

#[test]
fn the_rules_catch_what_they_forbid() {
    let source = |room: &str, code: &str| Source {
        path: PathBuf::from(room),
        room: room.to_owned(),
        is_room_root: true,
        text: String::new(),
        code: code.to_owned(),
    };
    for (room, code) in [
        ("store", "use crate::{object::Object, informer::Controller};"),
        ("reflector", "use crate::queue::DeltaFifo;"),
        ("queue", "fn f() -> crate::store::Cache {}"),
        ("informer", "use crate::api::Client;"),
        ("object", "use super::listwatch::Error;"),
        ("store", "use super::super::object::Object;"),
        ("store", "use crate::Object;"),
        ("helpers", ""),
    ] {
        assert_eq!(violations(LIBRARY, &[source(room, code)]).len(), 1, "{room}: {code}");
    }
    for (room, code) in [
        ("view", "use crate::output::Table;"),
        ("settings", "use crate::cli::run;"),
        ("output", "use crate::commands::watch;"),
    ] {
        assert_eq!(violations(PROGRAM, &[source(room, code)]).len(), 1, "{room}: {code}");
    }
    assert_none(&violations(
        LIBRARY,
        &[source("store", "use crate::object::{Key, Object}; use crate::store::x;")],
    ));
}
