//! The rules for the structure of the repository, checked in the sources.
//!
//! The checks read text, so a macro could evade them; rules that the compiler can enforce (library → program) are left
//! to the compiler.

mod dependencies;
mod files;
mod folder_sizes;
mod ignored_tests;
mod import_cycles;
mod restricted_words;
mod room_imports;
mod sources;

/// Asserts that a check has no findings.
#[track_caller]
fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
