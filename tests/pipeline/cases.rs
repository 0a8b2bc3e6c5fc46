//! Coverage of client-go's own test cases: each is named by a test or listed in the table of cases without a
//! counterpart. The tests read the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The cases by letter: keys and stores, three queues and a mode of the last, deltas and controllers, the reflector,
/// its watch-list, shared informers, pager and watch tools, doubles. Missing numbers are unused.
const CASES: &[(char, &[u8])] = &[
    (
        'A',
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
            27, 28, 29, 30,
        ],
    ),
    ('B', &[1, 2, 3, 4, 5, 6]),
    ('C', &[1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17]),
    ('D', &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
    ('E', &[1, 2, 3]),
    ('F', &[1, 2, 4, 5, 6, 7, 8, 9, 10, 12]),
    (
        'G',
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27, 28, 31, 32],
    ),
    ('H', &[1, 2, 3, 4, 6]),
    ('I', &[1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26]),
    ('J', &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
    ('K', &[1, 2, 3, 4]),
];

/// The variants of H4, one test each.
const VARIANTS: &[&str] = &[
    "no bookmark",
    "feature off",
    "any start error",
    "Invalid",
    "synced",
    "changes during init",
    "429 twice at start",
    "stream ends before sync",
    "stream ends after sync",
    "expired at re-watch",
    "annotation false",
];

/// Reads the text of every Rust file below a folder.
fn read_all(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_all(&path, texts);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            texts.push(fs::read_to_string(path).expect("a source file"));
        }
    }
}

fn sources() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["src", "tests/pipeline"] {
        read_all(&root.join(folder), &mut texts);
    }
    texts
}

/// Parses a letter followed by a number: `C2`.
fn case(word: &str) -> Option<(char, u8)> {
    let letter = word.chars().next().filter(char::is_ascii_uppercase)?;
    Some((letter, word[1..].parse().ok()?))
}

/// Returns the cases at the start of comments before tests, as in `// C2, C3, without what has no counterpart`.
fn tested(text: &str) -> BTreeSet<(char, u8)> {
    let mut found = BTreeSet::new();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(comment) = line.strip_prefix("// ") else { continue };
        let what_follows = lines[at + 1..].iter().find(|line| !line.starts_with("//"));
        if what_follows.is_some_and(|line| line.starts_with("#[") && line.contains("test")) {
            let words = comment.split([' ', ',', ':']).filter(|word| !word.is_empty());
            found.extend(words.map_while(case));
        }
    }
    found
}

/// Returns the cases in the first column of the table: `A19`, `A21–A24`, `J2 with a panic`.
fn without_counterpart(table: &str) -> BTreeSet<(char, u8)> {
    let mut found = BTreeSet::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        for words in row.split(" | ").next().unwrap_or_default().split(", ") {
            let first = words.split(' ').next().unwrap_or_default();
            let (from, to) = first.split_once('–').unwrap_or((first, first));
            if let (Some((letter, from)), Some((_, to))) = (case(from), case(to)) {
                found.extend((from..=to).map(|number| (letter, number)));
            }
        }
    }
    found
}

#[test]
fn every_case_is_tested_or_listed_without_counterpart() {
    let tested: BTreeSet<_> = sources().iter().flat_map(|text| tested(text)).collect();
    let listed = without_counterpart(include_str!("mod.rs"));
    let all: BTreeSet<_> =
        CASES.iter().flat_map(|(letter, numbers)| numbers.iter().map(|number| (*letter, *number))).collect();
    let missing: Vec<_> =
        all.iter().filter(|case| !tested.contains(case) && !listed.contains(case)).collect();
    assert!(missing.is_empty(), "neither tested nor listed: {missing:?}");
    let unknown: Vec<_> = tested.iter().filter(|case| !all.contains(case)).collect();
    assert!(unknown.is_empty(), "no such case: {unknown:?}");
}

#[test]
fn every_watch_list_variant_is_tested() {
    let texts = sources();
    let is_tested = |variant: &&&str| {
        let mut comments = texts.iter().flat_map(|text| text.lines()).map(str::trim);
        comments.any(|line| line.starts_with("// ") && line.contains("H4") && line.contains(**variant))
    };
    let missing: Vec<_> = VARIANTS.iter().filter(|variant| !is_tested(variant)).collect();
    assert!(missing.is_empty(), "H4: {missing:?}");
}

#[test]
fn case_numbers_are_parsed_before_tests_and_in_the_first_column() {
    let text = "// A1, B2 and more of C3\n#[test]\nfn a() {}\n    // D4\n    let x = 1;\n// E5\n/// f\n#[tokio::test]";
    assert_eq!(tested(text), [('A', 1), ('B', 2), ('E', 5)].into());
    let table = "//! | Case | In |\n//! | A2–A4 | B9 |\n//! | E1, J2 with a panic | |\n//! text";
    assert_eq!(without_counterpart(table), [('A', 2), ('A', 3), ('A', 4), ('E', 1), ('J', 2)].into());
}
