//! The rules for single source files: their first line, the place of a module, and the size of `main.rs`.

use std::path::Path;

use super::assert_none;
use super::sources::{collect, library, program};

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
