//! Fuzzes the reading of journals: a compressed chunk with arbitrary records is read or rejected.
#![no_main]

use std::sync::LazyLock;

static DIRECTORY: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a directory"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kdelta::recording::properties::journal_text(DIRECTORY.path(), bytes);
});
