//! `THIRD-PARTY-NOTICES`: the packages in the program, and the texts that their licences require.
//!
//! The file covers the normal dependencies of the default features on every target in [`TARGETS`], on whichever
//! machine it is generated. `KDELTA_UPDATE_SNAPSHOTS=1` rewrites it. The comparison needs no network: a target whose
//! packages cargo has not downloaded is skipped with a line on stderr, and `cargo fetch --locked` downloads them all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::print_line;

/// The platforms that the notices cover.
const TARGETS: [&str; 4] =
    ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"];

const FILE: &str = "THIRD-PARTY-NOTICES";

/// The command that generates it.
const HINT: &str = "cargo fetch --locked && KDELTA_UPDATE_SNAPSHOTS=1 cargo test --test integration notices";

/// The licence of kdelta itself: its text is in `LICENSE`, and packages under it need no second copy.
const OWN: &str = "Apache-2.0";

/// The accepted licences in order of preference, each with a phrase that only its text has. If a package offers a
/// choice, the first one here applies.
const ACCEPTED: [(&str, &str); 8] = [
    (OWN, "Apache License Version 2.0"),
    ("MIT", "to deal in the Software without restriction"),
    ("ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"),
    ("Zlib", "This software is provided 'as-is', without any express or implied warranty"),
    // The condition of the three-clause licence that the two-clause one lacks.
    ("BSD-3-Clause", "may be used to endorse or promote products derived from"),
    ("BSD-2-Clause", "Redistribution and use in source and binary forms, with or without modification"),
    ("Unicode-3.0", "to deal in the Data Files or Software without restriction"),
    ("MPL-2.0", "Mozilla Public License Version 2.0"),
];

/// The MIT licence below its copyright line.
const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the \"Software\"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    /// The SPDX expression of its manifest.
    expression: String,
    repository: String,
    authors: Vec<String>,
    folder: PathBuf,
}

impl Package {
    fn of(package: &Value) -> Self {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let folder = Path::new(&text("manifest_path")).parent().expect("a folder").to_owned();
        Self {
            name: text("name"),
            version: text("version"),
            expression: text("license"),
            repository: text("repository"),
            authors: package["authors"]
                .as_array()
                .map(|authors| {
                    authors.iter().filter_map(|author| author.as_str().map(str::to_owned)).collect()
                })
                .unwrap_or_default(),
            folder,
        }
    }

    fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Returns name, version, the licences that apply, and the address of the source, which MPL-2.0 requires.
    fn line(&self) -> String {
        let applied: Vec<_> = self.licences().into_iter().collect();
        format!("{}: {}, {}\n", self.title(), applied.join(" AND "), self.repository)
    }

    fn licences(&self) -> BTreeSet<&'static str> {
        let accepted = chosen(&self.expression);
        let title = self.title();
        let (_, licences) =
            accepted.unwrap_or_else(|| panic!("{title}: {:?} is no accepted licence", self.expression));
        licences
    }

    /// Returns the texts to reproduce: those of its licences except [`OWN`], every NOTICE, and, if several licences
    /// apply together, each further text, because it covers a part of the package. A package under MIT that comes without
    /// a text has the standard text, with its authors.
    fn texts(&self) -> Vec<String> {
        let licences = self.licences();
        let mut missing: BTreeSet<_> = licences.iter().copied().filter(|id| *id != OWN).collect();
        let mut texts = Vec::new();
        for (name, text) in self.files() {
            let id = recognized(&text);
            let applies = id.map_or(licences.len() > 1, |id| licences.contains(id) && id != OWN);
            if applies || name.starts_with("NOTICE") {
                id.map(|id| missing.remove(id));
                texts.push(text);
            }
        }
        if missing == BTreeSet::from(["MIT"]) && !self.authors.is_empty() {
            missing.clear();
            texts.push(format!("MIT License\n\nCopyright (c) {}\n\n{MIT}", self.authors.join(", ")));
        }
        assert!(missing.is_empty(), "{} has no text of {missing:?}", self.title());
        texts
    }

    /// Returns the package's licence files by name.
    fn files(&self) -> BTreeMap<String, String> {
        let is_one = |name: &str| {
            let name = name.to_uppercase();
            ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|start| name.starts_with(start))
        };
        let entries = fs::read_dir(&self.folder).expect("the source of a package");
        let entries = entries.map(|entry| entry.expect("an entry"));
        let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
        let files = named.filter(|(name, path)| is_one(name) && path.is_file());
        files.map(|(name, path)| (name, tidy(&fs::read_to_string(path).expect("a text")))).collect()
    }
}

