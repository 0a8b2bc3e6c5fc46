//! Fuzzes the decoding of a Table: the places where chunks end make no difference.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| kdelta::api::properties::table_rows(body));
