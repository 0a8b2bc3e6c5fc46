//! Fuzzes the reading of an error response. The first two bytes are the status code, the others the body.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (u16, &[u8])| kdelta::api::properties::refusal(input.0 % 1000, input.1));
