//! The rule that no files of one crate import each other in a circle.
//!
//! [`modules`] reads the sources, [`resolve`] finds the file that defines what a path names, and this file searches the
//! edges for groups of files that reach each other.

mod modules;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use modules::Crate;

/// The imports between files: each file with the files that it names, and one path that does.
type Edges = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn no_files_of_the_library_import_each_other_in_a_circle() {
    check("src", "lib.rs");
}

#[test]
fn no_files_of_the_program_import_each_other_in_a_circle() {
    check("src/bin/kdelta", "main.rs");
}

fn check(folder: &str, root: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let edges = resolve::edges(&Crate::read(root, &read));
    assert!(edges.len() > 50, "{} files have imports", edges.len());
    let found: Vec<String> = groups(&edges).iter().map(|group| describe(group, &edges)).collect();
    assert!(found.is_empty(), "files that import each other:\n{}", found.join("\n"));
}

/// Returns the groups of at least two files that reach each other.
fn groups(edges: &Edges) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|file| (file, reachable(edges, file))).collect();
    let group = |file: &String| -> BTreeSet<String> {
        let mutual =
            reached[file].iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
        mutual.map(|&other| other.clone()).collect()
    };
    edges.keys().map(group).filter(|group| group.len() > 1).collect()
}

fn reachable<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        open.extend(
            edges.get(file).into_iter().flat_map(BTreeMap::keys).filter(|next| reached.insert(*next)),
        );
    }
    reached
}

fn describe(group: &BTreeSet<String>, edges: &Edges) -> String {
    let mut lines = vec![format!("{group:?}")];
    for file in group {
        let inside = edges[file].iter().filter(|(to, _)| group.contains(*to));
        lines.extend(inside.map(|(to, path)| format!("  {file} -> {to} ({path})")));
    }
    lines.join("\n")
}

/// Returns the groups of a crate whose files are given with their texts.
fn groups_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let read = |file: &str| files.get(file).map(|&text| text.to_owned());
    let found = groups(&resolve::edges(&Crate::read("lib.rs", &read)));
    found.into_iter().map(|group| group.into_iter().collect()).collect()
}

#[test]
fn files_that_import_each_other_form_a_group() {
    let lib = ("lib.rs", "mod a; mod b;");
    let b = ("b.rs", "use crate::a::f; pub fn g() {} pub struct T;");
    let circle = [vec!["a.rs".to_owned(), "b.rs".to_owned()]];
    for a in [
        "use super::b::g; pub fn f() {}",
        "use super::b; pub fn f() { b::g() }",
        "pub fn f() { crate::b::g() }",
        "pub fn f() { println!(\"{}\", super::b::g()) }",
        "use crate::b::*; pub fn f() { g() }",
        "pub struct S(crate::b::T); pub fn f() {}",
        "pub fn f() { use crate::b::g; g() }",
    ] {
        assert_eq!(groups_of(&[lib, ("a.rs", a), b]), circle, "{a}");
    }
}

#[test]
fn re_export_resolves_to_the_defining_file() {
    let lib = ("lib.rs", "mod a;");
    let through = ("a/mod.rs", "mod x; mod y; pub use x::X;");
    let x = ("a/x.rs", "use super::y::Y; pub struct X;");
    let own_use = ("a/mod.rs", "mod x; pub use x::X; pub struct Z(X);");
    assert!(
        groups_of(&[
            lib,
            ("a/mod.rs", "mod x; pub use x::X; pub struct Z;"),
            ("a/x.rs", "use super::Z; pub struct X;")
        ])
        .is_empty()
    );
    assert_eq!(
        groups_of(&[lib, own_use, ("a/x.rs", "use super::Z; pub struct X;")]),
        [vec!["a/mod.rs", "a/x.rs"]]
    );
    let circle = [vec!["a/x.rs".to_owned(), "a/y.rs".to_owned()]];
    assert_eq!(groups_of(&[lib, through, x, ("a/y.rs", "use super::X; pub struct Y;")]), circle);
    assert_eq!(groups_of(&[lib, through, x, ("a/y.rs", "use crate::a::X as Other; pub struct Y;")]), circle);
}

#[test]
fn parent_and_child_form_a_group_if_both_import() {
    let lib = ("lib.rs", "mod a;");
    let parent = ("a.rs", "mod x; pub fn limit() {} pub fn f() { x::g() }");
    let circle = [vec!["a.rs".to_owned(), "a/x.rs".to_owned()]];
    assert_eq!(groups_of(&[lib, parent, ("a/x.rs", "pub fn g() { super::limit() }")]), circle);
    assert!(groups_of(&[lib, parent, ("a/x.rs", "pub fn g() {}")]).is_empty());
}

#[test]
fn declarations_tests_texts_and_visibilities_are_no_imports() {
    let lib = ("lib.rs", "mod a; mod b;");
    let b = ("b.rs", "use crate::a::f; pub fn g() {}");
    for a in [
        "pub fn f() {}",
        "pub fn f() {} #[cfg(test)] mod tests { use crate::b::g; }",
        "pub fn f() {} #[cfg(test)] fn t() { crate::b::g() }",
        "/// See [`crate::b::g`].\npub fn f() { let _ = \"crate::b::g\"; }",
        "pub(in crate::b) fn f() {}",
        "use other::b::g; pub fn f() {}",
    ] {
        assert!(groups_of(&[lib, ("a.rs", a), b]).is_empty(), "{a}");
    }
}
