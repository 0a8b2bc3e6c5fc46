//! Fuzzes the loading of a kubeconfig file: no panic, and no credential in an error.
#![no_main]

use std::sync::OnceLock;

/// One folder for all inputs. It is never removed, since the fuzzer exits without running destructors.
static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"));
    kdelta::api::properties::kubeconfig(text, &folder.path().join("config")).expect("a file");
});
