//! Fuzzes the reading of recordings: a file with arbitrary bytes is read or rejected.
#![no_main]

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kdelta::recording::properties::file(DIRECTORY.path(), bytes));
