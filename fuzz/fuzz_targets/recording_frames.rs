//! Fuzzes the frames of recordings: a text is read back, and any bytes are read or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kdelta::recording::properties::frame(bytes));
