//! A list, or an event, in Protocol Buffers.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| kdelta::api::properties::packed(body));