/// Returns the text without differences in line ends, so that equal texts compare equal.
fn tidy(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Returns the licence of a text.
fn recognized(text: &str) -> Option<&'static str> {
    // One package has its licence text in comments.
    let words: Vec<_> = text.split_whitespace().filter(|word| *word != "//").collect();
    let text = words.join(" ");
    let found = ACCEPTED.iter().find(|(_, phrase)| text.contains(phrase));
    found.map(|(id, _)| *id)
}

/// Returns the licences that apply by an SPDX expression, with a rank that is lower for a preferred choice, or `None`
/// if it offers none of the accepted licences. Old manifests write OR as `/`.
fn chosen(expression: &str) -> Option<(usize, BTreeSet<&'static str>)> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    any_of(&mut tokens.as_slice())
}

type Choice = Option<(usize, BTreeSet<&'static str>)>;

fn any_of(tokens: &mut &[&str]) -> Choice {
    let mut best = all_of(tokens);
    while take(tokens, "OR") {
        let other = all_of(tokens);
        best = [best, other].into_iter().flatten().min_by_key(|(rank, _)| *rank);
    }
    best
}

fn all_of(tokens: &mut &[&str]) -> Choice {
    let mut all = one(tokens);
    while take(tokens, "AND") {
        let other = one(tokens);
        all = all.zip(other).map(|((rank, mut ids), (more, others))| {
            ids.extend(others);
            (rank + more, ids)
        });
    }
    all
}

fn one(tokens: &mut &[&str]) -> Choice {
    if take(tokens, "(") {
        let inner = any_of(tokens);
        assert!(take(tokens, ")"), "a parenthesis is open");
        return inner;
    }
    let (id, rest) = tokens.split_first().expect("a licence");
    *tokens = rest;
    if take(tokens, "WITH") {
        *tokens = &tokens[1..];
        return None;
    }
    let rank = ACCEPTED.iter().position(|(accepted, _)| accepted == id)?;
    Some((rank, BTreeSet::from([ACCEPTED[rank].0])))
}

fn take(tokens: &mut &[&str], expected: &str) -> bool {
    let found = tokens.first() == Some(&expected);
    if found {
        *tokens = &tokens[1..];
    }
    found
}

/// Returns the packages of the program on a target; the error is cargo's, about packages that it has not downloaded.
fn packages(target: &str) -> Result<BTreeSet<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", target])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let by_id = |list: &Value| -> BTreeMap<String, Value> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| (one["id"].as_str().expect("an id").to_owned(), one.clone())).collect()
    };
    let (all, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
    let root = metadata["resolve"]["root"].as_str().expect("a root").to_owned();
    let (mut seen, mut next) = (BTreeSet::new(), vec![root.clone()]);
    while let Some(id) = next.pop() {
        if seen.insert(id.clone()) {
            let edges = nodes[&id]["deps"].as_array().expect("edges").iter();
            // A normal dependency has no kind. The tests enable k8s-openapi, the program does not.
            let is_normal = |edge: &&Value| {
                edge["name"] != "k8s_openapi"
                    && edge["dep_kinds"].as_array().expect("kinds").iter().any(|kind| kind["kind"].is_null())
            };
            next.extend(edges.filter(is_normal).map(|edge| edge["pkg"].as_str().expect("an id").to_owned()));
        }
    }
    seen.remove(&root);
    Ok(seen.iter().map(|id| Package::of(&all[id])).collect())
}

