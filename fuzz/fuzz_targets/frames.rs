//! Fuzzes the splitting of a watch into frames: the places where chunks end make no difference.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| kdelta::api::properties::frames(body));
