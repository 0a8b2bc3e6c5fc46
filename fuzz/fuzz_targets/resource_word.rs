//! What a person types for a type.
#![no_main]

libfuzzer_sys::fuzz_target!(|word: &str| kdelta::api::properties::resource_word(word));
