//! Fuzzes the frames of recordings: a text round-trips, and arbitrary bytes are read or rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kdelta::recording::properties::frame(bytes));
