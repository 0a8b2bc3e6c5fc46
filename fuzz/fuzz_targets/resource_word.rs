//! The resource type argument of a command line.
#![no_main]

libfuzzer_sys::fuzz_target!(|word: &str| kdelta::api::properties::resource_word(word));
