//! Fuzzes the resolution of a resource type argument.
#![no_main]

libfuzzer_sys::fuzz_target!(|word: &str| kdelta::api::properties::resource_word(word));
