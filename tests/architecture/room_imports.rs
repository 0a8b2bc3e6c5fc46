//! The rule that data flows one way: no room imports from a room above it.

use super::assert_none;
use super::sources::{Source, library, program};

/// The rooms of the library, each with the rooms it may import.
const LIBRARY: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("object", &[]),
    ("diff", &["object"]),
    ("listwatch", &["object"]),
    ("store", &["object"]),
    ("queue", &["object"]),
    ("reflector", &["clock", "listwatch", "object"]),
    ("wire", &["clock", "listwatch", "object"]),
    ("kubeconfig", &["clock", "listwatch", "object"]),
    ("client", &["clock", "kubeconfig", "listwatch", "object", "wire"]),
    ("api", &["client", "clock", "kubeconfig", "listwatch", "object", "wire"]),
    ("server", &["clock", "listwatch", "object", "store", "wire"]),
    ("demo", &["listwatch", "object", "server", "wire"]),
    ("lines", &["diff", "listwatch", "object"]),
    ("query", &["diff", "object"]),
    ("recording", &["clock", "diff", "lines", "listwatch", "object", "server", "wire"]),
    ("testing", &["clock", "listwatch", "object"]),
    ("informer", &["clock", "listwatch", "object", "queue", "reflector", "store"]),
    ("watchtools", &["clock", "informer", "listwatch", "object", "store"]),
    ("workqueue", &["clock"]),
];

/// The rooms of the program, each with the rooms it may import.
const PROGRAM: &[(&str, &[&str])] = &[
    ("args", &[]),
    ("exit", &[]),
    ("heap", &[]),
    ("view", &[]),
    ("metrics", &["system_words"]),
    ("kuberc", &["args", "system_words"]),
    ("output", &["system_words", "view"]),
    ("settings", &["args", "suggest", "system_words"]),
    ("manifest", &["raw_members", "settings", "system_words"]),
    ("session", &["manifest", "settings", "suggest", "view"]),
    ("commands", &["args", "exit", "manifest", "metrics", "output", "session", "settings", "view"]),
    (
        "cli",
        &[
            "args", "commands", "exit", "heap", "kuberc", "metrics", "output", "session", "settings",
            "suggest",
        ],
    ),
    ("main", &["args", "cli", "exit"]),
];

/// Returns the first identifiers after every `prefix` in `code`, including those of a `{…}` group.
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

/// Returns the imports that the rules do not allow.
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
            // `super::super` has its own rule below.
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

#[test]
fn library_imports_downwards_only() {
    assert_none(&violations(LIBRARY, &library()));
}

#[test]
fn program_imports_downwards_only() {
    assert_none(&violations(PROGRAM, &program()));
}

#[test]
fn import_rules_detect_violations() {
    for (room, code) in [
        ("store", "use crate::{object::Object, informer::Controller};"),
        ("reflector", "use crate::queue::DeltaFifo;"),
        ("queue", "fn f() -> crate::store::Cache {}"),
        ("informer", "use crate::api::Client;"),
        ("wire", "use crate::kubeconfig::Config;"),
        ("kubeconfig", "use crate::wire::Limits;"),
        ("client", "use crate::api::Client;"),
        ("object", "use super::listwatch::Error;"),
        ("store", "use super::super::object::Object;"),
        ("store", "use crate::Object;"),
        ("helpers", ""),
    ] {
        assert_eq!(violations(LIBRARY, &[Source::with_code(room, code)]).len(), 1, "{room}: {code}");
    }
    for (room, code) in [
        ("view", "use crate::output::Table;"),
        ("settings", "use crate::cli::run;"),
        ("output", "use crate::commands::watch;"),
    ] {
        assert_eq!(violations(PROGRAM, &[Source::with_code(room, code)]).len(), 1, "{room}: {code}");
    }
    assert_none(&violations(
        LIBRARY,
        &[Source::with_code("store", "use crate::object::{Key, Object}; use crate::store::x;")],
    ));
}