/// Returns every text with the packages that it covers.
fn texts(packages: &BTreeSet<Package>) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        for text in package.texts() {
            texts.entry(text).or_default().push(package.title());
        }
    }
    texts
}

const RULE: &str = "--------------------------------------------------------------------------------\n";

fn notices(packages: &BTreeSet<Package>) -> String {
    let mut out = format!(
        "kdelta is licensed under the Apache License, Version 2.0 (see LICENSE). The program contains these packages of\n\
         others, each with the licence that applies and the place of its source. The texts of the licences follow; that of\n\
         {OWN} is LICENSE.\n\n"
    );
    out.extend(packages.iter().map(Package::line));
    // Ordered by package rather than by text, so that an update moves little.
    let mut texts: Vec<_> = texts(packages).into_iter().collect();
    texts.sort_by(|(_, a), (_, b)| a.cmp(b));
    for (text, titles) in texts {
        // Writing to a String can't fail.
        let _ = write!(out, "\n{RULE}{}\n\n{text}\n", titles.join(", "));
    }
    out
}

#[test]
fn third_party_notices_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut available, mut unavailable) = (BTreeSet::new(), Vec::new());
    for target in TARGETS {
        match packages(target) {
            Ok(packages) => available.extend(packages),
            Err(error) => unavailable.push((target, error)),
        }
    }
    let update = std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1");
    if update && unavailable.is_empty() {
        fs::write(root.join(FILE), notices(&available)).expect("the notices");
    }
    assert!(
        !update || unavailable.is_empty(),
        "cargo fetch --locked downloads what is missing: {unavailable:?}"
    );
    let kept = fs::read_to_string(root.join(FILE)).expect(HINT);
    assert!(kept.len() < 300_000, "{} bytes", kept.len());
    if unavailable.is_empty() {
        assert!(kept == notices(&available), "{FILE} is not current: {HINT}");
        return;
    }

    // Some targets are skipped here: the file must contain the packages of the others, and no versions other than
    // those of the lock file.
    assert!(!available.is_empty() || !cfg!(any(target_os = "linux", target_os = "macos")), "{unavailable:?}");
    for (target, _) in unavailable {
        print_line(&format!(
            "NOT COMPARED, because cargo fetch --locked has not been run: {FILE} for {target}"
        ));
    }
    for package in &available {
        assert!(kept.contains(&package.line()), "{FILE} lacks {}: {HINT}", package.title());
    }
    for (text, titles) in texts(&available) {
        assert!(kept.contains(&text), "{FILE} lacks a text of {titles:?}: {HINT}");
    }
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("Cargo.lock");
    let listed = kept.split("\n\n").nth(1).expect("the list of packages");
    for line in listed.lines() {
        let (name, version) =
            line.split(':').next().and_then(|title| title.split_once(' ')).expect("a title");
        let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{FILE} names {name} {version}, Cargo.lock does not: {HINT}");
    }
}

#[test]
fn licence_choice_takes_the_preferred_one() {
    for (expression, expected) in [
        ("MIT OR Apache-2.0", Some(&["Apache-2.0"][..])),
        ("Unlicense/MIT", Some(&["MIT"])),
        ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", Some(&["Apache-2.0"])),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(&["Apache-2.0", "Unicode-3.0"])),
        ("MPL-2.0", Some(&["MPL-2.0"])),
        ("MIT AND GPL-3.0-only", None),
        ("GPL-3.0-only OR (MIT AND ISC)", Some(&["ISC", "MIT"])),
    ] {
        let ids = chosen(expression).map(|(_, ids)| ids.into_iter().collect::<Vec<_>>());
        assert_eq!(ids.as_deref(), expected, "{expression}");
    }
}
