//! Fuzzes the decoding of lists and events in protobuf.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| kdelta::api::properties::protobuf(body));
