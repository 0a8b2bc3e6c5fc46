//! The status of an arbitrary object, at any time.
#![no_main]

use jiff::Timestamp;
use kdelta::query::ComputedStatus;

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    for now in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let _ = ComputedStatus::of(json, now);
    }
});
