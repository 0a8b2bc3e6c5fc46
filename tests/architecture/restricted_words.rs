//! The rules for words that belong to some files only, such as `println!` and the numbers of HTTP.

use std::path::Path;

use super::assert_none;
use super::sources::{Source, library, program};

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
            "bin/kdelta/output/messages/mod.rs",
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
            "bin/kdelta/commands/watch/merged_stream/mod.rs",
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
        &[
            "bin/kdelta/session/interrupt.rs",
            // Their owners join them.
            "bin/kdelta/commands/get/printing_thread.rs",
            "bin/kdelta/session/recordings/compared_versions.rs",
            "bin/kdelta/session/recordings/gap_notice.rs",
            "recording/reader/history.rs",
        ],
        "a task has an owner who awaits or aborts it, such as a JoinSet",
    ),
    (
        &["block_on("],
        // The commands, and completion.
        &["bin/kdelta/cli/dispatch.rs", "bin/kdelta/cli/mod.rs"],
        "there is one runtime, and main waits for it",
    ),
    (
        &["env::var", "env::vars", "env::args", "env::current_dir"],
        &[
            "kubeconfig/options.rs",
            "bin/kdelta/settings/environment.rs",
            "bin/kdelta/main.rs",
            // The variables of the allocator, and the arguments as they were given.
            "bin/kdelta/heap.rs",
        ],
        "the environment is read in one place and handed on",
    ),
    (
        &[".unwrap()", ".unwrap_err()", ".expect(\"", "panic!(", "unreachable!(", "todo!("],
        // A test double may panic on invalid use.
        &["testing/"],
        "errors are values",
    ),
];

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

#[test]
fn word_rules_detect_violations() {
    for (room, code) in [
        ("store", "fn f() { println!(); }"),
        ("cli", "fn f() { std::process::exit(1); }"),
        ("commands", "fn f() { let _ = std::io::stdout(); }"),
        ("commands", "use kdelta::testing::FakeSource;"),
        ("informer", "tokio::time::sleep(a).await;"),
        ("queue", "tokio::spawn(a);"),
        ("api", "a.expect(\"b\");"),
    ] {
        assert_eq!(misplaced(&[Source::with_code(room, code)]).len(), 1, "{room}: {code}");
    }
    assert_none(&misplaced(&[Source::with_code(
        "testing/",
        "a.expect(\"b\"); use crate::testing::pod; sprintln!();",
    )]));
}
