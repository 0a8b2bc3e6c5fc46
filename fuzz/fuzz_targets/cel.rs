//! A CEL expression and the object that it is evaluated on.
#![no_main]

use std::time::SystemTime;

use kdelta::query::{CelFilter, CelInput};

libfuzzer_sys::fuzz_target!(|input: (&str, &[u8], &[u8])| {
    let (text, object, old) = input;
    let Ok(filter) = CelFilter::parse(text, true) else { return };
    let input = CelInput::new(object, SystemTime::UNIX_EPOCH).with_old(old);
    let result = filter.evaluate(&input);
    assert_eq!(result, filter.evaluate(&input));
    let _paths = filter.paths();
});
