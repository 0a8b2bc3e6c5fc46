//! A watch, cut anywhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| kdelta::api::properties::frames(body));
