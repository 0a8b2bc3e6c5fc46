//! The import rules of the repository, checked in the sources: data flows one way, and no room imports from a room
//! above it.
//!
//! The check reads text, so a macro could evade it; rules that the compiler can enforce (library → program) are left
//! to the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    ("testing", &["clock", "listwatch", "object"]),
    ("informer", &["clock", "listwatch", "object", "queue", "reflector", "store"]),
    ("watchtools", &["clock", "informer", "listwatch", "object", "store"]),
    ("workqueue", &["clock"]),
];

/// The rooms of the program, each with the rooms it may import.
const PROGRAM: &[(&str, &[&str])] = &[
    ("args", &[]),
    ("exit", &[]),
    ("view", &[]),
    ("output", &["system_words", "view"]),
    ("settings", &["args", "system_words"]),
    ("session", &["settings"]),
    ("commands", &["args", "exit", "output", "session", "settings", "view"]),
    ("cli", &["args", "commands", "exit", "output", "session", "settings"]),
    ("main", &["args", "cli", "exit"]),
];

/// Words that are restricted to some files: the words, the files (prefixes of paths below `src`), and the reason.
const RESTRICTED: &[(&[&str], &[&str], &str)] = &[
    (
        &["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!("],
        &[],
        "the library never prints, and the program writes through its output room, which cleans",
    ),
    (
        &["io::stdout(", "io::stderr("],
        &[
            "bin/kdelta/output/stdout.rs",
            "bin/kdelta/output/messages.rs",
            // Detection of terminals.
            "bin/kdelta/settings/environment.rs",
            // clap prints the help, which contains no server text.
            "bin/kdelta/cli/mod.rs",
        ],
        "the writers of the two streams escape the texts of servers, and nothing passes them by",
    ),
    (&["process::exit", "process::abort"], &["bin/kdelta/session/interrupt.rs"], "an exit skips every drop"),
    (
        &["thread::sleep"],
        // Threads see plugins out, when the runtime may be gone.
        &["client/login/plugin/process_tree.rs"],
        "it blocks a thread of the runtime",
    ),
    (
        &["time::sleep", "time::interval", "time::timeout"],
        &[
            "clock/mod.rs",
            "server/clock.rs",
            // The caller's time limit of a whole response.
            "client/connection/mod.rs",
            // The time limit of hyper's pool.
            "client/connection/shared_dial.rs",
            // The silence limit of a connection, which the HTTP/2 library measures itself.
            "client/connection/liveness.rs",
            // The silence after which a server is reported.
            "client/silence.rs",
            // The silence of an external wait before it is reported.
            "client/login/refresh.rs",
            // The silence limit of one of several list requests, and the server's Retry-After.
            "api/row_list/arrival_time.rs",
            // `--duration`, batching of lines, parts that leave before they end, repeated discovery, screen updates,
            // and the time limit of a clean end.
            "bin/kdelta/commands/watch/deadline.rs",
            "bin/kdelta/commands/watch/watch_loop.rs",
            "bin/kdelta/commands/watch/merged_stream.rs",
            "bin/kdelta/session/target_watcher.rs",
            "bin/kdelta/commands/synced.rs",
            "bin/kdelta/session/interrupt.rs",
            // The time limits of completion and hints.
            "bin/kdelta/commands/complete/mod.rs",
            "bin/kdelta/session/names.rs",
        ],
        "time is handed in as a Clock",
    ),
    (&["::testing"], &["testing/"], "doubles are for tests"),
    (&["unbounded_channel", "mpsc::unbounded"], &["testing/serve.rs"], "everything is bounded"),
    (
        &["tokio::spawn(", "thread::spawn("],
        &["bin/kdelta/session/interrupt.rs"],
        "a task has an owner who awaits or aborts it, such as a JoinSet",
    ),
    (&["block_on("], &["bin/kdelta/cli/mod.rs"], "there is one runtime, and main waits for it"),
    (
        &["env::var", "env::vars", "env::args", "env::current_dir"],
        &["kubeconfig/options.rs", "bin/kdelta/settings/environment.rs", "bin/kdelta/main.rs"],
        "the environment is read in one place and handed on",
    ),
    (
        &[".unwrap()", ".unwrap_err()", ".expect(\"", "panic!(", "unreachable!(", "todo!("],
        // A test double may panic on invalid use.
        &["testing/"],
        "errors are values",
    ),
];

/// A source file: its room, its path, and its text without comments and tests.
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
    let tests: Vec<PathBuf> = files.iter().flat_map(|path| test_modules(path)).collect();
    files.retain(|path| {
        !tests.iter().any(|test| path.starts_with(test) || *path == test.with_extension("rs"))
    });
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
fn library_imports_downwards_only() {
    assert_none(&violations(LIBRARY, &library()));
}

#[test]
fn program_imports_downwards_only() {
    assert_none(&violations(PROGRAM, &program()));
}

#[test]
fn every_file_starts_with_module_docs() {
    let silent: Vec<_> = library()
        .iter()
        .chain(&program())
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.path.display().to_string())
        .collect();
    assert_none(&silent);
}

#[test]
fn http_status_numbers_are_in_http_code_only() {
    let numbers = ["400", "401", "403", "404", "405", "406", "409", "410", "422", "429", "500", "503", "504"];
    let found: Vec<_> = library()
        .iter()
        .filter(|source| {
            // `listwatch` defines the Status, which has a code.
            !["api", "client", "demo", "listwatch", "server", "testing", "wire"]
                .contains(&source.room.as_str())
        })
        .flat_map(|source| {
            let words: Vec<_> = source.code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            // client-go's list page size is 500, which is not a status here.
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
fn library_names_the_environment_in_kubeconfig_and_client_only() {
    let found: Vec<_> = library()
        .iter()
        .filter(|source| {
            !["client", "kubeconfig"].contains(&source.room.as_str()) && source.code.contains("env::")
        })
        .map(|source| source.path.display().to_string())
        .collect();
    assert_none(&found);
}

/// Returns the restricted words outside their files.
fn misplaced(sources: &[Source]) -> Vec<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for source in sources {
        let below = source.path.strip_prefix(&src).unwrap_or(&source.path);
        let below = below.to_string_lossy().replace('\\', "/");
        for (words, places, why) in RESTRICTED {
            let is_place = places.iter().any(|place| below.starts_with(place));
            for word in words.iter().filter(|word| !is_place && contains_word(&source.code, word)) {
                found.push(format!("{below}: {word:?} does not belong here: {why}"));
            }
        }
    }
    found
}

/// Returns whether the word occurs as a whole: `print!(` is no part of `eprint!(`.
fn contains_word(code: &str, word: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word)
        .any(|(at, _)| !word.starts_with(continues) || !code[..at].chars().next_back().is_some_and(continues))
}

#[test]
fn restricted_words_are_used_in_their_files_only() {
    let mut all = library();
    all.extend(program());
    assert_none(&misplaced(&all));
}

/// Crates that the library must not depend on without its features: network, TLS, terminal, C, and command line.
/// `libc` represents any direct use of the system.
const NOT_WITHOUT_FEATURES: &[&str] = &[
    "anyhow",
    "clap",
    "colored",
    "comfy-table",
    "console",
    "crossterm",
    "h2",
    "http",
    "hyper",
    "indicatif",
    "jiff",
    "k8s-openapi",
    "libc",
    "mio",
    "openssl",
    "reqwest",
    "ring",
    "rustix",
    "rustls",
    "rustls-platform-verifier",
    "serde-saphyr",
    "socket2",
    "tower",
    "tracing-subscriber",
    "zstd",
];

/// The names of the packages that the library is built from with these features.
fn packages(features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            features,
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("text");
    let packages: Vec<_> =
        tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(packages.iter().any(|name| name == "tokio"), "{tree}");
    packages
}

#[test]
fn library_without_features_has_no_network_or_terminal_dependencies() {
    let packages = packages("--no-default-features");
    let taken: Vec<_> =
        packages.iter().filter(|name| NOT_WITHOUT_FEATURES.contains(&name.as_str())).collect();
    assert!(taken.is_empty(), "{taken:?}");
}

/// An application chooses the version of the API's types; kube-client would choose it, too, and a TLS provider.
#[test]
fn no_feature_chooses_the_version_of_the_api() {
    let packages = packages("--all-features");
    let taken: Vec<_> =
        packages.iter().filter(|name| ["kube-client", "schemars"].contains(&name.as_str())).collect();
    assert!(taken.is_empty(), "{taken:?}");
    let manifest = include_str!("../Cargo.toml");
    let dependency =
        manifest.lines().find(|line| line.starts_with("k8s-openapi = { ")).expect("a dependency");
    assert!(!dependency.contains(" features ="), "{dependency}");
}

#[test]
fn module_with_a_folder_is_the_mod_file_in_it() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let outside: Vec<_> = files.iter().filter(|file| file.with_extension("").is_dir()).collect();
    assert!(files.len() > 300 && outside.is_empty(), "of {} files: {outside:?}", files.len());
}

#[test]
fn main_fits_a_screen() {
    let main = program().into_iter().find(|source| source.room == "main").expect("main.rs");
    assert!(main.text.lines().count() <= 40, "main.rs has {} lines", main.text.lines().count());
}

#[test]
fn rules_detect_violations() {
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
        ("wire", "use crate::kubeconfig::Config;"),
        ("kubeconfig", "use crate::wire::Limits;"),
        ("client", "use crate::api::Client;"),
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
    for (room, code) in [
        ("store", "fn f() { println!(); }"),
        ("cli", "fn f() { std::process::exit(1); }"),
        ("commands", "fn f() { let _ = std::io::stdout(); }"),
        ("commands", "use kdelta::testing::FakeSource;"),
        ("informer", "tokio::time::sleep(a).await;"),
        ("queue", "tokio::spawn(a);"),
        ("api", "a.expect(\"b\");"),
    ] {
        assert_eq!(misplaced(&[source(room, code)]).len(), 1, "{room}: {code}");
    }
    assert_none(&misplaced(&[source("testing/", "a.expect(\"b\"); use crate::testing::pod; sprintln!();")]));
    assert_none(&violations(
        LIBRARY,
        &[source("store", "use crate::object::{Key, Object}; use crate::store::x;")],
    ));
}
